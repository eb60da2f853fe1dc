import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom.errors import InvalidProblem
from carom.scenes import ramone

LEADING, TRAILING = 0, 1


def foot_centers(scene):
    frames = scene.system.frames(scene.q)
    return [frames[f"{side} lower"].point((0.0, -0.2385)) for side in ("leading", "trailing")]


def test_trailing_knee_is_the_papers():
    assert math.degrees(ramone.make().q[6]) == pytest.approx(-92.486, abs=5e-4)


def test_trunk_velocity_is_the_papers():
    np.testing.assert_allclose(ramone.make().v[:2], [-0.41142, -0.21052], atol=5e-6)


def test_trailing_contact_point_is_exactly_at_rest():
    problem = ramone.make().problem
    rows = np.vstack([problem.J_n[TRAILING], problem.J_t[TRAILING]])
    np.testing.assert_array_equal(rows @ problem.v_pre, 0.0)


@given(st.floats(-0.1, 0.4), st.floats(-0.5, -0.01), st.floats(0.5, 1.1), st.floats(-2, 2))
def test_both_feet_touch_and_one_rests_for_any_pose(pitch, knee, hip, rate):
    scene = ramone.make(
        trunk_pitch=pitch, leading_knee=knee, leading_hip=-1.3, trailing_hip=hip, pitch_rate=rate
    )
    np.testing.assert_allclose(scene.system.gap(scene.q), 0.0, rtol=0, atol=1e-15)
    problem = scene.problem
    rows = np.vstack([problem.J_n[TRAILING], problem.J_t[TRAILING]])
    assert np.abs(rows @ scene.v).max() <= np.finfo(float).eps * abs(rate)


def test_feet_are_discs_of_the_robots_radius_on_the_floor():
    for center in foot_centers(ramone.make()):
        assert center[1] == pytest.approx(0.0563 / 2)


def test_robot_turns_rigidly_about_its_trailing_contact_point():
    scene = ramone.make()
    leading, trailing = foot_centers(scene)
    problem = scene.problem
    assert problem.J_n[LEADING] @ scene.v == pytest.approx(leading[0] - trailing[0])
    assert problem.J_t[LEADING, 0] @ scene.v == pytest.approx(0.0, abs=1e-15)
    assert leading[0] < trailing[0]


def test_turning_a_lower_leg_rolls_its_foot():
    scene = ramone.make()
    knee = scene.system.frames(scene.q)["trailing lower"].origin
    turning = np.zeros(7)
    turning[6] = 1.0
    # The foot's lowest point is as far below the knee as the floor is, sole included.
    assert scene.problem.J_t[TRAILING, 0] @ turning == pytest.approx(knee[1])


def test_total_mass_and_inertia_of_the_locked_robot():
    scene = ramone.make()
    M = scene.problem.M
    total = 7.9026 + 2 * (0.7887 + 0.510)
    np.testing.assert_allclose(M[:2, :2], total * np.eye(2), atol=1e-14)
    assert np.linalg.eigvalsh(M)[0] > 0.0


def test_pose_out_of_reach_is_refused():
    with pytest.raises(InvalidProblem, match="trailing knee"):
        ramone.make(leading_hip=-0.2, trailing_hip=1.5)


def test_joint_inertias_are_those_of_the_robot_as_built():
    # Huygens-Steiner about each joint, with the masses and lengths of Remy (2017).
    scene = ramone.make()
    M, q = scene.problem.M, scene.q
    lower_com = 0.2385 - 0.073265
    for hip, knee in ((3, 4), (5, 6)):
        lower = 0.00652 + 0.510 * lower_com**2
        assert M[knee, knee] == pytest.approx(lower)
        squared = 0.2**2 + lower_com**2 + 2 * 0.2 * lower_com * math.cos(q[knee])
        thigh = 0.00221 + 0.7887 * 0.019399**2
        assert M[hip, hip] == pytest.approx(thigh + 0.00652 + 0.510 * squared)


def test_trunk_inertia_adds_to_that_of_the_locked_legs():
    scene = ramone.make()
    M, q = scene.problem.M, scene.q
    expected = 0.08
    for hip, knee in ((3, 4), (5, 6)):
        thigh_angle, shank_angle = q[2] + q[hip], q[2] + q[hip] + q[knee]
        hip_point = -0.137675j * np.exp(1j * q[2])
        upper = hip_point - 0.019399j * np.exp(1j * thigh_angle)
        knee_point = hip_point - 0.2j * np.exp(1j * thigh_angle)
        lower = knee_point - 1j * (0.2385 - 0.073265) * np.exp(1j * shank_angle)
        expected += 0.00221 + 0.7887 * abs(upper) ** 2 + 0.00652 + 0.510 * abs(lower) ** 2
    assert M[2, 2] == pytest.approx(expected)
