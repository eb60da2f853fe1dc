"""Budgets of random impacts, in processor time: other programs take no part in it."""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np
import pytest

import carom
from carom.proofs import cones, energy
from carom.stepping import extreme_motions
from tests.reference.impact_problems import random_problem

pytestmark = pytest.mark.needs("ppl")

BUDGET = 0.1
MOST = 1.5 * BUDGET + 0.1
"""Time that a call may take; the docs tell what cannot be interrupted."""


@pytest.mark.parametrize("d", [1, 2])
def test_what_is_compiled_runs_no_motion_again(d, monkeypatch):
    problem = random_problem(np.random.default_rng(0), m=3, d=d, nv=6)

    def search():
        return extreme_motions.ExtremeSearch(problem.space, problem.start, problem.space.A[:1])

    search().warm_up()
    monkeypatch.delattr(extreme_motions.MotionSampler, "run")
    search().warm_up()


CALLS = {
    "worst case": lambda p: carom.worst_case(p, p.J_t[0, 0], max_seconds=BUDGET),
    "set": lambda p: carom.post_impact_set(p, max_seconds=BUDGET),
}


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("name", CALLS)
def test_random_impacts_keep_to_the_budget(name, d, monkeypatch):
    for module in (time, cones, energy):
        monkeypatch.setattr(module, "monotonic", time.process_time)
    rng = np.random.default_rng(0)
    seconds = {}
    for m in range(1, 9):
        problems = [random_problem(rng, m=m, d=d, nv=min(2 + m * d, 10)) for _ in range(5)]
        # The first loads compiled code, which is no part of the budget; whether motions end is not
        # asked.
        with suppress(carom.ImpactNotResolved):
            CALLS[name](problems[0])
        for number, problem in enumerate(problems[1:], start=1):
            begin = time.process_time()
            CALLS[name](problem)
            seconds[m, number] = time.process_time() - begin
    assert {each: taken for each, taken in seconds.items() if taken > MOST} == {}
