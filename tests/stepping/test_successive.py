"""Successive linear programs in space: derivatives, legal motions, and extremes that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import carom
from carom.kernels.ascent import change_rows
from carom.kernels.motions import FINISHED
from carom.kernels.shooting import linearize, shoot
from carom.kernels.stretches import make_work
from carom.stepping import ExtremeSearch, MotionSampler
from carom.stepping.replay import replay
from carom.stepping.successive import STEP, Ascent
from tests.reference.impact_problems import random_problem

SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone")


def in_space(problem: carom.ImpactProblem) -> carom.ImpactProblem:
    """Return a planar impact as one in space, with a second tangent along which nothing moves."""
    m, nv = problem.num_contacts, problem.num_velocities
    M = np.eye(nv + 1)
    M[:nv, :nv] = problem.M
    J_t = np.zeros((m, 2, nv + 1))
    J_t[:, :1, :nv], J_t[:, 1, nv] = problem.J_t, 1.0
    J_n = np.hstack([problem.J_n, np.zeros((m, 1))])
    v_pre = np.append(problem.v_pre, 0.0)
    return carom.ImpactProblem(M=M, J_n=J_n, J_t=J_t, mu=problem.mu, v_pre=v_pre)


def landing(number: int, **options) -> carom.ImpactProblem:
    rng = np.random.default_rng(number)
    m = 2 + number % 3
    return random_problem(rng, m, 2, mu=rng.uniform(0.1, 1.0, m), at_rest=False, **options)


def derivatives(problem: carom.ImpactProblem, rows: np.ndarray, q: np.ndarray):
    """Return velocities, and derivatives by coordinates of all contact velocities."""
    space, start = problem.space, problem.start
    c, work = len(start), make_work(problem.num_contacts, 3)
    velocities, log = np.empty((len(rows) + 1, c)), np.empty((0, c))
    shoot(space.A, space.mu, start, rows, velocities, work, log, np.zeros(1, np.int64))
    F, G = np.empty((len(rows), c + 1, c)), np.empty((len(rows), c + 1, rows.shape[1]))
    basis, still = np.eye(c), np.zeros(c)
    linearize(space.A, space.mu, velocities, rows, basis, still, q, STEP, F, G, work, log)
    return velocities, F, G


@pytest.mark.parametrize("number", range(6))
def test_without_friction_derivatives_are_those_of_a_straight_line(number):
    """Then u' = u + A a, whatever u is."""
    rng = np.random.default_rng(number)
    problem = random_problem(rng, 2 + number % 3, 2, mu=0.0, at_rest=False, duplicates=False)
    space, c = problem.space, len(problem.start)
    acting = problem.start[::3] < 0.0
    # So small an impulse stops no contact.
    rows = 1e-3 * acting * rng.uniform(0.5, 1.0, (2, problem.num_contacts)) / np.abs(space.A).max()
    q = rng.normal(size=c)
    velocities, F, G = derivatives(problem, rows, q)
    np.testing.assert_allclose(
        velocities[1:] - velocities[:-1], rows @ space.A[::3], rtol=0.0, atol=1e-12
    )
    np.testing.assert_allclose(F[:, :c], np.broadcast_to(np.eye(c), (2, c, c)), atol=1e-9)
    np.testing.assert_allclose(F[:, c], 0.0, atol=1e-9)
    for k in np.flatnonzero(acting):
        np.testing.assert_allclose(G[:, :c, k], np.tile(space.A[3 * k], (2, 1)), atol=1e-9)
        np.testing.assert_allclose(G[:, c, k], q[3 * k], atol=1e-9)


def test_derivatives_of_one_sliding_contact_are_those_of_keller_s_equation():
    """With A = 1 slip keeps its direction e: dt'/dt = 1 - mu a (1 - e e') / |t|."""
    problem = carom.ImpactProblem(
        M=np.eye(3), J_n=[[0, 0, 1]], J_t=[[[1, 0, 0], [0, 1, 0]]], mu=0.5, v_pre=[0.6, 0.8, -2]
    )
    speed, push = np.linalg.norm(problem.start[1:]), 0.1
    e = problem.start[1:] / speed
    _, F, G = derivatives(problem, np.array([[push]]), np.zeros(3))
    scale = problem.space.A[1, 1]
    across = np.eye(2) - np.outer(e, e)
    expected = np.eye(2) - 0.5 * push * scale * across / speed
    np.testing.assert_allclose(F[0, 1:3, 1:3], expected, atol=1e-4)
    np.testing.assert_allclose(G[0, 1:3, 0], -0.5 * scale * e, atol=1e-4)
    np.testing.assert_allclose(G[0, 0, 0], problem.space.A[0, 0], atol=1e-6)


def test_poor_motions_become_as_good_as_the_best_of_many_and_stay_legal():
    # Of these random impacts, the outcome is not unique.
    shares = [share for number in (1, 2, 3, 4, 5, 7) for share in improved(landing(number), number)]
    # Above 1 where a motion is better than the best; it may also end in a local maximum.
    assert np.median(shares) >= 1.0 - 1e-3
    assert np.mean(shares) > 0.7


def improved(problem: carom.ImpactProblem, number: int) -> list[float]:
    """Return the gains of poor motions, as shares of what the best of 64 is better."""
    space, start = problem.space, problem.start
    sampler = MotionSampler(space, start, number, 64)
    totals, statuses, events = sampler.run(64, 1, None)
    ended = np.flatnonzero(statuses == FINISHED)
    shares = []
    for q in np.vstack([space.A[:3], -space.A[1:3]]):
        ascent = Ascent(space, start, q)
        values = totals[ended] @ q
        k = int(ended[values.argsort()[8]])
        motion = sampler.record(k, int(events[k]))
        better = ascent.climb(motion)
        before, after = (float(q @ each.sum(axis=0)) for each in (motion, better))
        assert after >= before
        assert not replay(space, start, better, 1e-6)
        plan, length = ascent.plan(better)
        followed = sampler.follow(plan[0], int(length[0])).sum(axis=0)
        # The plan has few rows, so it may lose a little of a motion with many.
        assert q @ followed >= before - 1e-2 * np.abs(q).max()
        if (room := values.max() - before) > 1e-4:
            shares.append((after - before) / room)
    return shares


@pytest.mark.parametrize("name", SCENES)
def test_extremes_of_planar_scenes_are_found_in_space(name):
    """The exact set in the plane is an independent answer: nothing moves along the new tangent."""
    pytest.importorskip("ppl")
    planar = carom.scenes.load(name).problem
    exact = carom.RouthExact().resolve(planar)
    problem = in_space(planar)
    space = problem.space
    units = np.repeat(space.impulse_unit, 3)
    for i in range(planar.num_contacts):
        for row in (planar.J_n[i], planar.J_t[i, 0], -planar.J_t[i, 0]):
            direction = np.append(row, 0.0)
            q = np.linalg.solve(problem.M, direction) @ problem.J.T * units
            search = ExtremeSearch(space, problem.start, q[None], seed=1)
            search.run(np.inf, max_rounds=1)
            reached = direction @ problem.v_pre + search.values[0]
            speed = np.linalg.norm(row) * np.linalg.norm(planar.v_pre)
            assert -1e-4 * speed <= reached - exact.support(row) <= 1e-6 * speed


@pytest.mark.parametrize("seed", range(20))
def test_changes_of_rows_are_as_good_as_those_of_another_solver(seed):
    """All contacts approach, so every impulse may change and every condition counts."""
    rng = np.random.default_rng(seed)
    K, m, change, penalty = int(rng.integers(1, 9)), int(rng.integers(1, 5)), 0.02, 5.0
    gain, normal = rng.normal(size=K * m), rng.normal(size=(K * m, K * m))
    rows = rng.uniform(0.0, 0.05, (K, m))
    velocities = -rng.uniform(0.0, 0.05, (K + 1, 3 * m))
    changed = np.empty((K, m))
    assert change_rows(gain, normal, rows, velocities, 3, change, penalty, changed)
    step, n = (changed - rows).ravel(), velocities[1:, ::3].ravel()
    # Conditions: no contact parts; what approaches at the end costs a penalty.
    assert (n + normal @ step).max() <= 1e-6
    assert np.abs(step).max() <= change * (1.0 + 1e-12)
    assert changed.min() >= 0.0
    end = slice((K - 1) * m, None)
    value = gain @ step - penalty * np.maximum(-(n + normal @ step)[end], 0.0).sum()
    best = linprog(
        np.concatenate([-gain, np.full(m, penalty)]),
        A_ub=np.block([[normal, np.zeros((K * m, m))], [-normal[end], -np.eye(m)]]),
        b_ub=np.concatenate([-n, n[end]]),
        bounds=[*zip(np.maximum(-rows.ravel(), -change), [change] * (K * m), strict=True)]
        + [(0.0, None)] * m,
    )
    # Conditions are relaxed by up to some 1e-8, which prices multiply.
    assert value == pytest.approx(-best.fun, abs=1e-5)


@pytest.mark.parametrize("number", [2, 4])
def test_inserted_pushes_do_not_make_motions_worse_or_illegal(number):
    problem = landing(number)
    space, start = problem.space, problem.start
    sampler = MotionSampler(space, start, number, 4)
    _, _, events = sampler.run(4, 1, None)
    for q in np.vstack([space.A[1], -space.A[1]]):
        ascent = Ascent(space, start, q)
        motion = ascent.climb(sampler.record(0, int(events[0])))
        better = ascent.explore(motion, np.random.default_rng(number))
        assert q @ better.sum(axis=0) >= q @ motion.sum(axis=0)
        assert not replay(space, start, better, 1e-6)


@pytest.mark.parametrize("number", [1, 2])
def test_searches_have_the_same_bits_on_any_number_of_threads(number):
    problem = landing(number)
    objectives = np.vstack([problem.space.A[:3], -problem.space.A[1:3]])
    one, two = (
        ExtremeSearch(problem.space, problem.start, objectives, seed=3, num_threads=threads)
        for threads in (1, 2)
    )
    for search in (one, two):
        # Three rounds: the third begins with what others ended with.
        search.run(np.inf, max_rounds=3)
    assert (one.values == two.values).all()
    for own, other in zip(one.motions, two.motions, strict=True):
        np.testing.assert_array_equal(own.impulses, other.impulses)
