"""What a program is, and what can be read off it without running it."""
