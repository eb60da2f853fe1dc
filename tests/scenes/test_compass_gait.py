import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom.errors import InvalidOption
from carom.scenes import compass_gait

LEADING, TRAILING = 0, 1


def trailing_velocity(scene):
    rows = np.vstack([scene.problem.J_n[TRAILING], scene.problem.J_t[TRAILING]])
    return rows @ scene.v


def test_trailing_foot_is_exactly_at_rest():
    np.testing.assert_array_equal(trailing_velocity(compass_gait.make()), 0.0)


@given(
    pitch=st.floats(0.1, 1.5),
    rates=st.tuples(st.floats(-2, 2), st.floats(-2, 2)),
    length=st.floats(0.1, 3.0),
)
def test_trailing_foot_rests_and_feet_touch_for_any_step(pitch, rates, length):
    scene = compass_gait.make(
        leg_pitch=pitch, leading_rate=rates[0], trailing_rate=rates[1], leg_length=length
    )
    eps = np.finfo(float).eps
    assert np.abs(trailing_velocity(scene)).max() <= eps * abs(rates[1]) * length
    assert np.abs(scene.system.gap(scene.q)).max() <= eps * length


def test_walker_turns_rigidly_about_its_trailing_foot():
    scene = compass_gait.make()
    step = 2 * math.sin(math.radians(78.0))
    problem = scene.problem
    assert problem.J_n[LEADING] @ scene.v == pytest.approx(-0.25 * step)
    assert problem.J_t[LEADING, 0] @ scene.v == pytest.approx(0.0, abs=1e-15)


def test_leading_foot_is_ahead_on_the_side_to_which_the_hip_moves():
    scene = compass_gait.make()
    frames = scene.system.frames(scene.q)
    leading, trailing = (frames[name].point((0.0, -1.0)) for name in ("leading", "trailing"))
    assert scene.v[0] < 0.0
    assert leading[0] == pytest.approx(-math.sin(math.radians(78.0)))
    assert trailing[0] == pytest.approx(math.sin(math.radians(78.0)))


def test_masses_sit_where_mass_to_foot_says():
    scene = compass_gait.make(mass=2.0, mass_to_foot=0.3)
    swing = np.array([0.0, 0.0, 1.0, 0.0])
    assert swing @ scene.problem.M @ swing == pytest.approx(2.0 * 0.7**2)
    lift = np.array([0.0, 1.0, 0.0, 0.0])
    assert lift @ scene.problem.M @ lift == pytest.approx(4.0)


@pytest.mark.parametrize("pitch", [0.0, -1.0, math.pi, math.nan])
def test_step_without_two_feet_on_the_floor_is_refused(pitch):
    with pytest.raises(InvalidOption, match="leg_pitch"):
        compass_gait.make(leg_pitch=pitch)


def test_hip_mass_adds_to_the_hip_alone():
    light, heavy = compass_gait.make().problem, compass_gait.make(hip_mass=3.0).problem
    np.testing.assert_allclose(heavy.M - light.M, np.diag([3.0, 3.0, 0.0, 0.0]), atol=1e-15)
    np.testing.assert_array_equal(heavy.J_n, light.J_n)


def test_hip_without_mass_has_no_inertia_where_the_legs_are_in_line():
    in_line = [0.0, 1.0, 0.3, 0.3]
    light, heavy = compass_gait.make().system, compass_gait.make(hip_mass=1.0).system
    assert np.linalg.eigvalsh(light.mass_matrix(in_line))[0] == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.eigvalsh(heavy.mass_matrix(in_line))[0] > 1e-2
