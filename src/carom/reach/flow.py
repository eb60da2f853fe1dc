"""Motion through the cells of an inclusion, as operations on polyhedra.

Within a cell the rates form one convex cone, and the cell is convex, so every motion within it may
be replaced by a straight one: a polyhedron P reaches exactly (P + cone of the rates) ∩ closed cell.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import NamedTuple

import gmpy2
import numpy as np
import ppl
from gmpy2 import mpq

from carom.reach.inclusion import Cell, Inclusion, Rate
from carom.reach.rational import Exact, integers

INCLUDED = ppl.Poly_Con_Relation.is_included()
DISJOINT = ppl.Poly_Con_Relation.is_disjoint()


class OutOfTime(Exception):
    """The deadline of a flow passed during an operation, which changed nothing."""


class Part(NamedTuple):
    """A polyhedron in the closure of a cell, with points in the cell itself."""

    polyhedron: ppl.C_Polyhedron
    cell: Cell


class Flow:
    """Motions of an inclusion; what depends only on cells is cached.

    With many friction directions a cell has hundreds of neighbours, so `entries` raises `OutOfTime`
    after the `deadline`, a value of `time.monotonic`.
    """

    def __init__(self, inclusion: Inclusion) -> None:
        self.inclusion = inclusion
        self.deadline = math.inf
        self.forms = [expression(row) for row in inclusion.forms]
        self._zeros = [form == 0 for form in self.forms]
        self._rays: dict[Cell, list[Rate]] = {}
        self._generators: dict[Cell, list[ppl.Generator]] = {}
        self._entries: dict[Cell, list[Cell]] = {}
        self._constraints: dict[Cell, ppl.Constraint_System] = {}

    def start(self) -> Part:
        """Return the point at which the impact starts."""
        y = self.inclusion.y_start
        return Part(ppl.C_Polyhedron(point(y)), self.inclusion.cell_of(y))

    def advance(self, polyhedron: ppl.C_Polyhedron, cell: Cell) -> ppl.C_Polyhedron:
        """Return what motions within the closed cell reach from a polyhedron."""
        if cell not in self._generators:
            self._generators[cell] = [ppl.ray(expression(ray.y)) for ray in self.rays(cell)]
        rays = self._generators[cell]
        if not rays:
            return polyhedron
        reached = ppl.C_Polyhedron(polyhedron)
        for ray in rays:
            reached.add_generator(ray)
        reached.add_constraints(self.constraints(cell))
        return reached

    def faces(self, polyhedron: ppl.C_Polyhedron, cell: Cell) -> Iterable[Part]:
        """Yield the parts of a polyhedron on the boundary of its cell, with their cells."""
        for zero, sign in zip(self._zeros, cell, strict=True):
            if sign and not polyhedron.relation_with(zero).implies(DISJOINT):
                part = ppl.C_Polyhedron(polyhedron)
                part.add_constraint(zero)
                # The smallest face of the closed cell that contains the part.
                face = tuple(
                    s if s and not part.relation_with(z).implies(INCLUDED) else 0
                    for z, s in zip(self._zeros, cell, strict=True)
                )
                yield Part(part, face)

    def cells_of(self, polyhedron: ppl.C_Polyhedron, cell: Cell) -> set[Cell]:
        """Return all cells in which a polytope has points."""
        found: set[Cell] = set()
        waiting = [(polyhedron, cell)]
        while waiting:
            part, own = waiting.pop()
            if own not in found:
                found.add(own)
                waiting += self.faces(part, own)
        return found

    def constraints(self, cell: Cell) -> ppl.Constraint_System:
        """Return the constraints of the closed cell."""
        if cell not in self._constraints:
            system = ppl.Constraint_System()
            for form, sign in zip(self.forms, cell, strict=True):
                system.insert(sign * form >= 0 if sign else form == 0)
            self._constraints[cell] = system
        return self._constraints[cell]

    def rays(self, cell: Cell) -> list[Rate]:
        """Return the extreme rates on a cell that keep its zero forms zero."""
        if cell not in self._rays:
            rates = self.inclusion.acting(cell)
            cone = ppl.C_Polyhedron(len(rates), "universe")
            for j in range(len(rates)):
                cone.add_constraint(ppl.Variable(j) >= 0)
            for k, sign in enumerate(cell):
                if not sign:
                    cone.add_constraint(expression([rate.forms[k] for rate in rates]) == 0)
            # A ray of the cone combines rates, which may cancel.
            rays = [g.coefficients() for g in cone.minimized_generators() if g.is_ray()]
            parts = [np.array(part) for part in zip(*rates, strict=True)]
            mixed = (Rate(*(np.array(ray, object) @ part for part in parts)) for ray in rays)
            self._rays[cell] = [rate for rate in mixed if any(rate.y)]
        return self._rays[cell]

    def entries(self, cell: Cell) -> list[Cell]:
        """Return the larger cells that a motion from this cell can enter at once."""
        if cell not in self._entries:
            found = []
            for larger in self.inclusion.larger_cells(cell):
                if time.monotonic() > self.deadline:
                    raise OutOfTime
                if self._can_enter(cell, larger):
                    found.append(larger)
            self._entries[cell] = found
        return self._entries[cell]

    def _can_enter(self, cell: Cell, larger: Cell) -> bool:
        """Return whether a rate on the larger cell leads into it from the smaller one."""
        rates = self.inclusion.acting(larger)
        if not rates:
            return False
        program = ppl.MIP_Problem(len(rates))
        for j in range(len(rates)):
            program.add_constraint(ppl.Variable(j) >= 0)
        for k, (before, after) in enumerate(zip(cell, larger, strict=True)):
            if before:
                continue
            change = [rate.forms[k] for rate in rates]
            if after and not any(after * x > 0 for x in change):
                return False
            row = expression(change)
            # Rates form a cone, so > 0 may be replaced by >= 1.
            program.add_constraint(after * row >= 1 if after else row == 0)
        return bool(program.is_satisfiable())


def expression(row: Iterable[mpq]) -> ppl.Linear_Expression:
    """Return a linear form for PPL, up to a positive factor."""
    return ppl.Linear_Expression(integers(row), 0)


def point(y: Exact) -> ppl.Generator:
    """Return a point for PPL."""
    unit = gmpy2.lcm(*(x.denominator for x in y))
    numbers = [x.numerator * (unit // x.denominator) for x in y]
    return ppl.point(ppl.Linear_Expression(numbers, 0), unit)


def coordinates(point: ppl.Generator) -> Exact:
    """Return the coordinates of a point of PPL."""
    divisor = point.divisor()
    return np.array([mpq(x, divisor) for x in point.coefficients()])


def vertices(polyhedron: ppl.C_Polyhedron) -> list[Exact]:
    """Return the vertices of a bounded polyhedron; energy bounds those of an impact."""
    return [coordinates(vertex) for vertex in polyhedron.minimized_generators()]
