import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom.errors import InvalidOption
from carom.scenes import disk_stack

MIRROR_CONTACTS = [1, 0, 3, 2, 4]


def mirror():
    """Return the map of velocities under the reflection that swaps the lower discs."""
    flip = np.diag([-1.0, 1.0, -1.0])
    zero = np.zeros((3, 3))
    return np.block([[zero, flip, zero], [flip, zero, zero], [zero, zero, flip]])


def test_top_disc_hits_both_lower_discs_alike():
    scene = disk_stack.make()
    normal = scene.problem.J_n @ scene.v
    tangent = scene.problem.J_t[:, 0] @ scene.v
    np.testing.assert_allclose(normal, [0, 0, -math.cos(math.pi / 6), -math.cos(math.pi / 6), 0])
    np.testing.assert_allclose(np.abs(tangent), [0, 0, 0.5, 0.5, 0], atol=1e-15)
    assert tangent[2] == pytest.approx(-tangent[3])


def test_mirror_image_swaps_the_contacts():
    problem = disk_stack.make().problem
    np.testing.assert_allclose(problem.J_n @ mirror(), problem.J_n[MIRROR_CONTACTS], atol=1e-15)
    np.testing.assert_allclose(
        problem.J_t[:, 0] @ mirror(), -problem.J_t[MIRROR_CONTACTS, 0], atol=1e-15
    )


def test_forces_between_discs_keep_total_momentum():
    scene = disk_stack.make()
    problem = scene.problem
    between = np.vstack([problem.J_n[2:], problem.J_t[2:, 0]])
    shift_x, shift_y, turn = np.zeros(9), np.zeros(9), np.zeros(9)
    shift_x[0::3], shift_y[1::3] = 1.0, 1.0
    turn[0::3], turn[1::3], turn[2::3] = -scene.q[1::3], scene.q[0::3], 1.0
    for rigid_motion in (shift_x, shift_y, turn):
        np.testing.assert_allclose(between @ rigid_motion, 0.0, atol=1e-15)


@given(st.floats(0.01, 10.0))
def test_discs_of_any_radius_touch(radius):
    scene = disk_stack.make(radius=radius)
    np.testing.assert_allclose(scene.system.gap(scene.q), 0.0, rtol=0, atol=2e-15 * radius)


def test_mass_scales_the_inertia_of_uniform_discs():
    problem = disk_stack.make(mass=5.0, radius=2.0).problem
    np.testing.assert_array_equal(problem.M, np.diag([5.0, 5.0, 10.0] * 3))
    np.testing.assert_array_equal(disk_stack.make().problem.M, np.diag([1.0, 1.0, 0.5] * 3))


def test_friction_is_root_three():
    np.testing.assert_array_equal(disk_stack.make().problem.mu, math.sqrt(3.0))


def test_bad_radius_is_refused():
    with pytest.raises(InvalidOption, match="radius: expected a number > 0"):
        disk_stack.make(radius=-1.0)
