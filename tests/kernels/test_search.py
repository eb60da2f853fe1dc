"""The search for a piece: each solution of a step has its turn, and nothing else has.

The search itself has a narrow interface that changes with what is fastest. It is tested through
the sampled law: all samples take the same first step, so their first outcomes are its solutions.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import carom
from carom.lcp import solve_all
from tests.reference.impact_problems import ImpactLCP, random_problem

FloatArray = NDArray[np.float64]

SAME = 1e-7
"""Contact velocities this close, in natural units, are one outcome."""

NUM_SAMPLES = 300
MOST_STEPS = 60


def first_steps(problem: carom.ImpactProblem, caps: FloatArray, seed: int) -> FloatArray:
    """Return the contact velocities (n, c), in natural units, after a first step with given caps.

    The steps that follow are long ones, which end the impact.
    """
    h = 10.0 * float(np.max(problem.space.impulse_unit))
    rng = np.random.default_rng(seed)
    points = rng.uniform(0.5, 1.0, (NUM_SAMPLES, MOST_STEPS, problem.num_contacts))
    points[:, 0] = caps / h
    law = carom.Routh(points=points.reshape(NUM_SAMPLES, -1), step_impulse=h, seed=seed)
    outcomes = law.resolve(problem)
    assert len(outcomes) > 0.5 * NUM_SAMPLES
    after = np.array([outcomes.path(i).v[1] for i in range(len(outcomes))])
    unit = np.repeat(problem.space.velocity_unit, problem.space.width)
    return problem.contact_velocity(after).reshape(len(after), -1) / unit


@pytest.mark.parametrize(("m", "d", "count"), [(2, 1, 40), (3, 1, 10), (1, 2, 20)])
def test_every_solution_of_a_step_is_chosen_with_equal_chances(m, d, count):
    several = 0
    for i in range(count):
        rng = np.random.default_rng([1, m, d, i])
        problem = random_problem(
            rng, m, d, mu=rng.uniform(0.5, 3.0, m), nv=3 * m, at_rest=False, duplicates=False
        )
        caps = problem.space.impulse_unit * rng.uniform(0.1, 2.0, m)
        impact = ImpactLCP.of(problem, caps)
        solutions = impact.velocities_after([solution.x for solution in solve_all(impact.lcp)])
        if len(solutions) == 1 and several > 0 and i > 5:
            continue
        found = first_steps(problem, caps, i)
        distance = np.abs(found[:, None] - solutions[None]).max(axis=2)
        assert distance.min(axis=1).max() <= SAME, i
        times = np.bincount(distance.argmin(axis=1), minlength=len(solutions))
        # Five standard deviations of a fair choice.
        fair = len(found) / len(solutions)
        assert (np.abs(times - fair) <= 5.0 * np.sqrt(fair) + 1e-9).all(), (i, times)
        several += len(solutions) > 1
    assert several > 0
