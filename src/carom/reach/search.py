"""Explore every order of events until nothing new is found.

The waiting list holds polyhedra that some motion reaches. What is reached from one of them within
its cell is kept unless it is known, and its faces and the cells that can be entered from it wait in
turn. If the list empties, the union of what is known maps into itself: it is the reachable set.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush

import ppl

from carom.reach.cover import held_by, is_covered
from carom.reach.flow import Flow, Part
from carom.reach.inclusion import Cell
from carom.reach.solid import Solid

MOST_SPLITS = 8
"""Into so many parts a polyhedron is split, at most, to see whether several others cover it."""


@dataclass(eq=False)
class Node:
    """What is reached within one cell from one polyhedron.

    Attributes:
        cell: The cell.
        entered: Where the motion comes from: a part of what the parent reaches.
        reached: What it reaches within the closed cell.
        parent: The node before; None at the start.
        is_dropped: Whether a larger one took its place; what waits because of it need not.
    """

    cell: Cell
    entered: ppl.C_Polyhedron
    reached: ppl.C_Polyhedron
    parent: Node | None
    is_dropped: bool = False

    @cached_property
    def solid(self) -> Solid:
        """Return what is reached, with its outline in floats."""
        return Solid(self.reached)


@dataclass(eq=False)
class Search:
    """The waiting list, and what is known.

    Attributes:
        flow: The inclusion's motions.
        known: Nodes by cell, none of which lies in another.
        num_steps: How many polyhedra were taken from the list.
        is_complete: Whether the list is empty.
    """

    flow: Flow
    known: dict[Cell, list[Node]] = field(default_factory=dict)
    waiting: list[tuple[int, int, Part, Node | None]] = field(default_factory=list)
    num_steps: int = 0
    num_pushed: int = 0

    @property
    def is_complete(self) -> bool:
        """Tell whether nothing is missing."""
        return not self.waiting

    @property
    def num_polyhedra(self) -> int:
        """Count the polyhedra that are known."""
        return sum(len(nodes) for nodes in self.known.values())

    def run(self, max_seconds: float, max_polyhedra: int) -> None:
        """Go on until the list empties or the budget ends."""
        deadline = time.monotonic() + max_seconds
        if not self.known:
            self._push(self.flow.start(), None)
        while self.waiting:
            if time.monotonic() > deadline or self.num_steps >= max_polyhedra:
                return
            *_, part, parent = heappop(self.waiting)
            if parent is not None and parent.is_dropped:
                continue
            self.num_steps += 1
            self._take(part, parent)

    def finals(self) -> list[Node]:
        """Return the nodes in which the impact is over."""
        return [
            node
            for cell, nodes in self.known.items()
            if self.flow.inclusion.is_final(cell)
            for node in nodes
        ]

    def _take(self, part: Part, parent: Node | None) -> None:
        polyhedron, cell = part
        known = self.known.get(cell, [])
        # A node enters several cells whole; its outline is read off once.
        is_whole = parent is not None and polyhedron is parent.reached
        solid = parent.solid if parent is not None and is_whole else Solid(polyhedron)
        # What is known is closed under the cell's motions: where the part lies in it, so does
        # all that is reached from there.
        if is_covered(solid, [node.solid for node in known], MOST_SPLITS):
            return
        node = self._reach(part, parent)
        held = held_by(node.solid, [other.solid for other in known])
        for other, is_held in zip(known, held, strict=True):
            other.is_dropped = is_held
        self.known[cell] = [*(other for other in known if not other.is_dropped), node]
        if self.flow.inclusion.is_final(cell):
            return
        for face in self.flow.faces(node.reached, cell):
            self._push(face, node)
        for larger in self.flow.entries(cell):
            self._push(Part(node.reached, larger), node)

    def _reach(self, part: Part, parent: Node | None) -> Node:
        """Return what is reached from a part within its cell."""
        polyhedron, cell = part
        is_final = self.flow.inclusion.is_final(cell)
        reached = polyhedron if is_final else self.flow.advance(polyhedron, cell)
        return Node(cell, polyhedron, reached, parent)

    def _push(self, part: Part, parent: Node | None) -> None:
        """Let a part wait; small cells go first, whose outcomes feed the many that are larger."""
        self.num_pushed += 1
        size = sum(map(abs, part.cell))
        heappush(self.waiting, (size, self.num_pushed, part, parent))


def first_motions(flow: Flow) -> list[Part]:
    """Return the start of an exact search once for every closed cell in which it can move.

    A motion that no contact approaches on is one along the face of a cell in which one does: it
    is found there too, and the search ends it where it came to.
    """
    start = flow.start()
    block, is_final = flow.inclusion.block, flow.inclusion.is_final
    cells = [start.cell] if flow.rays(start.cell) else []
    cells += flow.entries(start.cell)
    moving = {}
    for cell in cells:
        signs = list(cell)
        if is_final(cell):
            signs[block * flow.inclusion.normals(cell).index(0)] = -1
        moving[tuple(signs)] = start._replace(cell=tuple(signs))
    return list(moving.values())


def start_search(search: Search, parts: list[Part]) -> None:
    """Let parts wait, to be taken before all others."""
    for number, part in enumerate(parts, start=-len(parts)):
        heappush(search.waiting, (-1, number, part, None))
