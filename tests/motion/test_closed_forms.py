"""Judge sustained contact by closed forms: sliding, sticking, rolling, lift-off."""

import math

import numpy as np
import pytest

import carom
from carom.systems import (
    FLOOR,
    Body,
    Disc,
    DiscContact,
    HalfPlane,
    PlanarSystem,
    PlaneContact,
    Prismatic,
)
from tests.reference.motion_checks import check_motion

G = 9.81
LAW = carom.Sequential()
ONE_SAMPLE = carom.Routh(num_samples=1)
UP, RIGHT = Prismatic((0.0, 1.0)), Prismatic((1.0, 0.0))


def sole(body, plane, mu):
    """Return contacts of a box's lower corners, A and B, with a plane."""
    left, right = body.outline[0].points[:2]
    return [
        PlaneContact("A", Disc(body.name, left), plane, mu),
        PlaneContact("B", Disc(body.name, right), plane, mu),
    ]


class Incline:
    """A box on a slope that rises to the right."""

    width, height, mass = 1.0, 0.4, 1.7

    def __init__(self, angle, mu, inputs=None):
        self.angle, self.mu = angle, mu
        self.normal = np.array([-math.sin(angle), math.cos(angle)])
        self.tangent = np.array([math.cos(angle), math.sin(angle)])
        plane = HalfPlane((0.3, -0.2), tuple(self.normal))
        box = Body.box("box", self.width, self.height, self.mass)
        self.system = PlanarSystem([box], sole(box, plane, mu), inputs=inputs)
        self.start = np.array([*(plane.point + self.height / 2 * self.normal), angle])

    def move(self, speed, duration, law=ONE_SAMPLE, **options):
        v = np.array([*(speed * self.tangent), 0.0])
        return carom.simulate(self.system, self.start, v, duration, law, **options)

    def along(self, states):
        """Return distances gone up the slope, and velocities."""
        return (states.q - self.start)[:, :2] @ self.tangent, states.v[:, :2] @ self.tangent


def modes(motion):
    return [part.modes for part in motion.segments]


@pytest.mark.parametrize("angle", [0.0, 0.3, -0.2])
def test_box_slides_up_stops_and_sticks(angle):
    slope = Incline(angle, mu=0.5)
    assert slope.mu > abs(math.tan(angle))
    brake = G * (math.sin(angle) + slope.mu * math.cos(angle))
    stop = 1.2 / brake
    motion = slope.move(1.2, stop + 0.5)
    check_motion(motion)
    assert modes(motion) == [("sliding +",) * 2, ("sticking",) * 2]
    assert not motion.impacts
    assert motion.segments[0].end == pytest.approx(stop, abs=1e-8)
    t = np.linspace(0.0, stop + 0.5, 200)
    states = motion.at(t=t)
    gone, speed = slope.along(states)
    until = np.minimum(t, stop)
    np.testing.assert_allclose(gone, 1.2 * until - brake * until**2 / 2, atol=1e-8)
    np.testing.assert_allclose(speed, 1.2 - brake * until, atol=1e-8)
    np.testing.assert_allclose(states.q[:, 2], angle, atol=1e-9)
    # Both corners carry the weight, and friction's moment is balanced by their difference.
    normal, tangent = states.rate[:, :, 0], states.rate[:, :, 1]
    weight = slope.mass * G
    np.testing.assert_allclose(normal.sum(axis=1), weight * math.cos(angle), rtol=1e-8)
    moving = t < stop - 1e-3
    drag = tangent.sum(axis=1)
    np.testing.assert_allclose(drag[moving], -slope.mu * weight * math.cos(angle), rtol=1e-8)
    np.testing.assert_allclose(drag[t > stop], weight * math.sin(angle), rtol=1e-8, atol=1e-8)
    difference = normal[:, 1] - normal[:, 0]
    np.testing.assert_allclose(difference, -slope.height / slope.width * drag, atol=1e-7)


@pytest.mark.parametrize(("angle", "mu"), [(0.4, 0.3), (0.4, 0.0), (0.5, 0.54)])
def test_box_slides_up_and_back_down(angle, mu):
    slope = Incline(angle, mu)
    assert mu < math.tan(angle)
    up = G * (math.sin(angle) + mu * math.cos(angle))
    down = G * (math.sin(angle) - mu * math.cos(angle))
    turn = 0.8 / up
    motion = slope.move(0.8, turn + 0.4)
    check_motion(motion)
    t = np.linspace(0.0, turn + 0.4, 200)
    gone, speed = slope.along(motion.at(t=t))
    top = 0.8 * turn / 2
    expected = np.where(t < turn, 0.8 * t - up * t**2 / 2, top - down * (t - turn) ** 2 / 2)
    np.testing.assert_allclose(gone, expected, atol=1e-8)
    np.testing.assert_allclose(
        speed, np.where(t < turn, 0.8 - up * t, -down * (t - turn)), atol=1e-8
    )
    if mu > 0.0:
        assert modes(motion) == [("sliding +",) * 2, ("sliding -",) * 2]
        assert motion.segments[0].end == pytest.approx(turn, abs=1e-8)
    else:
        assert modes(motion) == [("closed",) * 2]


def test_friction_takes_the_energy_that_is_lost():
    slope = Incline(0.3, 0.5)
    motion = slope.move(1.2, 1.0)
    gone, _ = slope.along(motion.at(t=1.0))
    drag = slope.mu * slope.mass * G * math.cos(slope.angle)
    assert motion.energy[0] - motion.energy[-1] == pytest.approx(drag * gone[0], rel=1e-8)


def pushed_box(growth, mu=0.4, mass=2.0):
    """Return a box on a floor that is pushed by a force that grows with time."""
    box = Body.box("box", 2.0, 0.1, mass)
    return PlanarSystem([box], sole(box, FLOOR, mu), inputs=lambda t, *_: [growth * t, 0.0, 0.0])


@pytest.mark.parametrize("growth", [3.0, -20.0])
def test_growing_push_overcomes_friction(growth):
    mu, mass = 0.4, 2.0
    slip = mu * mass * G / abs(growth)
    motion = carom.simulate(
        pushed_box(growth), [0.0, 0.05, 0.0], np.zeros(3), slip + 0.5, ONE_SAMPLE
    )
    sign = "sliding +" if growth > 0 else "sliding -"
    assert modes(motion) == [("sticking",) * 2, (sign,) * 2]
    assert motion.segments[0].end == pytest.approx(slip, abs=1e-8)
    t = np.linspace(0.0, slip + 0.5, 100)
    late = np.maximum(t - slip, 0.0)
    states = motion.at(t=t)
    np.testing.assert_allclose(states.q[:, 0], growth / mass * late**3 / 6, atol=1e-8)
    np.testing.assert_allclose(states.v[:, 0], growth / mass * late**2 / 2, atol=1e-8)
    check_motion(motion, has_inputs=True)


def test_slide_stick_slide():
    mu, mass, growth, speed = 0.4, 2.0, 5.0, 0.6
    # m dv/dt = k t - mu m g until the slip ends.
    stop = min(
        root.real
        for root in np.roots([growth / (2 * mass), -mu * G, speed])
        if abs(root.imag) < 1e-12 and root.real > 0.0
    )
    slip = mu * mass * G / growth
    motion = carom.simulate(
        pushed_box(growth), [0.0, 0.05, 0.0], [speed, 0.0, 0.0], slip + 0.3, ONE_SAMPLE
    )
    assert modes(motion) == [("sliding +",) * 2, ("sticking",) * 2, ("sliding +",) * 2]
    assert motion.segments[0].end == pytest.approx(stop, abs=1e-8)
    assert motion.segments[1].end == pytest.approx(slip, abs=1e-8)
    way = speed * stop - mu * G * stop**2 / 2 + growth / mass * stop**3 / 6
    end = way + growth / mass * 0.3**3 / 6
    assert motion.q[-1, 0] == pytest.approx(end, abs=1e-8)
    check_motion(motion, has_inputs=True)


def test_slip_turns_without_rest_under_a_strong_push():
    mass, mu, push = 2.0, 0.4, -20.0
    box = Body.box("box", 2.0, 0.1, mass)
    system = PlanarSystem([box], sole(box, FLOOR, mu), inputs=lambda *_: [push, 0.0, 0.0])
    motion = carom.simulate(system, [0.0, 0.05, 0.0], [1.0, 0.0, 0.0], 0.3, ONE_SAMPLE)
    check_motion(motion, has_inputs=True)
    turn = 1.0 / (abs(push) / mass + mu * G)
    assert modes(motion) == [("sliding +",) * 2, ("sliding -",) * 2]
    assert motion.segments[0].end == pytest.approx(turn, abs=1e-8)
    back = abs(push) / mass - mu * G
    assert motion.v[-1, 0] == pytest.approx(-back * (0.3 - turn), abs=1e-8)


@pytest.mark.parametrize("mu", [0.0, 0.7])
def test_ball_is_pulled_off_the_floor(mu):
    mass, growth = 1.5, 8.0
    system = PlanarSystem(
        [Body.point("ball", mass)],
        [PlaneContact("A", Disc("ball", radius=0.2), FLOOR, mu)],
        inputs=lambda t, *_: [0.0, growth * t],
    )
    motion = carom.simulate(system, [0.0, 0.2], [0.0, 0.0], 3.0, ONE_SAMPLE)
    check_motion(motion, has_inputs=True)
    lift = mass * G / growth
    assert modes(motion)[-1] == ("free",)
    assert motion.segments[-1].start == pytest.approx(lift, abs=1e-8)
    t = np.linspace(0.0, 3.0, 100)
    states = motion.at(t=t)
    late = np.maximum(t - lift, 0.0)
    np.testing.assert_allclose(states.q[:, 1] - 0.2, growth / mass * late**3 / 6, atol=1e-8)
    np.testing.assert_allclose(
        states.rate[:, 0, 0], np.maximum(mass * G - growth * t, 0.0), atol=1e-6
    )


@pytest.mark.parametrize(("mu", "rolls"), [(1.0, True), (0.1, False)])
def test_disc_rolls_down_a_slope_or_slides(mu, rolls):
    angle, radius = 0.5, 0.3
    normal = np.array([-math.sin(angle), math.cos(angle)])
    down = -np.array([math.cos(angle), math.sin(angle)])
    assert (mu > math.tan(angle) / 3) == rolls
    system = PlanarSystem(
        [Body.disc("disc", radius, 2.0)],
        [PlaneContact("A", Disc("disc", radius=radius), HalfPlane(normal=tuple(normal)), mu)],
    )
    start = np.array([*(radius * normal), 0.0])
    motion = carom.simulate(system, start, np.zeros(3), 1.0, LAW)
    check_motion(motion)
    end = motion.at(t=1.0)
    if rolls:
        speed, spin = 2 / 3 * G * math.sin(angle), 2 / 3 * G * math.sin(angle) / radius
        assert modes(motion) == [("sticking",)]
    else:
        speed = G * (math.sin(angle) - mu * math.cos(angle))
        spin = 2 * mu * G * math.cos(angle) / radius
        assert modes(motion) == [("sliding -",)]
    assert end.v[0, :2] @ down == pytest.approx(speed, abs=1e-8)
    assert end.v[0, 2] == pytest.approx(spin, abs=1e-8)
    assert (end.q[0] - start)[:2] @ down == pytest.approx(speed / 2, abs=1e-8)


def test_bowled_disc_slides_until_it_rolls():
    radius, mu, speed = 0.4, 0.3, 2.0
    system = PlanarSystem(
        [Body.disc("disc", radius, 2.0)],
        [PlaneContact("A", Disc("disc", radius=radius), FLOOR, mu)],
    )
    motion = carom.simulate(system, [0.0, radius, 0.0], [speed, 0.0, 0.0], 1.0, LAW)
    check_motion(motion)
    rolls = speed / (3 * mu * G)
    assert modes(motion) == [("sliding +",), ("sticking",)]
    assert motion.segments[0].end == pytest.approx(rolls, abs=1e-8)
    np.testing.assert_allclose(
        motion.v[-1], [2 * speed / 3, 0.0, -2 * speed / (3 * radius)], atol=1e-8
    )


def test_backspin_brings_a_disc_back():
    radius, mu, speed, spin = 0.4, 0.2, 1.0, 10.0
    system = PlanarSystem(
        [Body.disc("disc", radius, 2.0)],
        [PlaneContact("A", Disc("disc", radius=radius), FLOOR, mu)],
    )
    motion = carom.simulate(system, [0.0, radius, 0.0], [speed, 0.0, spin], 2.0, LAW)
    check_motion(motion)
    # Momentum about the contact point is kept: m v r - I w, with rolling at the end.
    end = (speed * radius - radius**2 / 2 * spin) / (1.5 * radius)
    assert end < 0.0
    np.testing.assert_allclose(motion.v[-1], [end, 0.0, -end / radius], atol=1e-8)


@pytest.mark.parametrize("speed", [0.3, 1.0])
def test_point_leaves_a_round_hill_where_energy_says(speed):
    hill = Body("hill", 1.0, 1.0, joints=())
    point = Body.point("point", 0.7)
    system = PlanarSystem(
        [hill, point], [DiscContact("A", Disc("point"), Disc("hill", radius=2.0), 0.0)]
    )
    motion = carom.simulate(system, [0.0, 2.0], [speed, 0.0], 3.0, LAW)
    assert modes(motion) == [("closed",), ("free",)]
    check_motion(motion)
    leaving = motion.segments[1].start
    x, y = motion.at(t=leaving).q[0]
    # m v^2 / R = m g cos and energy: cos = (2 + v0^2 / (g R)) / 3.
    assert y / 2.0 == pytest.approx((2 + speed**2 / (G * 2.0)) / 3, abs=1e-8)
    assert math.hypot(x, y) == pytest.approx(2.0, abs=1e-9)


def test_disc_that_cannot_slip_leaves_a_round_hill_at_four_sevenths():
    hill, disc = Body("hill", 1.0, 1.0, joints=()), Body.disc("disc", 0.5, 1.3)
    pair = DiscContact("A", Disc("disc", radius=0.5), Disc("hill", radius=1.0), 1e5)
    system = PlanarSystem([hill, disc], [pair])
    start = 0.02
    q = [1.5 * math.sin(start), 1.5 * math.cos(start), 0.0]
    motion = carom.simulate(system, q, np.zeros(3), 4.0, LAW)
    assert modes(motion)[0] == ("sticking",)
    assert modes(motion)[-1] == ("free",)
    y = motion.at(t=motion.segments[-1].start).q[0, 1]
    # 7 cos = 4 cos of where it starts. Friction of 1e5 gives way a 1e-5th before.
    assert y / 1.5 == pytest.approx(4 / 7 * math.cos(start), abs=1e-4)


@pytest.mark.parametrize("masses", [(1.0, 3.0), (5.0, 0.2)])
def test_one_ball_pushes_another(masses):
    push = 4.0
    rail = (RIGHT,)
    system = PlanarSystem(
        [
            Body.point("left", masses[0], joints=rail),
            Body.point("right", masses[1], joints=rail),
        ],
        [DiscContact("A", Disc("right", radius=0.5), Disc("left", radius=0.5), 0.0)],
        inputs=lambda *_: [push, 0.0],
    )
    motion = carom.simulate(system, [0.0, 1.0], [0.0, 0.0], 1.0, LAW)
    check_motion(motion, has_inputs=True)
    a = push / sum(masses)
    np.testing.assert_allclose(motion.v[-1], [a, a], atol=1e-9)
    np.testing.assert_allclose(motion.q[-1], [a / 2, 1.0 + a / 2], atol=1e-9)
    assert motion.at(t=0.5).rate[0, 0, 0] == pytest.approx(masses[1] * a, rel=1e-7)
