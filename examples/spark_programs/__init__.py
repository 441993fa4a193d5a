"""Everlog inside of programs that Spark runs."""
