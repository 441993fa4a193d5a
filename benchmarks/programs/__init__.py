"""Which rules are run? Programs that `everlog run` takes too, and where the rules of LUBM come from."""
