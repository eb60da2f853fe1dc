"""The simultaneous law with restitution, judged by the equations of Anitescu and Potra."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carom
from carom.stepping import decompression
from tests.reference.impact_problems import random_problem

CLOSE = 1e-8
seeds = st.integers(0, 2**31)


def bouncing(seed, m, d=1, **options):
    rng = np.random.default_rng([20261119, seed])
    problem = random_problem(rng, m, d, **options)
    return dataclasses.replace(problem, restitution=rng.uniform(0.0, 1.0, m))


def steps_of(problem, outcomes):
    """Return impulses (n, 2, m, 1 + d) of compression and decompression."""
    shape = problem.num_contacts, 1 + problem.num_tangents
    blocks = np.zeros((len(outcomes), 2, *shape))
    for own, steps in zip(blocks, outcomes.steps, strict=True):
        own[: len(steps)] = steps.reshape(-1, *shape)
    return blocks


def violation(problem, v, impulses, floors):
    """Return by how much velocities and impulses of a step violate the law, free of units."""
    space = problem.space
    speed, unit = space.velocity_unit, space.impulse_unit
    v_c = problem.contact_velocity(v) / speed[:, None]
    impulses = impulses / unit[:, None]
    above, v_n = impulses[:, 0] - floors / unit, v_c[:, 0]
    normal = np.abs(np.minimum(above, v_n)).max()
    power = (v_c[:, 1:] * impulses[:, 1:]).sum(axis=1)
    most = (problem.mu * impulses[:, 0])[:, None] * (v_c[:, 1:] @ space.directions.T)
    size = (1.0 + problem.mu) * (1.0 + np.abs(v_c).max()) * (1.0 + np.abs(impulses).max())
    friction = (np.abs(power - most.min(axis=1)) / size).max()
    over = (impulses[:, 1:] @ space.directions.T).max(axis=1) - problem.mu * impulses[:, 0]
    return max(normal / (1.0 + np.abs(impulses).max()), friction, (over / size).max())


@settings(max_examples=60)
@given(seed=seeds, m=st.integers(1, 3))
def test_planar_outcomes_satisfy_both_problems(seed, m):
    problem = bouncing(seed, m)
    check(problem, carom.AnitescuPotra().resolve(problem))


@settings(max_examples=8)
@given(seed=seeds)
def test_outcomes_in_space_satisfy_both_problems(seed):
    problem = bouncing(seed, 2, 2, num_directions=4)
    outcomes = carom.AnitescuPotra(num_trials=8).resolve(problem)
    check(problem, outcomes)
    if any(len(steps) == 2 for steps in outcomes.steps):
        assert not outcomes.is_complete


def check(problem, outcomes):
    assert len(outcomes) >= 1
    for (first, second), v_post in zip(steps_of(problem, outcomes), outcomes.v_post, strict=True):
        between = problem.velocity_after(first.ravel())
        assert violation(problem, between, first, 0.0) <= CLOSE
        floors = problem.restitution * first[:, 0]
        assert violation(problem, v_post, second, floors) <= CLOSE


def test_all_that_pivoting_finds_is_among_the_modes():
    several = 0
    for seed in range(40):
        problem = bouncing(seed, 2, duplicates=False)
        rng = np.random.default_rng(seed)
        space = problem.space
        v_c = problem.start.copy()
        v_c[::2] = np.maximum(0.0, v_c[::2]) * (rng.random(2) < 0.5)
        floors = rng.uniform(0.0, 0.5, 2)
        found, _ = decompression._by_modes(space, v_c, floors)
        pivoted = decompression._by_pivoting(problem, v_c, floors, 30, seed)
        several += len(pivoted) > 1
        ends = found @ space.A
        for impulse in pivoted:
            assert np.abs(ends - impulse @ space.A).max(axis=1).min() <= 1e-7
    assert several > 0


def test_a_flat_block_lands_and_leaves():
    block = carom.ImpactProblem(
        np.diag([1.0, 5.0 / 12.0]), [[1, -0.5], [1, 0.5]], np.zeros((2, 2)), 0.0, [-1, 0],
        restitution=0.8,
    )  # fmt: skip
    outcomes = carom.AnitescuPotra().resolve(block)
    np.testing.assert_allclose(outcomes.v_post, [[0.8, 0.0]], atol=1e-12)
    assert outcomes.is_complete
    assert not outcomes.notes
    assert outcomes.path(0).modes[1] == ("restituting, sticking",) * 2


def test_three_elastic_balls_part_as_if_two_were_one():
    """Compression ends with the speed 1/3 of all; it returns the same impulses 2/3 and 1/3."""
    balls = carom.ImpactProblem(
        np.eye(3), [[-1, 1, 0], [0, -1, 1]], np.zeros((2, 3)), 0.0, [1, 0, 0], restitution=1.0
    )
    outcomes = carom.AnitescuPotra().resolve(balls)
    np.testing.assert_allclose(outcomes.v_post, [[-1 / 3, 2 / 3, 2 / 3]], atol=1e-12)
    np.testing.assert_allclose(outcomes.impulse_n, [[4 / 3, 2 / 3]], atol=1e-12)


def test_one_contact_without_friction_is_newtons():
    for seed in range(50):
        problem = dataclasses.replace(bouncing(seed, 1), mu=0.0)
        before = problem.contact_velocity(problem.v_pre)[0, 0]
        after = carom.AnitescuPotra().resolve(problem).contact_velocities[0, 0, 0]
        assert after == pytest.approx(-problem.restitution[0] * before, rel=1e-9)


def test_restitution_that_goes_to_zero_is_the_inelastic_impact():
    for seed in range(50):
        problem = bouncing(seed, 2, at_rest=False, duplicates=False)
        still, almost = (
            carom.AnitescuPotra().resolve(dataclasses.replace(problem, restitution=e))
            for e in (0.0, 1e-13)
        )
        speed = problem.energy_norm / np.sqrt(np.diag(problem.M)).min()
        for v in still.v_post:
            assert np.abs(almost.v_post - v).max(axis=1).min() <= 1e-7 * speed


def test_outcomes_that_gain_energy_are_named():
    gained = 0
    for seed in range(150):
        problem = bouncing(seed, 2, mu=np.array([0.3, 1.5]), at_rest=False, duplicates=False)
        problem = dataclasses.replace(problem, restitution=np.array([1.0, 0.0]))
        outcomes = carom.AnitescuPotra().resolve(problem)
        energy = problem.kinetic_energy(outcomes.v_post)
        rises = energy > problem.kinetic_energy(problem.v_pre) * (1.0 + 1e-9)
        named = [note for note in outcomes.notes if "kinetic energy rises by" in note]
        assert len(named) == rises.sum()
        gained += rises.any()
    assert gained > 0
