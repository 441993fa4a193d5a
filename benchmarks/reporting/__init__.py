"""How do figures become files? Pages of tables, pictures, and JSON."""
