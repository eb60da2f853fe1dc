"""Bounds on what a search has not followed hold what motions reach, and the budget is kept."""

import time
from functools import cache

import numpy as np
import pytest

import carom
from carom.reach.energetic import continued
from carom.reach.flow import OutOfTime
from carom.reach.search import pose
from carom.reach.solve import Budget, solve
from carom.reach.waiting import Unfinished
from tests.reference.impact_problems import numbered_triple
from tests.reference.random_motions import RandomMotions
from tests.reference.set_checks import AMPLE

# Of the series with three contacts: their lists do not empty.
ENDLESS = (2, 22)
ROUNDING = 1e-8


@cache
def ends(number):
    problem = numbered_triple(number)
    motions = RandomMotions(problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, problem.v_pre)
    return problem.contact_velocity(motions.ends(np.random.default_rng(0), 200)).reshape(-1, 6)


def bounds(search, directions):
    state = Unfinished.of(search)
    proofs = [state.bound(direction, time.monotonic() + 5.0) for direction in directions]
    return np.array([float(proof.bound) for proof in proofs])


def bounds_after(number, steps, more):
    """Return the bounds (12,) of all contact velocities and their negatives, and the speeds."""
    search = pose(numbered_triple(number), zero=1e-9, grid=1e-14)
    search.run(AMPLE, steps)
    search = continued(search, AMPLE, search.num_steps + more) if more else search
    assert not search.is_complete
    rows = search.flow.inclusion.rows
    return bounds(search, [*rows, *-rows]), np.tile(search.flow.inclusion.speeds, 2)


@pytest.mark.parametrize("more", [0, 100])
@pytest.mark.parametrize("steps", [1, 40, 300])
@pytest.mark.parametrize("number", ENDLESS)
def test_motions_end_within_the_bounds(number, steps, more):
    high, speeds = bounds_after(number, steps, more)
    v_c = ends(number)
    reached = np.concatenate([v_c.max(axis=0), -v_c.min(axis=0)])
    assert (reached <= high + ROUNDING * speeds).all()
    assert (high <= speeds * (1.0 + 1e-6)).all()


def test_the_most_energetic_first_lowers_bounds():
    before, speeds = bounds_after(22, 300, 0)
    after, _ = bounds_after(22, 300, 300)
    assert (after <= before + 1e-3 * speeds).all()
    assert ((before - after) / speeds).max() > 0.01


def test_a_complete_search_has_exact_bounds():
    problem = carom.scenes.load("compass-gait").problem
    search = pose(problem, zero=1e-9, grid=1e-14)
    search.run(AMPLE, 10**6)
    rows = search.flow.inclusion.rows
    outcomes = carom.RouthExact(max_seconds=AMPLE).resolve(problem)
    found = bounds(search, rows)
    assert np.abs(found - outcomes.contact_bounds()[..., 1].ravel()).max() <= 1e-12


@pytest.mark.parametrize("number", ENDLESS)
def test_an_outer_set_keeps_to_its_budget(number):
    problem = numbered_triple(number)
    begin = time.process_time()
    outer = solve(problem, Budget(2.0, 10**6, "outer", 1e-9, 1e-14))
    # Time of this process: how busy the machine is shall not decide.
    assert time.process_time() - begin <= 1.5 * 2.0 + 0.5
    assert not outer.is_complete
    low, high = np.moveaxis(outer.contact_bounds(), -1, 0)
    v_c = ends(number).reshape(-1, 3, 2)
    slack = ROUNDING * problem.energy_norm
    assert (v_c >= low - slack).all()
    assert (v_c <= high + slack).all()


@pytest.mark.parametrize("number", ENDLESS)
def test_without_time_for_vertices_bounds_come_from_the_start(number, monkeypatch):
    monkeypatch.setattr("carom.reach.solve.LATE", -1.0)
    problem = numbered_triple(number)
    outer = solve(problem, Budget(0.2, 10**6, "outer", 1e-9, 1e-14))
    low, high = np.moveaxis(outer.contact_bounds(), -1, 0)
    v_c = ends(number).reshape(-1, 3, 2)
    slack = ROUNDING * problem.energy_norm
    assert (v_c >= low - slack).all()
    assert (v_c <= high + slack).all()


def test_after_its_deadline_a_state_has_no_vertices():
    search = pose(numbered_triple(2), zero=1e-9, grid=1e-14)
    search.run(AMPLE, 40)
    with pytest.raises(OutOfTime):
        Unfinished.of(search, time.monotonic() - 1.0).bound(search.flow.inclusion.rows[0], 0.0)
