import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from carom.errors import InvalidProblem
from carom.systems import FLOATING, Body, Circle, PlanarSystem, Polygon, Prismatic, Revolute

sizes = st.floats(0.01, 20.0)


def polygon_moments(points):
    """Return area, centroid and polar moment of area about the origin, by Green's theorem."""
    x, y = np.array(points).T
    u, w = np.roll(x, -1), np.roll(y, -1)
    cross = x * w - u * y
    area = cross.sum() / 2
    centroid = np.array([((x + u) * cross).sum(), ((y + w) * cross).sum()]) / (6 * area)
    polar = ((x**2 + x * u + u**2 + y**2 + y * w + w**2) * cross).sum() / 12
    return area, centroid, polar


@given(sizes, sizes, sizes)
def test_box_has_the_inertia_of_its_outline(width, height, mass):
    body = Body.box("box", width, height, mass)
    area, centroid, polar = polygon_moments(body.outline[0].points)
    assert area == pytest.approx(width * height)
    np.testing.assert_allclose(centroid, body.com, atol=1e-12 * (width + height))
    assert body.inertia == pytest.approx(mass / area * polar)
    assert body.mass == mass


def test_corners_of_a_box_go_around_from_bottom_left():
    assert Body.box("box", 2.0, 4.0, 1.0).outline == (
        Polygon(((-1, -2), (1, -2), (1, 2), (-1, 2))),
    )


@given(sizes, sizes)
def test_disc_has_the_inertia_of_rings(radius, mass):
    body = Body.disc("disc", radius, mass)
    density = mass / (math.pi * radius**2)
    rings = quad(lambda r: density * 2 * math.pi * r * r**2, 0.0, radius)[0]
    assert body.inertia == pytest.approx(rings)
    assert body.com == (0.0, 0.0)
    assert body.outline == (Circle(radius=radius),)


@given(sizes, sizes)
def test_rod_hangs_down_with_the_inertia_of_a_line(length, mass):
    body = Body.rod("rod", length, mass)
    density = mass / length
    (top, bottom) = body.outline[0].points
    assert top == (0.0, 0.0)
    assert bottom == (0.0, -length)
    centre = quad(lambda y: density * y, -length, 0.0)[0] / mass
    np.testing.assert_allclose(body.com, (0.0, centre))
    about_com = quad(lambda y: density * (y - centre) ** 2, -length, 0.0)[0]
    assert body.inertia == pytest.approx(about_com)
    # In a joint at its end it swings with m l^2 / 3.
    system = PlanarSystem([Body.rod("rod", length, mass, joints=(Revolute(),))], [])
    assert system.mass_matrix([0.4])[0, 0] == pytest.approx(mass * length**2 / 3)


def test_point_floats_without_turning():
    body = Body.point("point", 2.5)
    assert body.inertia == 0.0
    np.testing.assert_array_equal(PlanarSystem([body], []).mass_matrix([1, 2]), 2.5 * np.eye(2))


@pytest.mark.parametrize(
    "make",
    [
        lambda **how: Body.box("b", 1.0, 2.0, 3.0, **how),
        lambda **how: Body.disc("b", 1.0, 3.0, **how),
        lambda **how: Body.rod("b", 1.0, 3.0, **how),
        lambda **how: Body.point("b", 3.0, **how),
    ],
)
def test_shapes_are_carried_as_they_are_told(make):
    joints = (Prismatic((1.0, 1.0)),)
    body = make(parent="cart", placement=(0.5, 0.25), joints=joints)
    assert (body.parent, body.placement, body.joints) == ("cart", (0.5, 0.25), joints)
    free = make()
    assert free.parent is None
    assert free.placement == (0.0, 0.0)
    assert free.joints == FLOATING[: 2 if free.inertia == 0.0 else 3]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Body.box("b", -1.0, 1.0, 1.0), "width"),
        (lambda: Body.box("b", 1.0, math.nan, 1.0), "height"),
        (lambda: Body.box("b", 1.0, 1.0, -1.0), "mass of body 'b'"),
        (lambda: Body.disc("b", math.inf, 1.0), "radius"),
        (lambda: Body.disc("b", 1.0, math.nan), "mass of body 'b'"),
        (lambda: Body.rod("b", -0.5, 1.0), "length"),
        (lambda: Body.point("b", -2.0), "mass of body 'b'"),
    ],
)
def test_bad_sizes_are_refused(build, message):
    with pytest.raises(InvalidProblem, match=message):
        build()
