"""Prove bounds on directions by what a search has found, with certificates."""

from __future__ import annotations

import time

from carom.errors import NotResolvedExactly
from carom.outcomes.polyhedral import PolyhedralSet
from carom.problem import ImpactProblem
from carom.reach.certificate import CoverCertificate, certify, in_coordinates
from carom.reach.flow import OutOfTime
from carom.reach.search import pose
from carom.reach.solve import LATE, Budget, Task
from carom.reach.waiting import Ruler, Unfinished
from carom.typing import FloatArray


def prove_bounds(
    problem: ImpactProblem, directions: FloatArray, budget: Budget
) -> tuple[PolyhedralSet | None, list[CoverCertificate | None]]:
    """Return all outcomes, or None, and certificates for directions (k, nv), as far as there are.

    The impact must collide, or contacts at rest must be able to act.
    """
    begin = time.monotonic()
    search = pose(problem, zero=budget.zero, grid=budget.grid)
    task = Task(problem, budget, search, begin)
    nothing: list[CoverCertificate | None] = [None] * len(directions)
    try:
        task.check_rank()
        if task.too_much is not None or (problem.starts_at_rest and not search.starts):
            return None, nothing
        how = task.follow()
        outcomes = None if how is None else task.complete(how)
    except NotResolvedExactly:
        return None, nothing
    if how is None:
        task.enclose()
    cover = task.cover
    if cover is not None:
        ends = [p for _, p in task.ends(cover) if not search.stays(p)]
        state = Unfinished(Ruler(task.inclusion), [], ends)
    else:
        search = task.energetic()
        cover = {cell: [node.reached for node in nodes] for cell, nodes in search.known.items()}
        state = Unfinished.of(search, task.time_at(LATE))
    try:
        proofs = task.bounds(state, [in_coordinates(task.inclusion, d)[0] for d in directions])
    except OutOfTime:
        return outcomes, nothing
    found = certify(problem, cover, state, filter(None, proofs), zero=budget.zero, grid=budget.grid)
    made = iter(found)
    return outcomes, [None if proof is None else next(made) for proof in proofs]
