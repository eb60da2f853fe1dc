"""Slip that passes by zero, stops, or begins: against its own differential equation."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import carom
from carom.systems import SpatialBody, Sphere
from tests.reference.motion_checks import check_motion

G, MU, MASS, RADIUS = 9.81, 0.1, 2.0, 0.1
LAW = carom.Routh()


def pushed(force):
    """Return a ball that is pushed at its centre."""
    return SpatialBody(Sphere(RADIUS), MASS, mu=MU, inputs=lambda *_: [*force, 0.0, 0.0, 0.0, 0.0])


def slip_of(ball, states):
    """Return the slip (n, 2) at some states."""
    pairs = zip(states.q, states.v, strict=True)
    return np.array([ball.tangent_jacobian(q)[0] @ v for q, v in pairs])


@pytest.mark.parametrize("offset", [1e-1, 1e-3, 1e-5])
def test_slip_that_passes_by_zero_turns_round(offset):
    # ds/dt = a - b s/|s| with a > b: slip against a comes close to zero, turns, and goes with a.
    a, b = 8.0, 3.5 * MU * G
    ball = pushed([MASS * a, 0.0])
    start = np.array([-1.0, offset])
    times = np.linspace(0.0, 0.4, 41)

    def by_angle(angle, y):
        # d|s|/dt = a cos - b and d(angle)/dt = -a sin/|s|: with the angle for a clock nothing is
        # fast where slip is small.
        log_size, _ = y
        rate = -a * math.sin(angle)
        return [(a * math.cos(angle) - b) / rate, math.exp(log_size) / rate]

    first, last = math.atan2(offset, -1.0), 1e-9
    log_start = math.log(math.hypot(1.0, offset))
    found = solve_ivp(
        by_angle, (first, last), [log_start, 0.0], "DOP853", rtol=1e-13, atol=1e-14,
        dense_output=True,
    )  # fmt: skip
    angles = found.t[0] + (found.t[-1] - found.t[0]) * np.linspace(0.0, 1.0, 20001) ** 0.5
    log_size, when = found.sol(angles)
    motion = carom.simulate(ball, [0, 0, RADIUS, 1, 0, 0, 0], [*start, 0, 0, 0, 0], 0.4, LAW)
    check_motion(motion, looks=2, has_inputs=True)
    assert {part.modes for part in motion.segments} == {("sliding",)}
    # The moments of the reference, where it is dense.
    seen = (when > 0.0) & (when < 0.4)
    slip = slip_of(ball, motion.at(t=when[seen]))
    size = np.exp(log_size[seen])
    expected = np.column_stack([size * np.cos(angles[seen]), size * np.sin(angles[seen])])
    np.testing.assert_allclose(slip, expected, atol=2e-8)
    assert np.hypot(*slip.T).min() < 0.5 * offset
    assert slip_of(ball, motion.at(t=times[-1]))[0, 0] > 0.1


def test_slip_that_meets_zero_stops_and_goes_on():
    # Slip against the push comes to rest, and as the push is too large for rest, begins again.
    a, b = 8.0, 3.5 * MU * G
    ball = pushed([MASS * a, 0.0])
    motion = carom.simulate(ball, [0, 0, RADIUS, 1, 0, 0, 0], [-1.0, 0, 0, 0, 0, 0], 0.3, LAW)
    check_motion(motion, has_inputs=True)
    turn = 1.0 / (a + b)
    assert [part.modes for part in motion.segments] == [("sliding",)] * len(motion.segments)
    t = np.linspace(0.0, 0.3, 50)
    expected = np.where(t < turn, -1.0 + (a + b) * t, (a - b) * (t - turn))
    slip = slip_of(ball, motion.at(t=t))
    np.testing.assert_allclose(slip[:, 0], expected, atol=1e-8)
    np.testing.assert_allclose(slip[:, 1], 0.0, atol=1e-8)


def test_quaternions_keep_their_length():
    ball = SpatialBody(Sphere(RADIUS), MASS, mu=MU)
    v = [1.0, 0.3, 0.0, 20.0, -7.0, 9.0]
    motion = carom.simulate(ball, [0, 0, RADIUS, 1, 0, 0, 0], v, 5.0, LAW)
    length = np.linalg.norm(motion.q[:, 3:], axis=1)
    np.testing.assert_allclose(length, 1.0, atol=1e-11)


@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_other_integrators_lead_the_same_way(method):
    ball = SpatialBody(Sphere(RADIUS), MASS, mu=MU)
    start = [0, 0, RADIUS, 1, 0, 0, 0], [1.0, 0.3, 0.0, 2.0, -7.0, 3.0], 0.4
    one = carom.simulate(ball, *start, LAW)
    other = carom.simulate(ball, *start, LAW, method=method, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(other.q[-1, :3], one.q[-1, :3], atol=1e-6)
