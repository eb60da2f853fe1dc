"""Sweeps over round cones: they settle where Coulomb's law holds."""

import numpy as np

from carom.kernels.cones import sweep_cones
from tests.kernels.test_cone_choices import problem, worst


def test_sweeps_settle_for_many_contacts():
    rng = np.random.default_rng(7)
    for _ in range(20):
        # Eight contacts of a robot with 18 velocities: they depend on each other.
        A, b = problem(rng, 8, nv=18)
        mu, slip = rng.uniform(0.1, 0.7, 8), np.zeros((8, 2))
        x = np.zeros(24)
        change = sweep_cones(A, b, mu, slip, x)
        assert worst(A, b, mu, slip, x) <= 1e-6 * np.abs(b).max() + 1e3 * change


def test_friction_of_what_slips_is_against_it():
    A, b = np.eye(3) + 0.1, np.array([-3.0, 1.0, -2.0])
    slip, x = np.array([[0.6, -0.8]]), np.zeros(3)
    sweep_cones(A, b, np.array([0.4]), slip, x)
    np.testing.assert_allclose(x[1:], -0.4 * x[0] * slip[0], atol=1e-12)
    assert abs(A[0] @ x + b[0]) < 1e-9


def test_contact_that_parts_has_no_force():
    x = np.ones(3)
    sweep_cones(np.eye(3), np.array([2.0, 1.0, 0.0]), np.array([0.5]), np.zeros((1, 2)), x)
    np.testing.assert_array_equal(x, 0.0)
