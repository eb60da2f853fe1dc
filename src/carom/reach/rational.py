"""Exact linear algebra on small arrays of rational numbers: NumPy arrays of GMP's `mpq`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
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
    return np.asarray(np.frompyfunc(mpq, 1, 1)(np.asarray(array)), dtype=object)


def identity(n: int) -> Exact:
    """Return the identity (n, n)."""
    return exactly(np.eye(n))


def rounded(array: Any, step: Any) -> Exact:
    """Round floats to multiples of the largest power of ten that is at most step."""
    return np.asarray(np.frompyfunc(round_to, 2, 1)(array, step), dtype=object)


def round_to(x: float, step: float) -> mpq:
    """Round x to a multiple of the largest power of ten that is at most step."""
    unit = Fraction(10) ** math.floor(math.log10(step))
    return mpq(round(Fraction(x) / unit) * unit)


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
    rows, pivots = _reduced(matrix.copy(), width)
    free = [column for column in range(width) if column not in pivots]
    basis = identity(width)[free]
    basis[:, pivots] = -rows[: len(pivots), free].T
    return basis


def _reduced(rows: Exact, width: int) -> tuple[Exact, list[int]]:
    """Return the reduced row echelon form in the first columns, and its pivots."""
    pivots: list[int] = []
    for column in range(width):
        at = len(pivots)
        below = np.flatnonzero(rows[at:, column])
        if len(below):
            rows[[at, at + below[0]]] = rows[[at + below[0], at]]
            rows[at] = rows[at] / rows[at, column]
            for i in np.flatnonzero(rows[:, column]):
                if i != at:
                    rows[i] = rows[i] - rows[i, column] * rows[at]
            pivots.append(column)
    return rows, pivots
