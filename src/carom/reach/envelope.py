"""Enclose the reachable set by one convex polyhedron per cell, which motions do not leave.

Polyhedra of a cell are joined; if a cell keeps growing it is widened, and the energy, which never
rises, bounds it.
"""

from __future__ import annotations

import time
from collections import Counter

import ppl
from gmpy2 import mpq

from carom.reach.flow import Flow, OutOfTime, Part
from carom.reach.inclusion import Cell, Inclusion
from carom.reach.rational import integers

Envelope = dict[Cell, ppl.C_Polyhedron]

JOINS_BEFORE_WIDENING = 12
MARGIN = mpq(1, 10**9)
"""Relative margin of the energy bounds, larger than the rounding of the data."""


def energy_bounds(inclusion: Inclusion) -> ppl.Constraint_System:
    """Return the bounds on contact velocities by the impact's energy."""
    system = ppl.Constraint_System()
    for row, speed in zip(inclusion.rows, inclusion.speeds, strict=True):
        if not any(row):
            continue
        *numbers, bound = integers([*row, mpq(float(speed)) * (1 + MARGIN)])
        form = ppl.Linear_Expression(numbers, 0)
        system.insert(form <= bound)
        system.insert(form >= -bound)
    return system


def enclose(flow: Flow, energy: ppl.Constraint_System, max_seconds: float) -> Envelope | None:
    """Return one polyhedron per cell that no motion leaves, or None if time runs out."""
    flow.deadline = time.monotonic() + max_seconds
    try:
        return _enclose(flow, energy)
    except OutOfTime:
        return None


def _enclose(flow: Flow, energy: ppl.Constraint_System) -> Envelope:
    start = flow.start()
    envelope: Envelope = {start.cell: start.polyhedron}
    joins: Counter[Cell] = Counter()
    # Small cells first, as in the search.
    waiting = {start.cell}
    while waiting:
        if time.monotonic() > flow.deadline:
            raise OutOfTime
        cell = min(waiting, key=lambda cell: sum(map(abs, cell)))
        waiting.remove(cell)
        reached = flow.advance(envelope[cell], cell)
        reached.add_constraints(energy)
        envelope[cell] = reached
        entered = [Part(reached, larger) for larger in flow.entries(cell)]
        for polyhedron, other in (*flow.faces(reached, cell), *entered):
            before = envelope.get(other)
            if before is not None and before.contains(polyhedron):
                continue
            joined = ppl.C_Polyhedron(polyhedron if before is None else before)
            joins[other] += 1
            if before is not None:
                joined.poly_hull_assign(polyhedron)
            if joins[other] > JOINS_BEFORE_WIDENING:
                # Drop the conditions that keep moving, except those of the cell and the energy.
                joined.BHRZ03_widening_assign(before)
                joined.add_constraints(flow.constraints(other))
                joined.add_constraints(energy)
            envelope[other] = joined
            if not flow.inclusion.is_final(other):
                waiting.add(other)
    return envelope
