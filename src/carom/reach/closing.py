"""Search for an outer set where an exact search never terminates.

In some impacts, motions cycle through a few cells and reach slightly more in every round, so that
the reachable set has infinitely many vertices. Here, conditions that a round violates slightly are
relaxed by more than the violation. If the next round stays within them, the cycle is closed; once
all are closed the waiting list empties. The result contains all that is reached, and a little more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import ppl
from gmpy2 import mpq
from scipy.spatial.distance import cdist

from carom.reach.cover import Solid, quotients
from carom.reach.flow import INCLUDED, Part
from carom.reach.inclusion import Cell
from carom.reach.search import Node, Search
from carom.typing import FloatArray

LITTLE = 1e-3
"""Largest violation for which a condition is relaxed, as a share of the impact's speed."""

FARTHER = 3.0
"""A condition is relaxed by this multiple of its violation, which doubles every time."""

FARTHEST = 0.1
"""Largest allowed motion of a vertex, as a share of the impact's speed; sharp ones move far."""

LEAST = 1e-12
"""Violation to assume where floats show none, as a share of the impact's speed."""


@dataclass(eq=False)
class LooseNode(Node):
    """A node whose conditions were relaxed this number of times."""

    times: int = 1


class _Conditions(NamedTuple):
    """Conditions (>= 0) and equations (== 0) of a polytope, exact and in floats (n, d + 1)."""

    constraints: list[ppl.Constraint]
    units: list[mpq]  # change of the left sides over the impact's speed
    rows: FloatArray
    equations: list[ppl.Constraint]
    flat: FloatArray


@dataclass(eq=False)
class Closing(Search):
    """A search that relaxes conditions which cycles violate slightly."""

    little: float = LITTLE
    _conditions: dict[Node, _Conditions] = field(default_factory=dict)

    def _reach(self, part: Part, parent: Node | None) -> Node:
        return self._relaxed(part, parent) or super()._reach(part, parent)

    def _relaxed(self, part: Part, parent: Node | None) -> Node | None:
        """Return the known node that a part violates least, relaxed, or None if not applicable."""
        known = self.known.get(part.cell, [])
        if not known or not _came_back(parent, part.cell):
            return None
        corners = Solid(part.polyhedron).points
        violated = [self._violation(node, corners) for node in known]
        nearest = min(range(len(known)), key=lambda i: float(violated[i].max(initial=0.0)))
        node, by = known[nearest], violated[nearest]
        equations = self._of(node).equations
        if by.max(initial=0.0) > self.little or not all(
            _is_held(part.polyhedron, e) for e in equations
        ):
            return None
        times = 1 + (node.times if isinstance(node, LooseNode) else 0)
        loose = self._loose(part, node, by, FARTHER * 2.0 ** (times - 1))
        if not loose.is_bounded() or not loose.contains(part.polyhedron):
            return None
        old = np.concatenate([corners, node.solid.points])
        reach = self.flow.inclusion.reach
        # Distances as shares of the impact's speed.
        new, before = (np.linalg.solve(reach, x[:, :-1].T).T for x in (Solid(loose).points, old))
        if cdist(new, before).min(axis=1).max() > FARTHEST:
            return None
        reached = self.flow.advance(loose, part.cell)
        return LooseNode(part.cell, part.polyhedron, reached, parent, times=times)

    def _loose(self, part: Part, node: Node, by: FloatArray, factor: float) -> ppl.C_Polyhedron:
        """Return a node's polyhedron, with those conditions relaxed that a part violates."""
        polyhedron, cell = part
        conditions = self._of(node)
        loose = ppl.C_Polyhedron(self.flow.constraints(cell))
        for equation in conditions.equations:
            loose.add_constraint(equation)
        for condition, unit, x in zip(conditions.constraints, conditions.units, by, strict=True):
            if _is_held(polyhedron, condition):
                loose.add_constraint(condition)
                continue
            room = math.ceil(mpq(factor * max(float(x), LEAST)) * unit)
            offset = condition.inhomogeneous_term() + room
            loose.add_constraint(ppl.Linear_Expression(condition.coefficients(), offset) >= 0)
        return loose

    def _violation(self, node: Node, corners: FloatArray) -> FloatArray:
        """Return the violations by corners (n, d + 1), as shares of the speed; inf: an equation."""
        conditions = self._of(node)
        if np.abs(corners @ conditions.flat.T).max(initial=0.0) > LEAST:
            return np.full(1, np.inf)
        return np.asarray(-(corners @ conditions.rows.T).min(axis=0))

    def _of(self, node: Node) -> _Conditions:
        if node in self._conditions:
            return self._conditions[node]
        out = _Conditions([], [], np.empty(0), [], np.empty(0))
        rows: list[FloatArray] = []
        flat: list[FloatArray] = []
        for constraint in node.reached.minimized_constraints():
            numbers = [*constraint.coefficients(), constraint.inhomogeneous_term()]
            scale = max(map(abs, numbers))
            row = np.array(quotients(numbers, scale))
            unit = float(np.linalg.norm(row[:-1] @ self.flow.inclusion.reach))
            if constraint.is_equality():
                out.equations.append(constraint)
                flat.append(row / unit)
            else:
                out.constraints.append(constraint)
                out.units.append(scale * mpq(unit))
                rows.append(row / unit)
        width = self.flow.inclusion.dimension + 1
        out = out._replace(
            rows=np.array(rows).reshape(-1, width), flat=np.array(flat).reshape(-1, width)
        )
        self._conditions[node] = out
        return out


def _came_back(node: Node | None, cell: Cell) -> bool:
    """Return whether a node descends from a cell, up to its last relaxed ancestor."""
    # One relaxed node per cycle is enough; several would drive each other outwards.
    while node is not None:
        if node.cell == cell:
            return True
        node = None if isinstance(node, LooseNode) else node.parent
    return False


def _is_held(polyhedron: ppl.C_Polyhedron, condition: ppl.Constraint) -> bool:
    return bool(polyhedron.relation_with(condition).implies(INCLUDED))
