"""Motion through the cells of an inclusion, as operations on polyhedra.

Within a cell the rates form one convex cone, and the cell is convex, so every motion within it may
be replaced by a straight one: a polyhedron P reaches exactly (P + cone of the rates) ∩ closed cell.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Sequence
from operator import mul
from typing import NamedTuple

import gmpy2
import numpy as np
import ppl
from gmpy2 import mpq

from carom.reach.inclusion import Cell, Inclusion, Rate
from carom.reach.rational import Exact, integers

INCLUDED = ppl.Poly_Con_Relation.is_included()
DISJOINT = ppl.Poly_Con_Relation.is_disjoint()

MANY = 64
"""Number of pairs of rays from which on a linear program is faster than combining them."""


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
            self._generators[cell] = [
                ppl.ray(ppl.Linear_Expression(ray.y, 0)) for ray in self.rays(cell)
            ]
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
        nonzero = [(k, zero) for k, zero in enumerate(self._zeros) if cell[k]]
        for _, zero in nonzero:
            if not polyhedron.relation_with(zero).implies(DISJOINT):
                part = ppl.C_Polyhedron(polyhedron)
                part.add_constraint(zero)
                # The smallest face of the closed cell that contains the part.
                face = list(cell)
                for k, other in nonzero:
                    if part.relation_with(other).implies(INCLUDED):
                        face[k] = 0
                yield Part(part, tuple(face))

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
            zeros = [k for k, sign in enumerate(cell) if not sign]
            # A ray of the cone combines rates, which may cancel.
            rows = [[rate.forms[k] for rate in rates] for k in zeros]
            mixed = (_combined(rates, ray) for ray in _cancelling(rows, len(rates)))
            self._rays[cell] = [rate for rate in mixed if any(rate.y)]
        return self._rays[cell]

    def entries(self, cell: Cell) -> list[Cell]:
        """Return the larger cells that a motion from this cell can enter at once."""
        if cell not in self._entries:
            found = []
            zeros = [k for k, sign in enumerate(cell) if not sign]
            for larger in self.inclusion.larger_cells(cell):
                if time.monotonic() > self.deadline:
                    raise OutOfTime
                if self._can_enter(larger, zeros):
                    found.append(larger)
            self._entries[cell] = found
        return self._entries[cell]

    def _can_enter(self, larger: Cell, zeros: list[int]) -> bool:
        """Return whether a rate on a larger cell leads into it from where some forms are zero."""
        acting = self.inclusion.acting(larger)
        entered = [(k, larger[k]) for k in zeros]
        for k, after in entered:
            if after and after not in [rate.signs[k] for rate in acting]:
                return False
        # Forms must get the signs that they have on the larger cell.
        rates = [[(after or 1) * rate.forms[k] for k, after in entered] for rate in acting]
        return _can_rise(rates, [after != 0 for _, after in entered])


def _can_rise(rates: list[list[gmpy2.mpz]], rises: list[bool]) -> bool:
    """Return whether a sum of rates, with weights >= 0, rises in some numbers and is else zero."""
    given = rates
    # Double description: a condition keeps rays on its right side, and combines those of both.
    for k, must_rise in enumerate(rises):
        above = [rate for rate in rates if rate[k] > 0]
        if must_rise and not above:
            return False
        below = [rate for rate in rates if rate[k] < 0]
        if len(above) * len(below) > MANY:
            return _can_rise_by_program(given, rises)
        on = [rate for rate in rates if not rate[k]]
        for x, y in itertools.product(below, above):
            on.append([y[k] * a - x[k] * b for a, b in zip(x, y, strict=True)])
        rates = on + above if must_rise else on
    return all(any(rate[k] > 0 for rate in rates) for k, rise in enumerate(rises) if rise)


def _can_rise_by_program(rates: list[list[gmpy2.mpz]], rises: list[bool]) -> bool:
    program = ppl.MIP_Problem(len(rates))
    for j in range(len(rates)):
        program.add_constraint(ppl.Variable(j) >= 0)
    for k, must_rise in enumerate(rises):
        form = ppl.Linear_Expression([rate[k] for rate in rates], 0)
        # Rates form a cone, so > 0 may be replaced by >= 1.
        program.add_constraint(form >= 1 if must_rise else form == 0)
    return bool(program.is_satisfiable())


def _cancelling(rows: list[list[gmpy2.mpz]], count: int) -> list[list[gmpy2.mpz]]:
    """Return the extreme rays, coprime integers (count,) >= 0, that all rows (count,) vanish on."""
    if not rows:
        return [[gmpy2.mpz(i == j) for i in range(count)] for j in range(count)]
    cone = ppl.C_Polyhedron(count, "universe")
    for j in range(count):
        cone.add_constraint(ppl.Variable(j) >= 0)
    for row in rows:
        cone.add_constraint(ppl.Linear_Expression(row, 0) == 0)
    return [ray.coefficients() for ray in cone.minimized_generators() if ray.is_ray()]


def _combined(rates: list[Rate], ray: Sequence[gmpy2.mpz]) -> Rate:
    """Return the sum of rates times the numbers of a ray."""
    # PPL may omit trailing zeros.
    parts = [(x, rate) for x, rate in zip(ray, rates, strict=False) if x]
    if len(parts) == 1:
        return parts[0][1]
    columns = (zip(*(rate[k] for _, rate in parts), strict=True) for k in range(3))
    weights = [x for x, _ in parts]
    y, impulse, forms = ([sum(map(mul, weights, own)) for own in each] for each in columns)
    return Rate(y, impulse, forms, [gmpy2.sign(x) for x in forms])


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
