"""Where does the machine code of kernels come from, and how is it called, without Numba?"""
