"""How fast is Everlog on this machine? `everlog bench NAME`: a folder for each, with its data, runs and report."""
