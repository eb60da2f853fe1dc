"""Judge motion in space from event to event by closed forms and by independent integrations."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import carom
from carom.systems import Box, Cylinder, HalfSpace, SpatialBody, Sphere
from carom.systems.quaternions import rotation
from tests.reference.motion_checks import check_motion
from tests.reference.rolling_disc import Disc, axes

G = 9.81
LAW = carom.Routh()


def words(motion):
    """Return what contacts that do not stay free do, segment by segment."""
    return [tuple(mode for mode in part.modes if mode != "free") for part in motion.segments]


def quaternion(R):
    """Return the quaternion (w, x, y, z) of a rotation matrix whose trace is not too small."""
    w = 0.5 * math.sqrt(1.0 + np.trace(R))
    turned = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return np.array([w, *(turned / (4.0 * w))])


class Slope:
    """An incline about y that falls towards +x, and what stands on it."""

    def __init__(self, angle):
        self.angle = angle
        cos, sin = math.cos(angle), math.sin(angle)
        # Down the slope, across it, out of it.
        self.axes = np.array([[cos, 0.0, -sin], [0.0, 1.0, 0.0], [sin, 0.0, cos]])
        self.planes = {"slope": HalfSpace(normal=self.axes[2])}
        self.turn = np.array([math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0])

    def start(self, height):
        """Return the configuration of a body that stands on the slope."""
        return np.concatenate([height * self.axes[2], self.turn])

    def velocity(self, along, spin=(0.0, 0.0, 0.0)):
        """Return the velocity with some components along the slope and spin about the body."""
        return np.concatenate([along @ self.axes[:2], spin])


def sliding_reference(times, start, pull, brake):
    """Return w(t) with dw/dt = pull - brake w / |w|, by its size and angle, before it stops."""

    def rates(_, y):
        size, angle = y
        along, across = (
            np.array([np.cos(angle), np.sin(angle)]) @ pull,
            pull @ np.array([-np.sin(angle), np.cos(angle)]),
        )
        return [along - brake, across / size]

    first = [np.hypot(*start), math.atan2(start[1], start[0])]
    given = {"rtol": 1e-13, "atol": 1e-14, "t_eval": times}
    size, angle = solve_ivp(rates, (0.0, times[-1]), first, "DOP853", **given).y
    return np.column_stack([size * np.cos(angle), size * np.sin(angle)])


@pytest.mark.parametrize("seed", range(4))
def test_ball_slides_until_it_rolls(seed):
    rng = np.random.default_rng(seed)
    radius, mu, mass = 0.11, 0.2, 6.0
    ball = SpatialBody(Sphere(radius), mass, mu=mu)
    v, spin = rng.normal(size=2), rng.normal(size=3) * 20.0
    arm = np.array([0.0, 0.0, -radius])
    slip = v + np.cross(spin, arm)[:2]
    # Slip keeps its direction, and falls by 7/2 mu g: the path of a bowling ball is a parabola.
    stop = np.hypot(*slip) / (3.5 * mu * G)
    motion = carom.simulate(ball, [0, 0, radius, 1, 0, 0, 0], [*v, 0, *spin], stop + 0.5, LAW)
    check_motion(motion, looks=2)
    assert words(motion) == [("sliding",), ("sticking",)]
    assert motion.segments[0].end == pytest.approx(stop, abs=1e-10)
    t = np.linspace(0.0, stop + 0.5, 60)
    until = np.minimum(t, stop)[:, None]
    brake = mu * G * slip / np.hypot(*slip)
    states = motion.at(t=t)
    rolled = (v - brake * stop) * (t[:, None] - until)
    np.testing.assert_allclose(
        states.q[:, :2], v * until - brake * until**2 / 2 + rolled, atol=1e-9
    )
    np.testing.assert_allclose(states.v[:, :2], v - brake * until, atol=1e-9)
    # Nothing resists its spin about the vertical.
    turned = np.array([rotation(q[3:]) @ w[3:] for q, w in zip(states.q, states.v, strict=True)])
    np.testing.assert_allclose(turned[:, 2], spin[2], atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(states.q[:, 3:], axis=1), 1.0, atol=1e-10)


@pytest.mark.parametrize("angle", [0.2, 0.7])
def test_ball_on_a_slope_rolls_or_slides_by_its_friction(angle):
    slope, mu, radius = Slope(angle), 0.15, 0.1
    ball = SpatialBody(Sphere(radius), 2.0, mu=mu, planes=slope.planes)
    motion = carom.simulate(ball, slope.start(radius), np.zeros(6), 0.8, LAW)
    check_motion(motion)
    rolls = math.tan(angle) * 2.0 / 7.0 < mu
    assert words(motion) == [("sticking",) if rolls else ("sliding",)]
    down = 5.0 / 7.0 * G * math.sin(angle)
    if not rolls:
        down = G * (math.sin(angle) - mu * math.cos(angle))
    gone = (motion.at(t=0.8).q[0, :3] - slope.start(radius)[:3]) @ slope.axes.T
    np.testing.assert_allclose(gone, [down * 0.8**2 / 2, 0.0, 0.0], atol=1e-9)


def test_slip_of_a_ball_on_a_slope_turns_downhill():
    slope, mu, radius = Slope(0.5), 0.15, 0.1
    ball = SpatialBody(Sphere(radius), 2.0, mu=mu, planes=slope.planes)
    w = np.array([-0.9, 1.1])
    motion = carom.simulate(ball, slope.start(radius), slope.velocity(w), 1.0, LAW)
    check_motion(motion)
    assert words(motion) == [("sliding",)]
    t = np.linspace(0.0, 1.0, 50)
    pull, brake = np.array([G * math.sin(0.5), 0.0]), 3.5 * mu * G * math.cos(0.5)
    expected = sliding_reference(t, w, pull, brake)
    states = motion.at(t=t)
    slip = np.array(
        [ball.tangent_jacobian(q)[0] @ v for q, v in zip(states.q, states.v, strict=True)]
    )
    # The tangents of a half-space are the slope's own axes.
    np.testing.assert_allclose(slip, expected, atol=1e-8)
    assert slip[0, 0] < 0.0 < slip[-1, 0]


def test_box_slides_down_a_slope_on_a_curve_and_stops():
    slope, mu = Slope(0.3), 0.5
    box = SpatialBody(Box([0.4, 0.25, 0.2]), 10.0, mu=mu, planes=slope.planes)
    w = np.array([-0.6, 0.9])
    motion = carom.simulate(box, slope.start(0.1), slope.velocity(w), 0.6, LAW)
    check_motion(motion)
    assert words(motion) == [("sliding",) * 4, ("sticking",) * 4]
    # dw/dt = p - f w/|w| has (f |w| + p·w)' = p² - f², so that the moment of rest is known.
    pull, brake = np.array([G * math.sin(0.3), 0.0]), mu * G * math.cos(0.3)
    stop = (brake * np.hypot(*w) + pull @ w) / (brake**2 - pull @ pull)
    assert motion.segments[0].end == pytest.approx(stop, abs=1e-9)
    t = np.linspace(0.0, 0.95 * stop, 40)
    states = motion.at(t=t)
    expected = sliding_reference(t, w, pull, brake)
    np.testing.assert_allclose(states.v[:, :3] @ slope.axes[:2].T, expected, atol=1e-8)
    np.testing.assert_allclose(states.v[:, 3:], 0.0, atol=1e-9)
    np.testing.assert_allclose(motion.v[-1], 0.0, atol=1e-9)


def test_spin_and_slip_of_a_box_stop_together():
    box = SpatialBody(Box([0.4, 0.25, 0.3]), 10.0, mu=0.5)
    motion = carom.simulate(box, [0, 0, 0.15, 1, 0, 0, 0], [1.0, 0.5, 0, 0, 0, 3.0], 0.4, LAW)
    check_motion(motion)
    assert words(motion) == [("sliding",) * 4, ("sticking",) * 4]


def test_can_on_its_side_slides_until_it_rolls():
    radius, mu = 0.1, 0.4
    can = SpatialBody(Cylinder(radius, 0.3), 2.0, mu=mu)
    # Its axis, z of the body, is along -y of the world.
    on_side = [math.cos(math.pi / 4), math.sin(math.pi / 4), 0.0, 0.0]
    speed, spin = 1.3, 4.0
    start, v = [0.0, 0.0, radius, *on_side], [speed, 0, 0, 0, 0, spin]
    motion = carom.simulate(can, start, v, 0.5, LAW)
    check_motion(motion)
    slip = speed + spin * radius
    assert words(motion) == [("sliding",) * 2, ("sticking",) * 2]
    stop = slip / (3.0 * mu * G)
    assert motion.segments[0].end == pytest.approx(stop, abs=1e-10)
    gone = speed * stop - mu * G * stop**2 / 2 + (speed - mu * G * stop) * (0.5 - stop)
    np.testing.assert_allclose(motion.q[-1, :3], [gone, 0.0, radius], atol=1e-9)


def disc_start(disc, body, lean, w):
    """Return the state of a disc that rolls with angular velocity w in its own axes."""
    frame = axes(lean, 0.0)
    q = np.concatenate([np.zeros(3), quaternion(frame.T)])
    q[2] = -body.gap(q).min()
    return q, np.concatenate([frame.T @ np.cross(w, disc.arm), w])


@pytest.mark.parametrize("lean", [0.25, 0.9])
def test_coin_rolls_as_eulers_equations_say(lean):
    radius, height, mass = 0.1, 0.02, 0.5
    disc = Disc(radius, height, mass)
    body = SpatialBody(Cylinder(radius, height), mass, mu=3.0)
    w = np.array([0.3, 2.0, 9.0])
    q, v = disc_start(disc, body, lean, w)
    t = np.linspace(0.0, 0.4, 41)
    expected = disc.roll([lean, 0.0, *w, 0.0, 0.0], t)
    # As long as it does not lie down.
    t = t[: np.argmax(np.append(np.abs(expected[:, 0]) > 1.3, True))]
    motion = carom.simulate(body, q, v, t[-1], LAW)
    check_motion(motion, looks=2)
    assert words(motion) == [("sticking",)]
    states = motion.at(t=t)
    for state, known in zip(zip(states.q, states.v, strict=True), expected, strict=False):
        own = axes(*known[:2])
        np.testing.assert_allclose(rotation(state[0][3:])[:, 2], own[2], atol=1e-8)
        np.testing.assert_allclose(state[0][:2] - q[:2], known[5:], atol=1e-8)
        turning = rotation(state[0][3:]) @ state[1][3:]
        np.testing.assert_allclose(turning, own.T @ known[2:5], atol=1e-7)


@pytest.mark.parametrize(("lean", "turning"), [(0.3, 6.0), (1.2, 16.0), (0.7, -8.0)])
def test_coin_precesses_steadily(lean, turning):
    radius, height, mass = 0.1, 0.02, 0.5
    disc = Disc(radius, height, mass)
    body = SpatialBody(Cylinder(radius, height), mass, mu=3.0)
    w = np.array([0.0, turning * math.cos(lean), disc.steady_spin(lean, turning)])
    q, v = disc_start(disc, body, lean, w)
    motion = carom.simulate(body, q, v, 0.3, LAW)
    check_motion(motion, looks=2)
    assert words(motion) == [("sticking",)]
    t = np.linspace(0.0, 0.3, 31)
    states = motion.at(t=t)
    own = np.array([axes(lean, turning * each)[2] for each in t])
    found = np.array([rotation(each[3:])[:, 2] for each in states.q])
    np.testing.assert_allclose(found, own, atol=1e-8)
    np.testing.assert_allclose(states.q[:, 2], q[2], atol=1e-9)
    # Its centre goes round in a circle.
    speed = np.cross(w, disc.arm)[0]
    circle = speed / turning * np.column_stack([np.sin(turning * t), 1.0 - np.cos(turning * t)])
    np.testing.assert_allclose(states.q[:, :2], circle, atol=1e-8)


def test_ball_begins_to_slip_when_its_push_grows_too_large():
    mu, mass, rate, angle = 0.1, 2.0, 20.0, 0.3
    push = rate * np.array([math.cos(angle), math.sin(angle)])

    def inputs(t, *_):
        return [*(push * t), 0.0, 0.0, 0.0, 0.0]

    ball = SpatialBody(Sphere(0.1), mass, mu=mu, inputs=inputs)
    begins = 3.5 * mu * mass * G / rate
    rolling = [0.3, 0.1, 0.0, -1.0, 3.0, 0.0]
    motion = carom.simulate(ball, [0, 0, 0.1, 1, 0, 0, 0], rolling, begins + 0.3, LAW)
    check_motion(motion, has_inputs=True)
    assert words(motion) == [("sticking",), ("sliding",)]
    assert motion.segments[0].end == pytest.approx(begins, abs=1e-7)
    t = begins + np.linspace(0.0, 0.3, 30)
    states = motion.at(t=t)
    slip = np.array(
        [ball.tangent_jacobian(q)[0] @ v for q, v in zip(states.q, states.v, strict=True)]
    )
    expected = np.outer((t - begins) ** 2, push) / (2.0 * mass)
    np.testing.assert_allclose(slip, expected, atol=1e-7)


def test_box_begins_to_slide_when_all_corners_give_way():
    mu, mass = 0.5, 10.0

    def inputs(t, *_):
        return [60.0 * t, 25.0 * t, 0.0, 0.0, 0.0, 0.0]

    box = SpatialBody(Box([0.4, 0.25, 0.3]), mass, mu=mu, inputs=inputs)
    begins = mu * mass * G / 65.0
    motion = carom.simulate(box, [0, 0, 0.15, 1, 0, 0, 0], np.zeros(6), begins + 0.2, LAW)
    check_motion(motion, has_inputs=True)
    assert words(motion)[0] == ("sticking",) * 4
    assert words(motion)[-1] == ("sliding",) * 4
    assert motion.segments[-1].start == pytest.approx(begins, abs=1e-6)
    gone = np.array([60.0, 25.0]) / mass * 0.2**3 / 6.0
    np.testing.assert_allclose(motion.q[-1, :2], gone, atol=1e-7)


def test_ball_bounces_as_its_restitution_says():
    e, height, mu = 0.6, 1.0, 0.3
    ball = SpatialBody(Sphere(0.1), 2.0, mu=mu, restitution=e)
    v = [1.0, 0.5, 0.0, 0.0, 3.0, 0.4]
    motion = carom.simulate(ball, [0, 0, 0.1 + height, 1, 0, 0, 0], v, 2.5, LAW)
    check_motion(motion, looks=2)
    fall = math.sqrt(2.0 * height / G)
    bounces = fall + 2.0 * fall * np.cumsum(np.append(0.0, e ** np.arange(1, 9)))
    times = [impact.t for impact in motion.impacts[:9]]
    np.testing.assert_allclose(times, bounces, atol=1e-9)
    assert motion.impacts[-1].kind == "accumulation"
    assert motion.impacts[-1].end == pytest.approx(fall * (1.0 + e) / (1.0 - e), abs=1e-8)
    assert words(motion)[-1] == ("sticking",)
