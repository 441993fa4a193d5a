"""How fast is Everlog, how much memory does it take, and how do others do on the same work? See README.md."""
