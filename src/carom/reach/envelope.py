"""Enclose the reachable set by one convex polyhedron per cell, which motions do not leave.

Polyhedra of a cell are joined; if a cell keeps growing it is widened, and the energy, which never
rises, bounds it.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable

import numpy as np
import ppl
from gmpy2 import mpq

from carom.reach.flow import Flow, OutOfTime, Part, expression
from carom.reach.inclusion import Cell, Inclusion
from carom.reach.rational import Exact, integers

Envelope = dict[Cell, ppl.C_Polyhedron]

BITS = 46
"""Binary digits of bounds, relative to what the impact's energy allows."""

JOINS_BEFORE_WIDENING = 12
MARGIN = mpq(1, 10**9)
"""Relative margin of the energy bounds, larger than the rounding of the data."""


def energy_bound(speed: float) -> mpq:
    """Return a rational above the largest velocity that the energy could give, rounded or not."""
    return mpq(float(speed)) * (1 + MARGIN)


def energy_bounds(inclusion: Inclusion) -> ppl.Constraint_System:
    """Return the bounds on contact velocities by the impact's energy."""
    system = ppl.Constraint_System()
    for row, speed in zip(inclusion.rows, inclusion.speeds, strict=True):
        if not any(row):
            continue
        *numbers, bound = integers([*row, energy_bound(speed)])
        form = ppl.Linear_Expression(numbers, 0)
        system.insert(form <= bound)
        system.insert(form >= -bound)
    return system


def has_few_vertices(polyhedron: ppl.C_Polyhedron, most: int) -> bool:
    """Return whether vertices are at most so many, also of the first few constraints alone.

    PPL cannot be interrupted. One constraint at a time, no step starts from more than `most`.
    """
    grown = ppl.C_Polyhedron(polyhedron.space_dimension(), "universe")
    for constraint in polyhedron.constraints():
        grown.add_constraint(constraint)
        if len(grown.minimized_generators()) > most:
            return False
    return True


def end_within(inclusion: Inclusion, bounds: Iterable[tuple[Exact, mpq]]) -> ppl.C_Polyhedron:
    """Return the polyhedron where no contact approaches and directions (d,) are bounded."""
    end = ppl.C_Polyhedron(inclusion.dimension, "universe")
    for normal in inclusion.rows[:: inclusion.width]:
        end.add_constraint(expression(normal) >= 0)
    for direction, bound in bounds:
        # Rounded up to few digits, because thousands of vertices are computed from them.
        size = float(np.linalg.norm(direction.astype(np.float64) @ inclusion.reach))
        unit = mpq(2) ** (math.frexp(size)[1] - BITS)
        *form, most = integers([*direction, -(-bound // unit) * unit])
        end.add_constraint(ppl.Linear_Expression(form, 0) <= most)
    return end


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
        cell = min(waiting, key=lambda cell: sum(map(abs, cell)))
        waiting.remove(cell)
        reached = flow.advance(envelope[cell], cell)
        reached.add_constraints(energy)
        envelope[cell] = reached
        entered = [Part(reached, larger) for larger in flow.entries(cell)]
        for polyhedron, other in (*flow.faces(reached, cell), *entered):
            if time.monotonic() > flow.deadline:
                raise OutOfTime
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
