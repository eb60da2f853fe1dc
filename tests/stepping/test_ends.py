"""Ends of samples: velocities, what is not physical, and the memory that samples take."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import carom
from carom.stepping import (
    FAILED,
    FINISHED,
    UNFINISHED,
    end_velocities,
    fail_unphysical,
    gather_finished,
)
from tests.reference.impact_problems import random_problem


@pytest.mark.parametrize("d", [1, 2])
def test_velocities_are_those_after_the_impulses(d):
    rng = np.random.default_rng(d)
    problem = random_problem(rng, 3, d)
    impulses = rng.normal(size=(3000, len(problem.J)))
    expected = problem.velocity_after(impulses)
    for threads in (1, 2):
        found = end_velocities(problem, impulses, threads)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_samples_that_approach_or_gain_energy_have_failed():
    problem = carom.scenes.load("compass-gait").problem
    outcomes = carom.Routh(num_samples=64, extremes=0.0).resolve(problem)
    good = np.concatenate([outcomes.impulse_n[:, :, None], outcomes.impulse_t], axis=2)
    good = good.reshape(64, -1)
    none, twice = np.zeros_like(good), 3.0 * good + 1.0
    impulses = np.concatenate([good, none, twice, none])
    statuses = np.repeat(np.array([FINISHED, FINISHED, FINISHED, UNFINISHED], np.int8), 64)
    v = problem.velocity_after(impulses[128:192])
    assert (problem.kinetic_energy(v) > problem.kinetic_energy(problem.v_pre)).all()
    fail_unphysical(problem, impulses, statuses, 1)
    expected = np.repeat([FINISHED, FAILED, FAILED, UNFINISHED], 64)
    assert statuses.tolist() == expected.tolist()


def test_finished_samples_are_gathered():
    statuses = np.array([FAILED, FINISHED, FINISHED, UNFINISHED, FINISHED], np.int8)
    impulses, velocities, steps = (
        np.arange(20.0).reshape(5, 4),
        np.arange(15.0).reshape(5, 3),
        np.arange(5),
    )
    found = gather_finished(statuses, impulses.copy(), velocities.copy(), steps.copy())
    for array, expected in zip(found, (impulses, velocities, steps), strict=False):
        assert array.tolist() == expected[[1, 2, 4]].tolist()
    assert found[3].tolist() == [1, 2, 4]


@pytest.mark.parametrize("options", [{}, {"extremes": 0.0}, {"draw": "persistent"}])
def test_samples_take_little_more_memory_than_they_return(options):
    problem = carom.scenes.load("ramone").problem
    law = carom.Routh(num_samples=2**17, num_threads=1, **options)
    law.resolve(problem)
    tracemalloc.start()
    outcomes = law.resolve(problem)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    parts = outcomes.v_post, outcomes.impulse_n, outcomes.impulse_t, outcomes.num_steps
    returned = sum(part.nbytes for part in (*parts, outcomes.numbers))
    assert peak < 1.5 * returned
