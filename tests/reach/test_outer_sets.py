"""Outer sets in many dimensions: few vertices are listed, and nothing is lost."""

import time

import numpy as np
import pytest

import carom
from carom.reach import solve as solving
from carom.reach.envelope import end_within, has_few_vertices
from carom.reach.inclusion import rationalize
from carom.reach.rational import ONE, identity
from tests.reference.impact_problems import random_problem
from tests.reference.set_checks import AMPLE, speed_of

ROUNDING = 1e-7


def problem_of(m, d, nv, seed=0, **options):
    rng = np.random.default_rng([20261118, m, d, nv, seed])
    return random_problem(rng, m, d, nv=nv, mu=0.5, duplicates=False, **options)


def outer_of(problem, max_seconds=0.1):
    law = carom.RouthExact(max_seconds=max_seconds, on_budget="outer", num_samples=64)
    return law.resolve(problem)


MANY = {
    "5 in the plane": lambda: problem_of(5, 1, 12),
    "6 in the plane": lambda: problem_of(6, 1, 10),
    "4 in space": lambda: problem_of(4, 2, 10),
    "6 in space": lambda: problem_of(6, 2, 9),
}


@pytest.mark.parametrize("name", MANY)
def test_few_vertices_are_listed(name):
    problem = MANY[name]()
    outer = outer_of(problem)
    (polytope,) = outer.polytopes
    assert not outer.is_complete
    assert not polytope.has_all_corners
    # At most two for every contact velocity.
    assert len(outer.v_post) <= 2 * len(problem.J) < solving.MOST_VERTICES
    assert polytope.violation(outer.v_post).max() <= ROUNDING * speed_of(problem)


@pytest.mark.parametrize("name", MANY)
def test_no_motion_ends_outside(name):
    problem = MANY[name]()
    outer = outer_of(problem)
    samples = carom.Routh(num_samples=4096, extremes=0.0).resolve(problem).v_post
    tol = ROUNDING * speed_of(problem)
    assert outer.contains(samples, tol).all()
    low, high = np.moveaxis(outer.contact_bounds(), -1, 0)
    v_c = problem.contact_velocity(samples)
    assert (v_c >= low - tol).all()
    assert (v_c <= high + tol).all()
    assert outer.outer_excess.shape == (*low.shape, 2)
    directions = np.random.default_rng(0).normal(size=(5, problem.num_velocities))
    assert ((samples @ directions.T).max(axis=0) <= outer.support(directions) + 10 * tol).all()


@pytest.mark.parametrize(("m", "d"), [(3, 1), (4, 1), (2, 2)])
def test_vertices_or_not_the_set_is_the_same(m, d, monkeypatch):
    problem = problem_of(m, d, 7, seed=1)
    # With no time but for one program per direction, to its end, bounds are the same.
    monkeypatch.setattr("carom.reach.waiting.LEAST_SECONDS", AMPLE)
    monkeypatch.setattr(solving, "MOST_VERTICES", 10**6)
    listed = outer_of(problem, 0.0)
    monkeypatch.setattr(solving, "MOST_VERTICES", 0)
    other = outer_of(problem, 0.0)
    assert [each.has_all_corners for each in (*listed.polytopes, *other.polytopes)] == [True, False]
    tol = ROUNDING * speed_of(problem)
    np.testing.assert_allclose(other.contact_bounds(), listed.contact_bounds(), atol=tol)
    directions = np.random.default_rng(0).normal(size=(20, problem.num_velocities))
    np.testing.assert_allclose(other.support(directions), listed.support(directions), atol=10 * tol)
    far = problem.v_pre + directions * speed_of(problem)
    np.testing.assert_allclose(other.distance(far), listed.distance(far), atol=tol)


def test_vertices_are_counted_up_to_a_limit():
    inclusion = rationalize(problem_of(5, 1, 9))
    assert has_few_vertices(end_within(inclusion, []), 20)
    # A box in nine dimensions has 512.
    sides = [(sign * row, ONE) for row in identity(9) for sign in (-1, 1)]
    assert not has_few_vertices(end_within(inclusion, sides), 128)


@pytest.mark.slow
@pytest.mark.parametrize("max_seconds", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("m", "d", "nv"), [(3, 1, 6), (5, 1, 12), (6, 1, 10), (4, 2, 10)])
def test_budgets_are_kept(m, d, nv, seed, max_seconds):
    problem = problem_of(m, d, nv, seed)
    # Compile the kernels of samples.
    outer_of(problem, 0.0)
    for call in (
        lambda: outer_of(problem, max_seconds),
        lambda: carom.post_impact_set(problem, max_seconds=max_seconds),
        lambda: carom.worst_case(problem, max_seconds=max_seconds),
    ):
        begin = time.monotonic()
        call()
        assert time.monotonic() - begin <= 1.5 * max_seconds + 1.0


@pytest.mark.parametrize("seed", range(6))
def test_opposite_walls_with_rounding_errors(seed):
    """One normal is the other's negative up to 1e-15, of which no sign may follow."""
    given = problem_of(3, 1, 7, seed, at_rest=False)
    J_n = given.J_n.copy()
    J_n[-1] = -J_n[0]
    problem = carom.ImpactProblem(given.M, J_n, given.J_t, given.mu, given.v_pre)
    inclusion = rationalize(problem)
    assert not any(np.delete(inclusion.rows[4], inclusion.rows[0].argmax()))
    samples = carom.Routh(num_samples=500, extremes=0.0).resolve(problem).v_post
    assert outer_of(problem).contains(samples, ROUNDING * speed_of(problem)).all()
