"""The friction cone, contact coordinates, and the impact LCPs against the paper's formulas."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

import carom
from carom.contact_space import (
    ContactSpace,
    contact_impulses,
    friction_directions,
    impact_matrix,
    impact_vector,
    impulse_basis,
    step_matrix,
    step_vector,
)
from carom.kernels.lemke import equilibrate
from carom.stepping.lcp import LCP, solve
from tests.reference.brute_force import contact_units, natural_residual, unit_residual
from tests.reference.impact_problems import (
    delassus,
    impact_problems,
    random_caps,
    random_generator,
)

FloatArray = NDArray[np.float64]

ROUNDING = 1e-12
"""Two ways to compute the same matrix differ by rounding, relative to its largest entry."""

RESIDUAL = 1e-9
"""What an accepted LCP solution may leave."""


def paper_step_lcp(
    problem: carom.ImpactProblem, lambda_max: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Write out [HalmPosa, eq:SimulationLCP], block by block, in units."""
    m, J_n = problem.num_contacts, problem.J_n
    D = friction_directions(problem.num_tangents, problem.num_directions).T
    k = D.shape[1]
    J_D = np.vstack([D.T @ problem.J_t[i] for i in range(m)])
    E = np.zeros((m * k, m))
    for i in range(m):
        E[i * k : (i + 1) * k, i] = 1.0
    M_inverse = np.linalg.inv(problem.M)
    zero = np.zeros
    W = np.block(
        [
            [zero((m, m)), -np.eye(m), zero((m, m * k)), zero((m, m))],
            [np.eye(m), J_n @ M_inverse @ J_n.T, J_n @ M_inverse @ J_D.T, zero((m, m))],
            [zero((m * k, m)), J_D @ M_inverse @ J_n.T, J_D @ M_inverse @ J_D.T, E],
            [zero((m, m)), np.diag(problem.mu), -E.T, zero((m, m))],
        ]
    )
    w = np.concatenate([lambda_max, J_n @ problem.v_pre, J_D @ problem.v_pre, np.zeros(m)])
    return W, w


def assert_equal_up_to_rounding(found: FloatArray, expected: FloatArray) -> None:
    assert found.shape == expected.shape
    # M may be ill-conditioned by about 1e4.
    atol = 1e4 * ROUNDING * max(np.abs(expected).max(), 1e-300)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=atol)


@settings(max_examples=60)
@given(impact_problems(max_contacts=3), random_generator())
def test_the_step_lcp_is_the_papers(problem, rng):
    caps = random_caps(rng, problem)
    W, w = paper_step_lcp(problem, caps)
    directions = friction_directions(problem.num_tangents, problem.num_directions)
    v_c = problem.contact_velocity(problem.v_pre)
    m = problem.num_contacts
    found = step_matrix(delassus(problem), problem.mu, directions)
    # Blocks differ in units, so each is compared by its own size.
    edges = [0, m, 2 * m, m * (2 + len(directions)), len(W)]
    for top, bottom in pairwise(edges):
        for left, right in pairwise(edges):
            block = np.s_[top:bottom, left:right]
            assert_equal_up_to_rounding(found[block], W[block])
    assert_equal_up_to_rounding(step_vector(v_c, caps, directions), w)


@settings(max_examples=30)
@given(impact_problems(max_contacts=3), random_generator())
def test_the_simultaneous_lcp_is_the_step_lcp_without_caps(problem, rng):
    """[HalmPosa, eq:AnitestcuDiscreteFormulation]."""
    W, w = paper_step_lcp(problem, random_caps(rng, problem))
    directions = friction_directions(problem.num_tangents, problem.num_directions)
    m = problem.num_contacts
    found = impact_matrix(delassus(problem), problem.mu, directions)
    assert_equal_up_to_rounding(found[: -2 * m or None], W[m:, m:][: -2 * m or None])
    np.testing.assert_array_equal(found[-m:], W[-m:, m:])
    v_c = problem.contact_velocity(problem.v_pre)
    assert_equal_up_to_rounding(impact_vector(v_c, directions), w[m:])


@settings(max_examples=60)
@given(impact_problems(max_contacts=3), random_generator())
def test_the_impact_lcp_matrices_are_copositive(problem, rng):
    """x . W x = |J^T lambda|^2 + mu lambda_n . slack >= 0 for x >= 0: solutions exist."""
    directions = friction_directions(problem.num_tangents, problem.num_directions)
    for build in (impact_matrix, step_matrix):
        W = build(delassus(problem), problem.mu, directions)
        x = rng.exponential(size=(200, len(W))) * (rng.random((200, len(W))) < 0.5)
        forms = np.einsum("ni,ij,nj->n", x, W, x)
        assert forms.min() >= -1e4 * ROUNDING * np.abs(W).max() * len(W)


@pytest.mark.parametrize("k", [3, 4, 5, 8, 16])
def test_friction_directions_are_evenly_spread_unit_vectors(k):
    directions = friction_directions(2, k)
    assert directions.shape == (k, 2)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0, atol=ROUNDING)
    np.testing.assert_allclose(directions.sum(axis=0), 0.0, atol=k * ROUNDING)
    after = np.roll(directions, -1, axis=0)
    turn = directions[:, 0] * after[:, 1] - directions[:, 1] * after[:, 0]
    np.testing.assert_allclose(turn, np.sin(2.0 * np.pi / k), atol=ROUNDING)


def test_the_plane_has_two_friction_directions():
    np.testing.assert_array_equal(friction_directions(1, 8), [[1.0], [-1.0]])


@settings(max_examples=40)
@given(impact_problems(max_contacts=3), random_generator())
def test_impulses_are_read_off_in_contact_coordinates(problem, rng):
    """The basis and `contact_impulses` say the same, and it is J_n^T lambda_n + J_D^T lambda_D."""
    m, directions = problem.num_contacts, problem.space.directions
    k = len(directions)
    x = rng.exponential(size=m * (2 + k))
    impulses = contact_impulses(x, m, directions)
    basis = impulse_basis(m, directions)
    np.testing.assert_allclose(basis @ x[: m * (1 + k)], impulses.ravel(), atol=k * ROUNDING * 10)
    np.testing.assert_array_equal(impulses[:, 0], x[:m])
    J_D = np.vstack([directions @ problem.J_t[i] for i in range(m)])
    generalized = problem.J_n.T @ x[:m] + J_D.T @ x[m : m * (1 + k)]
    assert_equal_up_to_rounding(problem.J.T @ impulses.ravel(), generalized)


@settings(max_examples=60)
@given(impact_problems(max_contacts=3))
def test_a_contact_space_is_free_of_units(problem):
    A = delassus(problem)
    d = problem.num_tangents
    speed = float(np.sqrt(2.0 * problem.kinetic_energy(problem.v_pre)))
    space = ContactSpace.build(A, problem.mu, friction_directions(d, 4), speed)
    root = np.sqrt(np.diag(A)[:: 1 + d])
    np.testing.assert_allclose(np.diag(space.A)[:: 1 + d], 1.0, rtol=ROUNDING)
    np.testing.assert_allclose(space.velocity_unit, speed * root, rtol=ROUNDING)
    np.testing.assert_allclose(space.impulse_unit, speed / root, rtol=ROUNDING)
    # An impulse changes velocities by A lambda, in units or without.
    velocity_unit = np.repeat(space.velocity_unit, 1 + d)
    impulse_unit = np.repeat(space.impulse_unit, 1 + d)
    np.testing.assert_allclose(
        velocity_unit[:, None] * space.A / impulse_unit, A, rtol=1e3 * ROUNDING
    )
    # No normal velocity exceeds 1: that is Cauchy-Schwarz in the metric M.
    assert np.abs(problem.J_n @ problem.v_pre / space.velocity_unit).max() <= 1.0 + 1e3 * ROUNDING
    assert space.num_contacts == problem.num_contacts
    assert space.width == 1 + d


def test_a_contact_space_at_rest_has_units_all_the_same():
    space = ContactSpace.build(4.0 * np.eye(2), np.ones(1), friction_directions(1, 2), 0.0)
    np.testing.assert_array_equal(space.velocity_unit, [2.0])
    np.testing.assert_array_equal(space.impulse_unit, [0.5])


@settings(max_examples=60)
@given(impact_problems(max_contacts=3), random_generator())
def test_a_solution_without_units_solves_the_problem_with_units(problem, rng):
    space, caps = problem.space, random_caps(rng, problem)
    v_c = problem.contact_velocity(problem.v_pre)
    plain = LCP(
        step_matrix(space.A, space.mu, space.directions),
        step_vector(
            v_c / space.velocity_unit[:, None], caps / space.impulse_unit, space.directions
        ),
    )
    k, d = space.directions.shape
    speed = float(np.sqrt(2.0 * problem.kinetic_energy(problem.v_pre)))
    x_unit, y_unit = contact_units(delassus(problem), problem.mu, d, k, speed, capped=True)
    W, w = paper_step_lcp(problem, caps)
    x = solve(plain).x * x_unit
    assert unit_residual(W, w, x, x_unit, y_unit) <= 1e3 * RESIDUAL
    assert natural_residual(W, w, x) <= RESIDUAL


@settings(max_examples=60)
@given(impact_problems(max_contacts=3), random_generator())
def test_equilibration_keeps_solutions_and_balances(problem, rng):
    W, w = paper_step_lcp(problem, random_caps(rng, problem))
    scaled, rows, columns = equilibrate(W)
    assert (rows > 0.0).all()
    assert (columns > 0.0).all()
    np.testing.assert_allclose(scaled, rows[:, None] * W * columns, rtol=ROUNDING)
    largest = np.abs(scaled).max(axis=1)
    # Rows that are not zero end near 1, although friction reaches 1e5.
    assert largest[largest > 0.0].min() > 0.2
    assert largest.max() < 5.0
    found = solve(LCP(scaled, rows * w))
    assert found.is_solved
    assert natural_residual(W, w, columns * found.x) <= RESIDUAL


def test_equilibration_leaves_zero_rows_alone():
    scaled, rows, columns = equilibrate(np.array([[0.0, 0.0], [0.0, 1e6]]))
    assert np.isfinite([*rows, *columns]).all()
    assert not scaled[0].any()
    assert scaled[1, 1] == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("size", [1e155, 1e-170])
def test_jacobians_beyond_the_range_of_doubles_are_refused(size):
    problem = carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], mu=0.5, v_pre=[0.0, -1.0])
    with np.errstate(over="ignore"):
        A = (size * problem.J) @ (size * problem.J).T
    with pytest.raises(carom.InvalidProblem, match="choose other units"):
        ContactSpace.build(A, problem.mu, friction_directions(1, 2), 1.0)


def test_too_many_friction_directions_are_refused_at_once():
    assert friction_directions(2, 1024).shape == (1024, 2)
    with pytest.raises(carom.InvalidProblem, match="at most 1024"):
        friction_directions(2, 10**9)
