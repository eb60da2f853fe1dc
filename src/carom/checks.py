"""Checks of arguments; every error names the argument, what was expected and what was given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from carom.errors import CaromError, InvalidOption
from carom.typing import ArrayLike, FloatArray


def is_number(value: Any) -> bool:
    """Return whether a value is one finite number."""
    is_scalar = isinstance(value, int | float | np.integer | np.floating)
    return is_scalar and not isinstance(value, bool) and bool(np.isfinite(value))


def integer(
    name: str,
    value: Any,
    least: int,
    most: int | None = None,
    error: type[CaromError] = InvalidOption,
) -> int:
    """Return an integer within its range, or raise an error."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_integer or value < least or (most is not None and value > most):
        span = f">= {least}" if most is None else f"from {least} to {most}"
        raise error(f"{name}: expected an integer {span}, got {value!r}")
    return int(value)


def positive(
    name: str, value: Any, *, or_zero: bool = False, error: type[CaromError] = InvalidOption
) -> float:
    """Return a finite number > 0 (or >= 0), or refuse it."""
    if not is_number(value) or not (value > 0.0 or (or_zero and value == 0.0)):
        least = ">= 0" if or_zero else "> 0"
        raise error(f"{name}: expected a number {least}, got {value!r}")
    return float(value)


def between(name: str, value: Any, low: float, high: float) -> float:
    """Return a number from low to high, infinity if high is infinite, or raise an error."""
    is_scalar = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_scalar or not low <= value <= high:
        raise InvalidOption(f"{name}: expected a number from {low:g} to {high:g}, got {value!r}")
    return float(value)


def share(name: str, value: Any) -> float:
    """Return a number strictly between 0 and 1, or raise an error."""
    if not is_number(value) or not 0.0 < value < 1.0:
        raise InvalidOption(f"{name}: expected a number between 0 and 1, got {value!r}")
    return float(value)


def choice(name: str, value: Any, options: Iterable[str]) -> str:
    """Return one of several words, or raise an error."""
    options = tuple(options)
    if not isinstance(value, str) or value not in options:
        raise InvalidOption(f"{name}: expected one of {', '.join(options)}, got {value!r}")
    return value


def floats(name: str, value: ArrayLike, error: type[CaromError] = InvalidOption) -> FloatArray:
    """Return a new array of finite floats of any shape, or raise an error."""
    return finite(name, numbers(name, value, error), error)


def numbers(name: str, value: ArrayLike, error: type[CaromError] = InvalidOption) -> FloatArray:
    """Return a new array of floats of any shape, in C order, or raise an error."""
    try:
        array = np.asarray(value)
        # A cast to float would drop the imaginary part in silence.
        if array.dtype.kind == "c":
            raise TypeError("complex numbers")
        return np.array(array, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as why:
        raise error(f"{name}: expected numbers in a regular array ({why})") from why


def finite(name: str, array: FloatArray, error: type[CaromError] = InvalidOption) -> FloatArray:
    """Return an array, or raise an error if a number in it is not finite."""
    # Quicker than `all` for small arrays.
    if np.count_nonzero(np.isfinite(array)) < array.size:
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        at = f" at {list(where)}" if where else ""
        raise error(f"{name}: expected finite numbers, got {array[where]}{at}")
    return array


def vector(
    name: str, value: ArrayLike, size: int, error: type[CaromError] = InvalidOption
) -> FloatArray:
    """Return a new vector (size,) of finite floats, or raise an error."""
    array = floats(name, value, error)
    if array.shape != (size,):
        raise error(f"{name}: expected shape {(size,)}, got {array.shape}")
    return array


def vectors(
    name: str, value: ArrayLike, size: int, error: type[CaromError] = InvalidOption
) -> FloatArray:
    """Return one vector (size,) or a batch (..., size) of finite floats, or raise an error."""
    array = floats(name, value, error)
    if array.ndim == 0 or array.shape[-1] != size:
        raise error(f"{name}: expected shape {(size,)} or (n, {size}), got {array.shape}")
    return array
