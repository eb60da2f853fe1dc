"""Lexicographic pivoting on problems that are hard for the path, not for the answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from carom.kernels import lemke
from carom.kernels.jit import kernel

FloatArray = NDArray[np.float64]

EXACT = 1e-12
"""The data are small integers: only rounding is left."""

MURTY_2_11 = np.array([[-1.5, 2.0], [-4.0, 4.0]])
KOSTREVA_1 = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]])
KOSTREVA_2 = np.array([[1.0, -1.0, 3.0], [2.0, -1.0, 3.0], [-1.0, -2.0, 0.0]])


@kernel
def call_lemke(W, w, d, work, x, max_pivots):
    return lemke.lemke(W, w, d, work, x, max_pivots)


@kernel
def polish(W, w, work, x):
    lemke.polish(W, w, work, x)


def run_lemke(
    W: FloatArray, w: FloatArray, d: FloatArray, max_pivots: int
) -> tuple[int, FloatArray]:
    x = np.empty(len(w))
    return call_lemke(W, w, d, lemke.make_work(len(w)), x, max_pivots), x


def textbook_lemke(W: FloatArray, w: FloatArray, choose: Callable[[NDArray[np.int64]], int]) -> str:
    """Run Lemke's algorithm on the textbook tableau, with any rule for ties."""
    n = len(w)
    T = np.hstack([np.eye(n), -W, -np.ones((n, 1)), w[:, None]])
    basis = list(range(n))
    seen = []
    row, column = choose(np.flatnonzero(w == w.min())), 2 * n
    while True:
        T[row] /= T[row, column]
        for i in range(n):
            if i != row:
                T[i] -= T[i, column] * T[row]
        leaving, basis[row] = basis[row], column
        if leaving == 2 * n:
            return "solved"
        if sorted(basis) in seen:
            return "cycle"
        seen.append(sorted(basis))
        column = leaving + n if leaving < n else leaving - n
        blocking = np.flatnonzero(T[:, column] > EXACT)
        if len(blocking) == 0:
            return "ray"
        ratios = T[blocking, -1] / T[blocking, column]
        row = choose(blocking[ratios <= ratios.min() + EXACT])


@pytest.mark.parametrize(
    ("W", "expected"),
    [(KOSTREVA_1, lemke.SOLVED), (KOSTREVA_2, lemke.RAY)],
    ids=["example 1", "example 2"],
)
def test_kostrevas_examples_cycle_without_a_rule_for_ties_and_not_with_it(W, expected):
    """M. M. Kostreva, Cycling in linear complementarity problems, Math. Programming 16 (1979)."""
    w = -np.ones(3)
    assert textbook_lemke(W, w, lambda tied: tied[0]) == "cycle"
    assert run_lemke(W, w, np.ones(3), 8)[0] == expected


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_murtys_exponential_problem_takes_two_to_the_n_pivots(n):
    """For n = 3 this is example 2.10 of Murty 1988; w_j = -(2^n + ... + 2^(n-j+1)) for any n.

    Being slow is right here: a path that is shorter is not Lemke's.
    """
    W = np.tril(np.full((n, n), 2.0)) - np.eye(n)
    w = -np.cumsum(2.0 ** np.arange(n, 0, -1))
    assert run_lemke(W, w, np.ones(n), 2**n - 1)[0] == lemke.PIVOT_LIMIT
    status, x = run_lemke(W, w, np.ones(n), 2**n)
    assert status == lemke.SOLVED
    np.testing.assert_allclose(x, 2.0**n * np.eye(n)[0], atol=EXACT * 2**n)


def test_a_bad_covering_vector_ends_on_a_ray():
    """Murty 1988, example 2.11: d = (5, 16) leads to a ray although there is a solution."""
    w = np.array([-5.0, 17.0])
    assert run_lemke(MURTY_2_11, w, np.array([5.0, 16.0]), 100)[0] == lemke.RAY
    status, x = run_lemke(MURTY_2_11, w, np.ones(2), 100)
    assert status == lemke.SOLVED
    np.testing.assert_allclose(x, [27.0, 22.75], atol=100 * EXACT)


def test_a_tie_with_the_covering_variable_is_won_by_it():
    """Of the covering variable z0 and others that leave at once, z0 must: then all is solved.

    Derived: W = [[1, 1], [1, 1]], w = (-1, -1). After z0 has entered for y1 and x1 comes in, z0
    and y2 vanish together at x1 = 1. Were y2 to leave, x2 would enter, and nothing block it.
    """
    status, x = run_lemke(np.ones((2, 2)), -np.ones(2), np.ones(2), 2)
    assert status == lemke.SOLVED
    assert x.sum() == pytest.approx(1.0, abs=EXACT)


def test_work_arrays_may_be_used_again():
    """In loops they are: what one problem leaves there must not touch the next."""
    work = lemke.make_work(3)
    x, fresh = np.empty(3), np.empty(3)
    for w in np.random.default_rng(0).normal(size=(50, 3)):
        status = call_lemke(KOSTREVA_1, w, np.ones(3), work, x, 100)
        assert status == call_lemke(KOSTREVA_1, w, np.ones(3), lemke.make_work(3), fresh, 100)
        np.testing.assert_array_equal(x, fresh)


def test_polishing_undoes_drift():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(6, 6))
    W, w = root @ root.T + np.eye(6), rng.normal(size=6)
    status, x = run_lemke(W, w, np.ones(6), 100)
    assert status == lemke.SOLVED
    off = x * (1.0 + 1e-6 * rng.normal(size=6))
    assert lemke.residual(W, w, off) > 1e-9
    polish(W, w, lemke.make_work(6), off)
    assert lemke.residual(W, w, off) <= EXACT
