"""One solution, all solutions: textbook problems, degenerate impacts, and brute force.

Every answer is judged by residuals computed here, never by the solver's own status alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import carom
from carom.contact_space import friction_directions
from carom.errors import InvalidOption
from carom.kernels import lemke
from carom.stepping.lcp import LCP, LCPStatus, impact_lcp, solve, solve_all, step_lcp
from tests.reference.brute_force import all_solutions, natural_residual
from tests.reference.impact_problems import ImpactLCP, random_generator

FloatArray = NDArray[np.float64]

RESIDUAL = 1e-9
"""What the project promises of every accepted solution, relative."""

UNIT_RESIDUAL = 1e-7
"""The same in the contacts' natural units, where nothing is forgiven for large impulses. Eight
contacts that depend on each other, with friction up to 1e5, leave some 1e-9."""

EXACT = 1e-12
"""Textbook problems have small integers: only rounding is left."""

SAME = 1e-6
"""Contact velocities this close, in natural units, are one outcome: well above what rounding does
to ill-conditioned solutions, well below the distance of different ones."""


def matrix(*rows: tuple[float, ...]) -> FloatArray:
    return np.array(rows, dtype=np.float64)


MURTY_2_8 = matrix((1, -1, -1, -1), (-1, 1, -1, -1), (1, 1, 2, 0), (1, 1, 0, 2))
MURTY_2_9 = matrix((-1, 0, -3), (1, -2, -5), (-2, -1, -2))
MURTY_2_11 = matrix((-1.5, 2), (-4, 4))
KOSTREVA_1 = matrix((1, 2, 0), (0, 1, 2), (2, 0, 1))
KOSTREVA_2 = matrix((1, -1, 3), (2, -1, 3), (-1, -2, 0))
HANDBOOK_3 = matrix((0, -1, 2), (2, 0, -2), (-1, 1, 0))
HANDBOOK_4 = matrix((0, 0, 10, 20), (0, 0, 30, 15), (10, 20, 0, 0), (30, 15, 0, 0))
HANDBOOK_9 = matrix((11, 0, 10, -1), (0, 11, 10, -1), (10, 10, 21, -1), (1, 1, 1, 0))
FOUR_SOLUTIONS = matrix((-2, 1), (1, -2))


def murty_triangular(n: int) -> FloatArray:
    """Return the matrix with 1 on the diagonal, 2 below and 0 above [Murty1978]."""
    return np.tril(np.full((n, n), 2.0)) - np.eye(n)


def assert_solves(W: FloatArray, w: FloatArray, x: FloatArray, tolerance: float = EXACT) -> None:
    assert natural_residual(W, w, x) <= tolerance
    scale = 1.0 + np.abs(x).max()
    y = W @ x + w
    assert x.min() >= -tolerance * scale
    assert y.min() >= -tolerance * scale * (1.0 + np.abs(W).max())
    assert abs(x @ y) <= tolerance * scale * (1.0 + np.abs(y).max())


@pytest.mark.parametrize(
    ("W", "w", "solution"),
    [
        pytest.param(MURTY_2_8, (3, 5, -9, -5), (2, 1, 3, 1), id="Murty1988, example 2.8"),
        pytest.param(murty_triangular(3), (-8, -12, -14), (8, 0, 0), id="Murty1988, example 2.10"),
        pytest.param(MURTY_2_11, (-5, 17), (27, 22.75), id="Murty1988, example 2.11"),
        pytest.param(murty_triangular(12), -np.ones(12), np.eye(12)[0], id="Murty1978, q = -e"),
        pytest.param(
            murty_triangular(16).T, -np.ones(16), np.eye(16)[15], id="Floudas1999, problem 10.2.1"
        ),
        pytest.param(HANDBOOK_3, (-3, 6, -1), (0, 1, 3), id="Floudas1999, problem 10.2.3"),
        pytest.param(
            HANDBOOK_9,
            (50, 50, 10, -6),
            (26 / 13, 26 / 13, 26 / 13, 1196 / 13),
            id="Floudas1999, problem 10.2.9 with l = 10",
        ),
        pytest.param(KOSTREVA_1, (-1, -1, -1), (1 / 3, 1 / 3, 1 / 3), id="Kostreva1979, example 1"),
    ],
)
def test_a_textbook_problem_with_one_solution(W, w, solution):
    """Solve problems that the literature solves by hand.

    - K. G. Murty, Linear Complementarity, Linear and Nonlinear Programming, Heldermann 1988.
    - K. G. Murty, Computational complexity of complementary pivot methods, Mathematical
      Programming Study 7 (1978) 61-73.
    - M. M. Kostreva, Cycling in linear complementarity problems, Mathematical Programming 16
      (1979) 127-130.
    - C. A. Floudas et al., Handbook of Test Problems in Local and Global Optimization, Kluwer
      1999, section 10.2 (numbers as in the tests of Drake, which correct a misprint in 10.2.9).

    The numbers of examples are those by which QuantEcon's and other public tests call them.
    """
    w, solution = np.array(w, dtype=np.float64), np.array(solution)
    found = solve(LCP(W, w))
    assert found.is_solved
    assert_solves(W, w, found.x)
    np.testing.assert_allclose(found.x, solution, atol=EXACT * (1.0 + solution.max()))
    (only,) = solve_all(LCP(W, w))
    np.testing.assert_allclose(only.x, solution, atol=EXACT * (1.0 + solution.max()))


@pytest.mark.parametrize(
    ("W", "w"),
    [
        pytest.param(matrix((0,)), (-1,), id="0 x = 1"),
        pytest.param(FOUR_SOLUTIONS, (-1, -1), id="negative diagonal, derived: y1 + y2 < 0"),
        pytest.param(MURTY_2_9, (-3, -2, -1), id="Murty1988, example 2.9: y1 < 0"),
        pytest.param(KOSTREVA_2, (-1, -1, -1), id="Kostreva1979, example 2: y3 < 0"),
    ],
)
def test_a_problem_without_solution_ends_on_a_ray(W, w):
    """No x >= 0 makes y >= 0, as the ids say; citations as above."""
    w = np.array(w, dtype=np.float64)
    found = solve(LCP(W, w))
    assert found.status is LCPStatus.RAY
    assert not found.is_solved
    assert natural_residual(W, w, found.x) > 0.1
    assert solve_all(LCP(W, w)) == []


@pytest.mark.parametrize(
    ("W", "w", "solutions"),
    [
        pytest.param(
            FOUR_SOLUTIONS, (1, 1), [(0, 0), (0.5, 0), (0, 0.5), (1, 1)], id="four, derived"
        ),
        # Solutions are (t, 1 - t); the ends have a nonsingular basis.
        pytest.param(
            np.ones((2, 2)), (-1, -1), [(1, 0), (0, 1)], id="Floudas1999, problem 10.2.2: a segment"
        ),
        pytest.param(
            HANDBOOK_4,
            (-1, -1, -1, -1),
            [(1 / 10, 0, 1 / 10, 0), (0, 1 / 15, 0, 1 / 15), (1 / 90, 2 / 45, 1 / 90, 2 / 45)],
            id="Floudas1999, problem 10.2.4: a bimatrix game",
        ),
    ],
)
def test_a_problem_with_several_solutions(W, w, solutions):
    """Find all of them, and one of them. Lemke's own path ends on a ray in 10.2.4."""
    w = np.array(w, dtype=np.float64)
    found = sorted(tuple(solution.x) for solution in solve_all(LCP(W, w)))
    np.testing.assert_allclose(found, sorted(solutions), atol=EXACT)
    one = solve(LCP(W, w))
    assert one.is_solved
    assert_solves(W, w, one.x)
    assert np.abs(np.array(found) - one.x).max(axis=1).min() <= EXACT


def test_a_bad_path_is_not_the_end():
    """Solve again where Lemke's first path ends on a ray, or takes too many pivots.

    - Murty 1988, example 2.11, with the covering vector (5, 16).
    - Example 2.10 for any n: w_j = -(2^n + ... + 2^(n-j+1)); at n = 24 the path is longer than
      the limit, and 2^24 supports are too many to try.
    """
    n = 24
    exponential = LCP(murty_triangular(n), -np.cumsum(2.0 ** np.arange(n, 0, -1)))
    for lcp, covering in ((LCP(MURTY_2_11, [-5.0, 17.0]), [5.0, 16.0]), (exponential, None)):
        found = solve(lcp, covering=covering)
        assert found.is_solved
        assert_solves(lcp.W, lcp.w, found.x)


@given(random_generator(), st.integers(1, 8))
def test_a_positive_definite_matrix_has_exactly_one_solution(rng, n):
    """Positive definite matrices are P-matrices [CottlePangStone, theorem 3.3.7]."""
    root, skew = rng.normal(size=(2, n, n))
    W = root @ root.T + 0.1 * np.eye(n) + skew - skew.T
    w = rng.normal(size=n)
    found = solve(LCP(W, w), covering=rng.uniform(0.1, 1.0, n))
    assert natural_residual(W, w, found.x) <= RESIDUAL
    (only,) = solve_all(LCP(W, w))
    np.testing.assert_allclose(only.x, found.x, atol=SAME * (1.0 + np.abs(found.x).max()))


@given(random_generator(), st.integers(1, 6))
def test_solve_all_of_any_small_lcp_is_brute_force(rng, n):
    W, w = rng.normal(size=(n, n)), rng.normal(size=n)
    reference = all_solutions(W, w, np.ones(n), np.ones(n), RESIDUAL)
    found = np.array([solution.x for solution in solve_all(LCP(W, w))]).reshape(-1, n)
    scale = 1.0 + np.abs(reference).max(initial=0.0)
    assert_same_sets(found / scale, reference / scale)
    one = solve(LCP(W, w))
    assert one.is_solved == (len(reference) > 0)


def test_a_nonnegative_vector_is_solved_by_zero():
    found = solve(LCP(matrix((-1, 2), (3, -4)), [0.0, 5.0]))
    assert found.is_solved
    assert not found.x.any()
    np.testing.assert_array_equal(found.y, [0.0, 5.0])


def test_a_small_row_counts_beside_a_large_one():
    """Two problems of one unknown each; so it is with a cap of 1e14 that is meant as none."""
    found = solve(LCP(np.eye(2), [1e14, -1.0]))
    np.testing.assert_allclose(found.x, [0.0, 1.0], rtol=RESIDUAL)


def test_all_supports_are_tried_whatever_the_units():
    """Two problems of one unknown each, in units that differ by 1e10."""
    (only,) = solve_all(LCP(np.diag([1.0, 1e-10]), [-1.0, -1.0]))
    np.testing.assert_allclose(only.x, [1.0, 1e10], rtol=RESIDUAL)


@pytest.mark.parametrize(
    ("W", "w", "field"),
    [
        ([[1.0, 2.0]], [1.0], "W"),
        ([1.0, 2.0], [1.0], "W"),
        (np.eye(2), [1.0, 2.0, 3.0], "w"),
        ([[np.nan]], [1.0], "W"),
        ([[1.0]], [np.inf], "w"),
    ],
)
def test_wrong_input_is_named(W, w, field):
    with pytest.raises(InvalidOption, match=f"^{field}: "):
        LCP(W, w)


def test_a_problem_too_large_for_all_supports_is_refused():
    with pytest.raises(InvalidOption, match=re.escape("at most 20 unknowns")):
        solve_all(LCP(np.eye(21), -np.ones(21)))


def test_an_lcp_keeps_its_own_read_only_copy():
    W = np.eye(2)
    lcp = LCP(W, [-1.0, -1.0])
    W[0, 0] = 7.0
    assert lcp.W[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        lcp.W[0, 0] = 2.0


@given(random_generator(), st.integers(1, 12))
def test_the_residual_tells_solutions_from_what_is_nearly_one(rng, n):
    """It vanishes at solutions, and a change of a thousandth shows, whatever the units."""
    root = rng.normal(size=(n, n))
    W, w = root @ root.T + np.eye(n), -rng.uniform(0.5, 1.0, n)
    x = solve(LCP(W, w)).x
    rows, columns = 10.0 ** rng.uniform(-4, 4, (2, n))
    lcp = LCP(rows[:, None] * W * columns, rows * w)
    assert lcp.residual(x / columns) <= EXACT
    off = x * (1.0 + 1e-3 * rng.choice([-1.0, 1.0], n))
    assert lcp.residual(off / columns) > 1e-6
    assert lcp.residual(-x / columns) > 1e-3


def assert_same_sets(found: FloatArray, reference: FloatArray, seed: object = "") -> None:
    distance = np.abs(found[:, None] - reference[None]).max(axis=2, initial=0.0)
    missing = distance.min(axis=0, initial=np.inf) > SAME
    excess = distance.min(axis=1, initial=np.inf) > SAME
    assert not missing.any(), f"not found: {reference[missing]} {seed}"
    assert not excess.any(), f"not a solution: {found[excess]} {seed}"


@dataclass
class Attempts:
    """Count what `solve` does beside its first path."""

    paths: int = 0
    searches: int = 0


@pytest.fixture
def attempts(monkeypatch):
    counts = Attempts()
    solve_accurately, search = lemke.solve_accurately, lemke.solutions_by_supports

    def count_paths(*arguments):
        counts.paths += 1
        return solve_accurately(*arguments)

    def count_searches(*arguments):
        counts.searches += 1
        return search(*arguments)

    monkeypatch.setattr(lemke, "solve_accurately", count_paths)
    monkeypatch.setattr(lemke, "solutions_by_supports", count_searches)
    return counts


def solve_many(m: int, d: int, k: int, count: int, attempts: Attempts) -> None:
    worst = worst_in_units = 0.0
    restarted = []
    for i in range(count):
        impact = ImpactLCP.random(np.random.default_rng([2, m, d, k, i]), m, d, k, capped=True)
        attempts.paths = 0
        found = solve(impact.lcp)
        residual = natural_residual(impact.lcp.W, impact.lcp.w, found.x)
        in_units = impact.unit_residual(found.x)
        assert residual <= RESIDUAL, (i, found.status)
        assert in_units <= UNIT_RESIDUAL, i
        assert found.is_solved, i
        worst, worst_in_units = max(worst, residual), max(worst_in_units, in_units)
        if attempts.paths > 1:
            restarted.append(i)
    print(
        f"m={m} d={d} k={k}: {count} solved, worst residual {worst:.1e}, in natural units "
        f"{worst_in_units:.1e}, restarted {restarted}, searched {attempts.searches}"
    )
    # The first path finds the solution: restarts are for rare accidents of rounding.
    assert len(restarted) <= 1 + count // 1000
    assert attempts.searches == 0


CLASSES = [
    *[pytest.param(m, 1, 2, id=f"{m} planar") for m in (1, 2, 3, 4, 8)],
    *[pytest.param(m, 2, k, id=f"{m} spatial, k={k}") for m in (1, 2, 4) for k in (4, 8)],
]


@pytest.mark.parametrize(("m", "d", "k"), CLASSES)
def test_degenerate_impact_steps_are_all_solved(m, d, k, attempts):
    """Contacts at rest, doubled, dependent, caps of zero or over decades, friction up to 1e5."""
    solve_many(m, d, k, 300, attempts)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "d", "k"), CLASSES)
def test_ten_thousand_degenerate_impact_steps_are_all_solved(m, d, k, attempts):
    solve_many(m, d, k, 10_000, attempts)


@pytest.mark.parametrize("capped", [True, False], ids=["step", "simultaneous"])
@pytest.mark.parametrize(
    ("m", "d", "k", "count"),
    [
        pytest.param(1, 1, 2, 100, id="1 planar"),
        pytest.param(2, 1, 2, 500, id="2 planar"),
        pytest.param(1, 2, 3, 100, id="1 spatial, k=3"),
        pytest.param(1, 2, 4, 100, id="1 spatial, k=4"),
        pytest.param(1, 2, 8, 20, id="1 spatial, k=8"),
        pytest.param(2, 2, 3, 10, id="2 spatial, k=3"),
        pytest.param(1, 2, 8, 500, id="1 spatial, k=8, many", marks=pytest.mark.slow),
        pytest.param(2, 2, 3, 500, id="2 spatial, k=3, many", marks=pytest.mark.slow),
    ],
)
def test_all_solutions_by_modes_are_all_by_brute_force(m, d, k, count, capped):
    """Outcomes are compared: impulses are not unique where contacts depend on each other."""
    several = 0
    for i in range(count):
        rng = np.random.default_rng([3, m, d, k, i])
        impact = ImpactLCP.random(rng, m, d, k, capped=capped)
        lcp = impact.lcp
        solutions = solve_all(lcp)
        for solution in solutions:
            assert natural_residual(lcp.W, lcp.w, solution.x) <= RESIDUAL, i
            assert impact.unit_residual(solution.x) <= UNIT_RESIDUAL, i
            assert len(solution.modes) == m
        reference = all_solutions(lcp.W, lcp.w, impact.x_unit, impact.y_unit, RESIDUAL)
        found = impact.velocities_after([solution.x for solution in solutions])
        assert len(found) > 0, i
        assert_same_sets(found, impact.velocities_after(list(reference)), f"seed {i}")
        several += len(found) > 1
    # The comparison means little if it never meets a step with several solutions. (One planar
    # contact has several only where it parts and jams, which is rare.)
    assert several > 0 or m * d == 1 or count < 100


@settings(max_examples=150)
@given(random_generator(), st.integers(1, 2), st.sampled_from((1, 2)), st.booleans())
def test_lemkes_answer_is_among_all_solutions(rng, m, d, capped):
    impact = ImpactLCP.random(rng, m, d, 2 if d == 1 else 4, capped=capped)
    every = impact.velocities_after([solution.x for solution in solve_all(impact.lcp)])
    n = len(impact.lcp.w)
    for covering in (None, *rng.uniform(0.1, 10.0, (3, n))):
        found = solve(impact.lcp, covering=covering)
        assert impact.unit_residual(found.x) <= UNIT_RESIDUAL
        after = impact.velocities_after([found.x])
        assert np.abs(every - after).max(axis=1).min() <= SAME


def test_another_covering_vector_may_lead_to_another_solution():
    """The compass gait has several simultaneous outcomes; one covering vector shows only one."""
    problem = carom.scenes.load("compass-gait").problem
    impact = ImpactLCP.of(problem, None)
    rng = np.random.default_rng(0)
    found = [
        solve(impact.lcp, covering=10.0 ** rng.uniform(-2, 2, len(impact.lcp.w))).x
        for _ in range(200)
    ]
    after = impact.velocities_after(found)
    assert np.ptp(after, axis=0).max() > 0.1
    every = impact.velocities_after([solution.x for solution in solve_all(impact.lcp)])
    assert (np.abs(after[:, None] - every[None]).max(axis=2).min(axis=1) <= SAME).all()


def test_solve_repeats():
    impact = ImpactLCP.random(np.random.default_rng(5), 3, 1, 2, capped=True)
    np.testing.assert_array_equal(solve(impact.lcp).x, solve(impact.lcp).x)


def test_the_modes_of_a_solution_are_named():
    """A ball of mass 1 falls at 1 m/s and slides at 2 m/s: friction 0.5 does not stop it."""
    lcp = impact_lcp(np.eye(2), np.array([0.5]), friction_directions(1, 2), np.array([[-1.0, 2.0]]))
    (only,) = solve_all(lcp)
    assert only.modes == ("closed, sliding +",)
    np.testing.assert_allclose(lcp.contacts.impulses(only.x), [[1.0, -0.5]], atol=EXACT)


def test_contacts_with_too_many_modes_are_refused():
    m = 8
    lcp = step_lcp(
        np.eye(2 * m),
        np.ones(m),
        friction_directions(1, 2),
        np.tile([-1.0, 0.0], (m, 1)),
        np.ones(m),
    )
    with pytest.raises(InvalidOption, match=re.escape("7^8")):
        solve_all(lcp)
    assert solve(lcp).is_solved
