"""Judge motions by closed forms."""

import math
from itertools import pairwise

import numpy as np
import pytest

import carom
from carom.motion.parts import Impact, Segment
from carom.systems import (
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
from tests.reference.motion_checks import check_motion
from tests.reference.own_system import RodOnCircle, on_circle, planar_rod
from tests.reference.rocking_block import Wobble

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


def test_ball_that_catches_up_goes_on_with_the_other():
    system = PlanarSystem(
        [Body.point("left", 2.0, joints=(RIGHT,)), Body.point("right", 1.0, joints=(RIGHT,))],
        [DiscContact("A", Disc("right", radius=0.5), Disc("left", radius=0.5), 0.0)],
    )
    motion = carom.simulate(system, [0.0, 2.0], [3.0, 1.0], 1.0, LAW)
    check_motion(motion)
    (impact,) = motion.impacts
    assert impact.t == pytest.approx(0.5, abs=1e-12)
    common = (2.0 * 3.0 + 1.0 * 1.0) / 3.0
    np.testing.assert_allclose(impact.v_post, common, atol=1e-9)
    np.testing.assert_allclose(motion.v[-1], common, atol=1e-9)


@pytest.mark.parametrize("speed", [2.25684826, 1.93684455, 1.44283888, 2.0, 3.1])
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_disc_that_hits_a_wall_falls_along_it(speed, mu):
    system = PlanarSystem(
        [Body.disc("disc", 0.3, 1.0)],
        [PlaneContact("W", Disc("disc", radius=0.3), HalfPlane((1.0, 0.0), (-1.0, 0.0)), mu)],
    )
    motion = carom.simulate(system, np.zeros(3), [speed, 0.3, 1.4], 1.0, LAW, max_steps=500)
    assert motion.status == "finished", motion.message
    check_motion(motion)
    (impact,) = motion.impacts
    assert impact.t == pytest.approx(0.7 / speed, abs=1e-9)
    t = np.linspace(impact.t, 1.0, 50)
    states = motion.at(t=t)
    # Nothing presses it to the wall: the force is none, and it falls freely.
    np.testing.assert_allclose(states.q[:, 0], 0.7, atol=1e-9)
    fall = impact.q[0][1] + impact.v_post[1] * (t - t[0]) - G * (t - t[0]) ** 2 / 2
    np.testing.assert_allclose(states.q[:, 1], fall, atol=1e-9)
    np.testing.assert_allclose(states.rate, 0.0, atol=1e-7)


@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_block_that_rocks_on_ice_slides_as_if_it_did_not(speed):
    angle, tilt = 0.3, 0.02
    normal = np.array([-math.sin(angle), math.cos(angle)])
    tangent = np.array([math.cos(angle), math.sin(angle)])
    box = Body.box("box", 1.0, 2.0, 1.7)
    system = PlanarSystem([box], sole(box, HalfPlane(normal=tuple(normal)), 0.0))
    cosine, sine = math.cos(angle + tilt), math.sin(angle + tilt)
    q = np.array([0.5 * cosine - sine, 0.5 * sine + cosine, angle + tilt])
    motion = carom.simulate(system, q, [*(speed * tangent), 0.0], 0.5, LAW)
    assert motion.status == "finished"
    assert motion.impacts[-1].kind == "accumulation"
    # No force acts along the slope but gravity, from start to end.
    t = np.linspace(0.0, 0.5, 100)
    expected = speed - G * math.sin(angle) * t
    np.testing.assert_allclose(motion.at(t=t).v[:, :2] @ tangent, expected, atol=1e-8)
    check_motion(motion)


def test_discs_that_hardly_part_do_not_creep():
    # They part at some 1e-8 m/s, and hop by less than the last digit of their distance.
    bodies = [
        Body("one", 3.789576878434886, 0.37218432705825916, com=(0.19820457514553144, 0.0)),
        Body("two", 2.651538049911371, 0.11829938305740238, com=(0.1335894936401185, 0.0)),
    ]
    one = Disc("one", radius=0.49551143786382856)
    two = Disc("two", radius=0.33397373410029624)
    contacts = [
        PlaneContact("A", one, FLOOR, 0.0),
        PlaneContact("B", two, FLOOR, 0.0),
        DiscContact("C", one, two, 0.0),
    ]
    q = [0.0, 0.49551143786382856, -0.5, 0.9533423180905661, 0.33397373410029624, -0.75]
    v = [
        1.4886421135443824,
        -2.138709546957681,
        1.0,
        -0.5,
        -2.477879909254815,
        -0.42638164217706453,
    ]
    motion = carom.simulate(PlanarSystem(bodies, contacts), q, v, 0.3, LAW, max_steps=400)
    assert motion.status == "finished", motion.message
    check_motion(motion, looks=2)


@pytest.mark.slow
@pytest.mark.parametrize("apart", [1e-9, 1e-8, 1e-3])
def test_blocks_that_rock_side_by_side_each_come_to_rest_in_time(apart):
    bodies, contacts, q, v = [], [], [], []
    for k in range(3):
        box = Body.box(f"box {k}", 1.0, 2.0, 1.0)
        bodies.append(box)
        contacts += [
            PlaneContact(f"{name}{k}", Disc(box.name, point), FLOOR, 1.0)
            for name, point in zip("AB", box.outline[0].points[:2], strict=True)
        ]
        rate = 1.0 + k * apart
        q += [3.0 * k, 1.0, 0.0]
        v += [-rate, 0.5 * rate, rate]
    system = PlanarSystem(bodies, contacts)
    law = carom.Sequential(order=system.contacts)
    motion = carom.simulate(system, q, v, 2.7, law, max_impacts=1000)
    assert motion.status == "finished", motion.message
    for k in range(3):
        cycles = Wobble().half_cycles(1.0 + k * apart, 60)
        end = sum(cycle.duration for cycle in cycles)
        # A thousandth of a second before its time it still rocks, at the rate that it must have.
        rate = motion.at(t=end - 1e-3).v[0, 3 * k + 2]
        assert 2e-4 < abs(rate) < 4e-3
        assert motion.at(t=end + 2e-6).v[0, 3 * k + 2] == pytest.approx(0.0, abs=1e-8)


def test_energy_of_a_double_pendulum_is_kept():
    upper = Body.rod("upper", 1.0, 1.0, joints=(Revolute(),))
    lower = Body.rod("lower", 0.7, 0.5, parent="upper", placement=(0.0, -1.0), joints=(Revolute(),))
    system = PlanarSystem([upper, lower], [])
    motion = carom.simulate(system, [2.0, 1.0], [0.0, 0.5], 10.0, LAW)
    assert motion.status == "finished"
    assert len(motion.parts) == 1
    energy = motion.energy
    scale = 1.5 * G
    assert np.abs(energy - energy[0]).max() <= 1e-8 * scale
    # It swings far, so that forces of inertia matter.
    assert np.ptp(motion.v[:, 1]) > 5.0


def test_energy_of_a_walker_in_free_fall_is_kept():
    scene = carom.scenes.load("compass-gait", hip_mass=1.0)
    system = PlanarSystem(scene.system.bodies, [])
    v = np.array([0.3, 1.0, 2.0, -1.5])
    motion = carom.simulate(system, scene.q, v, 10.0, LAW)
    assert motion.status == "finished"
    potential = [system.potential_energy(q) for q in motion.q]
    scale = np.ptp(potential) + system.energy(scene.q, v) - system.potential_energy(scene.q)
    energy = motion.energy
    assert np.abs(energy - energy[0]).max() <= 1e-8 * scale
    # The centre of mass falls freely; legs turn without end, so that momentum is kept.
    t = motion.t
    M = np.array([system.mass_matrix(q) for q in motion.q])
    momentum = np.einsum("nij,nj->ni", M, motion.v)
    np.testing.assert_allclose(momentum[:, 0], momentum[0, 0], atol=1e-8 * scale)
    np.testing.assert_allclose(momentum[:, 1], momentum[0, 1] - 3.0 * G * t, atol=1e-8 * scale)


@pytest.mark.parametrize("law", [LAW, ONE_SAMPLE, carom.AnitescuPotra()], ids=["s", "r", "a"])
def test_stack_of_discs_stays_at_rest(law):
    scene = carom.scenes.load("disk-stack", speed=0.0)
    motion = carom.simulate(scene.system, scene.q, np.zeros(9), 10.0, law)
    assert motion.status == "finished"
    assert not motion.impacts
    t = np.linspace(0.0, 10.0, 101)
    states = motion.at(t=t)
    np.testing.assert_allclose(states.q, np.tile(scene.q, (101, 1)), atol=1e-10)
    np.testing.assert_allclose(states.v, 0.0, atol=1e-10)
    # The floor carries three discs; every force lies in its cone, though they are not unique.
    rate = states.rate
    np.testing.assert_allclose(rate[:, :2, 0].sum(axis=1), 3 * G, rtol=1e-8)
    assert rate[:, :, 0].min() >= -1e-8
    assert (np.abs(rate[:, :, 1]) <= math.sqrt(3.0) * rate[:, :, 0] + 1e-8).all()


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau", "BDF"])
def test_every_integrator_moves_a_pendulum(method):
    rod = Body.rod("rod", 1.5, 2.0, joints=(Revolute(),))
    tolerances = {"rtol": 1e-7, "atol": 1e-8} if method == "BDF" else {"rtol": 1e-9, "atol": 1e-10}
    motion = carom.simulate(
        PlanarSystem([rod], []), [1.0], [0.0], 1.0, LAW, method=method, **tolerances
    )
    assert motion.status == "finished"
    energy = motion.energy
    assert np.abs(energy - energy[0]).max() <= 1e-5 * 2.0 * G


def test_stiff_spring_is_for_radau():
    stiffness = 1e8
    system = PlanarSystem(
        [Body.point("ball", 1.0, joints=(UP,))],
        [],
        inputs=lambda _, q, v: [-stiffness * q[0] - 1e6 * v[0]],
    )
    motion = carom.simulate(
        system, [0.1], [0.0], 1.0, LAW, method="Radau", rtol=1e-6, atol=1e-9, max_steps=1000
    )
    assert motion.status == "finished"
    # Overdamped: after the fast part it creeps back at the rate k / c.
    assert motion.q[-1, 0] == pytest.approx(0.0, abs=1e-6)


def test_torque_turns_a_rod_by_its_double_integral():
    rod = Body.rod("rod", 2.0, 3.0, joints=(Revolute(),))
    system = PlanarSystem(
        [rod], [], gravity=(0.0, 0.0), inputs=lambda t, *_: [4.0 * math.cos(2 * t)]
    )
    motion = carom.simulate(system, [0.2], [0.5], 3.0, LAW, start_time=1.0)
    assert motion.start_time == 1.0
    assert motion.end_time == 4.0
    t = np.linspace(1.0, 4.0, 50)
    inertia = 3.0 * 2.0**2 / 3
    rate = 0.5 + (2.0 * np.sin(2 * t) - 2.0 * np.sin(2.0)) / inertia
    turn = 0.2 + 0.5 * (t - 1.0)
    turn += (np.cos(2.0) - np.cos(2 * t) - 2.0 * np.sin(2.0) * (t - 1.0)) / inertia
    np.testing.assert_allclose(motion.at(t=t).v[:, 0], rate, atol=1e-9)
    np.testing.assert_allclose(motion.at(t=t).q[:, 0], turn, atol=1e-9)


def test_pendulum_with_a_torque_that_cancels_gravity_turns_evenly():
    rod = Body.rod("rod", 2.0, 3.0, joints=(Revolute(),))
    system = PlanarSystem([rod], [], inputs=lambda _t, q, _v: [3.0 * G * math.sin(q[0])])
    motion = carom.simulate(system, [0.3], [2.0], 5.0, LAW)
    np.testing.assert_allclose(motion.v, 2.0, atol=1e-8)
    np.testing.assert_allclose(motion.q[:, 0], 0.3 + 2.0 * motion.t, atol=1e-8)


@pytest.mark.parametrize("seed", [1, 2])
def test_own_system_moves_as_the_planar_one(seed):
    q, v = np.array([0.0, 0.5, 0.4]), np.array([1.0, 0.3, -2.0])
    planar = carom.simulate(planar_rod(), q, v, 1.5, ONE_SAMPLE, seed=seed)
    own = carom.simulate(RodOnCircle(), on_circle(q), v, 1.5, ONE_SAMPLE, seed=seed)
    check_motion(planar)
    assert own.status == planar.status == "finished"
    assert [part.kind for part in own.impacts] == [part.kind for part in planar.impacts]
    assert len(own.impacts) >= 2
    t = np.linspace(0.0, 1.5, 301)
    one, other = own.at(t=t), planar.at(t=t)
    expected = np.array([on_circle(row) for row in other.q])
    np.testing.assert_allclose(one.q, expected, atol=1e-8)
    np.testing.assert_allclose(one.impulse, other.impulse, atol=1e-7)
    # The angle stays on its circle.
    np.testing.assert_allclose(np.hypot(one.q[:, 2], one.q[:, 3]), 1.0, atol=1e-9)


@pytest.mark.parametrize("name", ["rocking-block", "box-wall", "disk-stack"])
def test_same_seed_same_motion(name):
    scene = carom.scenes.load(name)
    runs = [
        carom.simulate(scene.system, scene.q, scene.v, 0.1, ONE_SAMPLE, seed=seed)
        for seed in (4, 4, 5)
    ]
    assert runs[0].seed == 4
    for first, second in zip(runs[0].states, runs[1].states, strict=True):
        np.testing.assert_array_equal(first, second)
    assert len(runs[0].t) != len(runs[2].t) or (runs[0].v != runs[2].v).any()


@pytest.mark.parametrize("name", carom.scenes.names())
@pytest.mark.parametrize("law", [LAW, ONE_SAMPLE], ids=["sequential", "routh"])
def test_scenes_move_to_the_end_by_the_laws_of_contact(name, law):
    scene = carom.scenes.load(name)
    motion = carom.simulate(scene.system, scene.q, scene.v, 0.3, law, seed=2)
    assert motion.status == "finished", motion.message
    check_motion(motion, looks=3)


def test_slip_too_slow_for_the_law_is_rest():
    # With mu = 1e5 any slip is a paradox, and this outcome leaves some 1e-7 of the speed.
    scene = carom.scenes.load("ramone")
    motion = carom.simulate(scene.system, scene.q, scene.v, 0.2, carom.RouthExact(), seed=3)
    assert motion.status == "finished", motion.message
    check_motion(motion)


class TestLimits:
    scene = carom.scenes.load("zeno-block")

    def move(self, **options):
        return carom.simulate(self.scene.system, self.scene.q, self.scene.v, 3.0, LAW, **options)

    def test_number_of_impacts(self):
        motion = self.move(max_impacts=3)
        assert motion.status == "impact limit"
        assert not motion.is_finished
        assert "max_impacts" in motion.message
        assert len(motion.impacts) == 3
        assert motion.end_time == motion.impacts[-1].t
        whole = self.move()
        np.testing.assert_allclose(motion.v, whole.v[: len(motion.v)], atol=1e-15)

    def test_number_of_steps(self):
        motion = self.move(max_steps=5)
        assert motion.status == "step limit"
        assert "max_steps" in motion.message
        assert sum(len(part.knots) - 1 for part in motion.segments) == 5
        assert 0.0 < motion.end_time < 3.0
        whole = self.move()
        np.testing.assert_allclose(motion.q, whole.q[: len(motion.q)], atol=1e-15)

    def test_law_that_cannot(self):
        class Refusing(carom.ImpactLaw):
            def resolve(self, problem):
                raise carom.ImpactNotResolved("not today", problem)

        motion = carom.simulate(self.scene.system, self.scene.q, self.scene.v, 3.0, Refusing())
        assert motion.status == "impact not resolved"
        assert "not today" in motion.message
        assert len(motion.segments) == 1
        assert motion.end_time == pytest.approx(0.98733, abs=1e-5)

    def test_force_that_blows_up_keeps_the_motion_so_far(self):
        # dv/dt = v^2 without bound at t = 1.
        system = PlanarSystem(
            [Body.point("ball", 1.0, joints=(RIGHT,))], [], inputs=lambda _t, _q, v: [v[0] ** 2]
        )
        motion = carom.simulate(system, [0.0], [1.0], 2.0, LAW)
        assert not motion.is_finished
        assert motion.parts
        assert motion.end_time == pytest.approx(1.0, abs=1e-3)
        # Nothing touches here: no contact is to blame.
        assert "contact" not in motion.message
        np.testing.assert_allclose(motion.v[:5, 0], 1.0 / (1.0 - motion.t[:5]), rtol=1e-8)

    def test_no_time_at_all(self):
        block = carom.scenes.load("rocking-block")
        motion = carom.simulate(block.system, block.q, block.v, 0.0, LAW)
        assert motion.status == "finished"
        assert [part.kind for part in motion.impacts] == ["collision"]
        assert motion.end_time == 0.0
        flight = carom.simulate(
            block.system, block.q + np.array([0.0, 1.0, 0.0]), block.v, 0.0, LAW
        )
        assert flight.status == "finished"
        np.testing.assert_array_equal(flight.at(t=0.0).v[0], block.v)


BLOCK = carom.scenes.load("rocking-block")


def simulate_block(**changes):
    arguments = {"q": BLOCK.q, "v": BLOCK.v, "duration": 1.0, "law": LAW, **changes}
    q, v, duration, law = (arguments.pop(name) for name in ("q", "v", "duration", "law"))
    return carom.simulate(BLOCK.system, q, v, duration, law, **arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": BLOCK.q - [0.0, 1e-3, 0.0]}, r"^q: .*penetration.*'A'.*-0.001 m; move it apart$"),
        ({"q": [0.0, 1.0]}, r"^q: expected 3 finite numbers, got shape \(2,\)$"),
        ({"q": [0.0, 1.0, math.nan]}, "^q: expected 3 finite numbers"),
        ({"q": np.zeros((1, 3))}, "^q: expected 3 finite numbers"),
        ({"v": [0.0, 1.0, 0.0, 0.0]}, "^v: expected 3 finite numbers"),
        ({"v": [0.0, math.inf, 0.0]}, "^v: expected 3 finite numbers"),
        ({"v": "fast"}, "^v: "),
        ({"duration": -1.0}, "^duration: expected a number >= 0, got -1.0"),
        ({"duration": math.nan}, "^duration: "),
        ({"duration": math.inf}, "^duration: "),
        ({"duration": "long"}, "^duration: "),
        ({"start_time": math.nan}, "^start_time: "),
        ({"method": "Euler"}, "^method: expected one of DOP853, RK45, Radau, BDF, got 'Euler'$"),
        ({"rtol": 0.0}, "^rtol: expected a number > 0, got 0.0$"),
        ({"atol": -1.0}, "^atol: "),
        ({"atol": "small"}, "^atol: "),
        ({"gap_tolerance": math.nan}, "^gap_tolerance: "),
        ({"rest_speed": 0.0}, "^rest_speed: "),
        ({"zeno_time": -1e-3}, "^zeno_time: "),
        ({"max_impacts": 0}, "^max_impacts: expected an integer >= 1, got 0$"),
        ({"max_steps": 1.5}, "^max_steps: "),
        ({"seed": -1}, "^seed: "),
        ({"seed": 1.5}, "^seed: "),
        ({"seed": 2**53}, "^seed: "),
    ],
)
def test_bad_arguments_are_refused_with_one_sentence(changes, message):
    with pytest.raises(carom.InvalidProblem, match=message) as caught:
        simulate_block(**changes)
    assert "\n" not in str(caught.value)


def test_an_impact_alone_is_no_system():
    with pytest.raises(carom.InvalidProblem, match=r"^system: expected.*got ImpactProblem"):
        carom.simulate(BLOCK.problem, BLOCK.q, BLOCK.v, 1.0, LAW)


def test_contacts_in_space_are_refused():
    class InSpace(RodOnCircle):
        def tangent_jacobian(self, q):
            return np.repeat(super().tangent_jacobian(q), 2, axis=1)

        def contact_bias(self, q, v):
            return np.zeros((2, 3))

    with pytest.raises(carom.InvalidProblem, match="expected planar contacts, got 2 tangents"):
        carom.simulate(InSpace(), [0, 1, 1, 0], np.zeros(3), 1.0, LAW)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (carom.Sequential(order=("A", "C")), "order: expected each of A, B"),
        (carom.RouthSingle(), "expected one planar contact, got 2"),
    ],
)
def test_law_that_does_not_suit_is_refused(law, message):
    with pytest.raises(carom.InvalidProblem, match=message):
        simulate_block(law=law)


def test_inputs_that_are_no_numbers_are_refused():
    ball = Body.point("ball", 1.0, joints=(RIGHT,))
    system = PlanarSystem([ball], [], inputs=lambda t, *_: [math.nan if t > 0.7 else 0.0])
    with pytest.raises(carom.InvalidProblem, match="inputs: expected 1 finite numbers"):
        carom.simulate(system, [0.0], [0.0], 2.0, LAW)


def test_given_arrays_stay_as_they_are():
    q, v = np.array(BLOCK.q), np.array(BLOCK.v)
    simulate_block(q=q, v=v, duration=0.05)
    np.testing.assert_array_equal(q, BLOCK.q)
    np.testing.assert_array_equal(v, BLOCK.v)


def test_parts_are_segments_and_impacts_in_turn():
    motion = simulate_block(duration=0.2)
    for before, after in pairwise(motion.parts):
        assert before.end == after.start
    assert {type(part) for part in motion.parts} <= {Segment, Impact}
