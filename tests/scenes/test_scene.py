import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from carom import scenes
from carom.errors import InvalidOption
from carom.scenes.scene import Scene, require_positive, velocity_at_rest
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact


def test_state_is_copied_and_cannot_be_written():
    block = scenes.load("rocking-block")
    q = np.array(block.q)
    scene = Scene("s", "d", block.system, q, block.v, 1.0, 1, 1)
    q[0] = 5.0
    assert scene.q[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        scene.q[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        scene.v[0] = 1.0


@given(
    st.tuples(st.floats(-2, 2), st.floats(-2, 2)),
    st.floats(0, 1),
    st.floats(-3, 3),
    st.floats(-3, 3),
)
def test_velocity_at_rest_stops_the_contact_and_keeps_the_rest(center, radius, angle, rate):
    disc = Disc("body", center, radius)
    system = PlanarSystem([Body("body", 1.0, 1.0)], [PlaneContact("A", disc, FLOOR, 1.0)])
    q = np.array([0.0, 0.0, angle])
    v = velocity_at_rest(system, q, [9.0, 9.0, rate], contact="A", free=(0, 1))
    assert v[2] == rate
    rows = np.vstack([system.normal_jacobian(q), system.tangent_jacobian(q)[0]])
    # Below the smallest normal number nothing is exact to an epsilon of itself.
    slack = np.finfo(float).eps * np.abs(rows * v).max() + np.finfo(float).tiny
    assert np.abs(rows @ v).max() <= slack


@given(st.floats(-3, 3), st.floats(-1, 1))
def test_velocity_at_rest_may_free_any_two_entries(angle, height_rate):
    assume(abs(math.cos(angle)) > 0.1)
    system = PlanarSystem(
        [Body("body", 1.0, 1.0)], [PlaneContact("A", Disc("body", (1.0, 0.0)), FLOOR, 1.0)]
    )
    q = np.array([0.0, 0.0, angle])
    v = velocity_at_rest(system, q, [0.0, height_rate, 0.0], contact="A", free=(0, 2))
    assert v[1] == height_rate
    assert system.normal_jacobian(q)[0] @ v == pytest.approx(0.0, abs=1e-14)
    assert system.tangent_jacobian(q)[0, 0] @ v == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_require_positive_names_the_parameter(value):
    with pytest.raises(InvalidOption, match="width: expected a number > 0"):
        require_positive(height=1.0, width=value)
