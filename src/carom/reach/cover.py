"""Tell whether several polyhedra together cover one."""

from __future__ import annotations

from collections.abc import Sequence

import ppl

from carom.reach.flow import INCLUDED

_SUBSUMES = ppl.Poly_Gen_Relation.subsumes()


def is_covered(
    polyhedron: ppl.C_Polyhedron, others: Sequence[ppl.C_Polyhedron], most_splits: int
) -> bool:
    """Tell whether a polytope lies in the union of others, if that is seen with few splits.

    True is a proof; False may also mean that there were too many splits.
    """
    return _splits_left(polyhedron, others, most_splits) >= 0


def _splits_left(
    polyhedron: ppl.C_Polyhedron, others: Sequence[ppl.C_Polyhedron], splits: int
) -> int:
    """Return how many splits are left after a proof, -1 if there is none.

    The polyhedron is cut along the one that holds most of its corners, and what lies outside of
    that must be covered by the others in turn.
    """
    corners = list(polyhedron.minimized_generators())
    if not all(any(_holds(other, corner) for other in others) for corner in corners):
        return -1
    held = [sum(_holds(other, corner) for corner in corners) for other in others]
    best = max(range(len(others)), key=held.__getitem__)
    if held[best] == len(corners):
        return splits
    rest = [other for i, other in enumerate(others) if i != best]
    inside = ppl.C_Polyhedron(polyhedron)
    for condition in others[best].minimized_constraints():
        if inside.relation_with(condition).implies(INCLUDED):
            continue
        if condition.is_equality():
            # One that is flatter than the polyhedron covers nothing of it.
            return _splits_left(polyhedron, rest, splits)
        value = ppl.Linear_Expression(condition.coefficients(), condition.inhomogeneous_term())
        outside = ppl.C_Polyhedron(inside)
        outside.add_constraint(value <= 0)
        if not outside.relation_with(value == 0).implies(INCLUDED):
            splits = _splits_left(outside, rest, splits - 1) if splits > 0 else -1
            if splits < 0:
                return -1
        inside.add_constraint(condition)
    return splits


def _holds(polyhedron: ppl.C_Polyhedron, corner: ppl.Generator) -> bool:
    return bool(polyhedron.relation_with(corner).implies(_SUBSUMES))
