"""Exact linear algebra on small matrices of rational numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import gmpy2
from gmpy2 import mpq

Vector = list[mpq]
Matrix = list[Vector]

ZERO = mpq(0)
ONE = mpq(1)


def dot(a: Sequence[mpq], b: Sequence[mpq]) -> mpq:
    """Return a . b."""
    return sum((p * q for p, q in zip(a, b, strict=True) if p and q), ZERO)


def times(matrix: Iterable[Sequence[mpq]], x: Sequence[mpq]) -> Vector:
    """Return matrix @ x."""
    return [dot(row, x) for row in matrix]


def transpose(matrix: Sequence[Sequence[mpq]]) -> Matrix:
    """Return the transpose of a matrix that is not empty."""
    return [list(column) for column in zip(*matrix, strict=True)]


def add_scaled(a: Sequence[mpq], factor: mpq, b: Sequence[mpq]) -> Vector:
    """Return a + factor * b."""
    return [p + factor * q for p, q in zip(a, b, strict=True)]


def combination(weights: Sequence[mpq], rows: Iterable[Sequence[mpq]], width: int) -> Vector:
    """Return weights @ rows (width,), also where there are no rows."""
    total = [ZERO] * width
    for weight, row in zip(weights, rows, strict=True):
        if weight:
            total = add_scaled(total, weight, row)
    return total


def identity(n: int) -> Matrix:
    """Return the identity (n, n)."""
    return [[ONE if i == j else ZERO for j in range(n)] for i in range(n)]


def exactly(matrix: Iterable[Iterable[float]]) -> Matrix:
    """Return a matrix of floats as it is, in rationals."""
    return [[mpq(float(x)) for x in row] for row in matrix]


def round_to(x: float, step: float) -> mpq:
    """Round x to a multiple of the greatest power of ten that is at most step."""
    unit = Fraction(10) ** math.floor(math.log10(step))
    return mpq(round(Fraction(x) / unit) * unit)


def integers(row: Sequence[mpq]) -> list[gmpy2.mpz]:
    """Scale a vector by a positive number to coprime integers."""
    common = gmpy2.lcm(*(x.denominator for x in row))
    numbers = [x.numerator * (common // x.denominator) for x in row]
    divisor = gmpy2.gcd(*numbers) or 1
    return [x // divisor for x in numbers]


def solve(a: Sequence[Sequence[mpq]], b: Sequence[Sequence[mpq]]) -> Matrix:
    """Solve a x = b for a square and regular a (n, n) and b (n, k)."""
    rows, _ = _reduced([[*p, *q] for p, q in zip(a, b, strict=True)], len(a))
    return [row[len(a) :] for row in rows]


def null_space(matrix: Sequence[Sequence[mpq]], width: int) -> Matrix:
    """Return a basis of the vectors x (width,) with matrix @ x = 0."""
    rows, pivots = _reduced([list(row) for row in matrix], width)
    basis = []
    for free in sorted(set(range(width)) - set(pivots)):
        x = [ZERO] * width
        x[free] = ONE
        for row, column in zip(rows, pivots, strict=False):
            x[column] = -row[free]
        basis.append(x)
    return basis


def _reduced(rows: Matrix, width: int) -> tuple[Matrix, list[int]]:
    """Return reduced row echelon form in the first columns, by Gauss and Jordan, and its pivots."""
    pivots: list[int] = []
    for column in range(width):
        at = len(pivots)
        pivot = next((i for i in range(at, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[at], rows[pivot] = rows[pivot], rows[at]
        inverse = 1 / rows[at][column]
        rows[at] = [x * inverse for x in rows[at]]
        for i in range(len(rows)):
            if i != at and rows[i][column]:
                rows[i] = add_scaled(rows[i], -rows[i][column], rows[at])
        pivots.append(column)
    return rows, pivots
