"""Decide whether the union of several polytopes covers one.

Exact numbers grow to thousands of digits during an impact. Floats save most of the work: exact
arithmetic is used only where they do not decide.
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
"""Ample bound on rounding errors, as a share of the sum of absolute values."""

FEW = 6
"""Number of polytopes up to which exact arithmetic is faster than floats."""


@dataclass(frozen=True, eq=False)
class Solid:
    """An exact polytope, with vertices and conditions in floats for quick decisions."""

    polyhedron: ppl.C_Polyhedron

    @cached_property
    def points(self) -> FloatArray:
        """Return the vertices in homogeneous coordinates, (n, d + 1)."""
        corners = self.polyhedron.minimized_generators()
        return np.array([[*quotients(x.coefficients(), x.divisor()), 1.0] for x in corners])

    @cached_property
    def conditions(self) -> FloatArray:
        """Return rows (r, d + 1) with point . row >= 0 and largest entry 1; equations give two."""
        rows = []
        for condition in self.polyhedron.minimized_constraints():
            numbers = [*condition.coefficients(), condition.inhomogeneous_term()]
            row = quotients(numbers, max(map(abs, numbers)))
            rows += [row, [-x for x in row]] if condition.is_equality() else [row]
        return np.array(rows)

    def holds(self, other: Solid) -> bool:
        """Return whether another polytope lies inside, exactly."""
        return bool(self.polyhedron.contains(other.polyhedron))


def is_covered(solid: Solid, others: Sequence[Solid], most_splits: int) -> bool:
    """Return whether a polytope lies in the union of others; False may also mean too few splits."""
    if len(others) <= FEW and any(other.holds(solid) for other in others):
        return True
    return len(others) > 1 and _splits_left(solid, others, most_splits) >= 0


def held_by(solid: Solid, others: Sequence[Solid]) -> list[bool]:
    """Return which of several others lie in a polytope."""
    if len(others) <= FEW:
        return [solid.holds(other) for other in others]
    firsts = np.cumsum([0, *(len(other.points) for other in others[:-1])])
    may = np.logical_and.reduceat(_may_hold([solid], others)[0], firsts)
    return [bool(x) and solid.holds(other) for x, other in zip(may, others, strict=True)]


def quotients(numbers: Iterable[gmpy2.mpz], divisor: gmpy2.mpz) -> list[float]:
    """Return quotients of integers that may exceed the range of floats."""
    below = gmpy2.mpfr(divisor)
    return [float(gmpy2.mpfr(x) / below) for x in numbers]


def _may_hold(solids: Sequence[Solid], others: Sequence[Solid]) -> BoolArray:
    """Return which vertices of others may lie in which polytopes, (solids, all vertices)."""
    rows = np.concatenate([solid.conditions for solid in solids])
    points = np.concatenate([other.points for other in others])
    # What is farther out than rounding errors certainly lies outside.
    inside = rows @ points.T >= -ROUNDING * np.abs(points).sum(axis=1)
    firsts = np.cumsum([0, *(len(solid.conditions) for solid in solids[:-1])])
    return np.asarray(np.logical_and.reduceat(inside, firsts, axis=0))


def _splits_left(solid: Solid, others: Sequence[Solid], splits: int) -> int:
    """Return the number of splits left after a proof, or -1 if there is none."""
    if not others:
        return -1
    if len(others) <= FEW:
        corners = solid.polyhedron.minimized_generators()
        relations = ([other.polyhedron.relation_with(x) for x in corners] for other in others)
        held = np.array([[each.implies(SUBSUMES) for each in row] for row in relations])
    else:
        held = _may_hold(others, [solid])
    if not held.any(axis=0).all():
        return -1
    if any(others[i].holds(solid) for i in np.flatnonzero(held.all(axis=1)).tolist()):
        return splits
    # Split along the one that contains most vertices; the others must cover what lies outside.
    best = int(held.sum(axis=1).argmax())
    rest = [other for i, other in enumerate(others) if i != best]
    inside = ppl.C_Polyhedron(solid.polyhedron)
    for condition in others[best].polyhedron.minimized_constraints():
        if inside.relation_with(condition).implies(INCLUDED):
            continue
        if condition.is_equality():
            # A polytope of lower dimension covers nothing.
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
