"""Check from scratch that no motion leaves a set of polyhedra.

Nothing is taken from a search but the polyhedra themselves. A motion within a cell cannot leave a
polyhedron through a condition that none of the cell's rates worsens, nor through one of the closed
cell or of the energy, which hold wherever it ends; of others a linear program tells. What then lies
on a face of the cell, or may enter a larger one, must be covered there. All is rational.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import ppl

from carom.reach.cover import is_covered
from carom.reach.flow import INCLUDED, Flow
from carom.reach.inclusion import Cell, Inclusion
from carom.reach.rational import integers
from carom.reach.solid import Solid

Pieces = dict[Cell, list[ppl.C_Polyhedron]]
"""Polyhedra by cell."""

MOST_SPLITS = 1000
"""Into so many parts a polyhedron is split, at most, to see that others cover it."""


def is_closed(
    inclusion: Inclusion, pieces: Pieces, energy: ppl.Constraint_System, max_seconds: float
) -> bool:
    """Tell whether the start is inside a set and no motion leaves it.

    Motions end where the energy bounds do: energy never rises. False may also mean that time ran
    out.
    """
    deadline = time.monotonic() + max_seconds
    flow = Flow(inclusion)
    start, cell = flow.start()
    return is_inside(start, pieces.get(cell, [])) and all(
        inclusion.is_final(cell)
        or (time.monotonic() <= deadline and _stays(flow, pieces, cell, polyhedron, energy))
        for cell, polyhedra in pieces.items()
        for polyhedron in polyhedra
    )


def _stays(
    flow: Flow,
    pieces: Pieces,
    cell: Cell,
    polyhedron: ppl.C_Polyhedron,
    energy: ppl.Constraint_System,
) -> bool:
    """Tell whether all that motions reach from one polyhedron is inside."""
    return (
        _is_kept(flow, cell, polyhedron, energy)
        and all(
            is_inside(part, pieces.get(face, [])) for part, face in flow.faces(polyhedron, cell)
        )
        and all(is_inside(polyhedron, pieces.get(larger, [])) for larger in flow.entries(cell))
    )


def _is_kept(
    flow: Flow, cell: Cell, polyhedron: ppl.C_Polyhedron, energy: ppl.Constraint_System
) -> bool:
    """Tell whether motions within a closed cell cannot leave a polyhedron."""
    anyway = ppl.C_Polyhedron(flow.constraints(cell))
    anyway.add_constraints(energy)
    rays = [integers(ray.y) for ray in flow.rays(cell)]
    return all(
        anyway.relation_with(condition).implies(INCLUDED)
        or all(_holds_along(condition, ray) for ray in rays)
        or _holds_where_motions_end(condition, polyhedron, rays, anyway)
        for condition in polyhedron.minimized_constraints()
    )


def _holds_along(condition: ppl.Constraint, ray: Sequence[int]) -> bool:
    """Tell whether a condition (>= 0 or == 0) that holds goes on to hold along a ray."""
    rise = sum(int(a) * x for a, x in zip(condition.coefficients(), ray, strict=False))
    return rise == 0 if condition.is_equality() else rise >= 0


def _holds_where_motions_end(
    condition: ppl.Constraint,
    polyhedron: ppl.C_Polyhedron,
    rays: Sequence[Sequence[int]],
    anyway: ppl.C_Polyhedron,
) -> bool:
    """Tell by linear programs whether motions along rays that end where they may hold a condition.

    The variables are where a motion starts and how far it goes along each ray.
    """
    d = polyhedron.space_dimension()
    program = ppl.MIP_Problem(d + len(rays))
    program.add_constraints(polyhedron.minimized_constraints())
    end = [ppl.Linear_Expression(ppl.Variable(k)) for k in range(d)]
    for j, ray in enumerate(rays):
        program.add_constraint(ppl.Variable(d + j) >= 0)
        end = [x + ray[k] * ppl.Variable(d + j) for k, x in enumerate(end)]
    for bound in anyway.minimized_constraints():
        value = _value(bound, end)
        program.add_constraint(value == 0 if bound.is_equality() else value >= 0)
    program.set_optimization_mode("minimization")
    value = _value(condition, end)
    return _is_never_negative(program, value) and (
        not condition.is_equality() or _is_never_negative(program, -value)
    )


def _is_never_negative(program: ppl.MIP_Problem, value: ppl.Linear_Expression) -> bool:
    program.set_objective_function(value)
    status = program.solve()["status"]
    return bool(status == "optimized" and program.optimal_value() >= 0)


def _value(
    constraint: ppl.Constraint, end: Sequence[ppl.Linear_Expression]
) -> ppl.Linear_Expression:
    """Return the left side of a constraint (>= 0 or == 0) at the end of a motion."""
    value = ppl.Linear_Expression(constraint.inhomogeneous_term())
    for factor, coordinate in zip(constraint.coefficients(), end, strict=False):
        if factor:
            value += factor * coordinate
    return value


def is_inside(polyhedron: ppl.C_Polyhedron, others: Sequence[ppl.C_Polyhedron]) -> bool:
    """Tell whether a polytope lies in one of several polyhedra, or in several together."""
    return is_covered(Solid(polyhedron), [Solid(other) for other in others], MOST_SPLITS)
