"""Stretches of impacts in space: Keller's equation, several contacts, events, degenerate cases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import carom
from carom.kernels.slip import JAMMED, OK, follow_stretch
from carom.kernels.stretches import make_work
from tests.reference.coulomb_cone import round_cone_impulse
from tests.reference.impact_problems import random_generator, random_problem
from tests.reference.smoothed_friction import smoothed_stretch
from tests.reference.spatial_problems import box, ellipsoid, flat_feet, on_feet, turn, with_tangents

FloatArray = NDArray[np.float64]

CONE = 1e-8
"""Friction may exceed its limit by this, as a share of the impact's speed."""

CONSISTENT = 1e-7
"""Velocities and impulses may differ by this: slip this small is dropped where A cannot move it."""


@dataclass(frozen=True)
class Stretch:
    """A stretch that was followed, and what it was followed from."""

    A: FloatArray
    mu: FloatArray
    start: FloatArray
    status: int
    num_events: int
    u: FloatArray
    total: FloatArray
    log: FloatArray

    def check(self) -> None:
        """Check what holds for every stretch: the cone, energy, and its own bookkeeping."""
        np.testing.assert_allclose(self.log.sum(axis=0), self.total, rtol=0.0, atol=1e-12)
        after = self.start + self.A @ self.total
        np.testing.assert_allclose(self.u, after, rtol=0.0, atol=CONSISTENT)
        pieces = self.log.reshape(len(self.log), len(self.mu), 3)
        assert (pieces[..., 0] >= 0.0).all()
        friction = np.linalg.norm(pieces[..., 1:], axis=2)
        assert (friction <= self.mu * pieces[..., 0] + CONE).all()
        v = self.start.copy()
        for piece in self.log:
            assert v @ piece + 0.5 * piece @ self.A @ piece <= 1e-12
            v += self.A @ piece


def follow(
    problem: carom.ImpactProblem, rates: FloatArray, share: float = 1.0, aims: int = 0
) -> Stretch:
    space = problem.space
    return follow_from(space.A, space.mu, problem.start.ravel(), rates, share, aims)


def follow_from(
    A: FloatArray,
    mu: FloatArray,
    start: FloatArray,
    rates: FloatArray,
    share: float = 1.0,
    aims: int = 0,
    room: int = 5000,
) -> Stretch:
    # Copies, so that arrays which may not be written to need no compilation of their own.
    A, mu = np.array(A), np.array(mu)
    log, num_logged = np.zeros((room, len(start))), np.zeros(1, np.int64)
    work = make_work(len(mu), 3)
    work.u[: len(start)], work.rates[: len(mu)] = start, rates
    status, num_events = follow_stretch(A, mu, share, aims, work, log, num_logged)
    u, total = work.u[: len(start)], work.total[: len(start)]
    return Stretch(A, mu, start, status, num_events, u, total, log[: num_logged[0]])


def some_rates(rng: np.random.Generator, m: int) -> FloatArray:
    return rng.uniform(size=m) * (rng.random(m) < 0.8)


@pytest.mark.parametrize("seed", range(100))
def test_one_contact_ends_where_kellers_equation_does(seed):
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.0, 2.0)
    problem = ellipsoid(rng) if seed % 2 else random_problem(rng, 1, 2, mu=mu)
    stretch = follow(problem, np.ones(1))
    stretch.check()
    assert stretch.status == OK
    assert stretch.u[0] == 0.0
    A, start = problem.space.A, problem.start.ravel()
    expected = start + A @ round_cone_impulse(A, problem.mu[0], start)
    np.testing.assert_allclose(stretch.u, expected, rtol=0.0, atol=2e-8)


@pytest.mark.parametrize("seed", range(40))
def test_several_contacts_end_where_smoothed_friction_does(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 5))
    nv = int(rng.integers(3, 9)) if seed % 2 else 3 * m + 1
    problem = random_problem(
        rng, m, 2, nv=nv, mu=rng.uniform(0.0, 2.0, m), at_rest=False, duplicates=False
    )
    rates = rng.uniform(size=m)
    stretch = follow(problem, rates)
    stretch.check()
    assert stretch.status == OK
    A, start = problem.space.A, problem.start.ravel()
    expected = start + A @ smoothed_stretch(A, problem.mu, start, rates)
    np.testing.assert_allclose(stretch.u, expected, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_a_share_ends_at_its_length(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(
        rng, 3, 2, nv=10, mu=rng.uniform(0.0, 2.0, 3), at_rest=False, duplicates=False
    )
    rates = rng.uniform(0.1, 1.0, 3)
    stretch = follow(problem, rates, 0.5)
    stretch.check()
    A, start = problem.space.A, problem.start.reshape(3, 3)
    weight = np.where(start[:, 0] <= 0.0, rates, 0.0)
    weight /= weight.sum()
    slip = start[:, 1:] / np.linalg.norm(start[:, 1:], axis=1)[:, None]
    push = np.column_stack([weight, -(problem.mu * weight)[:, None] * slip]).ravel()
    rate = (A @ push).reshape(3, 3)[:, 0]
    stops = (weight > 0.0) & (rate > 0.0)
    first = (
        (-start[stops, 0] / rate[stops]).min()
        if stops.any()
        else (np.abs(start).max() / np.abs(A @ push).max())
    )
    expected = smoothed_stretch(A, problem.mu, start.ravel(), rates, 0.5 * first)
    np.testing.assert_allclose(A @ stretch.total, A @ expected, rtol=0.0, atol=1e-6)


@given(random_generator(), st.integers(1, 5), st.sampled_from([0.3, 1.0]))
@settings(max_examples=100)
def test_any_impact_is_followed_to_its_end(rng, m, share):
    """Duplicate contacts, contacts at rest, redundant rows, friction from 0 to 1e5."""
    problem = random_problem(rng, m, 2)
    rates = some_rates(rng, m)
    stretch = follow(problem, rates, share)
    stretch.check()
    assert stretch.status in (OK, JAMMED)
    if share == 1.0 and stretch.status == OK:
        idle = (rates == 0.0) | (stretch.start[::3] > 0.0)
        # Whoever has acted has stopped; others may since have been pushed in.
        assert (idle | (stretch.total[::3] > 0.0) | (stretch.start[::3] > -1e-12)).all()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("make", ["feet", "box", "flat"])
def test_bodies_with_more_contacts_than_they_need(make, seed):
    rng = np.random.default_rng(seed)
    if make == "feet":
        problem = on_feet(rng, int(rng.integers(2, 6)))
    elif make == "box":
        problem = box(rng.uniform(0.1, 1.5), v=rng.normal(size=6) - [0.0, 0.0, 3.0, 0.0, 0.0, 0.0])
    else:
        problem = flat_feet(rng.uniform(0.1, 1.5))
    for aims in (0, 1):
        rates = rng.uniform(0.1, 1.0, problem.num_contacts)
        stretch = follow(problem, rates, 1.0, aims)
        stretch.check()
        assert stretch.status == OK
        if aims == 1:
            assert (stretch.u[::3] >= 0.0).all()


@pytest.mark.parametrize("seed", range(40))
def test_aimed_contacts_end_at_zero_or_part(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 5))
    problem = random_problem(rng, m, 2, nv=3 * m, mu=rng.uniform(0.0, 1.0, m), duplicates=False)
    stretch = follow(problem, np.ones(m), 1.0, 1)
    stretch.check()
    assert stretch.status == OK
    assert (stretch.u[::3] >= 0.0).all()


def test_aimed_contacts_stop_together_where_all_approach_alike():
    problem = box(0.5, v=(0.3, 0.1, -1.0, 0.05, -0.1, 0.2))
    assert (problem.start.reshape(4, 3)[:, 0] < 0.0).all()
    stretch = follow(problem, np.array([0.9, 0.1, 0.2, 0.3]), 1.0, 1)
    assert stretch.status == OK
    assert (stretch.u[::3] == 0.0).all()


@pytest.mark.parametrize("seed", range(20))
def test_tangents_may_be_turned(seed):
    rng = np.random.default_rng(seed)
    problem = on_feet(rng, 3)
    turned = with_tangents(problem, [turn(a) for a in rng.uniform(0.0, 6.0, 3)])
    rates = rng.uniform(size=3)
    here, there = follow(problem, rates), follow(turned, rates)
    np.testing.assert_allclose(here.u[::3], there.u[::3], rtol=0.0, atol=1e-7)
    slip, other = (np.linalg.norm(s.u.reshape(3, 3)[:, 1:], axis=1) for s in (here, there))
    np.testing.assert_allclose(slip, other, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_errors_do_not_grow(seed):
    """Two motions at the same rates never move apart: their distance in energy does not rise."""
    rng = np.random.default_rng(seed)
    problem = random_problem(
        rng, 3, 2, nv=12, mu=rng.uniform(0.0, 2.0, 3), at_rest=False, duplicates=False
    )
    A, mu, start = problem.space.A, problem.space.mu, problem.start.ravel()
    # All approach fast and far, so that nobody stops within the lengths compared.
    start[::3] = -100.0 - rng.uniform(size=3)
    other = start + 0.1 * rng.normal(size=9)
    rates = rng.uniform(0.2, 1.0, 3)
    distances = []
    for length in (0.0, 0.05, 0.2, 0.8):
        ends = []
        for u in (start, other):
            end = u.copy() if length == 0.0 else _after(A, mu, u, rates, length)
            ends.append(end)
        gap = ends[0] - ends[1]
        distances.append(gap @ np.linalg.solve(A, gap))
    assert (np.diff(distances) <= 1e-7 * distances[0]).all(), distances


def _after(A, mu, u, rates, length):
    """Return velocities after a given normal impulse, by a share that has just this length."""
    probe = follow_from(A, mu, u, rates, 1e-6)
    first = probe.total[::3].sum() / 1e-6
    stretch = follow_from(A, mu, u, rates, length / first)
    assert stretch.status == OK
    assert stretch.total[::3].sum() == pytest.approx(length)
    return stretch.u


def test_two_walls_that_press_on_one_body_jam():
    """Normals against each other, both at rest: what one pushes the other takes."""
    A = np.zeros((6, 6))
    A[0, 0] = A[3, 3] = 1.0
    A[0, 3] = A[3, 0] = -1.0
    for i in (1, 2, 4, 5):
        A[i, i] = 1.0
    stretch = follow_from(A, np.array([0.3, 0.4]), np.zeros(6), np.ones(2))
    assert stretch.status == JAMMED
    # With slip they first come to rest.
    sliding = np.array([0.0, 0.1, 0.0, 0.0, 0.0, 0.2])
    stretch = follow_from(A, np.array([0.3, 0.4]), sliding, np.ones(2))
    assert stretch.status == JAMMED
    np.testing.assert_array_equal(stretch.u, 0.0)


def test_nothing_happens_where_nobody_may_act():
    start = np.array([0.5, 0.1, 0.0])
    stretch = follow_from(np.eye(3), np.array([0.5]), start, np.ones(1))
    assert (stretch.status, stretch.num_events) == (OK, 0)
    np.testing.assert_array_equal(stretch.u, start)


def test_a_contact_at_rest_that_parts_stops_at_once():
    """The second contact is pushed away by the first, so that it has no impulse."""
    A = np.eye(6)
    A[0, 3] = A[3, 0] = 0.5
    start = np.array([-1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    stretch = follow_from(A, np.zeros(2), start, np.array([1.0, 1.0]))
    assert stretch.total[3] == 0.0
    np.testing.assert_allclose(stretch.u, [0.0, 0.0, 0.0, 0.5, 0.0, 0.0], atol=1e-12)


def test_a_log_without_room_is_left_alone():
    problem = ellipsoid(np.random.default_rng(1))
    A, mu, start = problem.space.A, problem.space.mu, problem.start.ravel()
    stretch = follow_from(A, mu, start, np.ones(1), room=0)
    assert (stretch.status, len(stretch.log)) == (OK, 0)
    np.testing.assert_array_equal(stretch.u, follow(problem, np.ones(1)).u)


SCRIPT = """
import json
import numpy as np
from carom.kernels.slip import follow_stretch
from carom.kernels.stretches import make_work
from tests.reference.spatial_problems import on_feet

problem = on_feet(np.random.default_rng(3), 3)
space, work = problem.space, make_work(3, 3)
work.u[:9], work.rates[:3] = problem.start.ravel(), [0.2, 0.5, 0.3]
follow_stretch(space.A, space.mu, 1.0, 0, work, np.zeros((0, 9)), np.zeros(1, np.int64))
print(json.dumps(work.u[:9].tolist()))
"""


def test_without_compilation_it_is_the_same():
    path = os.pathsep.join([*sys.path, os.getcwd()])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    compiled = follow(on_feet(np.random.default_rng(3), 3), np.array([0.2, 0.5, 0.3]))
    np.testing.assert_allclose(json.loads(run.stdout), compiled.u, rtol=0.0, atol=1e-8)
