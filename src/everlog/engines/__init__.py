"""Where facts live and rules are evaluated."""
