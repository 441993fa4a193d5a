"""Terms to integers and back."""
