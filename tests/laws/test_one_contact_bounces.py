"""One contact that bounces by Stronge's law, judged by its definition and published numbers."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carom
from tests.reference.impact_problems import delassus, random_problem
from tests.reference.pendulum import striking_pendulum
from tests.reference.stronge import stronge

CASES = 10_000
CLOSE = 1e-9
seeds = st.integers(0, 2**31)


def single(rng, e=None):
    """Return an impact at one planar contact; one in five starts without slip."""
    nv = int(rng.integers(2, 5))
    J, root, v = rng.normal(size=(2, nv)), rng.normal(size=(nv, nv)), rng.normal(size=nv)
    if rng.random() < 0.2:
        v = v - np.linalg.pinv(J[1:]) @ (J[1:] @ v)
    v = -v if J[0] @ v > 0.0 else v
    if e is None:
        e = rng.choice([0.0, 1.0, rng.random(), rng.random()])
    M = root @ root.T + 0.1 * np.eye(nv)
    mu = rng.choice([0.0, rng.uniform(0.0, 2.0), rng.uniform(0.0, 2.0), 10.0])
    return carom.ImpactProblem(M, J[:1], J[1:], mu, v, restitution=e)


def test_ten_thousand_impacts_follow_the_curve_of_work():
    """Slip that stops, reverses or drives the contact in, in compression and in restitution."""
    happened = Counter()
    worst = 0.0
    for number in range(CASES):
        problem = single(np.random.default_rng([19, number]))
        outcome = carom.RouthSingle().resolve(problem)
        truth = stronge(problem)
        error = problem.kinetic_energy(outcome.v_post[0] - truth.v_post)
        A = delassus(problem)
        # Rounding counts by how far the normal and tangential velocities are from being tied.
        free = np.linalg.det(A) / (A[0, 0] * A[1, 1])
        worst = max(worst, free * float(np.sqrt(2.0 * error)) / problem.energy_norm)
        happened[truth.stops, truth.after if truth.stops != "never" else ""] += 1
        happened["driven in"] += truth.is_driven_in
        happened["driven in, bounces"] += truth.is_driven_in and problem.bounces
    assert worst < 1e-12
    assert len(happened) == 7
    assert min(happened.values()) > 100


@given(seed=seeds)
def test_energy_with_what_is_stored_never_rises(seed):
    """Energetic consistency [Djerassi 2009], phase by phase, by the definition of the law."""
    problem = single(np.random.default_rng(seed))
    path = carom.RouthSingle().resolve(problem).path(0)
    v_n, v_t = problem.contact_velocity(path.v)[:, 0].T
    unit = problem.energy_norm**2
    kinetic = problem.kinetic_energy(path.v)
    e, mu = problem.restitution[0], problem.mu[0]
    stored = [0.0]
    for step in range(path.num_steps):
        # A phase is compression or restitution: the velocity does not change its sign within one.
        assert v_n[step] * v_n[step + 1] >= -CLOSE * unit
        work = path.lambda_n[step, 0] * 0.5 * (v_n[step] + v_n[step + 1])
        stored.append(stored[-1] - (e**2 * work if work < 0.0 else work))
        slip = 0.5 * (v_t[step] + v_t[step + 1])
        friction = path.lambda_t[step, 0, 0]
        assert abs(friction) <= mu * path.lambda_n[step, 0] * (1.0 + CLOSE)
        assert friction * slip <= CLOSE * unit
    assert min(stored) >= -CLOSE * unit
    assert stored[-1] <= CLOSE * unit
    assert (np.diff(kinetic + stored) <= CLOSE * unit).all()
    assert v_n[-1] >= -CLOSE * problem.space.velocity_unit[0]
    assert kinetic[-1] <= kinetic[0] * (1.0 + CLOSE)


@given(seed=seeds)
def test_without_friction_it_returns_e_times_the_speed(seed):
    rng = np.random.default_rng(seed)
    e = rng.random()
    problem = dataclasses.replace(single(rng, e), mu=0.0)
    outcome = carom.RouthSingle().resolve(problem)
    before = problem.contact_velocity(problem.v_pre)[0, 0]
    assert outcome.contact_velocities[0, 0, 0] == pytest.approx(-e * before, rel=1e-9)


def test_elastic_without_friction_keeps_the_energy():
    for number in range(200):
        problem = single(np.random.default_rng(number), 1.0)
        problem = dataclasses.replace(problem, mu=0.0)
        after = problem.kinetic_energy(carom.RouthSingle().resolve(problem).v_post[0])
        assert after == pytest.approx(problem.kinetic_energy(problem.v_pre), rel=1e-10)


def test_restitution_that_goes_to_zero_is_the_inelastic_impact():
    for number in range(200):
        problem = single(np.random.default_rng(number), 0.0)
        almost = dataclasses.replace(problem, restitution=1e-13)
        ends = (carom.RouthSingle().resolve(p).v_post for p in (problem, almost))
        np.testing.assert_allclose(*ends, atol=1e-9)


def test_a_double_pendulum_loses_energy_by_stronges_law():
    """Its tip slides, stops to slide in restitution, and sticks: 47.4 % of the energy are lost."""
    problem = striking_pendulum()
    outcome = carom.RouthSingle().resolve(problem)
    np.testing.assert_allclose(outcome.v_post[0], [-0.1926, 0.2090], atol=5e-5)
    lost = 1.0 - problem.kinetic_energy(outcome.v_post[0]) / problem.kinetic_energy(problem.v_pre)
    assert lost == pytest.approx(0.474, abs=5e-4)
    assert outcome.labels == (
        "slides - compressing, then slides - restituting, then sticks restituting",
    )
    assert outcome.path(0).modes[-1] == ("restituting, sticking",)
    assert not outcome.notes


def test_what_is_driven_in_from_rest_bounces():
    """Painlevé's rod: friction drives its end in, and what it stores comes back."""
    x, y = np.cos(np.arctan(2.0)), np.sin(np.arctan(2.0))
    rod = carom.ImpactProblem(
        np.diag([1.0, 1.0, 1.0 / 3.0]),
        [[0.0, 1.0, -x]],
        [[1.0, 0.0, y]],
        2.0,
        [-1.0, 0.0, 0.0],
        restitution=0.5,
        without_collision=True,
    )
    A, slip = delassus(rod), 1.0
    # Slip stops after p; the end is driven in with the speed of that moment, and sticks from there.
    p = slip / (2.0 * A[1, 1] + A[1, 0])
    speed = -p * (A[0, 0] + 2.0 * A[0, 1])
    rate = A[0, 0] - A[0, 1] ** 2 / A[1, 1]
    stored = 0.25 * (0.5 * p * speed + 0.5 * speed**2 / rate)
    v_c = carom.RouthSingle().resolve(rod).contact_velocities[0, 0]
    np.testing.assert_allclose(v_c, [np.sqrt(2.0 * rate * stored), 0.0], atol=1e-12)


def test_what_cannot_return_is_an_error():
    """Tied velocities, within the cone: the contact wedges itself in."""
    wedge = carom.ImpactProblem(np.eye(2), [[0, 1]], [[0, 0.5]], 3.0, [0, -1], restitution=0.5)
    with pytest.raises(carom.ImpactNotResolved, match="never returns"):
        carom.RouthSingle().resolve(wedge)
    still = dataclasses.replace(wedge, restitution=0.0)
    np.testing.assert_allclose(carom.RouthSingle().resolve(still).v_post, [[0.0, 0.0]])


@given(seed=seeds)
def test_where_nothing_approaches_nothing_happens(seed):
    problem = random_problem(np.random.default_rng(seed), 1, 1)
    away = dataclasses.replace(problem, v_pre=-problem.v_pre, restitution=0.7)
    outcome = carom.RouthSingle().resolve(away)
    assert np.array_equal(outcome.v_post[0], away.v_pre)
    assert outcome.labels == ("does not collide",)
