"""ImpactProblem: what it accepts, what it refuses and how it says so, and its few questions."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import carom

GOOD = {
    "M": [[2.0, 0.3, 0.0], [0.3, 1.0, 0.0], [0.0, 0.0, 0.5]],
    "J_n": [[0.0, 1.0, -0.5], [0.0, 1.0, 0.5]],
    "J_t": [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]],
    "mu": [0.5, 1.0],
    "v_pre": [0.1, -1.0, 0.2],
}


def with_field(name, value):
    return {**GOOD, name: value}


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        (with_field("M", np.eye(2)), "M", "(3, 3)"),
        (with_field("M", [[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "M", "symmetric"),
        (with_field("M", np.diag([1.0, -1.0, 1.0])), "M", "positive definite"),
        (with_field("M", np.diag([1.0, 0.0, 1.0])), "M", "positive definite"),
        (with_field("M", np.full((3, 3), np.nan)), "M", "finite"),
        (with_field("v_pre", [0.0, np.inf, 0.0]), "v_pre", "finite"),
        (with_field("v_pre", [[0.0, 1.0, 0.0]]), "v_pre", "vector"),
        (with_field("v_pre", []), "v_pre", "vector"),
        (with_field("J_n", [[0.0, 1.0]]), "J_n", "(m, 3)"),
        (with_field("v_pre", [0.0, -1.0]), "v_pre", "(3,) to go with M and J_n"),
        (with_field("J_n", np.empty((0, 3))), "J_n", "at least one contact"),
        (with_field("J_n", [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), "J_n", "row 1"),
        (with_field("J_t", [[1.0, 0.0, 1.0]]), "J_t", "(2, 3)"),
        (with_field("J_t", np.ones((2, 3, 3))), "J_t", "(2, 2, 3)"),
        (with_field("J_t", "tangent"), "J_t", "numbers"),
        (with_field("mu", -0.1), "mu", ">= 0"),
        (with_field("mu", [0.1, 0.2, 0.3]), "mu", "(2,)"),
        (with_field("mu", np.nan), "mu", "finite"),
        ({**GOOD, "contacts": ("A",)}, "contacts", "2 names"),
        ({**GOOD, "contacts": ("A", "A")}, "contacts", "different"),
        ({**GOOD, "contacts": ("A", "")}, "contacts", "2 names"),
        ({**GOOD, "num_directions": 2}, "num_directions", "from 3 to"),
        ({**GOOD, "contacts": 5}, "contacts", "2 names"),
        ({**GOOD, "num_directions": "x"}, "num_directions", "integer"),
        (with_field("mu", 10**400), "mu", "numbers"),
        ({**GOOD, "num_directions": 4.5}, "num_directions", "integer"),
        ({**GOOD, "num_directions": 10**9}, "num_directions", "from 3 to"),
        (with_field("J_n", 1e155 * np.ones(np.shape(GOOD["J_n"]))), "J_n", "choose other units"),
        (with_field("J_t", 1e155 * np.ones(np.shape(GOOD["J_t"]))), "J_t", "choose other units"),
        (with_field("J_n", 1e-155 * np.ones(np.shape(GOOD["J_n"]))), "J_n", "choose other units"),
        (with_field("v_pre", np.ones(np.shape(GOOD["v_pre"])) + 1j), "v_pre", "complex"),
    ],
)
def test_bad_input_is_refused_by_name(fields, field, words):
    with pytest.raises(carom.InvalidProblem) as caught:
        carom.ImpactProblem(**fields)
    assert str(caught.value).startswith(f"{field}: expected")
    assert words in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_frozen_and_independent_of_the_caller():
    M = np.array(GOOD["M"])
    problem = carom.ImpactProblem(**with_field("M", M))
    M[:] = 0.0
    assert problem.M[0, 0] == 2.0
    with pytest.raises(ValueError, match="read-only"):
        problem.M[0, 0] = 1.0
    with pytest.raises(AttributeError):
        problem.mu = 1.0


def test_planar_tangents_may_leave_out_an_axis():
    flat = carom.ImpactProblem(**GOOD)
    deep = carom.ImpactProblem(**with_field("J_t", np.array(GOOD["J_t"])[:, None, :]))
    assert flat.J_t.shape == deep.J_t.shape == (2, 1, 3)
    assert np.array_equal(flat.J, deep.J)


def test_scalar_friction_is_for_all():
    assert carom.ImpactProblem(**with_field("mu", 0.7)).mu.tolist() == [0.7, 0.7]


def test_contact_velocity_puts_the_normal_first():
    problem = carom.ImpactProblem(**GOOD)
    v = np.random.default_rng(0).normal(size=(4, 5, 3))
    v_c = problem.contact_velocity(v)
    assert v_c.shape == (4, 5, 2, 2)
    assert np.allclose(v_c[..., 0], v @ problem.J_n.T)
    assert np.allclose(v_c[..., 1], v @ problem.J_t[:, 0].T)


def test_kinetic_energy_of_one_and_of_many():
    problem = carom.ImpactProblem(**GOOD)
    v = np.random.default_rng(1).normal(size=(6, 3))
    energies = problem.kinetic_energy(v)
    assert energies.shape == (6,)
    assert isinstance(problem.kinetic_energy(v[0]), float)
    assert np.allclose(energies, [0.5 * row @ problem.M @ row for row in v])


def test_is_colliding():
    problem = carom.ImpactProblem(**GOOD)
    assert problem.is_colliding(problem.v_pre) is True
    assert problem.is_colliding([1.0, 0.0, 0.0]) is False
    assert problem.is_colliding([0.0, 0.0, 0.1]) is True
    assert problem.is_colliding([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]).tolist() == [False, True]


def test_delassus_matrix_has_no_units():
    problem = carom.ImpactProblem(**GOOD)
    space = problem.space
    A = problem.J @ np.linalg.inv(problem.M) @ problem.J.T
    scale = np.repeat(space.velocity_unit / space.impulse_unit, 2)
    root = np.sqrt(np.outer(scale, scale))
    assert np.allclose(space.A * root, A)
    assert np.allclose(np.diag(space.A)[::2], 1.0)
    # No velocity of the same energy gives a contact more than one unit of normal velocity.
    rng = np.random.default_rng(2)
    speed = np.sqrt(2 * problem.kinetic_energy(problem.v_pre))
    for direction in rng.normal(size=(200, 3)):
        v = direction * speed / np.sqrt(direction @ problem.M @ direction)
        assert (np.abs(problem.J_n @ v) <= space.velocity_unit * (1 + 1e-12)).all()


@pytest.mark.parametrize("mass", [1e300, 1e-300])
def test_refuses_masses_whose_products_overflow(mass):
    fields = {"J_n": [[0, 1]], "J_t": [[1, 0]], "mu": 0.5, "v_pre": [0, -1]}
    with pytest.raises(carom.InvalidProblem, match="M: expected a diagonal between"):
        carom.ImpactProblem(M=mass * np.eye(2), **fields)


def _random_problem(rng, m, d, nv):
    root = rng.normal(size=(nv, nv))
    J = rng.normal(size=(m, 1 + d, nv))
    return carom.ImpactProblem(
        root @ root.T + np.eye(nv), J[:, 0], J[:, 1:], rng.uniform(0.0, 1.0, m), rng.normal(size=nv)
    )


def _derived(problem):
    space = problem.space
    arrays = (problem.J, problem.impulse_to_velocity, problem.start, space.A, space.mu)
    return (*arrays, space.velocity_unit, space.impulse_unit, problem.energy_norm)


@pytest.mark.parametrize(("m", "d", "nv"), [(1, 1, 2), (2, 1, 3), (5, 1, 4), (4, 2, 18), (3, 2, 6)])
def test_what_is_derived_is_what_linear_algebra_says(m, d, nv):
    problem = _random_problem(np.random.default_rng(m + nv), m, d, nv)
    space, J = problem.space, problem.J
    inverse = np.linalg.inv(problem.M)
    norm = np.sqrt(problem.v_pre @ problem.M @ problem.v_pre)
    size = np.sqrt(np.diag(J @ inverse @ J.T)[:: 1 + d])
    units = np.repeat(norm * size, 1 + d)
    assert np.allclose(problem.impulse_to_velocity, inverse @ J.T)
    assert np.allclose(space.A, J @ inverse @ J.T * norm**2 / np.outer(units, units))
    assert np.array_equal(space.A, space.A.T)
    assert np.allclose(space.velocity_unit * space.impulse_unit, norm**2)
    assert np.allclose(problem.start, J @ problem.v_pre / units)
    assert np.isclose(problem.energy_norm, norm)


def _tiny(problem):
    """Return a velocity whose square vanishes, for which the quick pass gives up."""
    return replace(problem, v_pre=1e-170 * problem.v_pre)


def _asymmetric(problem):
    """Return a mass matrix with rounding errors."""
    error = np.where(np.tri(problem.num_velocities, k=-1) > 0.0, 1e-14, 0.0)
    return replace(problem, M=(1.0 + error) * problem.M)


@pytest.mark.parametrize("change", [_tiny, _asymmetric])
def test_unusual_numbers_are_derived_as_usual_ones(change):
    problem = _random_problem(np.random.default_rng(3), 3, 2, 7)
    other = change(problem)
    assert np.allclose(other.space.A, problem.space.A)
    assert np.allclose(other.start, problem.start)
    assert np.array_equal(other.J, problem.J)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
@pytest.mark.parametrize("change", [lambda problem: problem, _tiny, _asymmetric])
def test_copies_derive_the_same_bits(copied, change):
    """So that a draw does not depend on the process in which it is made."""
    problem = change(_random_problem(np.random.default_rng(4), 3, 1, 5))
    twin = copied(problem)
    assert twin == problem
    for mine, theirs in zip(_derived(problem), _derived(twin), strict=True):
        assert np.array_equal(mine, theirs)
    with pytest.raises(ValueError, match="read-only"):
        twin.M[0, 0] = 1.0
    assert np.array_equal(*(carom.Routh().draw_velocity(each, 1) for each in (problem, twin)))
