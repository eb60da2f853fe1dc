"""Judge every planar system by an independent forward kinematics."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from carom import scenes
from tests.reference import planar_kinematics as reference

TOLERANCE = 1e-12


def all_systems():
    """Return (system, configuration) by name."""
    systems = {"crooked": reference.crooked_system()}
    for name in scenes.names():
        scene = scenes.load(name)
        systems[name] = (scene.system, scene.q)
    return systems


SYSTEMS = all_systems()


@st.composite
def states(draw):
    """Draw a system, a configuration near its own and a velocity."""
    system, q = SYSTEMS[draw(st.sampled_from(sorted(SYSTEMS)))]
    offset = draw(arrays(float, system.nq, elements=st.floats(-0.4, 0.4)))
    v = draw(arrays(float, system.nv, elements=st.floats(-2.0, 2.0)))
    return system, q + offset, v


@given(states())
def test_poses_are_those_of_the_joint_chain(state):
    system, q, _ = state
    found, frames = reference.poses(system, q), system.frames(q)
    for body, (x, y, angle) in zip(system.bodies, system.body_poses(q), strict=True):
        pose, frame = found[body.name], frames[body.name]
        assert frame.origin == (x, y)
        assert frame.angle == angle
        np.testing.assert_allclose(frame.origin, pose.origin, atol=TOLERANCE)
        np.testing.assert_allclose(reference.rotation(angle), pose.turn, atol=TOLERANCE)
        np.testing.assert_allclose(
            frame.point((0.3, -0.7)), pose.point((0.3, -0.7)), atol=TOLERANCE
        )


@given(states())
def test_gap_is_the_distance_between_the_surfaces(state):
    system, q, _ = state
    np.testing.assert_allclose(system.gap(q), reference.gaps(system, q), atol=TOLERANCE)


@given(states())
def test_normal_rows_give_the_rate_of_the_gap(state):
    system, q, v = state
    rate = reference.gaps(system, q + 1j * reference.TINY * v).imag / reference.TINY
    np.testing.assert_allclose(system.normal_jacobian(q) @ v, rate, atol=TOLERANCE)


@given(states())
def test_rows_follow_the_material_contact_points(state):
    system, q, v = state
    velocity = reference.contact_velocities(system, q, v)
    np.testing.assert_allclose(system.normal_jacobian(q) @ v, velocity[:, 0], atol=TOLERANCE)
    np.testing.assert_allclose(system.tangent_jacobian(q)[:, 0] @ v, velocity[:, 1], atol=TOLERANCE)


@given(states())
def test_mass_matrix_holds_the_kinetic_energy_of_the_moving_bodies(state):
    system, q, v = state
    mass_matrix = system.mass_matrix(q)
    energy = reference.kinetic_energy(system, q, v)
    assert v @ mass_matrix @ v / 2 == pytest.approx(energy, rel=1e-12, abs=1e-14)
    np.testing.assert_array_equal(mass_matrix, mass_matrix.T)


@given(states())
def test_energy_is_that_of_the_bodies(state):
    system, q, v = state
    height = reference.potential_energy(system, q)
    assert system.potential_energy(q) == pytest.approx(height, rel=1e-12, abs=1e-12)
    total = height + reference.kinetic_energy(system, q, v)
    assert system.energy(q, v) == pytest.approx(total, rel=1e-12, abs=1e-11)


@given(states())
def test_contacts_accelerate_by_their_bias_where_velocities_are_constant(state):
    system, q, v = state
    bias = reference.derivative(lambda h: reference.contact_velocities(system, q + h * v, v))
    # Near coinciding centres a normal turns fast, and differences err.
    size = 1.0 + np.abs(bias).max(initial=0.0)
    np.testing.assert_allclose(system.contact_bias(q, v), bias, atol=1e-7 * size)


@given(states())
def test_force_is_lagranges(state):
    system, q, v = state
    expected = reference.lagrange_force(system, q, v)
    size = 1.0 + np.abs(expected).max()
    np.testing.assert_allclose(system.smooth_force(q, v), expected, atol=1e-9 * size)


@given(states())
def test_force_at_rest_is_the_slope_of_the_potential(state):
    system, q, _ = state
    slope = reference.potential_gradient(system, q)
    np.testing.assert_allclose(system.smooth_force(q, np.zeros(system.nv)), -slope, atol=1e-12)


@given(states())
def test_everything_at_once_is_each_for_itself(state):
    system, q, v = state
    here, rest = system.dynamics(q, v, 0.7), system.dynamics(q)
    for found in (here, rest):
        np.testing.assert_array_equal(found.M, system.mass_matrix(q))
        np.testing.assert_array_equal(found.phi, system.gap(q))
        np.testing.assert_array_equal(found.J_n, system.normal_jacobian(q))
        np.testing.assert_array_equal(found.J_t, system.tangent_jacobian(q))
    np.testing.assert_array_equal(here.force, system.smooth_force(q, v, 0.7))
    np.testing.assert_array_equal(here.bias, system.contact_bias(q, v))
    np.testing.assert_array_equal(rest.force, system.smooth_force(q, np.zeros(system.nv)))
    np.testing.assert_array_equal(rest.bias, 0.0)


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_shapes(name):
    system, q = SYSTEMS[name]
    m = len(system.contacts)
    assert system.nq == system.nv == len(q)
    assert system.mu.shape == system.gap(q).shape == (m,)
    assert system.normal_jacobian(q).shape == (m, system.nv)
    assert system.tangent_jacobian(q).shape == (m, 1, system.nv)
    assert system.mass_matrix(q).shape == (system.nv, system.nv)
    assert system.smooth_force(q, q).shape == (system.nv,)
    assert system.contact_bias(q, q).shape == (m, 2)
    np.testing.assert_array_equal(system.velocity_map(q), np.eye(system.nv))
    assert system.body_poses(q).shape == (len(system.bodies), 3)


@pytest.mark.parametrize("name", scenes.names())
def test_mass_matrix_is_positive_definite_in_the_scenes(name):
    system, q = SYSTEMS[name]
    assert np.linalg.eigvalsh(system.mass_matrix(q))[0] > 1e-4
