"""Explore every order of events until nothing new is found.

The waiting list holds polyhedra that a motion reaches. What one of them reaches within its cell is
kept unless it is known, and its faces and the cells that can be entered from it join the list. If
the list empties, no motion leaves the union of what is known, which is the reachable set.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush

import ppl

from carom.problem import ImpactProblem
from carom.reach.cover import Solid, held_by, is_covered
from carom.reach.flow import Flow, OutOfTime, Part
from carom.reach.inclusion import Cell, rationalize

MOST_SPLITS = 8
"""Maximum number of splits of a polyhedron in tests whether others cover it."""


@dataclass(eq=False)
class Node:
    """What is reached within one cell from a polyhedron, entered from the parent (None: start)."""

    cell: Cell
    entered: ppl.C_Polyhedron
    reached: ppl.C_Polyhedron
    parent: Node | None
    is_dropped: bool = False  # with what waits because of it: a larger node contains it

    @cached_property
    def solid(self) -> Solid:
        return Solid(self.reached)


@dataclass(eq=False)
class Search:
    """The waiting list, and what is known: nodes by cell, none of which lies in another."""

    flow: Flow
    # Parts in which contacts at rest start the impact; these are taken first.
    starts: list[Part] = field(default_factory=list)
    known: dict[Cell, list[Node]] = field(default_factory=dict)
    waiting: list[tuple[int, int, Part, Node | None]] = field(default_factory=list)
    num_steps: int = 0  # polyhedra taken from the list
    num_pushed: int = 0

    @property
    def is_complete(self) -> bool:
        """Return whether the list is empty, so that nothing is missing."""
        return self.num_pushed > 0 and not self.waiting

    @property
    def num_polyhedra(self) -> int:
        """Return the number of known polyhedra."""
        return sum(len(nodes) for nodes in self.known.values())

    def run(self, max_seconds: float, max_polyhedra: int) -> None:
        """Continue until the list is empty or the budget exhausted, with at least one step."""
        # Time decides the number of steps only, so a search with as many steps is the same search.
        self.flow.deadline = time.monotonic() + max_seconds
        if not self.num_pushed:
            for number, part in enumerate(self.starts, start=-len(self.starts)):
                heappush(self.waiting, (-1, number, part, None))
            self._push(self.flow.start(), None)
        while self.waiting and self.num_steps < max_polyhedra:
            entry = heappop(self.waiting)
            *_, part, parent = entry
            if parent is not None and parent.is_dropped:
                continue
            try:
                self._take(part, parent)
            except OutOfTime:
                heappush(self.waiting, entry)
                return
            self.num_steps += 1
            if time.monotonic() > self.flow.deadline:
                return

    def finals(self) -> list[Node]:
        """Return the nodes in which the impact is over."""
        return [
            node
            for cell, nodes in self.known.items()
            if self.flow.inclusion.is_final(cell)
            for node in nodes
            if not self.stays(node.reached)
        ]

    def stays(self, polyhedron: ppl.C_Polyhedron) -> bool:
        """Return whether contacts at rest must act and have not acted in a polyhedron."""
        return bool(self.starts) and bool(self.starts[0].polyhedron.contains(polyhedron))

    def _take(self, part: Part, parent: Node | None) -> None:
        polyhedron, cell = part
        known = self.known.get(cell, [])
        # A node may enter several cells as a whole; reuse its floats.
        solid = parent.solid if parent and polyhedron is parent.reached else Solid(polyhedron)
        # Motions of the cell do not leave what is known, so what a covered part reaches is known.
        if is_covered(solid, [node.solid for node in known], MOST_SPLITS):
            return
        node = self._reach(part, parent)
        is_final = self.flow.inclusion.is_final(cell)
        # Before any change of state, because this may run out of time.
        larger = [] if is_final else self.flow.entries(cell)
        held = held_by(node.solid, [other.solid for other in known])
        for other, is_held in zip(known, held, strict=True):
            other.is_dropped = is_held
        self.known[cell] = [*(other for other in known if not other.is_dropped), node]
        if not is_final:
            for face in self.flow.faces(node.reached, cell):
                self._push(face, node)
            for each in larger:
                self._push(Part(node.reached, each), node)

    def _reach(self, part: Part, parent: Node | None) -> Node:
        """Return what is reached from a part within its cell."""
        polyhedron, cell = part
        is_final = self.flow.inclusion.is_final(cell)
        reached = polyhedron if is_final else self.flow.advance(polyhedron, cell)
        return Node(cell, polyhedron, reached, parent)

    def _push(self, part: Part, parent: Node | None) -> None:
        """Add a part to the waiting list; small cells go first, as they lead to larger ones."""
        self.num_pushed += 1
        heappush(self.waiting, (sum(map(abs, part.cell)), self.num_pushed, part, parent))


def pose(problem: ImpactProblem, *, zero: float, grid: float) -> Search:
    """Return the search of an impact, before its first step."""
    flow = Flow(rationalize(problem, zero=zero, grid=grid))
    return Search(flow, _first_motions(flow) if problem.starts_at_rest else [])


def _first_motions(flow: Flow) -> list[Part]:
    """Return the start once for every closed cell in which it can move."""
    start = flow.start()
    block, is_final = flow.inclusion.block, flow.inclusion.is_final
    cells = [start.cell] if flow.rays(start.cell) else []
    cells += flow.entries(start.cell)
    moving = {}
    for cell in cells:
        signs = list(cell)
        if is_final(cell):
            # The search would stop at once: take a neighbour that approaches, whose face it is.
            signs[block * flow.inclusion.normals(cell).index(0)] = -1
        moving[tuple(signs)] = start._replace(cell=tuple(signs))
    return list(moving.values())
