"""Close a search from outside that would go on for ever.

Some impacts go round: motions lead through a few cells back to the first one, and reach a little
more in every round, without end; what is reached has infinitely many corners. Here the conditions
that a round violates by little are relaxed, by more than the violation. If the next round then
stays within, that round is closed, and once all are the list empties: motion leads from what is
known to what is known and nowhere else. So nothing outside can happen, though not all that is
inside need happen.
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
"""Largest violation of a condition that is relaxed, as a share of the impact's speed."""

FARTHER = 3.0
"""A condition is relaxed by this many times its violation, the next time by twice that."""

FARTHEST = 0.1
"""Farthest that a corner may move, as a share of the impact's speed: sharp ones go far."""

LEAST = 1e-12
"""Violation that is assumed where floats show none, as a share of the impact's speed."""


@dataclass(eq=False)
class LooseNode(Node):
    """What is reached within one cell and a little more; its conditions were relaxed so often."""

    times: int = 1


class _Conditions(NamedTuple):
    """The conditions (>= 0) and equations (== 0) of a polytope, exactly and in floats (n, d + 1).

    A unit is how much the left side of a condition changes over the impact's speed.
    """

    constraints: list[ppl.Constraint]
    units: list[mpq]
    rows: FloatArray
    equations: list[ppl.Constraint]
    flat: FloatArray


@dataclass(eq=False)
class Closing(Search):
    """A search that relaxes what rounds violate by little; its polyhedra hold what is reached."""

    _conditions: dict[Node, _Conditions] = field(default_factory=dict)

    def _reach(self, part: Part, parent: Node | None) -> Node:
        return self._relaxed(part, parent) or super()._reach(part, parent)

    def _relaxed(self, part: Part, parent: Node | None) -> Node | None:
        """Return the known node that a part leaves by least, relaxed; None if that is not due."""
        known = self.known.get(part.cell, [])
        if not known or not _came_back(parent, part.cell):
            return None
        corners = Solid(part.polyhedron).points
        violated = [self._violation(node, corners) for node in known]
        nearest = min(range(len(known)), key=lambda i: float(violated[i].max(initial=0.0)))
        node, by = known[nearest], violated[nearest]
        equations = self._of(node).equations
        if by.max(initial=0.0) > LITTLE or not all(_is_held(part.polyhedron, e) for e in equations):
            return None
        times = 1 + (node.times if isinstance(node, LooseNode) else 0)
        loose = self._loose(part, node, by, FARTHER * 2.0 ** (times - 1))
        if not loose.is_bounded() or not loose.contains(part.polyhedron):
            return None
        old = np.concatenate([corners, node.solid.points])
        if self._farthest(Solid(loose).points, old) > FARTHEST:
            return None
        reached = self.flow.advance(loose, part.cell)
        return LooseNode(part.cell, part.polyhedron, reached, parent, times=times)

    def _loose(self, part: Part, node: Node, by: FloatArray, factor: float) -> ppl.C_Polyhedron:
        """Return a node's polyhedron with the conditions relaxed that a part violates."""
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
            value = ppl.Linear_Expression(
                condition.coefficients(), condition.inhomogeneous_term() + room
            )
            loose.add_constraint(value >= 0)
        return loose

    def _violation(self, node: Node, corners: FloatArray) -> FloatArray:
        """Return by how much corners (n, d + 1) violate each condition, in shares of the speed.

        Infinity stands for corners that a node's equations exclude.
        """
        conditions = self._of(node)
        if np.abs(corners @ conditions.flat.T).max(initial=0.0) > LEAST:
            return np.full(1, np.inf)
        return np.asarray(-(corners @ conditions.rows.T).min(axis=0))

    def _of(self, node: Node) -> _Conditions:
        if node not in self._conditions:
            self._conditions[node] = self._read(node.reached)
        return self._conditions[node]

    def _read(self, polyhedron: ppl.C_Polyhedron) -> _Conditions:
        out = _Conditions([], [], np.empty(0), [], np.empty(0))
        rows: list[FloatArray] = []
        flat: list[FloatArray] = []
        for constraint in polyhedron.minimized_constraints():
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
        return out._replace(
            rows=np.array(rows).reshape(-1, width), flat=np.array(flat).reshape(-1, width)
        )

    def _farthest(self, corners: FloatArray, old: FloatArray) -> float:
        """Return how far the farthest corner is from all old ones, as a share of the speed."""
        reach = self.flow.inclusion.reach
        new, known = (np.linalg.solve(reach, x[:, :-1].T).T for x in (corners, old))
        return float(cdist(new, known).min(axis=1).max())


def _came_back(node: Node | None, cell: Cell) -> bool:
    """Return whether a way back from a node meets a cell, up to where conditions were relaxed.

    One of them in a round is enough; more would drive each other out.
    """
    while node is not None:
        if node.cell == cell:
            return True
        node = None if isinstance(node, LooseNode) else node.parent
    return False


def _is_held(polyhedron: ppl.C_Polyhedron, condition: ppl.Constraint) -> bool:
    return bool(polyhedron.relation_with(condition).implies(INCLUDED))
