"""Arrays of fractions, and the quotients and roots that proofs need."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carom.errors import InvalidCertificate

Rational = NDArray[Any]
"""Arrays of fractions."""


def inverse_form(matrix: Rational, p: Rational) -> Any:
    """Return p' matrix^-1 p, and verify that the matrix is positive definite.

    Bareiss's elimination, which stays in integers, of the matrix bordered by p, a vector or the
    columns of a matrix: what is left in the corner is -det(matrix) times the result, and the pivots
    are the leading minors.
    """
    n, width = len(p), p[0].size if isinstance(p[0], np.ndarray) else 1
    scale, scale_p = (lcm(*(x.denominator for x in each.flat)) for each in (matrix, p))
    rows = np.zeros((n + width, n + width), dtype=object)
    rows[:n, :n] = _as_integers(matrix * scale)
    rows[:n, n:] = _as_integers(p * scale_p).reshape(n, width)
    rows[n:, :n] = rows[:n, n:].T
    last = 1
    for k in range(n):
        pivot = rows[k, k]
        if pivot <= 0:
            raise InvalidCertificate("problem: the mass matrix is not positive definite")
        below = slice(k + 1, None)
        rows[below, below] = (
            rows[below, below] * pivot - np.outer(rows[below, k], rows[k, below])
        ) // last
        last = pivot
    # The border was scaled by scale_p twice, the matrix by scale once for its inverse.
    corner = -rows[n:, n:] * Fraction(scale, last * scale_p**2)
    return corner if p.ndim == 2 else corner[0, 0]


def root_above(x: Fraction) -> Fraction:
    """Return a fraction above the square root of x by less than 2^-60 of it."""
    if not x:
        return x
    shift = 140 - (x.numerator.bit_length() - x.denominator.bit_length())
    shift += shift % 2
    scaled = ceil(x * Fraction(2) ** shift)
    return Fraction(isqrt(scaled) + 1) / Fraction(2) ** (shift // 2)


def as_array(values: tuple[Fraction, ...]) -> Rational:
    """Return fractions as an array."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def exactly(values: NDArray[np.float64]) -> Rational:
    """Return floats as the rational numbers that they are."""
    flat = as_array(tuple(Fraction(x) for x in values.ravel().tolist()))
    return flat.reshape(values.shape)


def _as_integers(values: Rational) -> Rational:
    return as_array(tuple(x.numerator for x in values.flat)).reshape(values.shape)
