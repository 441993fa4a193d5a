"""Programs of very many rules."""
