import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom.errors import InvalidOption
from carom.scenes import box_wall

FLOOR_CONTACT, WALL_CONTACT = 0, 1


def corners(scene):
    frame = scene.system.frames(scene.q)["box"]
    return np.array([frame.point(point) for point in scene.system.bodies[0].outline[0].points])


@given(st.floats(0.01, 1.56), st.floats(0.1, 5.0))
def test_box_stands_on_its_lowest_corner_and_touches_with_its_rightmost(tilt, side):
    scene = box_wall.make(tilt=tilt, side=side)
    np.testing.assert_allclose(scene.system.gap(scene.q), 0.0, rtol=0, atol=1e-15 * side)
    x, y = corners(scene).T
    assert y.min() == pytest.approx(0.0, abs=1e-14)
    assert x.max() == pytest.approx(0.0, abs=1e-14)


def test_lower_side_is_tilted_by_ten_degrees():
    # The corner on the floor is the lower right one: the side to its left rises away by the tilt.
    points = corners(box_wall.make())
    lowest = points[np.argmin(points[:, 1])]
    left = points[np.argmin(points[:, 0])]
    rise = left - lowest
    assert math.degrees(math.atan2(rise[1], -rise[0])) == pytest.approx(10.0)


def test_both_normal_impulses_turn_the_box_counter_clockwise():
    assert (box_wall.make().problem.J_n[:, 2] > 0.0).all()


def test_slides_on_the_floor_into_the_wall():
    scene = box_wall.make()
    np.testing.assert_array_equal(scene.problem.J_n @ scene.v, [0.0, -1.0])
    np.testing.assert_array_equal(scene.problem.J_t[:, 0] @ scene.v, [1.0, 0.0])


def test_wall_pushes_left_and_its_tangent_points_up():
    problem = box_wall.make().problem
    np.testing.assert_array_equal(problem.J_n[WALL_CONTACT, :2], [-1.0, 0.0])
    np.testing.assert_array_equal(problem.J_t[WALL_CONTACT, 0, :2], [0.0, 1.0])


def test_inertia_is_that_of_a_square():
    problem = box_wall.make(side=2.0, mass=3.0).problem
    np.testing.assert_allclose(problem.M, np.diag([3.0, 3.0, 2.0]), atol=1e-15)


@pytest.mark.parametrize("tilt", [0.0, math.pi / 2, -0.1, math.nan])
def test_flat_box_is_refused(tilt):
    with pytest.raises(InvalidOption, match="tilt"):
        box_wall.make(tilt=tilt)
