"""Covers of polytopes by polytopes: known by construction, and checked by points."""

from fractions import Fraction

import numpy as np
import ppl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from carom.reach import cover
from carom.reach.cover import Solid

SPLITS = 1000


def is_covered(polyhedron, others, most_splits):
    return cover.is_covered(Solid(polyhedron), [Solid(other) for other in others], most_splits)


def box(*sides):
    """Return a box, given (low, high) for each axis, in integers."""
    out = ppl.C_Polyhedron(len(sides), "universe")
    for k, (low, high) in enumerate(sides):
        out.add_constraint(ppl.Variable(k) >= low)
        out.add_constraint(ppl.Variable(k) <= high)
    return out


def hull(points):
    out = ppl.C_Polyhedron(len(points[0]), "empty")
    for p in points:
        out.add_generator(ppl.point(ppl.Linear_Expression([int(x) for x in p], 0)))
    return out


SQUARE = box((0, 4), (0, 4))
QUARTERS = [box((x, x + 2), (y, y + 2)) for x in (0, 2) for y in (0, 2)]
PINWHEEL = [box((0, 3), (0, 1)), box((3, 4), (0, 3)), box((1, 4), (3, 4)), box((0, 1), (1, 4))]
MIDDLE = box((1, 3), (1, 3))


@pytest.mark.parametrize(
    "others",
    [
        [SQUARE],
        [box((-1, 5), (-1, 5))],
        [box((0, 2), (0, 4)), box((2, 4), (0, 4))],
        QUARTERS,
        QUARTERS[::-1],
        [*PINWHEEL, MIDDLE],
        [hull([(0, 0), (4, 0), (0, 4)]), hull([(4, 4), (4, 0), (0, 4)])],
        [hull([(-4, 2), (2, -4), (8, 2), (2, 8)])],
        [box((0, 3), (0, 4)), box((1, 4), (0, 4))],
    ],
)
def test_what_is_covered(others):
    assert is_covered(SQUARE, others, SPLITS)


@pytest.mark.parametrize(
    "others",
    [
        [],
        [box((0, 3), (0, 4))],
        QUARTERS[:3],
        PINWHEEL,
        # All corners are held, and the middle is not.
        [box((0, 1), (0, 4)), box((3, 4), (0, 4))],
        [hull([(0, 0), (4, 0), (0, 4)]), hull([(4, 4), (4, 1), (1, 4)]), box((3, 4), (0, 1))],
        # Sides alone, and a diagonal: sets without area.
        [box((0, 0), (0, 4)), box((4, 4), (0, 4)), box((0, 4), (0, 0)), box((0, 4), (4, 4))],
        [box((0, 4), (k, k)) for k in range(5)],
    ],
)
def test_what_is_not_covered(others):
    assert not is_covered(SQUARE, others, SPLITS)


def test_flat_polytopes_are_covered_within_their_plane():
    segment = box((0, 4), (1, 1))
    assert is_covered(segment, [box((0, 2), (1, 1)), box((2, 4), (0, 3))], SPLITS)
    assert is_covered(segment, [box((0, 2), (0, 1)), box((2, 4), (1, 2))], SPLITS)
    assert is_covered(box((1, 1), (1, 1)), [SQUARE], SPLITS)
    assert not is_covered(box((5, 5), (1, 1)), [SQUARE], SPLITS)


def test_flat_others_do_not_hide_a_cover():
    halves = [box((0, 2), (0, 4)), box((2, 4), (0, 4))]
    side = box((0, 4), (0, 0))
    assert is_covered(SQUARE, [*halves, side], SPLITS)
    assert is_covered(SQUARE, [side, *halves], SPLITS)


def test_a_segment_with_a_gap_is_not_covered():
    segment = box((0, 4), (1, 1))
    assert not is_covered(segment, [box((0, 1), (1, 1)), box((2, 4), (1, 1))], SPLITS)


def test_splits_are_counted():
    """False may mean too many splits; with enough of them it is seen."""
    strips = [box((k, k + 1), (0, 4)) for k in range(4)]
    assert not is_covered(SQUARE, strips, 0)
    assert not is_covered(SQUARE, strips, 2)
    assert is_covered(SQUARE, strips, SPLITS)
    assert is_covered(SQUARE, [SQUARE], 0)


def has_point(polyhedron, numerators, unit):
    point = ppl.C_Polyhedron(ppl.point(ppl.Linear_Expression(numerators, 0), unit))
    return polyhedron.contains(point)


def random_point(rng, polyhedron, unit=10**6):
    """Return a random combination of the corners, exactly, as numerators over unit."""
    corners = [
        [Fraction(int(x), int(g.divisor())) for x in g.coefficients()]
        for g in polyhedron.minimized_generators()
    ]
    cuts = np.sort(rng.integers(0, unit + 1, size=len(corners) - 1))
    weights = np.diff(np.concatenate([[0], cuts, [unit]]))
    value = [
        sum(int(w) * c[k] for w, c in zip(weights, corners, strict=True))
        for k in range(len(corners[0]))
    ]
    common = int(np.lcm.reduce([x.denominator for x in value]))
    return [int(x * common) for x in value], unit * common


def random_hull(rng, dimension):
    return hull(rng.integers(-3, 4, size=(int(rng.integers(2, 6)), dimension)))


@settings(max_examples=200)
@given(seed=st.integers(0, 2**31), dimension=st.integers(1, 3))
def test_what_is_told_to_be_covered_is(seed, dimension):
    """Every point of it lies in one of the others."""
    rng = np.random.default_rng(seed)
    part = random_hull(rng, dimension)
    others = [random_hull(rng, dimension) for _ in range(int(rng.integers(1, 6)))]
    # Larger ones, or little would ever be covered.
    for other in others:
        if rng.random() < 0.5:
            other.poly_hull_assign(random_hull(rng, dimension))
    points = [random_point(rng, part) for _ in range(30)]
    assume(is_covered(part, others, SPLITS))
    assert all(any(has_point(other, *point) for other in others) for point in points)


@settings(max_examples=50)
@given(seed=st.integers(0, 2**31), dimension=st.integers(1, 3))
def test_a_polytope_cut_into_parts_is_covered_by_them_and_not_by_fewer(seed, dimension):
    rng = np.random.default_rng(seed)
    whole = random_hull(rng, dimension)
    parts = [whole]
    for _ in range(3):
        row = ppl.Linear_Expression(rng.integers(-3, 4, size=dimension).tolist(), 0)
        halves = []
        for part in parts:
            for side in (row <= 0, row >= 0):
                half = ppl.C_Polyhedron(part)
                half.add_constraint(side)
                if half.affine_dimension() == whole.affine_dimension() and not half.is_empty():
                    halves.append(half)
        parts = halves or parts
    assert is_covered(whole, parts, SPLITS)
    assert is_covered(whole, parts[::-1], SPLITS)
    # A cut through 0 as wide as another one gives the same part twice.
    distinct = [p for i, p in enumerate(parts) if not any(q.contains(p) for q in parts[:i])]
    for i in range(len(distinct) if len(distinct) > 1 else 0):
        assert not is_covered(whole, distinct[:i] + distinct[i + 1 :], SPLITS)
