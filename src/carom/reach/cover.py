"""Tell whether several polyhedra together cover one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import ppl

from carom.reach.flow import INCLUDED
from carom.reach.solid import Solid, may_hold

FEW = 6
"""So few polyhedra are asked at once, without a look in floats."""


def is_covered(solid: Solid, others: Sequence[Solid], most_splits: int) -> bool:
    """Tell whether a polytope lies in the union of others, if that is seen with few splits.

    True is a proof; False may also mean that there were too many splits.
    """
    if len(others) <= FEW and any(other.holds(solid) for other in others):
        return True
    return len(others) > 1 and _splits_left(solid, others, most_splits) >= 0


def held_by(solid: Solid, others: Sequence[Solid]) -> list[bool]:
    """Tell which of several polytopes lie in one."""
    if len(others) <= FEW:
        return [solid.holds(other) for other in others]
    firsts = np.cumsum([0, *(len(other.points) for other in others[:-1])])
    may = np.logical_and.reduceat(may_hold([solid], others)[0], firsts)
    return [bool(x) and solid.holds(other) for x, other in zip(may, others, strict=True)]


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
        held = may_hold(others, [solid])
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
