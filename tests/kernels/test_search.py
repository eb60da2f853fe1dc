"""The search for a piece: each solution of a step has its turn, and nothing else has.

The search itself has a narrow interface that changes with what is fastest. It is tested through
the sampled law: all samples take the same first step, so their first outcomes are its solutions.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import carom
from carom.stepping.lcp import solve_all
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


def problems_with_caps(m: int, d: int) -> Iterator[tuple[int, carom.ImpactProblem, FloatArray]]:
    """Yield random problems whose contacts do not depend on each other."""
    for i in range(1000):
        rng = np.random.default_rng([1, m, d, i])
        mu = rng.uniform(0.5, 3.0, m)
        # Three directions in space, so that all pieces of two contacts are tabulated.
        problem = random_problem(
            rng, m, d, mu=mu, nv=3 * m, at_rest=False, duplicates=False, num_directions=3
        )
        yield i, problem, problem.space.impulse_unit * rng.uniform(0.1, 2.0, m)


@pytest.mark.parametrize(("m", "d"), [(2, 1), (3, 1), (2, 2)])
def test_every_solution_of_a_step_is_chosen_with_equal_chances(m, d):
    wanted = {"one": 2, "several": 4}
    for i, problem, caps in problems_with_caps(m, d):
        impact = ImpactLCP.of(problem, caps)
        solutions = impact.velocities_after([solution.x for solution in solve_all(impact.lcp)])
        kind = "several" if len(solutions) > 1 else "one"
        if wanted[kind] == 0:
            continue
        wanted[kind] -= 1
        found = first_steps(problem, caps, i)
        distance = np.abs(found[:, None] - solutions[None]).max(axis=2)
        assert distance.min(axis=1).max() <= SAME, i
        times = np.bincount(distance.argmin(axis=1), minlength=len(solutions))
        # Five standard deviations of a fair choice.
        fair = len(found) / len(solutions)
        assert (np.abs(times - fair) <= 5.0 * np.sqrt(fair) + 1e-9).all(), (i, times)
        if not any(wanted.values()):
            break
    assert not any(wanted.values())


def test_where_pieces_are_filled_as_met_several_solutions_are_taken():
    """Four contacts have too many pieces for a table of all; a habit must not decide there.

    Lemke's paths end at solutions of positive sign, and the table may know one solution and not
    the other. So not all solutions can be asked for, nor several in every problem.
    """
    wanted, met, taken = 40, 0, 0
    for i, problem, caps in problems_with_caps(4, 1):
        impact = ImpactLCP.of(problem, caps)
        solutions = impact.velocities_after([solution.x for solution in solve_all(impact.lcp)])
        if len(solutions) != 3:
            continue
        found = first_steps(problem, caps, i)
        distance = np.abs(found[:, None] - solutions[None]).max(axis=2)
        assert distance.min(axis=1).max() <= SAME, i
        met += 1
        taken += len(set(distance.argmin(axis=1).tolist())) > 1
        if met == wanted:
            break
    assert met == wanted
    assert taken >= wanted // 3
