"""What a program is, and what can be known of it without running it."""
