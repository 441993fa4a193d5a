"""Pods with the health data of a patient each, and what their physicians see of them."""
