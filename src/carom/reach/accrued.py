"""Carry the accrued normal impulse along, as one more coordinate.

The paper's s is the sum of all normal impulses since the impact began. No cell depends on it, and
every rate of a contact raises it; so the search that finds velocities finds pairs (velocity, s).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import ppl

from carom.reach.flow import Flow, Part, vertices
from carom.reach.inclusion import Cell, Inclusion
from carom.reach.rational import Exact, exactly
from carom.reach.search import Node, Search


class _Endless(Exception):
    """Impulses cancel: s grows without bound while the velocity stays."""


class _ImpulseFlow(Flow):
    """Motions of pairs (velocity, s); energy bounds the velocity, but nothing need bound s."""

    def advance(self, polyhedron: ppl.C_Polyhedron, cell: Cell) -> ppl.C_Polyhedron:
        reached = super().advance(polyhedron, cell)
        if not reached.is_bounded():
            raise _Endless
        return reached


@dataclass(eq=False)
class ImpulseSearch(Search):
    """A search on pairs of velocity and impulse, which ends where impulses cancel.

    Attributes:
        endless: Where they do, though some contact still approaches; None if nowhere.
    """

    endless: Node | None = None

    def _take(self, part: Part, parent: Node | None) -> None:
        try:
            super()._take(part, parent)
        except _Endless:
            polyhedron, cell = part
            self.endless = Node(cell, polyhedron, polyhedron, parent)
            self.waiting.clear()


def search_with_impulse(
    inclusion: Inclusion, max_seconds: float, max_polyhedra: int
) -> ImpulseSearch:
    """Run the search on pairs (y, s), with s as the last coordinate."""
    c, nv = len(inclusion.rows), len(inclusion.v_start)
    pairs = replace(
        inclusion,
        rows=np.hstack([inclusion.rows, exactly(np.zeros((c, 1)))]),
        lift=np.hstack([inclusion.lift, exactly(np.zeros((nv, 1)))]),
        pull=np.vstack([inclusion.pull, exactly(np.zeros((1, nv)))]),
        # Of the contact impulses the normal ones raise s.
        rates=np.hstack([inclusion.rates, exactly(np.arange(c)[:, None] % inclusion.width == 0)]),
        y_start=np.append(inclusion.y_start, exactly(0.0)),
        _made={},
    )
    search = ImpulseSearch(_ImpulseFlow(pairs))
    search.run(max_seconds, max_polyhedra)
    return search


def middle(node: Node) -> Exact:
    """Return a point inside what a node reaches: it lies in the node's cell or what led there."""
    corners = vertices(node.reached)
    return np.asarray(sum(corners) / len(corners))


def most_impulse(search: Search) -> tuple[Node, Exact]:
    """Return the end of an impact with the largest s that a search knows, and its node."""
    ends = [(node, y) for node in search.finals() for y in vertices(node.reached)]
    return max(ends, key=lambda end: end[1][-1])
