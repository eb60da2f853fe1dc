import math

import numpy as np
import pytest

from carom import scenes
from carom.errors import InvalidOption
from carom.scenes import rocking_block


def test_falls_flat_with_the_speed_of_a_drop_by_one_centimetre():
    scene = rocking_block.make()
    fall_energy = 9.81 * 0.01
    assert scene.v @ scene.problem.M @ scene.v / 2 == pytest.approx(fall_energy)
    assert round(-scene.v[1], 4) == 0.4429
    np.testing.assert_array_equal(scene.problem.J_n @ scene.v, [scene.v[1]] * 2)


def test_inertia_about_a_corner_is_that_of_a_rectangle():
    scene = rocking_block.make(width=0.6, height=1.7, mass=3.0)
    rate = 0.8
    about_a = np.array([-rate * 0.85, rate * 0.3, rate])
    problem = scene.problem
    assert problem.J_n[0] @ about_a == pytest.approx(0.0, abs=1e-15)
    assert problem.J_t[0, 0] @ about_a == pytest.approx(0.0, abs=1e-15)
    inertia = 3.0 * (0.6**2 + 1.7**2) / 3
    assert about_a @ problem.M @ about_a == pytest.approx(inertia * rate**2)


def test_corner_a_is_left_of_corner_b():
    turning = np.array([0.0, 0.0, 1.0])
    np.testing.assert_array_equal(rocking_block.make().problem.J_n @ turning, [-0.5, 0.5])


def test_rocking_keeps_seven_tenths_of_the_rate():
    # Angular momentum about the new pivot is kept when the other corner lands: Housner's 0.7.
    problem = rocking_block.make().problem
    about_a, about_b = np.array([-1.0, 0.5, 1.0]), np.array([-1.0, -0.5, 1.0])
    reduction = (about_b @ problem.M @ about_a) / (about_b @ problem.M @ about_b)
    assert reduction == pytest.approx(0.7)


@pytest.mark.parametrize("name", ["width", "height", "mass"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_bad_size_is_refused(name, value):
    with pytest.raises(InvalidOption, match=f"{name}: expected a number > 0"):
        scenes.load("rocking-block", **{name: value})
