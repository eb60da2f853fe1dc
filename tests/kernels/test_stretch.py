"""Stretches of planar impacts: energy, cone, friction against slip, exact events, uniqueness."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import carom
from carom.kernels.stretch import follow_stretch
from carom.kernels.stretch_alone import JAMMED, OK
from carom.kernels.stretches import make_work
from tests.reference.fixed_rates import follow_rates
from tests.reference.impact_problems import random_problem

FloatArray = NDArray[np.float64]

ROUNDING = 1e-10
"""Of the impact's speed; velocities below 1e-12 are set to zero, some hundred times."""

seeds = st.integers(0, 2**31)


@dataclass(frozen=True)
class Stretch:
    """A stretch that was followed, and what it was followed from."""

    A: FloatArray
    mu: FloatArray
    start: FloatArray
    rates: FloatArray
    status: int
    num_events: int
    u: FloatArray
    total: FloatArray
    log: FloatArray

    @property
    def velocities(self) -> FloatArray:
        """Return velocities (n + 1, c) at the ends of all pieces."""
        return np.vstack([self.start, self.start + np.cumsum(self.log, axis=0) @ self.A])


def follow(problem, rates, share=1.0, aims=0, start=None) -> Stretch:
    A, mu, m = problem.space.A, problem.space.mu, problem.num_contacts
    u = np.array(problem.start if start is None else start)
    log, logged = np.empty((400, 2 * m)), np.zeros(1, np.int64)
    work = make_work(m, 2)
    work.u[: 2 * m], work.rates[:m] = u, rates
    status, events = follow_stretch(A, mu, float(share), int(aims), work, log, logged)
    after, total = work.u[: 2 * m], work.total[: 2 * m]
    return Stretch(A, mu, u, np.array(rates), status, events, after, total, log[: logged[0]])


def draw_case(seed, m=None, **options):
    """Return a problem, whose contacts may coincide or rest, and rates of which some are zero."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 6)) if m is None else m
    problem = random_problem(rng, m, 1, **options)
    rates = rng.uniform(0.0, 1.0, m) * (rng.random(m) < 0.7)
    if not (rates * (problem.start[::2] < 0.0)).any():
        rates[int(np.argmin(problem.start[::2]))] = 1.0
    return problem, rates


def check(stretch: Stretch) -> None:
    """Assert what holds of every stretch: bookkeeping, energy, the cone, and friction."""
    mu, v = stretch.mu, stretch.velocities
    np.testing.assert_allclose(stretch.log.sum(axis=0), stretch.total, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(stretch.u, v[-1], rtol=0.0, atol=ROUNDING)
    push, friction = stretch.log[:, ::2], stretch.log[:, 1::2]
    size = 1.0 + np.abs(stretch.log).max(initial=0.0)
    assert (push >= 0.0).all()
    assert (np.abs(friction) <= mu * push + 1e-12 * size * (1.0 + mu)).all()
    # The work of a piece is its impulse times the mean of the velocities at its ends.
    work = 0.5 * np.einsum("ij,ij->i", stretch.log, v[:-1] + v[1:])
    assert (work <= 1e-12 * size).all()
    acts = push > 0.0
    assert (np.maximum(v[:-1, ::2], v[1:, ::2])[acts] <= ROUNDING).all()
    slip = v[:, 1::2]
    turns = np.minimum(slip[:-1], slip[1:]) * np.maximum(slip[:-1], slip[1:]) < -(ROUNDING**2)
    crossing = turns & (np.minimum(abs(slip[:-1]), abs(slip[1:])) > ROUNDING)
    assert not (crossing & acts).any()
    mean = 0.5 * (slip[:-1] + slip[1:])
    slides = acts & (np.abs(mean) > ROUNDING)
    wrong = np.abs(friction + mu * push * np.sign(mean))
    assert (wrong[slides] <= 1e-12 * size * (1.0 + (mu * push)[slides])).all()


@given(seed=seeds, share=st.sampled_from([0.3, 1.0]), aims=st.sampled_from([0, 1]))
def test_every_piece_obeys_the_inclusion(seed, share, aims):
    problem, rates = draw_case(seed)
    stretch = follow(problem, rates, share, aims)
    assert stretch.num_events <= len(stretch.log) + 1
    check(stretch)


@given(seed=seeds)
def test_contacts_act_until_they_stop(seed):
    """Others may set them back afterwards; nothing is almost zero."""
    problem, rates = draw_case(seed, at_rest=False, duplicates=False)
    stretch = follow(problem, rates)
    assert ((stretch.u == 0.0) | (np.abs(stretch.u) >= 1e-12)).all()
    if stretch.status != OK:
        return
    v = stretch.velocities
    for i in np.flatnonzero(stretch.log[:, ::2].any(axis=0)):
        last = int(np.flatnonzero(stretch.log[:, 2 * i])[-1])
        assert abs(v[last + 1, 2 * i]) <= ROUNDING
    end = np.flatnonzero(stretch.log[-1, ::2])
    assert (stretch.u[2 * end] == 0.0).all()


@given(seed=seeds)
def test_a_share_of_the_way_is_a_beginning_of_the_whole(seed):
    problem, rates = draw_case(seed)
    whole, part = follow(problem, rates), follow(problem, rates, 0.4)
    if not len(part.log):
        assert not len(whole.log)
        return
    n = len(part.log)
    assert n <= len(whole.log)
    np.testing.assert_allclose(part.log[: n - 1], whole.log[: n - 1], rtol=0.0, atol=1e-13)
    # The last piece is a part of the same one.
    i = int(np.argmax(whole.log[n - 1]))
    ratio = part.log[n - 1, i] / whole.log[n - 1, i]
    assert 0.0 <= ratio <= 1.0 + 1e-9
    atol = 1e-12 * (1.0 + np.abs(whole.log).max())
    np.testing.assert_allclose(part.log[n - 1], ratio * whole.log[n - 1], rtol=1e-9, atol=atol)


def run(A, mu, u, rates, share=1.0, aims=0):
    """Follow a stretch; return status, events, u and total."""
    m = len(mu)
    work = make_work(m, 2)
    work.u[: 2 * m], work.rates[:m] = u, rates
    known = np.empty((0, 2 * m)), np.zeros(1, np.int64)
    status, events = follow_stretch(A, mu, float(share), int(aims), work, *known)
    return status, events, work.u[: 2 * m], work.total[: 2 * m]


@given(seed=seeds, contact=st.integers(0, 4))
def test_a_contact_that_acts_alone_moves_as_it_does_beside_one_far_away(seed, contact):
    """The other one belongs to another body and stops later: two kernels, the same bits."""
    problem, _ = draw_case(seed)
    m = problem.num_contacts
    i, A, mu, start = contact % m, problem.space.A, problem.space.mu, problem.start
    rates = np.eye(m + 1)[i] * 0.7
    status, _, u, total = run(A, mu, start, rates[:m])
    assume(status == OK and total.any())
    both = np.eye(2 * m + 2)
    both[: 2 * m, : 2 * m] = A
    rates[m] = 0.5
    beside = run(both, np.append(mu, 0.3), np.append(start, [-1e6, 1e7]), rates)
    assert beside[0] == OK
    assert beside[2][2 * m] == 0.0
    assert beside[2][: 2 * m].tobytes() == u.tobytes()
    assert beside[3][: 2 * m].tobytes() == total.tobytes()


@given(seed=seeds, share=st.sampled_from([0.3, 1.0]), aims=st.sampled_from([0, 1]))
def test_columns_of_zeros_change_nothing(seed, share, aims):
    problem, rates = draw_case(seed)
    A, mu, start = problem.space.A, problem.space.mu, problem.start
    padded = np.zeros((len(A), 16))
    padded[:, : len(A)] = A
    plain, wide = (run(each, mu, start, rates, share, aims) for each in (A, padded))
    assert plain[:2] == wide[:2]
    assert plain[2].tobytes() == wide[2].tobytes()
    assert plain[3].tobytes() == wide[3].tobytes()


def until_first_stop(stretch: Stretch) -> tuple[FloatArray, FloatArray]:
    """Return impulses (n,) per rate and (n, c) at events, until a contact that acts stops."""
    i = int(np.argmax(stretch.rates))
    acting = stretch.rates > 0.0
    along = np.append(0.0, np.cumsum(stretch.log[:, 2 * i] / stretch.rates[i]))
    impulses = np.vstack([np.zeros(len(stretch.start)), np.cumsum(stretch.log, axis=0)])
    stops = np.flatnonzero((stretch.velocities[1:, ::2][:, acting] > -1e-9).any(axis=1))
    last = stops[0] + 2 if len(stops) else len(along)
    return along[:last], impulses[:last]


def approaching_case(seed):
    """Return a problem of which all contacts approach, and rates."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 5))
    problem = random_problem(rng, m, 1, mu=rng.uniform(0.0, 3.0, m), duplicates=False)
    A = problem.space.A
    start = A @ rng.normal(size=2 * m)
    start[::2] = -rng.uniform(0.5, 1.0, m)
    return problem, start, rng.uniform(0.0, 1.0, m) ** 2 + 1e-3, rng


@given(seed=seeds)
def test_at_fixed_rates_two_starts_do_not_separate(seed):
    problem, start, rates, rng = approaching_case(seed)
    A = problem.space.A
    apart = rng.normal(size=len(start)) * 10.0 ** rng.uniform(-6, 0)
    one, two = follow(problem, rates, start=start), follow(problem, rates, start=start + A @ apart)
    (s, x), (t, y) = until_first_stop(one), until_first_stop(two)
    places = np.unique(np.concatenate([s, t]))
    places = places[places <= min(s[-1], t[-1])]
    x, y = (
        np.column_stack([np.interp(places, s, column) for column in each.T])
        for s, each in ((s, x), (t, y))
    )
    difference = apart + y - x
    distance = np.einsum("ij,jk,ik->i", difference, A, difference)
    assert (np.diff(distance) <= 1e-10 * (1.0 + distance[0])).all()


@given(seed=seeds)
def test_motion_is_that_of_another_implementation(seed):
    problem, start, rates, _ = approaching_case(seed)
    stretch = follow(problem, rates, start=start)
    expected = follow_rates(problem.space.A, problem.space.mu, start, rates)
    if expected is None:
        assert stretch.status == JAMMED
        return
    _, impulses = until_first_stop(stretch)
    found = start + problem.space.A @ impulses[-1]
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9)


@given(seed=seeds)
def test_contacts_that_aim_stop_together(seed):
    """As long as both act; one that would have to pull is left out."""
    problem, _ = draw_case(seed, m=2, duplicates=False, at_rest=False)
    stretch = follow(problem, [1.0, 1.0], aims=1)
    check(stretch)
    approached = (stretch.start[::2] < 0.0).all()
    last = stretch.log[-1:, ::2]
    if approached and stretch.status == OK and (last > 0.0).all():
        assert (stretch.u[0] == 0.0) == (stretch.u[2] == 0.0)


SCRIPT = """
import json
import numpy as np
import carom
from carom.stepping.motions import prepare_motions

found = {}
for name in ("rocking-block", "compass-gait", "disk-stack"):
    problem = carom.scenes.load(name).problem
    totals, statuses, events = prepare_motions(problem, 5, 60, 0.9).run(60, 1, None)
    found[name] = [totals.tolist(), statuses.tolist(), events.tolist()]
print(json.dumps(found))
"""


def test_motions_are_the_same_without_compilation():
    """Events, and searches too, which depend on every bit of earlier motions only by order."""
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore"}
    runs = []
    for disabled in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, **environment, "NUMBA_DISABLE_JIT": disabled},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        runs.append(json.loads(run.stdout))
    for name, (totals, statuses, events) in runs[0].items():
        assert statuses == runs[1][name][1]
        assert events == runs[1][name][2]
        np.testing.assert_allclose(totals, runs[1][name][0], rtol=0.0, atol=1e-10)
        assert np.abs(totals).max() > 0.1


@pytest.mark.parametrize("mu", [0.0, 0.2, 5.0])
def test_one_contact_is_rouths_closed_form(mu):
    for seed in range(30):
        problem = random_problem(np.random.default_rng(seed), 1, 1, mu=mu)
        stretch = follow(problem, [0.3])
        assert stretch.status == OK
        check(stretch)
        unit = np.repeat(problem.space.impulse_unit, 2)
        v = problem.velocity_after((stretch.total * unit)[None])[0]
        exact = carom.RouthSingle().resolve(problem).v_post[0]
        apart = np.sqrt(2.0 * problem.kinetic_energy(v - exact))
        assert apart <= ROUNDING * problem.energy_norm
