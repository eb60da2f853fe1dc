"""How far samples are from an exact set."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import carom
from carom.outcomes import distances
from carom.outcomes.distances import coverage_distance
from carom.outcomes.holdout import velocity_map
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.polytope import Polytope
from carom.outcomes.sampled import SampledSet
from tests.reference.set_checks import resolve

SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone")

seeds = st.integers(0, 2**31)


def plain_problem(nv):
    """Return an impact whose contact velocities are its velocities, the first twice if odd."""
    rows = np.eye(max(nv, 2))
    pairs = rows if len(rows) % 2 == 0 else np.vstack([rows, rows[:1]])
    return carom.ImpactProblem(np.eye(len(rows)), pairs[::2], pairs[1::2], 0.5, -rows[0])


def samples_at(problem, v):
    n, m = len(v), problem.num_contacts
    return SampledSet(
        problem, "made up", v, np.zeros((n, m)), np.zeros((n, m, 1)), np.ones(n, int), False
    )


def hull(points, dimension):
    """Return a polytope with corners on a grid; it does not need to know its sides."""
    corners = tuple(tuple(Fraction(int(x)) for x in point) for point in points)
    zero = tuple(Fraction(0) for _ in range(len(corners[0]) + 1))
    return Polytope(corners, (), (zero,) * (len(corners[0]) - dimension), "A lifts")


def union(problem, *polytopes):
    return PolyhedralSet(problem, "made up", polytopes, ("A lifts",), True)


@settings(max_examples=60)
@given(seed=seeds)
def test_coverage_of_a_segment_is_half_of_its_widest_gap(seed):
    rng = np.random.default_rng(seed)
    problem = plain_problem(2)
    x = np.sort(rng.uniform(-0.2, 5.2, size=int(rng.integers(1, 30))))
    # The segment is 5 long, from (1, 2) to (4, 6).
    v = np.array([1.0, 2.0]) + x[:, None] * np.array([0.6, 0.8])
    gaps = 0.5 * np.diff(x)
    middles = x[:-1] + gaps
    inside = (middles >= 0.0) & (middles <= 5.0)
    ends = [np.abs(x).min(), np.abs(x - 5.0).min()]
    expected = max([*ends, *gaps[inside]])
    exact = union(problem, hull([[1, 2], [4, 6]], 1))
    found, left = coverage_distance(samples_at(problem, v), exact, tol=1e-5)
    assert left <= 5e-5 + 1e-12
    assert found - 1e-9 <= expected <= found + left + 1e-9


@settings(max_examples=15)
@given(seed=seeds)
def test_coverage_of_a_polygon_is_that_of_a_dense_grid(seed):
    rng = np.random.default_rng(seed)
    problem = plain_problem(2)
    exact = union(problem, hull([[0, 0], [2, 0], [2, 1], [0, 1]], 2), hull([[3, 3]], 0))
    v = rng.uniform([0.0, 0.0], [2.5, 1.0], size=(int(rng.integers(1, 60)), 2))
    found, left = coverage_distance(samples_at(problem, v), exact)
    x, y = np.meshgrid(np.linspace(0, 2, 401), np.linspace(0, 1, 201))
    grid = np.vstack([np.column_stack([x.ravel(), y.ravel()]), [[3.0, 3.0]]])
    on_grid = cdist(grid, v).min(axis=1).max()
    spacing = 0.005 / np.sqrt(2)
    assert left <= 1e-3
    assert on_grid - spacing - 1e-9 <= found + left
    assert found <= on_grid + spacing
    assert on_grid <= found + left + 1e-9


def test_coverage_of_a_cube_says_how_sure_it_is(monkeypatch):
    problem = plain_problem(3)
    corners = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
    cube = union(problem, hull(corners, 3))
    v = np.vstack([corners, [[0.5, 0.5, 0.5]]]).astype(float)
    # The repeated contact row makes the first coordinate count twice.
    weight = np.array([np.sqrt(2.0), 1.0, 1.0])
    grid = np.array(np.meshgrid(*[np.linspace(0, 1, 41)] * 3)).reshape(3, -1).T
    true = cdist(grid * weight, v * weight).min(axis=1).max()
    found, left = coverage_distance(samples_at(problem, v), cube, tol=1e-2)
    assert left <= 1e-2 * 2.0
    assert true <= found + left + 1e-9
    assert found <= true + 0.025
    monkeypatch.setattr(distances, "MOST_COVERED", 20)
    rough, unsure = coverage_distance(samples_at(problem, v), cube, tol=1e-2)
    assert unsure > left
    assert rough <= found + left
    assert rough + unsure >= found


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("norm", ["contact", "energy"])
def test_coverage_of_scenes_holds_for_every_point(name, norm):
    problem = carom.scenes.load(name).problem
    exact = resolve(problem)
    to_points = velocity_map(problem, norm).T
    drawn = np.vstack([exact.sample(4000), exact.v_post])
    before = np.inf
    for count in (2**8, 2**11, 2**14):
        sampled = carom.Routh(count).resolve(problem)
        found, left = coverage_distance(sampled, exact, norm)
        away = cdist(drawn @ to_points, np.unique(sampled.v_post, axis=0) @ to_points).min(axis=1)
        assert away.max() <= found + left + 1e-12
        # Thousands of points come near to the worst, which some have.
        assert away.max() >= 0.3 * found
        assert found <= before + 1e-12
        before = found + left
        size = np.linalg.norm(np.ptp(exact.v_post @ to_points, axis=0))
        assert left <= 1e-4 * size


def test_coverage_refuses_nonsense():
    problem = carom.scenes.load("rocking-block").problem
    sampled, exact = carom.Routh(10).resolve(problem), resolve(problem)
    with pytest.raises(carom.InvalidOption, match="tol: expected"):
        coverage_distance(sampled, exact, tol=0.0)
    with pytest.raises(carom.InvalidOption, match="norm: expected"):
        coverage_distance(sampled, exact, norm="max")
    with pytest.raises(carom.InvalidOption, match="v_post: expected at least one"):
        samples_at(problem, np.empty((0, 3)))
    other = carom.Routh(10).resolve(carom.scenes.load("ramone").problem)
    with pytest.raises(carom.InvalidOption, match="same problem"):
        coverage_distance(other, exact)
