"""Choices of modes in space: of few contacts all, of many those that sweeps lead to."""

import math

import numpy as np
import pytest

import carom
from carom.motion import spatial_choice
from carom.motion.spatial_law import SLIDING
from carom.motion.sustained import FREE, STICKING
from carom.systems import Box, Cylinder, SpatialBody
from tests.reference.motion_checks import check_motion

G = 9.81
FLAT = [1.0, 0.0, 0.0, 0.0]


def choices(body, q, v, t=0.0):
    """Return the choices of modes of touching contacts at a state, with their accelerations."""
    here, v = body.dynamics(q, v, t), np.asarray(v, dtype=float)
    near = here.phi <= 1e-9
    touching, _, slip = spatial_choice.rest_and_slip(here, v, near, 1e-9, 1e-8)
    found = spatial_choice.solutions(here, v, body.mu, touching, slip)
    return [(law.modes[touching].tolist(), each.acceleration) for law, each in found]


@pytest.mark.parametrize("shape", [Box([0.4, 0.25, 0.1]), Cylinder(0.2, 0.1, 6)])
def test_what_rests_sticks_and_nothing_else(shape):
    count = 4 if isinstance(shape, Box) else 7
    body = SpatialBody(shape, 2.0, mu=0.4)
    ((modes, acceleration),) = choices(body, [0, 0, 0.05, *FLAT], np.zeros(6))
    assert modes == [STICKING] * count
    np.testing.assert_allclose(acceleration, 0.0, atol=1e-9)


@pytest.mark.parametrize("shape", [Box([0.4, 0.25, 0.1]), Cylinder(0.2, 0.1, 6)])
def test_what_is_pushed_too_hard_begins_to_slide_along_the_push(shape):
    push = np.array([20.0, -9.0])
    body = SpatialBody(shape, 2.0, mu=0.4, inputs=lambda *_: [*push, 0, 0, 0, 0])
    found = choices(body, [0, 0, 0.05, *FLAT], np.zeros(6))
    expected = push / 2.0 - 0.4 * G * push / np.hypot(*push)
    assert any(set(modes) == {SLIDING} for modes, _ in found)
    for _, acceleration in found:
        np.testing.assert_allclose(acceleration[:2], expected, atol=1e-6)


def test_what_is_pulled_up_lifts():
    body = SpatialBody(Box([0.4, 0.25, 0.1]), 2.0, mu=0.4, inputs=lambda *_: [0, 0, 30.0, 0, 0, 0])
    ((modes, acceleration),) = choices(body, [0, 0, 0.05, *FLAT], np.zeros(6))
    assert modes == [FREE] * 4
    assert acceleration[2] == pytest.approx(15.0 - G)


def test_what_is_turned_over_lifts_two_corners():
    # About y, by more than the weight holds.
    torque = 2.0 * G * 0.2 + 1.0
    body = SpatialBody(
        Box([0.4, 0.25, 0.1]), 2.0, mu=2.0, inputs=lambda *_: [0, 0, 0, 0, torque, 0]
    )
    found = choices(body, [0, 0, 0.05, *FLAT], np.zeros(6))
    # Corners (---), (+--), (-+-), (++-): those at +x are pivots.
    assert all(modes[0] == modes[2] == FREE for modes, _ in found)
    inertia = 2.0 / 12.0 * (0.4**2 + 0.1**2) + 2.0 * (0.2**2 + 0.05**2)
    for modes, acceleration in found:
        assert modes[1] == modes[3] == STICKING
        assert acceleration[4] == pytest.approx(1.0 / inertia, rel=1e-9)


@pytest.mark.parametrize("num_fixed", [4, 6, 9])
def test_lid_on_many_points_slides_until_it_stops(num_fixed):
    body = SpatialBody(Cylinder(0.2, 0.1, num_fixed), 2.0, mu=0.4)
    stop = math.hypot(1.0, 0.5) / (0.4 * G)
    start = [0, 0, 0.05, *FLAT], [1.0, 0.5, 0, 0, 0, 0]
    motion = carom.simulate(body, *start, stop + 0.1, carom.Routh())
    check_motion(motion)
    assert [set(part.modes) for part in motion.segments] == [
        {"sliding", "free"},
        {"sticking", "free"},
    ]
    assert motion.segments[0].end == pytest.approx(stop, abs=1e-9)
    np.testing.assert_allclose(motion.q[-1, :2], np.array([1.0, 0.5]) * stop / 2.0, atol=1e-9)
