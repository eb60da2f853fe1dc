import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom import scenes
from carom.errors import InvalidOption
from carom.scenes import rocking_block, zeno_block


@given(st.floats(0.1, 3.0), st.floats(0.1, 3.0), st.floats(0.01, 5.0))
def test_block_turns_about_its_left_corner(width, height, rate):
    scene = zeno_block.make(width=width, height=height, rate=rate)
    problem = scene.problem
    velocity = problem.contact_velocity(scene.v)
    expected = np.array([[0.0, 0.0], [rate * width, 0.0]])
    np.testing.assert_allclose(velocity, expected, atol=1e-15 * rate * (width + height))
    assert scene.v[2] == rate


def test_block_is_the_rocking_block():
    block, scene = rocking_block.make(mass=2.0, mu=0.7), zeno_block.make(mass=2.0, mu=0.7)
    np.testing.assert_array_equal(scene.q, block.q)
    for name in ("M", "J_n", "J_t", "mu"):
        np.testing.assert_array_equal(getattr(scene.problem, name), getattr(block.problem, name))


def test_motion_is_shown_until_it_stands():
    scene = zeno_block.make()
    assert scene.duration > 2.7
    assert scene.law == "sequential"
    assert not scene.without_collision


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
@pytest.mark.parametrize("name", ["rate", "width", "height", "mass"])
def test_bad_parameter_is_refused(name, value):
    with pytest.raises(InvalidOption, match=f"{name}: expected a number > 0"):
        scenes.load("zeno-block", **{name: value})
