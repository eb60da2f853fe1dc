"""A polytope with its outline in floats, for quick answers where floats are certain.

Exact numbers grow to thousands of digits on the way of an impact. Then a look in floats saves most
of the work: what lies clearly outside need not be asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import gmpy2
import numpy as np
import ppl

from carom.typing import BoolArray, FloatArray

SUBSUMES = ppl.Poly_Gen_Relation.subsumes()

ROUNDING = 1e-12
"""How far floats may mistake a sum of products, as a share of the sum of their sizes: far less."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A polytope.

    Attributes:
        polyhedron: The polytope, exactly.
    """

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
        """Tell which corners (n,) of another lie inside, exactly."""
        corners = other.polyhedron.minimized_generators()
        return np.array([self.polyhedron.relation_with(x).implies(SUBSUMES) for x in corners])

    def holds(self, other: Solid) -> bool:
        """Tell whether another lies inside, exactly."""
        return bool(self.polyhedron.contains(other.polyhedron))


def may_hold(solids: Sequence[Solid], others: Sequence[Solid]) -> BoolArray:
    """Tell which of several polytopes may hold which corners of others, in floats.

    Returns an array (solids, corners of all others one after another): where it is False, a corner
    certainly lies outside.
    """
    rows = np.concatenate([solid.conditions for solid in solids])
    points = np.concatenate([other.points for other in others])
    margins = np.concatenate([other.margins for other in others])
    inside = rows @ points.T >= -margins.T
    firsts = np.cumsum([0, *(len(solid.conditions) for solid in solids[:-1])])
    return np.asarray(np.logical_and.reduceat(inside, firsts, axis=0))


def quotients(numbers: Iterable[gmpy2.mpz], divisor: gmpy2.mpz) -> list[float]:
    """Return quotients of integers that floats may not hold."""
    below = gmpy2.mpfr(divisor)
    return [float(gmpy2.mpfr(x) / below) for x in numbers]
