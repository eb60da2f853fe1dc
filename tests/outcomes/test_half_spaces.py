"""Polytopes whose vertices are not listed answer as those do whose vertices are."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import carom
from carom.outcomes import half_spaces
from carom.outcomes.half_spaces import HalfSpaces
from carom.outcomes.polytope import Polytope

ROUNDING = 1e-8


def fractions(rows):
    return tuple(tuple(Fraction(float(x)) for x in row) for row in rows)


def pair(seed, nv=4, flat=0):
    """Return a random polytope in the span of the first velocities, with and without vertices."""
    rng = np.random.default_rng(seed)
    d = nv - flat
    points = rng.normal(size=(12, d)) * 10.0 ** rng.uniform(-2, 2) + rng.normal(size=d)
    hull = ConvexHull(points)
    corners = np.hstack([points[hull.vertices], np.ones((len(hull.vertices), flat))])
    conditions = np.hstack(
        [hull.equations[:, :-1], np.zeros((len(hull.equations), flat)), -hull.equations[:, -1:]]
    )
    equations = np.hstack([np.eye(nv)[d:], np.ones((flat, 1))])
    listed = Polytope(*map(fractions, (corners, conditions, equations)), kind="some")
    # Some vertices, as a hint of where the polytope is and how wide.
    some = fractions(corners[: d + 1])
    return listed, replace(listed, corners=some, has_all_corners=False), rng


@pytest.mark.parametrize("flat", [0, 1])
@pytest.mark.parametrize("seed", range(10))
def test_answers_are_those_of_the_vertices(seed, flat):
    listed, other, rng = pair(seed, flat=flat)
    size = float(np.ptp(listed.vertices, axis=0).max())
    directions = rng.normal(size=(20, 4))
    np.testing.assert_allclose(
        (directions * other.maximizers(directions)).sum(axis=1),
        (directions * listed.maximizers(directions)).sum(axis=1),
        atol=ROUNDING * size,
    )
    for v in listed.vertices.mean(axis=0) + size * rng.normal(size=(20, 4)):
        near, expected = other.nearest(v), listed.nearest(v)
        np.testing.assert_allclose(near, expected, atol=1e-6 * size)
        assert other.violation(near[None])[0] <= 10 * ROUNDING * size
    inside = rng.dirichlet(np.ones(len(listed.vertices)), size=5) @ listed.vertices
    for v in inside:
        np.testing.assert_allclose(other.nearest(v), v, atol=ROUNDING * size)


@pytest.mark.parametrize("seed", range(10))
def test_outlines_are_those_of_the_vertices(seed):
    listed, other, rng = pair(seed)
    rows = rng.normal(size=(2, 4))
    one, two = (each.outline(rows, 0.0) for each in (listed, other))
    assert len(one) == len(two)
    start = np.linalg.norm(two - one[0], axis=1).argmin()
    np.testing.assert_allclose(np.roll(two, -start, axis=0), one, atol=1e-6 * np.abs(one).max())
    line = listed.vertices @ rows[0]
    assert np.ptp(other.projected(rows[:1])) == pytest.approx(np.ptp(line))


@pytest.mark.parametrize("flat", [0, 1])
def test_samples_are_spread_over_the_polytope(flat):
    listed, other, _ = pair(3, flat=flat)
    size = float(np.ptp(listed.vertices, axis=0).max())
    one, two = (each.sample(4000, np.random.default_rng(0)) for each in (listed, other))
    assert other.violation(two).max() <= ROUNDING * size
    np.testing.assert_allclose(one.mean(axis=0), two.mean(axis=0), atol=0.02 * size)
    np.testing.assert_allclose(one.std(axis=0), two.std(axis=0), atol=0.02 * size)


@pytest.mark.parametrize("width", [0.0, 1e-16, 1e-12])
def test_opposite_conditions_without_room(width):
    """Rounding errors of two such conditions can exclude each other."""
    rows = np.vstack([np.eye(4), -np.eye(4)])
    right = np.append(np.ones(4), np.ones(4))
    right[[0, 4]] = 0.3 + width, -0.3 + 1e-17
    flat = HalfSpaces.of(np.hstack([rows, right[:, None]]), np.empty((0, 5)))
    rng = np.random.default_rng(0)
    for v in rng.normal(size=(50, 4)) * 3.0:
        expected = np.append(0.3, np.clip(v[1:], -1.0, 1.0))
        np.testing.assert_allclose(flat.nearest(v), expected, atol=1e-8)
    np.testing.assert_allclose(flat.maximizers(np.ones((1, 4)))[0], [0.3, 1.0, 1.0, 1.0], atol=1e-8)
    corners = np.array([[0.3, *x] for x in product((-1.0, 1.0), repeat=3)])
    walked = flat.walk(corners, 100, rng)
    np.testing.assert_allclose(walked[:, 0], 0.3, atol=1e-8)
    assert np.abs(walked[:, 1:]).max() <= 1.0 + 1e-8


def test_a_condition_that_equations_imply_is_no_condition():
    """What is left of it where they hold is nothing but rounding errors."""
    rows = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [-1.0, 0.0, 1.0], [0.0, -1.0, 1.0]])
    implied = np.array([[1.0, 1e-17, 1.0 + 1e-16]])
    flat = HalfSpaces.of(np.vstack([rows, implied]), np.array([[1.0, 0.0, 1.0]]))
    assert flat.size == pytest.approx(1.0)
    np.testing.assert_allclose(flat.maximizers(np.array([[0.0, 2.0]]))[0], [1.0, 1.0])


def test_simplices_need_all_vertices():
    _, other, _ = pair(0)
    with pytest.raises(carom.CaromError, match="too many vertices"):
        _ = other._simplices


def test_linear_programs_are_solved_side_by_side(monkeypatch):
    """The corners are those of one program each, with a fraction of the calls of the solver."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    ball = HalfSpaces(np.zeros(5), np.eye(5), 1.0, rows, rng.uniform(0.5, 1.0, 40))
    directions = rng.normal(size=(20, 5))
    alone = np.vstack([ball.maximizers(row[None]) for row in directions])
    calls = []
    solve = half_spaces.linprog
    monkeypatch.setattr(half_spaces, "linprog", lambda *a, **k: calls.append(1) or solve(*a, **k))
    np.testing.assert_allclose(ball.maximizers(directions), alone, atol=1e-8)
    assert len(calls) == -(-len(directions) // half_spaces.AT_ONCE)
    assert ball.maximizers(directions[:0]).shape == (0, 5)
