"""What a user holds: a knowledge base to update and ask."""
