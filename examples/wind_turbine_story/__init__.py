"""A turbine that borrows rules from a server and gives them back."""
