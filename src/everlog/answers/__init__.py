"""Facts and solutions, as they are handed to people."""
