import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom.errors import InvalidOption, InvalidProblem
from carom.systems import (
    FLOATING,
    FLOOR,
    Body,
    Disc,
    DiscContact,
    HalfPlane,
    PlanarSystem,
    PlaneContact,
    Prismatic,
    Revolute,
)

numbers = st.floats(-3.0, 3.0)
radii = st.floats(0.1, 2.0)


def disc_on_floor(radius):
    ball = Body("ball", 1.0, 0.5)
    return PlanarSystem([ball], [PlaneContact("A", Disc("ball", radius=radius), FLOOR, 1.0)])


def two_discs(radius, other_radius):
    bodies = [Body("one", 1.0, 0.5), Body("two", 2.0, 0.7)]
    pair = DiscContact("A", Disc("one", radius=radius), Disc("two", radius=other_radius), 1.0)
    return PlanarSystem(bodies, [pair])


def turned(x, y, rate, px, py):
    """Return the velocity (vx, vy, rate) of a body at (x, y) that turns rigidly about (px, py)."""
    return [-rate * (y - py), rate * (x - px), rate]


@given(radii, numbers)
def test_rolling_disc_does_not_slide(radius, speed):
    system = disc_on_floor(radius)
    q = np.array([0.3, radius, 0.8])
    rolling_right = np.array([speed, 0.0, -speed / radius])
    assert system.tangent_jacobian(q)[0, 0] @ rolling_right == pytest.approx(0.0, abs=1e-12)


def test_disc_turning_in_place_drags_its_lowest_point_along_the_tangent():
    system = disc_on_floor(0.5)
    q = np.array([0.0, 0.5, 0.0])
    counter_clockwise = np.array([0.0, 0.0, 2.0])
    assert system.tangent_jacobian(q)[0, 0] @ counter_clockwise == 1.0
    assert system.normal_jacobian(q)[0] @ counter_clockwise == 0.0


def test_floor_has_normal_up_and_tangent_right():
    system = disc_on_floor(0.0)
    q = np.array([2.0, 0.7, 0.0])
    assert system.gap(q)[0] == 0.7
    np.testing.assert_array_equal(system.normal_jacobian(q)[0], [0, 1, 0])
    np.testing.assert_array_equal(system.tangent_jacobian(q)[0, 0], [1, 0, 0])


def test_point_that_moves_up_slides_along_plus_on_a_wall_to_its_right():
    contact = PlaneContact("wall", Disc("bob"), HalfPlane(normal=(-1.0, 0.0)), mu=0.8)
    system = PlanarSystem([Body.point("bob", mass=1.0)], [contact])
    np.testing.assert_array_equal(system.tangent_jacobian([0.0, 0.0]) @ [0.0, 2.0], [[2.0]])


@given(radii, radii, numbers, numbers, numbers, numbers)
def test_touching_discs_moved_as_one_rigid_body_have_no_relative_velocity(
    radius, other_radius, direction, px, py, rate
):
    system = two_discs(radius, other_radius)
    reach = radius + other_radius
    x, y = reach * math.cos(direction), reach * math.sin(direction)
    q = np.array([x, y, 0.2, 0.0, 0.0, 1.0])
    v = np.array(turned(x, y, rate, px, py) + turned(0.0, 0.0, rate, px, py))
    v[[0, 3]] += 0.7
    assert system.gap(q)[0] == pytest.approx(0.0, abs=1e-14)
    assert system.normal_jacobian(q)[0] @ v == pytest.approx(0.0, abs=1e-12)
    assert system.tangent_jacobian(q)[0, 0] @ v == pytest.approx(0.0, abs=1e-12)


def test_gears_mesh_when_they_turn_in_opposite_senses():
    system = two_discs(1.0, 0.5)
    q = np.array([1.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    row = system.tangent_jacobian(q)[0, 0]
    assert row @ np.array([0, 0, 1.0, 0, 0, -2.0]) == pytest.approx(0.0, abs=1e-15)
    assert abs(row @ np.array([0, 0, 1.0, 0, 0, 2.0])) == pytest.approx(2.0)


def test_disc_disc_normal_points_to_the_first_disc():
    system = two_discs(1.0, 0.5)
    q = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    assert system.gap(q)[0] == pytest.approx(0.5)
    np.testing.assert_allclose(system.normal_jacobian(q)[0], [0, 1, 0, 0, -1, 0])
    assert system.tangent_jacobian(q)[0, 0, 0] == pytest.approx(1.0)


def test_normal_and_axis_of_any_length_mean_their_direction():
    assert HalfPlane(normal=(0.0, 5.0)) == FLOOR
    assert Prismatic((3.0, 4.0)).axis == pytest.approx((0.6, 0.8))


def test_link_hangs_down_at_zero_and_swings_right_for_positive_angle():
    link = Body("link", 1.0, 0.0, joints=(Revolute(),), com=(0.0, -2.0))
    system = PlanarSystem([link], [])
    tip = system.frames([math.radians(30.0)])["link"].point((0.0, -2.0))
    np.testing.assert_allclose(tip, [1.0, -math.sqrt(3.0)])
    np.testing.assert_allclose(system.mass_matrix([0.4]), [[4.0]])


def test_massless_carrier_adds_nothing_to_the_inertia():
    hip = Body("hip", 0.0, 0.0, joints=FLOATING[:2])
    load = Body("load", 3.0, 0.2, parent="hip", joints=())
    np.testing.assert_array_equal(PlanarSystem([hip, load], []).mass_matrix([1, 2]), 3 * np.eye(2))


def test_system_without_contacts_has_empty_rows():
    system = PlanarSystem([Body("ball", 1.0, 0.5)], [])
    assert system.normal_jacobian(np.zeros(3)).shape == (0, 3)
    assert system.tangent_jacobian(np.zeros(3)).shape == (0, 1, 3)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Body("a", -1.0, 1.0), "mass of body 'a'"),
        (lambda: Body("a", 1.0, math.nan), "inertia of body 'a'"),
        (lambda: Body("a", 1.0, 1.0, com=(0.0, math.inf)), "com of body 'a'"),
        (lambda: Body("a", 1.0, 1.0, placement=(0.0, 1.0, 2.0)), "placement of body 'a'"),
        (lambda: HalfPlane(normal=(0.0, 0.0)), "normal of a half-plane"),
        (lambda: HalfPlane(point=(math.nan, 0.0)), "point of a half-plane"),
        (lambda: Prismatic((0.0, 0.0)), "axis of a prismatic joint"),
        (lambda: Disc("a", radius=-0.1), "radius of the disc on body 'a'"),
        (lambda: PlaneContact("A", Disc("a"), FLOOR, -0.5), "mu of contact 'A'"),
        (lambda: DiscContact("A", Disc("a"), Disc("b"), math.inf), "mu of contact 'A'"),
        (lambda: DiscContact("A", Disc("a"), Disc("a"), 1.0), "to itself"),
        (lambda: PlanarSystem([Body("a", 1, 1), Body("a", 1, 1)], []), "two bodies"),
        (lambda: PlanarSystem([Body("a", 1, 1, parent="b"), Body("b", 1, 1)], []), "parent 'b'"),
        (lambda: PlanarSystem([Body("a", 1, 1, parent="a")], []), "parent 'a'"),
        (lambda: PlanarSystem([Body("a", 1, 1, joints=())], []), "nothing can move"),
    ],
)
def test_bad_parts_are_refused(build, message):
    with pytest.raises(InvalidProblem, match=message):
        build()


def test_contact_on_unknown_body_is_refused():
    contact = PlaneContact("A", Disc("bal"), FLOOR, 1.0)
    with pytest.raises(
        InvalidProblem, match=r"'A' is on unknown body 'bal'; bodies are \['ball'\]"
    ):
        PlanarSystem([Body("ball", 1.0, 1.0)], [contact])


def test_two_contacts_of_one_name_are_refused():
    contact = PlaneContact("A", Disc("ball"), FLOOR, 1.0)
    with pytest.raises(InvalidProblem, match="two contacts are named 'A'"):
        PlanarSystem([Body("ball", 1.0, 1.0)], [contact, contact])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: PlaneContact("A", Disc("a"), FLOOR, -0.5), "of contact 'A': expected a number"),
        (lambda: PlaneContact("A", Disc("a"), FLOOR, "low"), "of contact 'A': expected a number"),
        (lambda: Body("a", 1.0, 1.0, com="left"), "com of body 'a': expected numbers"),
        (lambda: HalfPlane(normal=(0.0, 0.0)), "normal of a half-plane: expected a direction"),
    ],
)
def test_refusals_name_the_field_and_what_was_expected(build, message):
    with pytest.raises(InvalidProblem, match=message):
        build()


@pytest.mark.parametrize("q", [np.zeros(2), np.zeros((1, 3)), [0.0, math.nan, 0.0], "low"])
def test_configuration_of_wrong_shape_or_not_finite_is_refused(q):
    with pytest.raises(InvalidOption, match=r"^q: expected"):
        disc_on_floor(1.0).gap(q)


def test_discs_with_one_centre_have_no_normal():
    with pytest.raises(InvalidProblem, match="centres of its discs coincide"):
        two_discs(1.0, 1.0).normal_jacobian(np.zeros(6))
