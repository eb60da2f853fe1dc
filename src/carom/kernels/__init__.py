"""Numba kernels: arrays and scalars in, arrays and an integer status out."""
