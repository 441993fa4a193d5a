"""What data is: terms, relations, changes."""
