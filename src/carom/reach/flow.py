"""Motion through the cells of an inclusion, as operations on polyhedra.

Within a cell the rates are one convex cone and the cell is convex, so that every motion that stays
in it may be replaced by a straight one: from a polyhedron P is reached exactly
(P + cone of the rates) ∩ closed cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import ppl

from carom.reach.inclusion import Cell, Inclusion, Rate
from carom.reach.rational import Vector, add_scaled, integers

INCLUDED = ppl.Poly_Con_Relation.is_included()
DISJOINT = ppl.Poly_Con_Relation.is_disjoint()


class Part(NamedTuple):
    """A polyhedron in the closure of a cell, with points in the cell itself."""

    polyhedron: ppl.C_Polyhedron
    cell: Cell


class Flow:
    """Where motions lead, with what depends on cells alone kept for the next time."""

    def __init__(self, inclusion: Inclusion) -> None:
        self.inclusion = inclusion
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
        """Return all that is reached from a polyhedron by motion within the closed cell."""
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
                yield Part(part, self._smallest(part, cell))

    def _smallest(self, polyhedron: ppl.C_Polyhedron, cell: Cell) -> Cell:
        """Return the smallest closed cell that holds a polyhedron within a closed cell."""
        return tuple(
            sign if sign and not polyhedron.relation_with(zero).implies(INCLUDED) else 0
            for zero, sign in zip(self._zeros, cell, strict=True)
        )

    def constraints(self, cell: Cell) -> ppl.Constraint_System:
        """Return the closed cell."""
        if cell not in self._constraints:
            system = ppl.Constraint_System()
            for form, sign in zip(self.forms, cell, strict=True):
                system.insert(sign * form >= 0 if sign else form == 0)
            self._constraints[cell] = system
        return self._constraints[cell]

    def rays(self, cell: Cell) -> list[Rate]:
        """Return the extreme rates on a cell that keep its zero forms at zero."""
        if cell not in self._rays:
            rates = self.inclusion.acting(cell)
            cone = ppl.C_Polyhedron(len(rates), "universe")
            for j in range(len(rates)):
                cone.add_constraint(ppl.Variable(j) >= 0)
            for k, sign in enumerate(cell):
                if not sign:
                    cone.add_constraint(expression([rate.forms[k] for rate in rates]) == 0)
            mixed = (_mix(rates, g) for g in cone.minimized_generators() if g.is_ray())
            self._rays[cell] = [rate for rate in mixed if any(rate.y)]
        return self._rays[cell]

    def entries(self, cell: Cell) -> list[Cell]:
        """Return the larger cells that a motion which starts in this cell can enter at once."""
        if cell not in self._entries:
            self._entries[cell] = [
                larger for larger in self.inclusion.larger_cells(cell) if self._enters(cell, larger)
            ]
        return self._entries[cell]

    def _enters(self, cell: Cell, larger: Cell) -> bool:
        """Tell whether some rate on the larger cell leads into it from the smaller one.

        Rates form a cone: strictly positive may be read as at least one.
        """
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
            program.add_constraint(after * row >= 1 if after else row == 0)
        return bool(program.is_satisfiable())


def _mix(rates: Sequence[Rate], weights: ppl.Generator) -> Rate:
    """Return a combination of rates."""
    y = [Fraction(0)] * len(rates[0].y)
    impulse = [Fraction(0)] * len(rates[0].impulse)
    forms = [Fraction(0)] * len(rates[0].forms)
    for weight, rate in zip(weights.coefficients(), rates, strict=True):
        if weight:
            y = add_scaled(y, Fraction(int(weight)), rate.y)
            impulse = add_scaled(impulse, Fraction(int(weight)), rate.impulse)
            forms = add_scaled(forms, Fraction(int(weight)), rate.forms)
    return Rate(y, impulse, forms)


def expression(row: Sequence[Fraction]) -> ppl.Linear_Expression:
    """Return a linear form, up to a positive factor."""
    return ppl.Linear_Expression(integers(row), 0)


def point(y: Sequence[Fraction]) -> ppl.Generator:
    """Return a point."""
    unit = math.lcm(*(x.denominator for x in y))
    return ppl.point(ppl.Linear_Expression([int(x * unit) for x in y], 0), unit)


def vertices(polyhedron: ppl.C_Polyhedron) -> list[Vector]:
    """Return the vertices of a bounded polyhedron; those of an impact are, since energy falls."""
    return [
        [Fraction(int(x), int(g.divisor())) for x in g.coefficients()]
        for g in polyhedron.minimized_generators()
    ]
