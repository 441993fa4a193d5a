"""One rule as a sequence of operators."""
