"""Search with the accrued normal impulse s as one more coordinate.

The paper's s is the sum of all normal impulses since the impact began. No cell depends on it, so
the search for velocities also finds pairs (velocity, s).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from carom.reach.flow import Flow, Part, vertices
from carom.reach.inclusion import Inclusion
from carom.reach.rational import Exact, exactly
from carom.reach.search import Node, Search


class _Endless(Exception):
    """Impulses cancel: s grows without bound while the velocity is constant."""


@dataclass(eq=False)
class ImpulseSearch(Search):
    """A search on pairs (velocity, s), which stops at a node where impulses cancel, `endless`."""

    endless: Node | None = None

    def _reach(self, part: Part, parent: Node | None) -> Node:
        node = super()._reach(part, parent)
        # Energy bounds the velocity, but not s.
        if not node.reached.is_bounded():
            raise _Endless
        return node

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
        # Only normal impulses raise s.
        rates=np.hstack([inclusion.rates, exactly(np.arange(c)[:, None] % inclusion.width == 0)]),
        y_start=np.append(inclusion.y_start, exactly(0.0)),
    )
    search = ImpulseSearch(Flow(pairs))
    search.run(max_seconds, max_polyhedra)
    return search


def middle(node: Node) -> Exact:
    """Return the mean of the vertices of what a node reaches."""
    corners = vertices(node.reached)
    return np.asarray(sum(corners) / len(corners))


def most_impulse(search: Search) -> tuple[Node, Exact]:
    """Return the final node and point with the largest s in a search."""
    ends = [(node, y) for node in search.finals() for y in vertices(node.reached)]
    return max(ends, key=lambda end: end[1][-1])
