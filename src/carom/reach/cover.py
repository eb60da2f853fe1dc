"""Decide whether several polytopes together cover one.

Exact numbers grow to thousands of digits on the way of an impact. A look in floats then saves most
of the work: what lies clearly outside need not be asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import gmpy2
import numpy as np
import ppl

from carom.reach.flow import INCLUDED
from carom.typing import BoolArray, FloatArray

SUBSUMES = ppl.Poly_Gen_Relation.subsumes()

ROUNDING = 1e-12
"""Margin for sums of products in floats, as a share of the sum of their sizes: ample."""

FEW = 6
"""Up to this many polytopes PPL is asked at once, which takes less than the outlines in floats."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A polytope, exactly, with its outline in floats for quick answers where these are certain."""

    polyhedron: ppl.C_Polyhedron

    @cached_property
    def points(self) -> FloatArray:
        """Return the corners, each with a 1 at the end, (n, d + 1)."""
        return np.array(
            [
                [*quotients(corner.coefficients(), corner.divisor()), 1.0]
                for corner in self.polyhedron.minimized_generators()
            ]
        )

    @cached_property
    def conditions(self) -> FloatArray:
        """Return rows (r, d + 1) with point . row >= 0, the largest entry 1; an equation is two."""
        rows = []
        for condition in self.polyhedron.minimized_constraints():
            numbers = [*condition.coefficients(), condition.inhomogeneous_term()]
            row = quotients(numbers, max(map(abs, numbers)))
            rows += [row, [-x for x in row]] if condition.is_equality() else [row]
        return np.array(rows)

    @cached_property
    def margins(self) -> FloatArray:
        """Return how far below zero (n, 1) floats may put a point on the edge of a condition."""
        return np.asarray(ROUNDING * np.abs(self.points).sum(axis=1, keepdims=True))

    def holds_corners(self, other: Solid) -> BoolArray:
        """Return which corners (n,) of another lie inside, exactly."""
        corners = other.polyhedron.minimized_generators()
        return np.array([self.polyhedron.relation_with(x).implies(SUBSUMES) for x in corners])

    def holds(self, other: Solid) -> bool:
        """Return whether another lies inside, exactly."""
        return bool(self.polyhedron.contains(other.polyhedron))


def is_covered(solid: Solid, others: Sequence[Solid], most_splits: int) -> bool:
    """Return whether a polytope lies in the union of others, if that is seen with few splits.

    True is a proof; False may also mean that there were too many splits.
    """
    if len(others) <= FEW and any(other.holds(solid) for other in others):
        return True
    return len(others) > 1 and _splits_left(solid, others, most_splits) >= 0


def held_by(solid: Solid, others: Sequence[Solid]) -> list[bool]:
    """Return which of several polytopes lie in one."""
    if len(others) <= FEW:
        return [solid.holds(other) for other in others]
    firsts = np.cumsum([0, *(len(other.points) for other in others[:-1])])
    may = np.logical_and.reduceat(_may_hold([solid], others)[0], firsts)
    return [bool(x) and solid.holds(other) for x, other in zip(may, others, strict=True)]


def quotients(numbers: Iterable[gmpy2.mpz], divisor: gmpy2.mpz) -> list[float]:
    """Return quotients of integers that floats may not hold."""
    below = gmpy2.mpfr(divisor)
    return [float(gmpy2.mpfr(x) / below) for x in numbers]


def _may_hold(solids: Sequence[Solid], others: Sequence[Solid]) -> BoolArray:
    """Return which polytopes may hold which corners of others, in floats.

    The result is (solids, corners of all others one after another): where it is False, a corner
    certainly lies outside.
    """
    rows = np.concatenate([solid.conditions for solid in solids])
    points = np.concatenate([other.points for other in others])
    margins = np.concatenate([other.margins for other in others])
    inside = rows @ points.T >= -margins.T
    firsts = np.cumsum([0, *(len(solid.conditions) for solid in solids[:-1])])
    return np.asarray(np.logical_and.reduceat(inside, firsts, axis=0))


def _splits_left(solid: Solid, others: Sequence[Solid], splits: int) -> int:
    """Return how many splits are left after a proof, -1 if there is none.

    The polytope is cut along the one that seems to hold most of its corners, and what lies outside
    of that must be covered by the others in turn.
    """
    if not others:
        return -1
    if len(others) <= FEW:
        held = np.array([other.holds_corners(solid) for other in others])
    else:
        held = _may_hold(others, [solid])
    if not held.any(axis=0).all():
        return -1
    if any(others[i].holds(solid) for i in np.flatnonzero(held.all(axis=1)).tolist()):
        return splits
    best = int(held.sum(axis=1).argmax())
    rest = [other for i, other in enumerate(others) if i != best]
    inside = ppl.C_Polyhedron(solid.polyhedron)
    for condition in others[best].polyhedron.minimized_constraints():
        if inside.relation_with(condition).implies(INCLUDED):
            continue
        if condition.is_equality():
            # One that is flatter than the polyhedron covers nothing of it.
            return _splits_left(solid, rest, splits)
        value = ppl.Linear_Expression(condition.coefficients(), condition.inhomogeneous_term())
        outside = ppl.C_Polyhedron(inside)
        outside.add_constraint(value <= 0)
        if not outside.relation_with(value == 0).implies(INCLUDED):
            splits = _splits_left(Solid(outside), rest, splits - 1) if splits > 0 else -1
            if splits < 0:
                return -1
        inside.add_constraint(condition)
    return splits
