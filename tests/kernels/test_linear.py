"""Elimination in compiled code against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom.kernels import linear
from carom.kernels.jit import kernel
from tests.reference.impact_problems import random_generator

ROUNDING = 1e-13
"""Elimination loses this, times the condition number."""


@kernel
def eliminate(A, B, n, num_rhs):
    return linear.eliminate(A, B, n, num_rhs)


@kernel
def norm_inf(x):
    return linear.norm_inf(x)


@given(random_generator(), st.integers(1, 10), st.integers(1, 4))
def test_elimination_is_numpys_solution_with_the_sign_of_the_determinant(rng, n, num_rhs):
    A, B = rng.normal(size=(n, n)), rng.normal(size=(n, num_rhs))
    X = B.copy()
    sign = eliminate(A.copy(), X, n, num_rhs)
    assert sign == np.sign(np.linalg.det(A))
    expected = np.linalg.solve(A, B)
    tolerance = ROUNDING * np.linalg.cond(A) * np.abs(expected).max()
    np.testing.assert_allclose(X, expected, rtol=0.0, atol=tolerance)


@given(random_generator(), st.permutations(range(6)))
def test_the_sign_follows_permutations(rng, order):
    """A permuted diagonal: elimination has to exchange rows, each of which turns the sign."""
    A = np.diag(rng.choice([-1.0, 1.0], 6) * rng.uniform(0.5, 2.0, 6))[list(order)]
    assert eliminate(A.copy(), np.zeros((6, 1)), 6, 1) == round(np.sign(np.linalg.det(A)))


def test_only_the_leading_block_counts():
    A = np.full((4, 5), np.nan)
    B = np.full((4, 3), np.nan)
    A[:2, :2] = [[0.0, 2.0], [4.0, 1.0]]
    B[:2, :1] = [[2.0], [9.0]]
    assert eliminate(A, B, 2, 1) == -1
    np.testing.assert_allclose(B[:2, 0], [2.0, 1.0])
    assert np.isnan(B[2:]).all()
    assert np.isnan(B[:, 1:]).all()


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_singular_is_relative(scale):
    A = scale * np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    assert eliminate(A.copy(), np.zeros((3, 1)), 3, 1) == 0
    A[2, 2] += scale
    assert eliminate(A.copy(), np.zeros((3, 1)), 3, 1) == np.sign(np.linalg.det(A))


def test_an_empty_system_has_determinant_one():
    assert eliminate(np.empty((0, 0)), np.empty((0, 1)), 0, 1) == 1


@given(random_generator(), st.integers(0, 10))
def test_the_largest_magnitude(rng, n):
    x = rng.normal(size=n)
    assert norm_inf(x) == np.abs(x).max(initial=0.0)
