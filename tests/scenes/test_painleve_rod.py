import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom import scenes
from carom.errors import InvalidOption
from carom.scenes import painleve_rod

angles = st.floats(0.05, math.pi - 0.05)


@given(angles, st.floats(0.1, 5.0), st.floats(0.1, 3.0), st.floats(-5.0, 5.0))
def test_lower_end_slides_to_the_left_on_the_floor(angle, length, speed, rate):
    scene = painleve_rod.make(angle=angle, length=length, speed=speed, rate=rate)
    assert scene.system.gap(scene.q)[0] == pytest.approx(0.0, abs=1e-15 * length)
    normal, tangent = scene.problem.contact_velocity(scene.v)[0]
    assert normal == pytest.approx(0.0, abs=1e-15 * length * (1.0 + abs(rate)))
    assert tangent == pytest.approx(-speed)
    centre = scene.q[:2]
    other_end = 2 * centre - scene.system.frames(scene.q)["rod"].point((-length / 2, 0.0))
    assert other_end[1] == pytest.approx(length * math.sin(angle))


@given(angles, st.floats(0.5, 3.0), st.floats(0.1, 5.0), st.floats(0.0, 3.0))
def test_force_of_the_sliding_tip_acts_as_the_docstring_says(angle, length, mass, mu):
    scene = painleve_rod.make(angle=angle, length=length, mass=mass, mu=mu)
    problem = scene.problem
    # Friction on a tip that slides to -x points to +x.
    force = problem.J_n[0] + mu * problem.J_t[0, 0]
    half, c, s = length / 2, math.cos(angle), math.sin(angle)
    inertia = mass * half**2 / 3
    expected = 1 / mass + half**2 / inertia * c * (c - mu * s)
    assert problem.J_n[0] @ np.linalg.solve(problem.M, force) == pytest.approx(
        expected, rel=1e-9, abs=1e-9 / mass
    )


def test_least_friction_of_the_paradox_is_four_thirds_where_the_tangent_is_two():
    # (1 + 3 cos^2) / (3 sin cos) has its least value there.
    angle = np.linspace(0.2, 1.5, 100_001)
    least = (1 + 3 * np.cos(angle) ** 2) / (3 * np.sin(angle) * np.cos(angle))
    assert least.min() == pytest.approx(4 / 3)
    assert math.tan(angle[least.argmin()]) == pytest.approx(2.0, abs=1e-4)
    assert math.tan(painleve_rod.make().q[2]) == pytest.approx(2.0)


def test_scene_is_an_impact_without_collision():
    scene = painleve_rod.make()
    assert scene.without_collision
    assert scene.problem.starts_at_rest


@pytest.mark.parametrize("angle", [0.0, math.pi, -0.3, math.nan])
def test_rod_that_does_not_stand_on_its_end_is_refused(angle):
    with pytest.raises(InvalidOption, match="angle: expected an angle between"):
        painleve_rod.make(angle=angle)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
@pytest.mark.parametrize("name", ["length", "mass", "speed"])
def test_bad_parameter_is_refused(name, value):
    with pytest.raises(InvalidOption, match=f"{name}: expected a number > 0"):
        scenes.load("painleve-rod", **{name: value})
