"""What all adapters share: frames at contacts, planar contacts, and copies of contacts."""

import numpy as np
import pytest

from carom.adapters.engine import Touching, coefficients
from carom.errors import InvalidOption
from carom.systems.half_space import tangents


def _turn(axis, angle):
    """Return the rotation (3, 3) about a unit axis, by Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def test_tangents_are_turned_by_the_shortest_turn_that_takes_z_to_the_normal():
    rng = np.random.default_rng(0)
    for _ in range(100):
        heading, angle = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.0, np.pi)
        turn = _turn([np.cos(heading), np.sin(heading), 0.0], angle)
        assert tangents(turn[:, 2]) == pytest.approx(turn[:, :2].T, abs=1e-9)


@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-8, 4e-5, 1e-4, 0.1])
def test_tangents_make_a_right_handed_frame_where_the_normal_points_down(tilt):
    """As under a ceiling, where there is no shortest turn."""
    unit = np.array([0.6 * np.sin(tilt), 0.8 * np.sin(tilt), -np.cos(tilt)])
    frame = np.vstack([tangents(unit), unit])
    assert frame @ frame.T == pytest.approx(np.eye(3), abs=2e-9)
    assert np.linalg.det(frame) == pytest.approx(1.0, abs=2e-9)


def _touching(J_t, mu=(0.5, 0.5), J_n=((0.0, 1.0, 0.2), (0.0, 1.0, 0.2)), restitution=(0.25, 0.25)):
    rows = np.array(J_n), np.array(J_t, dtype=float)
    return Touching(("one", "other"), *rows, np.array(mu), np.array(restitution))


ALONG, ACROSS = [1.0, 0.0, 0.3], [0.0, 0.1, 0.5]


def test_contacts_that_slide_along_one_line_are_planar():
    """A line that is turned in the tangents' plane is found, and its speed is the contact's."""
    turned = [[0.6 * x for x in ALONG], [0.8 * x for x in ALONG]]
    found = _touching([[ALONG, [0.0] * 3], turned]).in_plane()
    assert found.J_t == pytest.approx(np.array([[ALONG], [ALONG]]))


@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_one_contact_that_slides_across_makes_all_spatial(size):
    across = [size * x for x in ACROSS]
    given = _touching([[ALONG, [0.0] * 3], [ALONG, across]])
    assert given.in_plane() is given


def test_copies_are_one_however_their_tangents_are_turned():
    c, s = np.cos(0.7), np.sin(0.7)
    one = np.array([ALONG, ACROSS])
    assert _touching([one, np.array([[c, s], [-s, c]]) @ one]).without_copies().names == ("one",)


def test_what_is_left_of_copies_keeps_its_coefficients():
    found = _touching([[ALONG, ACROSS]] * 2, mu=(0.4, 0.4), restitution=(0.7, 0.7))
    kept = found.without_copies()
    assert (kept.mu.tolist(), kept.restitution.tolist()) == ([0.4], [0.7])
    planar = _touching([[ALONG, [0.0] * 3]] * 2, restitution=(0.1, 0.9)).in_plane()
    assert planar.restitution.tolist() == [0.1, 0.9]


def test_restitution_is_given_to_all_contacts_or_to_some_by_name():
    names = ("left", "right")
    assert coefficients(names, 0.5).tolist() == [0.5, 0.5]
    assert coefficients(names, {"right": 1}).tolist() == [0.0, 1.0]
    assert coefficients(names, {}).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (1.5, "restitution: expected a number from 0 to 1, got 1.5"),
        (np.nan, "restitution: expected a number from 0 to 1"),
        ("hard", "restitution: expected a number from 0 to 1, got 'hard'"),
        ({"right": -0.5}, "restitution of 'right': expected a number from 0 to 1"),
        ({"middle": 0.5}, "restitution: no contact is named 'middle'; there are: left, right"),
    ],
)
def test_bad_restitution_is_refused(given, message):
    with pytest.raises(InvalidOption, match=message):
        coefficients(("left", "right"), given)


@pytest.mark.parametrize(
    "others",
    [
        {"mu": (0.5, 0.6)},
        {"restitution": (0.25, 0.5)},
        {"J_n": ((0.0, 1.0, 0.2), (0.0, 1.0, 0.2001))},
        {"J_t": [[ALONG, ACROSS], [ALONG, [0.0, 0.1, 0.5001]]]},
    ],
    ids=["friction", "restitution", "normal", "tangent"],
)
def test_contacts_that_differ_are_two(others):
    found = _touching(**({"J_t": [[ALONG, ACROSS]] * 2} | others)).without_copies()
    assert found.names == ("one", "other")
