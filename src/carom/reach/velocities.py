"""Write polytopes of contact coordinates as polytopes of velocities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
import ppl

from carom.outcomes.polytope import Exact as Rows
from carom.outcomes.polytope import Polytope
from carom.reach.inclusion import Inclusion
from carom.reach.rational import Exact, exactly


def in_velocities(inclusion: Inclusion, polyhedron: ppl.C_Polyhedron, kind: str) -> Polytope:
    """Return a polytope of contact coordinates as one of velocities."""
    corners = []
    for vertex in polyhedron.minimized_generators():
        above, below = inclusion.velocity_of(vertex.coefficients(), vertex.divisor())
        corners.append(_over(above, below))
    conditions, equations = _rows(inclusion, polyhedron.minimized_constraints())
    return Polytope(tuple(corners), conditions, equations, kind)


def by_conditions(inclusion: Inclusion, polyhedron: ppl.C_Polyhedron, kind: str) -> Polytope:
    """Return the same without a list of all vertices, which PPL would have to compute.

    Listed are those at which contact velocities are extreme, in floats.
    """
    constraints = {_key(each): each for each in polyhedron.constraints()}
    # Two opposite inequalities are an equation, which leaves one dimension less.
    for key in list(constraints):
        opposite = tuple(-x for x in key)
        if key in constraints and opposite in constraints and opposite != key:
            form = ppl.Linear_Expression(key[1:], key[0])
            constraints[key] = form == 0
            del constraints[opposite]
    conditions, equations = _rows(inclusion, constraints.values())
    somewhere = _frozen([inclusion.v_start])
    polytope = Polytope(somewhere, conditions, equations, kind, has_all_corners=False)
    rows = (inclusion.rows @ inclusion.pull).astype(np.float64)
    corners = np.unique(polytope.maximizers(np.vstack([rows, -rows])), axis=0)
    return replace(polytope, corners=_frozen(exactly(corners)))


def _key(constraint: ppl.Constraint) -> tuple[Any, ...]:
    """Return the numbers of a constraint, which PPL keeps coprime."""
    return (constraint.inhomogeneous_term(), *constraint.coefficients())


def _rows(inclusion: Inclusion, constraints: Iterable[ppl.Constraint]) -> tuple[Rows, Rows]:
    """Return the conditions (a, b) of a . v <= b, and the equations, of contact coordinates."""
    conditions: list[tuple[Fraction, ...]] = []
    # The first equations say that the velocity stays in v_start + range(M^-1 J^T).
    equations = list(_frozen(inclusion.fixed))
    columns, unit = inclusion.pulled
    for constraint in constraints:
        # From c . y + c0 >= 0 to a . v <= b; PPL may omit trailing zeros of c.
        factors = constraint.coefficients()
        row = [-sum(map(mul, factors, column)) for column in columns]
        row[-1] += constraint.inhomogeneous_term() * unit
        exact = _over(row, unit)
        (equations if constraint.is_equality() else conditions).append(exact)
    return tuple(conditions), tuple(equations)


def _over(numerators: Iterable[Any], divisor: Any) -> tuple[Fraction, ...]:
    """Return quotients of GMP's integers as fractions of the standard library."""
    below = int(divisor)
    return tuple([Fraction(int(x), below) for x in numerators])


def _frozen(rows: Iterable[Exact]) -> Rows:
    """Return rows as fractions of the standard library, which can be saved."""
    return tuple(tuple(Fraction(int(x.numerator), int(x.denominator)) for x in row) for row in rows)
