"""Prove bounds on directions by what a search has found, with certificates."""

from __future__ import annotations

import time

from carom.errors import NotResolvedExactly
from carom.outcomes.polyhedral import PolyhedralSet
from carom.problem import ImpactProblem
from carom.reach.certificate import CoverCertificate, certify, in_coordinates, waiting_parts
from carom.reach.rational import Exact
from carom.reach.search import Search, pose
from carom.reach.solve import BOUNDS, Budget, Task
from carom.reach.waiting import Corners, Proof, Ruler, Unfinished
from carom.typing import FloatArray

ROUNDING = 1.8
"""Share of the time at which no more certificates are begun; they take 0.1 s and more each."""


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
    follower = task.search if task.cover is not None else task.energetic()
    forms = [in_coordinates(task.inclusion, row)[0] for row in directions]
    first, last = time.monotonic(), task.time_at(BOUNDS)
    found: list[CoverCertificate | None] = []
    for k, form in enumerate(forms, start=1):
        # Choosing multipliers stops in time; rounding them takes a while in any case.
        if task.cover is None and found and time.monotonic() > task.time_at(ROUNDING):
            found.append(None)
            continue
        deadline = first + (last - first) * k / len(forms)
        found.append(_certificate(task, follower, form, deadline))
    return outcomes, found


def _certificate(
    task: Task, search: Search, form: Exact, deadline: float
) -> CoverCertificate | None:
    """Return the certificate of the best bound on a form (d,)."""
    options = {"zero": task.budget.zero, "grid": task.budget.grid}
    if task.cover is not None:
        ends = [p for _, p in task.ends(task.cover) if not task.search.stays(p)]
        bound = Corners.of(Ruler(task.inclusion), ends).support(form)
        if bound is None:
            return None
        return certify(task.problem, task.cover, Proof(form, bound, [], []), [], **options)
    proof = Unfinished.of(search).bound(form, deadline)
    if proof is None:
        return None
    cover = {cell: [node.reached for node in nodes] for cell, nodes in search.known.items()}
    return certify(task.problem, cover, proof, waiting_parts(search), **options)
