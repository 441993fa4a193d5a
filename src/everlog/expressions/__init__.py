"""What functions, operators and aggregates do to terms."""
