"""Forces of contacts that depend on each other, against NumPy's least squares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom.kernels import sustained_calls
from carom.kernels.sustained import STABILIZATION, STICKING
from tests.reference.impact_problems import random_generator


def dependent(rng, m, n, rank):
    """Return M, J_n, J_t of m contacts whose rows span `rank` dimensions."""
    root = rng.normal(size=(n, n))
    rows = rng.normal(size=(2 * m, rank)) @ rng.normal(size=(rank, n))
    return root @ root.T + np.eye(n), np.array(rows[:m]), np.array(rows[m:])


def least(A, b):
    """Return the solution of A x = b of least norm, in the units of the diagonal."""
    size = np.sqrt(np.abs(np.diagonal(A)))
    return np.linalg.lstsq(A / size[:, None] / size, b / size, rcond=1e-10)[0] / size


@given(random_generator(), st.integers(1, 4), st.integers(2, 6))
def test_forces_have_the_least_norm_and_inner_ones_no_effect(rng, m, n):
    rank = int(rng.integers(1, min(2 * m, n) + 1))
    M, J_n, J_t = dependent(rng, m, n, rank)
    C = np.stack([J_n, J_t], axis=1).reshape(2 * m, n)
    force, v, phi = rng.normal(size=n), rng.normal(size=n), rng.normal(size=m)
    # Biases that forces can meet: the contacts belong to one motion.
    bias = (C @ rng.normal(size=n)).reshape(m, 2)
    given = M, force, np.zeros(m), J_n, J_t, bias, np.zeros(n), np.full(m, STICKING)
    mu, resting = np.ones(m), np.zeros(m, bool)
    found = sustained_calls.judge(*given, mu, resting, np.zeros((m, 2)))
    A = C @ np.linalg.solve(M, C.T)
    expected = least(A, -(bias.ravel() + C @ np.linalg.solve(M, force)))
    size = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(found[0].ravel(), expected, atol=1e-6 * size)
    np.testing.assert_allclose(C @ found[1] + bias.ravel(), 0.0, atol=1e-6 * size)
    assert found[3]
    assert found[5] == (rank < 2 * m)
    inner = sustained_calls.judge(*given, mu, resting, rng.normal(size=(m, 2)))
    np.testing.assert_allclose(inner[1], found[1], atol=1e-9 * size)
    np.testing.assert_allclose(C.T @ (inner[0] - found[0]).ravel(), 0.0, atol=1e-6 * size)
    # Gaps and velocities die out.
    moving = sustained_calls.judge(
        M, force, phi, J_n, J_t, bias, v, *given[7:], mu, resting, np.zeros((m, 2))
    )
    if rank == 2 * m:
        target = bias + STABILIZATION * np.column_stack([2.0 * J_n @ v, J_t @ v])
        target[:, 0] += STABILIZATION**2 * phi
        scale = 1.0 + np.abs(target).max()
        np.testing.assert_allclose(C @ moving[1] + target.ravel(), 0.0, atol=1e-6 * scale)


@pytest.mark.parametrize("mass", [1e-12, 1.0, 1e12])
def test_masses_may_differ_by_orders_of_magnitude(mass):
    M = np.diag([mass, 1.0])
    change = sustained_calls.project(
        M, np.array([[1.0, 0.0]]), np.zeros((1, 2)), np.array([4]), np.array([[3.0, 0.0]])
    )
    np.testing.assert_allclose(change, [-3.0, 0.0], rtol=1e-12)


def test_a_mass_matrix_without_inertia_is_told():
    change = sustained_calls.project(
        np.zeros((2, 2)), np.eye(2), np.eye(2), np.array([1, 1]), np.ones((2, 2))
    )
    assert np.isnan(change[0])
