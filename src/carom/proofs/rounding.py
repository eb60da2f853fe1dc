"""Turn multipliers in floats into rational ones that satisfy their constraints exactly."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, frexp, inf, nextafter
from sys import float_info

import numpy as np

from carom.problem import ImpactProblem
from carom.proofs.check import contact_slacks
from carom.proofs.rational import Rational, as_array, exactly, root_above
from carom.typing import FloatArray

BITS = 56
"""Binary digits kept of multipliers, relative to the largest; large friction needs them all."""

MOST_DOUBLINGS = 40
"""Attempts to repair a velocity, each moving it twice as far as the one before."""


def rounded(values: FloatArray, sizes: FloatArray) -> Rational:
    """Return values to the nearest 2^-BITS of the given sizes, as short fractions."""
    out = []
    for x, size in zip(values.tolist(), sizes.tolist(), strict=True):
        step = Fraction(2) ** (int(np.frexp(size)[1]) - BITS) if size > 0.0 else Fraction(1)
        out.append(round(Fraction(x) / step) * step)
    return as_array(tuple(out))


def null_space(rows: Rational) -> tuple[Rational, list[int]]:
    """Return the reduced echelon form of rows and its pivot columns."""
    rows, pivots, rank = rows.copy(), list[int](), 0
    while rank < len(rows):
        sizes = np.abs(rows[rank:]).astype(np.float64)
        if not sizes.any():
            break
        at, column = divmod(int(sizes.argmax()), rows.shape[1])
        rows[[rank, rank + at]] = rows[[rank + at, rank]]
        rows[rank] = rows[rank] / rows[rank, column]
        for i in range(len(rows)):
            if i != rank and rows[i, column]:
                rows[i] = rows[i] - rows[i, column] * rows[rank]
        pivots.append(column)
        rank += 1
    return rows[:rank], pivots


def projected(z: Rational, echelon: Rational, pivots: list[int]) -> Rational:
    """Return z with its pivots changed so that the rows of an echelon form vanish on it."""
    z = z.copy()
    z[pivots] = Fraction(0)
    z[pivots] = -(echelon @ z)
    return z


def repaired(
    problem: ImpactProblem, z: Rational, weights: Rational, inside: Rational, free: list[int]
) -> Rational | None:
    """Return z plus the least needed multiple of a velocity inside the free contacts' constraints.

    None if no multiple helps.
    """
    start = worst_excess(problem, z, weights)
    if start <= 0.0:
        return z
    margin = -worst_excess(problem, inside, weights * 0, free)
    fixed = [i for i in range(problem.num_contacts) if i not in free]
    # What the other contacts' constraints say does not change along `inside`.
    if not margin > 0.0 or worst_excess(problem, z, weights, fixed) > 0.0:
        return None
    # An excess below the rounding errors of floats tells nothing of its size.
    noise = float_info.epsilon * float(max(map(abs, z)))
    mantissa, exponent = frexp(nextafter(max(start, noise) / margin, inf))
    # Few digits keep the sum short; a share that is 1/128 too large costs nothing that counts.
    share = Fraction(ceil(mantissa * 128 + 1)) * Fraction(2) ** (exponent - 7)
    for _ in range(MOST_DOUBLINGS):
        trial = z + share * inside
        if worst_excess(problem, trial, weights) <= 0.0:
            return trial
        share *= 2
    return None


def worst_excess(
    problem: ImpactProblem, z: Rational, weights: Rational, contacts: list[int] | None = None
) -> float:
    """Return the largest mu |J_t z| + w - J_n z over some or all contacts, in units of |J_n|.

    The sign is exact: it is positive if and only if a constraint fails.
    """
    lengths = np.linalg.norm(problem.J_n, axis=1).tolist()
    slacks = contact_slacks(problem, z, weights)
    worst = -inf
    for i in range(len(slacks)) if contacts is None else contacts:
        (normal, tangent), length = slacks[i], lengths[i]
        if normal >= 0 and normal**2 >= tangent:
            worst = max(worst, min(0.0, (_root(tangent) - float(normal)) / length))
        else:
            worst = max(worst, (_root(tangent) - float(normal)) / length, 5e-324)
    return worst


def float_above(x: Fraction) -> Fraction:
    """Return the least float that is not below x, as a fraction; x itself if floats end."""
    try:
        near = float(x)
    except OverflowError:
        return x
    return Fraction(near if Fraction(near) >= x else nextafter(near, inf))


def jammed_rows(problem: ImpactProblem, jammed: list[int]) -> Rational:
    """Return the rows of J that vanish on every velocity which jammed contacts allow."""
    rows = [problem.J_n[i] for i in jammed]
    rows += [row for i in jammed if problem.mu[i] > 0.0 for row in problem.J_t[i]]
    return exactly(np.array(rows).reshape(-1, problem.num_velocities))


def _root(x: Fraction) -> float:
    # Squares of tiny numbers vanish as floats; roots do not.
    return float(root_above(x))
