"""How one rule is evaluated, as data."""
