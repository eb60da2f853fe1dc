"""Exact linear algebra on small arrays of rational numbers: NumPy arrays of GMP's `mpq`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import gmpy2
import numpy as np
from gmpy2 import mpq
from numpy.typing import NDArray

Exact = NDArray[np.object_]

ZERO = mpq(0)
ONE = mpq(1)


def exactly(array: Any) -> Exact:
    """Convert an array of floats or integers to rationals without rounding."""
    return np.asarray(_to_rationals(np.asarray(array)), dtype=object)


def identity(n: int) -> Exact:
    """Return the identity (n, n)."""
    matrix = np.full((n, n), ZERO)
    np.fill_diagonal(matrix, ONE)
    return matrix


def rounded(array: Any, step: Any) -> Exact:
    """Round floats to multiples of the largest power of ten that is at most step."""
    return np.asarray(_round_to(array, step), dtype=object)


def round_to(x: float, step: float) -> mpq:
    """Round x to a multiple of the largest power of ten that is at most step, halves to even."""
    if x == 0.0:
        return ZERO
    unit = _power_of_ten(math.floor(math.log10(step)))
    ratio = mpq(x) / unit
    whole, rest = gmpy2.f_divmod(ratio.numerator, ratio.denominator)
    is_up = 2 * rest > ratio.denominator or (2 * rest == ratio.denominator and whole % 2 == 1)
    return (whole + is_up) * unit


_to_rationals, _round_to = np.frompyfunc(mpq, 1, 1), np.frompyfunc(round_to, 2, 1)


@cache
def _power_of_ten(exponent: int) -> mpq:
    return mpq(10) ** exponent


def integers(row: Iterable[mpq]) -> list[gmpy2.mpz]:
    """Scale a vector by a positive factor to coprime integers."""
    numbers = list(row)
    common = gmpy2.lcm(*(x.denominator for x in numbers))
    numbers = [x.numerator * (common // x.denominator) for x in numbers]
    divisor = gmpy2.gcd(*numbers) or 1
    return [x // divisor for x in numbers]


def solve(a: Exact, b: Exact) -> Exact:
    """Solve a x = b for regular a (n, n) and b (n, k)."""
    rows, _ = _reduced(np.hstack([a, b]), len(a))
    return rows[:, len(a) :]


def null_space(matrix: Exact) -> Exact:
    """Return a basis (k, n) of the vectors x with matrix (r, n) @ x = 0."""
    width = matrix.shape[1]
    rows, pivots = _reduced(matrix, width)
    free = [column for column in range(width) if column not in pivots]
    basis = identity(width)[free]
    basis[:, pivots] = -rows[: len(pivots), free].T
    return basis


def _reduced(matrix: Exact, width: int) -> tuple[Exact, list[int]]:
    """Return the reduced row echelon form in the first columns, and its pivots.

    Rows are scaled to coprime integers on the way, which saves most of the time.
    """
    pivots: list[int] = []
    rows = [integers(row) for row in matrix]
    for column in range(width):
        at = len(pivots)
        below = next((i for i in range(at, len(rows)) if rows[i][column]), None)
        if below is None:
            continue
        rows[at], rows[below] = rows[below], rows[at]
        own = rows[at]
        for i, row in enumerate(rows):
            if i != at and row[column]:
                factor = row[column]
                numbers = [own[column] * x - factor * y for x, y in zip(row, own, strict=True)]
                divisor = gmpy2.gcd(*numbers) or 1
                rows[i] = [x // divisor for x in numbers]
        pivots.append(column)
    out = np.full(matrix.shape, ZERO)
    for i, row in enumerate(rows):
        unit = row[pivots[i]] if i < len(pivots) else 1
        out[i] = [mpq(x, unit) for x in row]
    return out, pivots
