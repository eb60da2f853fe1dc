"""Polyhedra of contact coordinates, in velocities."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import ppl

from carom.reach.flow import Flow, vertices
from carom.reach.inclusion import Cell, Inclusion
from carom.reach.rational import Vector, dot, null_space, times, transpose

Rows = tuple[tuple[Fraction, ...], ...]


def in_velocities(inclusion: Inclusion, polyhedron: ppl.C_Polyhedron) -> tuple[Rows, Rows, Rows]:
    """Return corners (k, nv), conditions (r, nv + 1) and equations (e, nv + 1) of a polytope.

    A row (a, b) is a . v <= b or a . v = b.
    """
    corners = [inclusion.velocity(y) for y in vertices(polyhedron)]
    conditions: list[Vector] = []
    # The velocity cannot leave v_start + range(M^-1 J^T).
    equations = [
        [*normal, dot(normal, inclusion.v_start)]
        for normal in null_space(transpose(inclusion.lift), len(inclusion.v_start))
    ]
    for constraint in polyhedron.minimized_constraints():
        row = _row(inclusion, constraint)
        (equations if constraint.is_equality() else conditions).append(row)
    return _frozen(corners), _frozen(conditions), _frozen(equations)


def _row(inclusion: Inclusion, constraint: ppl.Constraint) -> Vector:
    """Turn c . y + c0 >= 0 into a . v <= b."""
    factors = [Fraction(-int(x)) for x in constraint.coefficients()]
    factors += [Fraction(0)] * (inclusion.dimension - len(factors))
    row = times(transpose(inclusion.pull), factors)
    return [*row, Fraction(int(constraint.inhomogeneous_term())) + inclusion.offset(factors)]


def cells_of(flow: Flow, polyhedron: ppl.C_Polyhedron, cell: Cell) -> set[Cell]:
    """Return every cell that a polytope has points in, its own and those of its faces."""
    found: set[Cell] = set()
    waiting = [(polyhedron, cell)]
    while waiting:
        part, own = waiting.pop()
        if own not in found:
            found.add(own)
            waiting += flow.faces(part, own)
    return found


def _frozen(rows: Sequence[Vector]) -> Rows:
    return tuple(tuple(row) for row in rows)
