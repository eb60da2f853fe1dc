"""Unions of polytopes, judged by geometry that is done otherwise, or known."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import ppl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carom
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.polytope import Polytope
from tests.reference.set_checks import resolve

# Of sizes about 1: conversion from fractions, and least squares of a dozen numbers.
ROUNDING = 1e-9
# A chance of 5 in 10,000 to fail each; the seed is fixed, so that it passes always or never.
SIGMAS = 3.5
SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone")

seeds = st.integers(0, 2**31)


def any_problem(nv):
    return carom.ImpactProblem(
        M=np.eye(nv),
        J_n=np.eye(nv)[:1],
        J_t=np.eye(nv)[1:2],
        mu=0.5,
        v_pre=-np.eye(nv)[0],
    )


def polytope(points):
    """Return the hull of points (n, nv) of integers or fractions, with conditions by PPL."""
    points = [[Fraction(x) for x in point] for point in points]
    nv = len(points[0])
    hull = ppl.C_Polyhedron(nv, "empty")
    for point in points:
        unit = int(np.lcm.reduce([x.denominator for x in point]))
        row = ppl.Linear_Expression([int(x * unit) for x in point], 0)
        hull.add_generator(ppl.point(row, unit))
    corners = [
        tuple(Fraction(int(x), int(g.divisor())) for x in g.coefficients())
        for g in hull.minimized_generators()
    ]
    rows = {True: [], False: []}
    for c in hull.minimized_constraints():
        row = [-int(x) for x in c.coefficients()] + [int(c.inhomogeneous_term())]
        rows[c.is_equality()].append(tuple(Fraction(x) for x in row))
    return Polytope(tuple(corners), tuple(rows[False]), tuple(rows[True]), "A lifts")


def union(*polytopes):
    nv = len(polytopes[0].corners[0])
    return PolyhedralSet(any_problem(nv), "made up", tuple(polytopes), ("A lifts",), True)


def random_polytope(rng, nv, count):
    """Return the hull of a few points on a coarse grid, so that many are flat."""
    return polytope(rng.integers(-2, 3, size=(count, nv)).tolist())


def random_union(seed):
    rng = np.random.default_rng(seed)
    nv = int(rng.integers(2, 5))
    count = int(rng.integers(1, 4))
    return rng, union(*(random_polytope(rng, nv, int(rng.integers(1, 6))) for _ in range(count)))


def brute_distance(vertices, v):
    """Return the distance from v to a hull: the least to any simplex of vertices, by its span."""
    best = np.linalg.norm(vertices - v, axis=1).min()
    for count in range(2, min(len(vertices), len(v) + 1) + 1):
        for chosen in combinations(vertices, count):
            edges = (np.array(chosen[1:]) - chosen[0]).T
            weights, *_ = np.linalg.lstsq(edges, v - chosen[0], rcond=None)
            if (weights >= 0.0).all() and weights.sum() <= 1.0:
                best = min(best, np.linalg.norm(chosen[0] + edges @ weights - v))
    return best


def combination(rng, vertices):
    weights = rng.dirichlet(np.full(len(vertices), 0.5))
    return weights @ vertices


@settings(max_examples=40)
@given(seed=seeds)
def test_convex_combinations_are_inside(seed):
    rng, outcomes = random_union(seed)
    for piece in outcomes.polytopes:
        for _ in range(5):
            v = combination(rng, piece.vertices)
            assert outcomes.distance(v) <= ROUNDING
            assert outcomes.contains(v, ROUNDING)
            assert piece.violation(v[None])[0] <= ROUNDING


@settings(max_examples=40)
@given(seed=seeds)
def test_distance_is_that_of_brute_force(seed):
    rng, outcomes = random_union(seed)
    for v in rng.normal(scale=2.5, size=(6, outcomes.problem.num_velocities)):
        true = min(brute_distance(piece.vertices, v) for piece in outcomes.polytopes)
        assert abs(outcomes.distance(v) - true) <= ROUNDING
        if true > 10 * ROUNDING:
            assert not outcomes.contains(v, 0.9 * true)
        assert outcomes.contains(v, 1.1 * true + ROUNDING)
        for piece in outcomes.polytopes:
            own = brute_distance(piece.vertices, v)
            assert piece.violation(v[None])[0] <= own + ROUNDING
            assert (piece.violation(v[None])[0] > ROUNDING) == (own > ROUNDING)
            nearest = piece.nearest(v)
            assert abs(np.linalg.norm(nearest - v) - own) <= ROUNDING
            assert piece.violation(nearest[None])[0] <= ROUNDING


def test_contains_agrees_with_the_distance_where_it_may_stop_early():
    outcomes = union(polytope([[0, 0]]), polytope([[3, 0]]))
    assert outcomes.distance([1.0, 0.0]) == pytest.approx(1.0, abs=ROUNDING)
    assert outcomes.contains([1.0, 0.0], tol=5.0)
    assert not outcomes.contains([1.0, 0.0], tol=0.9)


@settings(max_examples=40)
@given(seed=seeds)
def test_support_is_the_largest_product(seed):
    rng, outcomes = random_union(seed)
    for direction in rng.normal(size=(5, outcomes.problem.num_velocities)):
        top = outcomes.support(direction)
        assert abs(top - max(float(direction @ v) for v in outcomes.v_post)) <= ROUNDING
        assert (outcomes.sample(50) @ direction <= top + ROUNDING).all()
        corner = outcomes.maximizer(direction)
        assert abs(corner @ direction - top) <= ROUNDING
        assert outcomes.contains(corner, ROUNDING)


@settings(max_examples=40)
@given(seed=seeds)
def test_floats_agree_with_fractions(seed):
    _, outcomes = random_union(seed)
    for piece in outcomes.polytopes:
        assert np.array_equal(piece.vertices, np.array(piece.corners, dtype=float))
        for row, length in zip(piece.A, np.linalg.norm(piece.A, axis=1), strict=True):
            assert abs(length - 1.0) <= ROUNDING
            assert len(row) == piece.vertices.shape[1]
        assert len(piece.A) == len(piece.b) == len(piece.conditions)
        assert len(piece.A_eq) == len(piece.b_eq) == len(piece.equations)
        assert piece.dimension == np.linalg.matrix_rank(piece.vertices - piece.vertices[0])


def exact_value(row, corner):
    return sum(a * x for a, x in zip(row, corner, strict=True))


@pytest.mark.parametrize("name", SCENES)
def test_conditions_hold_exactly_at_vertices(name):
    outcomes = resolve(carom.scenes.load(name).problem)
    for piece in outcomes.polytopes:
        for corner in piece.corners:
            assert all(exact_value(row[:-1], corner) <= row[-1] for row in piece.conditions)
            assert all(exact_value(row[:-1], corner) == row[-1] for row in piece.equations)
        # Every condition is met with equality somewhere, else it would say nothing.
        for row in piece.conditions:
            assert any(exact_value(row[:-1], corner) == row[-1] for corner in piece.corners)
        size = np.abs(piece.vertices).max() + np.abs(outcomes.problem.v_pre).max()
        if len(piece.A):
            assert (piece.vertices @ piece.A.T <= piece.b + ROUNDING * size).all()
        assert np.abs(piece.vertices @ piece.A_eq.T - piece.b_eq).max() <= ROUNDING * size
        assert piece.dimension <= len(piece.vertices) - 1 or len(piece.vertices) == 1


def test_huge_fractions_become_floats():
    """Exact numbers may be too long for a float, though their ratios are not."""
    huge = Fraction(10**400)
    piece = Polytope(
        corners=((Fraction(0),), (Fraction(2),)),
        conditions=((huge, 2 * huge), (-huge, Fraction(0))),
        equations=(),
        kind="A lifts",
    )
    assert np.array_equal(piece.A, [[1.0], [-1.0]])
    assert np.array_equal(piece.b, [2.0, 0.0])


def turning(polygon):
    """Return the cross products of consecutive edges of a closed polygon."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    following = np.roll(edges, -1, axis=0)
    return edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0]


@settings(max_examples=40)
@given(seed=seeds)
def test_projections_are_convex_polygons_in_order(seed):
    rng, outcomes = random_union(seed)
    rows = rng.normal(size=(2, outcomes.problem.num_velocities))
    for piece, polygon in zip(outcomes.polytopes, outcomes.project(rows).polytopes, strict=True):
        image = piece.vertices @ rows.T
        for direction in rng.normal(size=(10, 2)):
            assert abs((polygon @ direction).max() - (image @ direction).max()) <= ROUNDING
        if len(polygon) > 2:
            assert (turning(polygon) > 0).all()
            # Once around, not twice.
            angles = np.unwrap(np.arctan2(*np.diff(polygon, axis=0, append=polygon[:1]).T[::-1]))
            assert angles[-1] - angles[0] < 2 * np.pi


def test_projections_along_a_piece_are_points_and_segments():
    square = polytope([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    outcomes = union(square, polytope([[2, 2, 2]]))
    flat, point = outcomes.project([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).polytopes
    assert sorted(map(tuple, flat)) == [(0.0, 0.0), (1.0, 0.0)]
    assert point.tolist() == [[2.0, 2.0]]
    assert len(outcomes.project(np.eye(3)[:2]).polytopes[0]) == 4
    # Other numbers of rows give the vertices as they are.
    assert outcomes.project(np.eye(3)[:1]).polytopes[0].shape == (4, 1)
    assert np.array_equal(outcomes.project(np.eye(3)).polytopes[0], square.vertices)


@settings(max_examples=40)
@given(seed=seeds)
def test_samples_lie_inside(seed):
    _, outcomes = random_union(seed)
    samples = outcomes.sample(40, rng=seed)
    assert samples.shape == (40, outcomes.problem.num_velocities)
    assert max(outcomes.distance(v) for v in samples) <= ROUNDING
    assert np.array_equal(samples, outcomes.sample(40, rng=seed))


def within_chance(hits, expected):
    """Tell whether a share of hits (n,) is what is expected, up to chance."""
    sigma = np.sqrt(expected * (1 - expected) / len(hits))
    return abs(hits.mean() - expected) <= SIGMAS * sigma


def test_samples_are_uniform_within_a_piece():
    """Shares of samples are shares of area or volume."""
    trapezoid = union(polytope([[0, 0], [3, 0], [0, 2], [1, 2]]))
    v = trapezoid.sample(4000)
    area = 4.0
    assert within_chance(v[:, 0] <= 1.0, 2.0 / area)
    assert within_chance(v[:, 1] <= 1.0, 2.5 / area)
    assert within_chance((v[:, 0] <= 1.0) & (v[:, 1] <= 1.0), 1.0 / area)
    segment = union(polytope([[0, 0], [4, 4]])).sample(4000)
    assert within_chance(segment[:, 0] <= 1.0, 0.25)
    cube = union(polytope([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])).sample(4000)
    assert within_chance((cube <= 0.5).all(axis=1), 0.125)
    assert within_chance(cube.sum(axis=1) <= 1.0, 1 / 6)


def test_pieces_have_equal_chances():
    outcomes = union(polytope([[0, 0]]), polytope([[1, 0], [9, 9], [1, 9]]))
    assert within_chance(outcomes.sample(4000)[:, 0] == 0.0, 0.5)


@settings(max_examples=40)
@given(seed=seeds)
def test_hausdorff_distance_to_itself_is_zero(seed):
    _, outcomes = random_union(seed)
    assert outcomes.hausdorff(outcomes) <= ROUNDING


def test_hausdorff_distance_of_segments_and_points():
    tol = 1e-3
    short, long = polytope([[0, 0], [3, 4]]), polytope([[0, 0], [6, 8]])
    # The far end of the longer one is 5 from the shorter.
    assert union(short).hausdorff(union(long), tol) == pytest.approx(5.0, abs=10 * tol)
    assert union(long).hausdorff(union(short), tol) == pytest.approx(5.0, abs=10 * tol)
    # Ends alone are far from the middle.
    ends = union(polytope([[0, 0]]), polytope([[6, 8]]))
    assert ends.hausdorff(union(long), tol) == pytest.approx(5.0, abs=10 * tol)
    assert union(long).hausdorff(ends, tol) == pytest.approx(5.0, abs=10 * tol)
    # A square and its four sides: the middle is half a side away.
    corners = [[0, 0], [2, 0], [2, 2], [0, 2]]
    sides = union(
        *(polytope([a, b]) for a, b in zip(corners, corners[1:] + corners[:1], strict=True))
    )
    square = union(polytope(corners))
    assert square.hausdorff(sides, tol) == pytest.approx(1.0, abs=2 * tol)
    shifted = union(polytope([[x + 3, y] for x, y in corners]))
    assert square.hausdorff(shifted, tol) == pytest.approx(3.0, abs=5 * tol)


def test_hausdorff_distance_to_samples():
    """Of one sample, to a segment: the farther end."""
    problem = carom.scenes.load("rocking-block").problem
    exact = resolve(problem)
    rest = carom.AnitescuPotra().resolve(problem)
    far = max(np.linalg.norm(v - rest.v_post[0]) for v in exact.v_post)
    assert far > 0.01
    assert exact.hausdorff(rest) == pytest.approx(far, rel=1e-2)
    assert exact.hausdorff(carom.Sequential().resolve(problem)) > 0.1 * far


def test_velocities_of_another_shape_are_refused():
    outcomes = union(polytope([[0, 0]]))
    for ask in (outcomes.contains, outcomes.distance, outcomes.support, outcomes.maximizer):
        with pytest.raises(carom.InvalidOption, match=r"expected shape \(2,\)"):
            ask([0.0, 0.0, 0.0])


@pytest.mark.parametrize("name", SCENES)
def test_summary_tells_what_can_happen(name):
    problem = carom.scenes.load(name).problem
    exact = resolve(problem)
    text = exact.summary()
    assert "exact" in text
    assert all(kind in text for kind in exact.kinds)
    assert exact.notes[0] in text
    outer = resolve(problem, max_polyhedra=1, on_budget="outer")
    assert "outer" in outer.summary()
    assert "beyond the samples" in outer.summary()
