"""The in-process engine: columns of ids, label masks, kept hash indexes, Numba kernels."""
