"""Tell how a velocity is reached: a sequence of straight motions through cells.

Every polyhedron of a search knows where it came from. Backwards from a point, a linear program in
each cell finds where the motion entered it, and how much each contact acted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import ppl

from carom.reach.flow import Flow
from carom.reach.inclusion import Cell, Rate
from carom.reach.rational import Vector, add_scaled
from carom.reach.search import Node


@dataclass(frozen=True)
class Step:
    """A straight motion within one closed cell.

    Attributes:
        cell: The cell.
        impulse: (c,) impulses of all contacts, contact by contact, normal first.
        y: Where it ends.
    """

    cell: Cell
    impulse: Vector
    y: Vector


def trace(flow: Flow, node: Node, y: Vector) -> list[Step]:
    """Return the motions that lead from the start to a point y of what a node reaches."""
    steps: list[Step] = []
    at: Node | None = node
    while at is not None:
        rays = [] if flow.inclusion.is_final(at.cell) else flow.rays(at.cell)
        entry, weights = _enter(at.entered, rays, y)
        impulse = [Fraction(0)] * len(flow.inclusion.rows)
        for weight, ray in zip(weights, rays, strict=True):
            impulse = add_scaled(impulse, weight, ray.impulse)
        if any(weights):
            steps.append(Step(at.cell, impulse, y))
        y = entry
        at = at.parent
    return steps[::-1]


def nearest(polyhedron: ppl.C_Polyhedron, y: Sequence[Fraction]) -> tuple[Vector, Fraction]:
    """Return a point of a polyhedron whose largest coordinate difference to y is least."""
    d = len(y)
    program = ppl.MIP_Problem(d + 1)
    program.add_constraints(polyhedron.minimized_constraints())
    radius = ppl.Variable(d)
    for k in range(d):
        unit = y[k].denominator
        program.add_constraint(unit * ppl.Variable(k) - unit * radius <= y[k].numerator)
        program.add_constraint(unit * ppl.Variable(k) + unit * radius >= y[k].numerator)
    program.set_objective_function(ppl.Linear_Expression(radius))
    program.set_optimization_mode("minimization")
    *point, distance = _coordinates(program.optimizing_point())
    return point, distance


def _enter(
    entered: ppl.C_Polyhedron, rays: Sequence[Rate], y: Vector
) -> tuple[Vector, list[Fraction]]:
    """Find a point p of a polyhedron and weights w >= 0 with p + sum w r = y, of least sum."""
    d = len(y)
    program = ppl.MIP_Problem(d + len(rays))
    program.add_constraints(entered.minimized_constraints())
    total = ppl.Linear_Expression(0)
    for j in range(len(rays)):
        program.add_constraint(ppl.Variable(d + j) >= 0)
        total += ppl.Variable(d + j)
    for k in range(d):
        row = [ray.y[k] for ray in rays]
        unit = math.lcm(y[k].denominator, *(x.denominator for x in row))
        left = unit * ppl.Variable(k)
        for j, x in enumerate(row):
            left += int(x * unit) * ppl.Variable(d + j)
        program.add_constraint(left == int(y[k] * unit))
    program.set_objective_function(total)
    program.set_optimization_mode("minimization")
    found = _coordinates(program.optimizing_point())
    return found[:d], found[d:]


def _coordinates(point: ppl.Generator) -> Vector:
    divisor = int(point.divisor())
    return [Fraction(int(x), divisor) for x in point.coefficients()]
