"""Find the straight motions through cells that lead to a velocity.

Backwards from a point, a linear program in each cell finds the point where the motion entered it
and the impulse of each contact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import gmpy2
import numpy as np
import ppl

from carom.kernels.tolerances import MATCH
from carom.outcomes.kinds import describe_mode
from carom.outcomes.path import ImpactPath
from carom.problem import ImpactProblem
from carom.reach.flow import Flow, coordinates
from carom.reach.inclusion import Cell, Inclusion, Rate, by_contact
from carom.reach.rational import Exact, exactly
from carom.reach.search import Node
from carom.typing import FloatArray


class Step(NamedTuple):
    """A straight motion within a closed cell, with the impulses (c,) of all contacts."""

    cell: Cell
    impulse: Exact


def nearest(inclusion: Inclusion, nodes: Sequence[Node], v: FloatArray) -> tuple[Node, Exact]:
    """Return the node and the point y in it nearest to a velocity (nv,)."""
    y = inclusion.coordinates(exactly(v))
    found = [(node, *_nearest(node.reached, y)) for node in nodes]
    node, point, _ = min(found, key=lambda each: each[2])
    return node, point


def trace(flow: Flow, node: Node, y: Exact) -> list[Step]:
    """Return the motions that lead from the start to a point y of a node."""
    steps: list[Step] = []
    at: Node | None = node
    while at is not None:
        rays = [] if flow.inclusion.is_final(at.cell) else flow.rays(at.cell)
        y, weights = _enter(at.entered, rays, y)
        if any(weights):
            steps.append(Step(at.cell, weights @ np.array([ray.impulse for ray in rays])))
        at = at.parent
    return steps[::-1]


def path_of(problem: ImpactProblem, steps: list[Step]) -> ImpactPath:
    """Return motions as a path in floats, without tiny impulses, which are rounding errors of v."""
    m, width = problem.num_contacts, 1 + problem.num_tangents
    impulses = np.array([step.impulse.astype(np.float64) for step in steps])
    blocks = impulses.reshape(len(steps), m, width)
    acts = np.abs(blocks).max(axis=2, initial=0.0) > MATCH * problem.space.impulse_unit
    blocks = np.where(acts[:, :, None], blocks, 0.0)
    kept = np.flatnonzero(acts.any(axis=1))
    modes = (tuple(map(describe_mode, by_contact(steps[i].cell, m), blocks[i])) for i in kept)
    return ImpactPath.of_impulses(problem, blocks[kept].reshape(len(kept), m * width), modes)


def _nearest(polyhedron: ppl.C_Polyhedron, y: Exact) -> tuple[Exact, gmpy2.mpq]:
    """Return the point of a polyhedron nearest to y in the maximum norm, and its distance."""
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
    found = coordinates(program.optimizing_point())
    return found[:-1], found[-1]


def _enter(entered: ppl.C_Polyhedron, rays: Sequence[Rate], y: Exact) -> tuple[Exact, Exact]:
    """Return p in a polyhedron and weights w >= 0 of least sum with p + sum w r = y."""
    d = len(y)
    program = ppl.MIP_Problem(d + len(rays))
    program.add_constraints(entered.minimized_constraints())
    total = ppl.Linear_Expression(0)
    for j in range(len(rays)):
        program.add_constraint(ppl.Variable(d + j) >= 0)
        total += ppl.Variable(d + j)
    for k in range(d):
        row = [ray.y[k] for ray in rays]
        unit = gmpy2.lcm(y[k].denominator, *(x.denominator for x in row))
        left = unit * ppl.Variable(k)
        for j, x in enumerate(row):
            left += (x * unit).numerator * ppl.Variable(d + j)
        program.add_constraint(left == (y[k] * unit).numerator)
    program.set_objective_function(total)
    program.set_optimization_mode("minimization")
    found = coordinates(program.optimizing_point())
    return found[:d], found[d:]
