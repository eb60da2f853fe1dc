"""Compile a kernel; nothing is compiled before its first call."""

from numba import njit

kernel = njit(cache=True, error_model="numpy", nogil=True)
"""Compiled once and kept on disk; with IEEE division, so that loops can be vectorized; free of
Python's lock, so that threads run kernels side by side."""

inlined = njit(cache=True, error_model="numpy", nogil=True, forceinline=True)
"""The same for the parts of a hot loop: handing over a dozen arrays costs more than they do."""
