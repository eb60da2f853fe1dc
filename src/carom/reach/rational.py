"""Exact linear algebra on small matrices of fractions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

Vector = list[Fraction]
Matrix = list[Vector]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """Return a . b."""
    return sum((p * q for p, q in zip(a, b, strict=True) if p and q), Fraction(0))


def times(matrix: Iterable[Sequence[Fraction]], x: Sequence[Fraction]) -> Vector:
    """Return matrix @ x."""
    return [dot(row, x) for row in matrix]


def transpose(matrix: Sequence[Sequence[Fraction]]) -> Matrix:
    """Return the transpose of a matrix that is not empty."""
    return [list(column) for column in zip(*matrix, strict=True)]


def add_scaled(a: Sequence[Fraction], factor: Fraction, b: Sequence[Fraction]) -> Vector:
    """Return a + factor * b."""
    return [p + factor * q for p, q in zip(a, b, strict=True)]


def solve(a: Sequence[Sequence[Fraction]], b: Sequence[Sequence[Fraction]]) -> Matrix:
    """Solve a x = b for a square and regular a (n, n) and b (n, k), by Gauss and Jordan."""
    n = len(a)
    rows = [list(p) + list(q) for p, q in zip(a, b, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        inverse = 1 / rows[k][k]
        rows[k] = [x * inverse for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = add_scaled(rows[i], -rows[i][k], rows[k])
    return [row[n:] for row in rows]


def round_to(x: float, step: float) -> Fraction:
    """Round x to a multiple of the greatest power of ten that is at most step."""
    unit = Fraction(10) ** math.floor(math.log10(step))
    return round(Fraction(x) / unit) * unit


def integers(row: Sequence[Fraction]) -> list[int]:
    """Scale a vector by a positive number to coprime integers."""
    common = math.lcm(*(x.denominator for x in row))
    numbers = [int(x * common) for x in row]
    divisor = math.gcd(*numbers) or 1
    return [x // divisor for x in numbers]


def null_space(matrix: Sequence[Sequence[Fraction]], width: int) -> Matrix:
    """Return a basis of the vectors x (width,) with matrix @ x = 0."""
    rows = [list(row) for row in matrix]
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
    basis = []
    for free in sorted(set(range(width)) - set(pivots)):
        x = [Fraction(0)] * width
        x[free] = Fraction(1)
        for i, column in enumerate(pivots):
            x[column] = -rows[i][free]
        basis.append(x)
    return basis
