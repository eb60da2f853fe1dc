"""Compile a kernel; nothing is compiled before its first call."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit


def _compiler(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function and keeps the result on disk, if it can."""

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:
            # Numba found no folder to write to: neither beside the source nor in the user's home.
            _warn_once()
            return njit(**options)(function)

    return decorate


def plain(function: Any) -> Any:
    """Return a kernel as plain Python, in which scalars may also be whole columns."""
    return getattr(function, "py_func", function)


@cache
def _warn_once() -> None:
    warnings.warn(
        "compiled code cannot be kept, so that every run compiles anew; set NUMBA_CACHE_DIR to a "
        "folder that can be written to",
        RuntimeWarning,
        stacklevel=1,
    )


kernel = _compiler(error_model="numpy", nogil=True)
"""Compiled once and kept on disk; with IEEE division, so that loops can be vectorized; free of
Python's lock, so that threads run kernels side by side."""

INLINED = {"error_model": "numpy", "nogil": True, "forceinline": True, "_nrt": False}

inlined = _compiler(**INLINED)
"""The same for the parts of a hot loop: handing over a dozen arrays costs more than they do.
`_nrt=False` leaves out the counting of references. So such a function may hand its arrays on for
free, but must neither make nor return one."""
