"""Continue a search with the most energetic polyhedra first.

Bounds on what a search has not followed are at most its energy. In the usual order a few polyhedra
with nearly all of the energy wait to the end; taking them first lowers the bounds soon, but the
list empties later, if at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappush

import numpy as np

from carom.reach.cover import Solid
from carom.reach.flow import Part
from carom.reach.search import Node, Search
from carom.typing import FloatArray

LEVELS = 10**6
"""Number of levels of energy that are told apart, so that the order is one of integers."""


@dataclass(eq=False)
class Energetic(Search):
    """A search that takes the polyhedron with the most energetic vertex first."""

    to_energy: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def order(self, part: Part, parent: Node | None) -> int:
        """Return the place of a part in the list: less for more energy."""
        is_whole = parent is not None and part.polyhedron is parent.reached
        solid = parent.solid if parent is not None and is_whole else Solid(part.polyhedron)
        lengths = np.linalg.norm(solid.points[:, :-1] @ self.to_energy.T, axis=1)
        return -round(LEVELS * float(lengths.max(initial=0.0)))

    def _push(self, part: Part, parent: Node | None) -> None:
        self.num_pushed += 1
        heappush(self.waiting, (self.order(part, parent), self.num_pushed, part, parent))


def continued(search: Search, max_seconds: float, max_polyhedra: int) -> Search:
    """Return a copy of a search that was continued in this order; do not continue the original."""
    out = Energetic(
        search.flow,
        search.starts,
        known={cell: list(nodes) for cell, nodes in search.known.items()},
        num_steps=search.num_steps,
        num_pushed=search.num_pushed,
        to_energy=np.asarray(np.linalg.inv(search.flow.inclusion.reach), dtype=np.float64),
    )
    out.waiting = [
        (out.order(part, parent), number, part, parent)
        for _, number, part, parent in search.waiting
        if parent is None or not parent.is_dropped
    ]
    heapify(out.waiting)
    out.run(max_seconds, max_polyhedra)
    return out
