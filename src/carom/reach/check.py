"""Check in rational arithmetic that no motion leaves a set of polyhedra.

Only the polyhedra are taken from a search. A motion within a cell cannot violate a condition of its
polyhedron that no rate of the cell lowers, nor one of the closed cell or of the energy; a linear
program decides the others. What lies on a face of the cell, or may enter a larger one, must be
covered there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import gmpy2
import ppl

from carom.reach.cover import Solid, is_covered
from carom.reach.flow import INCLUDED, Flow, OutOfTime, Part
from carom.reach.inclusion import Cell, Inclusion

Cover = dict[Cell, list[ppl.C_Polyhedron]]
"""Polyhedra by cell."""

MOST_SPLITS = 1000
"""Maximum number of splits of a polyhedron in proofs that others cover it."""


def is_closed(
    inclusion: Inclusion,
    cover: Cover,
    energy: ppl.Constraint_System,
    max_seconds: float,
    *,
    exempt: Cover | None = None,
    starts: Sequence[Part] = (),
) -> bool:
    """Return whether the start is inside a set that no motion leaves; False if time runs out.

    Motions may go on from the polyhedra in `exempt`, by cell, which are not followed. `starts` are
    further parts from which motions begin.
    """
    flow = Flow(inclusion)
    flow.deadline = time.monotonic() + max_seconds
    allowed = {cell: [Solid(p) for p in polyhedra] for cell, polyhedra in cover.items()}
    for cell, polyhedra in (exempt or {}).items():
        allowed[cell] = [*allowed.get(cell, []), *map(Solid, polyhedra)]
    try:
        return all(_is_allowed(part, allowed) for part in (flow.start(), *starts)) and all(
            _stays(flow, allowed, Part(polyhedron, cell), energy)
            for cell, polyhedra in cover.items()
            if not inclusion.is_final(cell)
            for polyhedron in polyhedra
        )
    except OutOfTime:
        return False


def _is_allowed(part: Part, allowed: dict[Cell, list[Solid]]) -> bool:
    """Return whether a polytope lies in the union of those of its cell."""
    return is_covered(Solid(part.polyhedron), allowed.get(part.cell, []), MOST_SPLITS)


def _stays(
    flow: Flow, allowed: dict[Cell, list[Solid]], part: Part, energy: ppl.Constraint_System
) -> bool:
    """Return whether everything that motions reach from one part is covered."""
    if time.monotonic() > flow.deadline:
        raise OutOfTime
    return (
        _is_kept(flow, part, energy)
        and all(_is_allowed(face, allowed) for face in flow.faces(*part))
        and all(_is_allowed(part._replace(cell=c), allowed) for c in flow.entries(part.cell))
    )


def _is_kept(flow: Flow, part: Part, energy: ppl.Constraint_System) -> bool:
    """Return whether motions within a closed cell cannot leave a polyhedron."""
    polyhedron, cell = part
    anyway = ppl.C_Polyhedron(flow.constraints(cell))
    anyway.add_constraints(energy)
    rays = [ray.y for ray in flow.rays(cell)]
    return all(
        anyway.relation_with(condition).implies(INCLUDED)
        or all(_holds_along(condition, ray) for ray in rays)
        or _holds_where_motions_end(condition, polyhedron, rays, anyway)
        for condition in polyhedron.minimized_constraints()
    )


def _holds_along(condition: ppl.Constraint, ray: Sequence[gmpy2.mpz]) -> bool:
    """Return whether a condition (>= 0 or == 0) that holds still holds along a ray."""
    rise = sum(a * x for a, x in zip(condition.coefficients(), ray, strict=False))
    return rise == 0 if condition.is_equality() else rise >= 0


def _holds_where_motions_end(
    condition: ppl.Constraint,
    polyhedron: ppl.C_Polyhedron,
    rays: Sequence[Sequence[gmpy2.mpz]],
    anyway: ppl.C_Polyhedron,
) -> bool:
    """Decide by linear programs whether a condition holds wherever motions along rays end."""
    d = polyhedron.space_dimension()
    # The variables are the start of a motion and its length along each ray.
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
    terms = (a * x for a, x in zip(constraint.coefficients(), end, strict=False) if a)
    return sum(terms, ppl.Linear_Expression(constraint.inhomogeneous_term()))


def is_inside(polyhedron: ppl.C_Polyhedron, others: Sequence[ppl.C_Polyhedron]) -> bool:
    """Return whether a polytope lies in the union of several polyhedra."""
    return is_covered(Solid(polyhedron), [Solid(other) for other in others], MOST_SPLITS)
