"""The in-process engine: columns of ids, label masks, persistent hash indexes, Numba kernels."""
