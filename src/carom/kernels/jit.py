"""Compile a kernel; nothing is compiled before its first call."""

import warnings
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit
from numba.core import event

from carom.kernels import announce


class _Compilation(event.Listener):
    """Announces the first kernel that is compiled, not one that is found on disk."""

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"].py_func.__module__.startswith("carom."):
            announce.compiling()

    def on_end(self, event: Any) -> None:
        """Nothing is said of the end: the call returns."""


event.register("numba:compile", _Compilation())


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
def interpreted(function: Any) -> Any:
    """Return a kernel as plain Python, with all that it calls: the same bits, much more slowly."""
    own = plain(function)
    if own is function:
        return function
    scope = own.__globals__
    called = {
        name: interpreted(scope[name])
        for name in own.__code__.co_names
        if hasattr(scope.get(name), "py_func")
    }
    return FunctionType(own.__code__, scope | called, argdefs=own.__defaults__)


class Late:
    """A kernel that is compiled only where that pays: first calls are interpreted.

    Callers say how much work each call is; `patience` is the work that takes a fraction of the time
    to compile the kernel.
    """

    is_patient = True

    def __init__(self, function: Any, patience: int) -> None:
        self._function, self._patience = function, patience

    def __call__(self, work: int, *given: Any) -> Any:
        """Call the kernel."""
        self._patience -= work
        if not Late.is_patient or self._patience < 0:
            return self._function(*given)
        # Compiled code is silent where NumPy would warn, of an overflow for example.
        with np.errstate(all="ignore"):
            return interpreted(self._function)(*given)


def compile_at_once() -> None:
    """Interpret no more in this process, whose results then owe nothing to how it began."""
    Late.is_patient = False


@cache
def _warn_once() -> None:
    warnings.warn(
        "compiled code cannot be kept, so that every run compiles anew; set NUMBA_CACHE_DIR to a "
        "folder that can be written to",
        RuntimeWarning,
        stacklevel=1,
    )


kernel = _compiler(error_model="numpy", nogil=True, no_cfunc_wrapper=True)
"""Compiled once and kept on disk; with IEEE division, so that loops can be vectorized; free of
Python's lock, so that threads run kernels side by side."""

filling = _compiler(error_model="numpy", nogil=True, _nrt=False, no_cfunc_wrapper=True)
"""The same for a kernel that is handed many arrays and makes none; see `lean`."""

LEAN: dict[str, Any] = {
    "error_model": "numpy",
    "nogil": True,
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

lean = njit(**LEAN)
"""For what kernels call deep down, and are kept on disk with: without the counting of references,
which takes most of the time to compile where many arrays are handed on. Such a function must
neither make nor return an array, nor copy one into another by a slice. Python cannot call it."""

expanded = _compiler(error_model="numpy", nogil=True, _nrt=False, inline="always")
"""For what is called in one place, and for what lies between a kernel and something large: it is
written out where it is called. Compiled by itself, each such function would have the large one
optimized once more."""

inlined = njit(**LEAN, forceinline=True)
"""As `lean`, for the small parts of a hot loop: a call costs more than they do."""

ZERO, ONE = np.int64(0), np.int64(1)
"""Whole numbers to hand to other kernels, and to start counts from that are handed on. A number of
Python is part of a function's type, for which it would be compiled once more."""
