"""How fast is Everlog on this machine? `everlog bench NAME`: a file per benchmark, with its data and its report."""
