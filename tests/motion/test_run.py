"""Judge what happens next in a motion: impacts, rest, and every way to end."""

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


def corner_discs():
    """Return three discs between walls: 0 on 2, which rests in the left corner, 1 in the right."""
    radii, masses, mu, wall, angle = (0.34, 0.35, 0.26), (4.0, 0.65, 9.0), 0.2, 1.2, 0.9
    left, right = HalfPlane((-wall, 0.0), (1.0, 0.0)), HalfPlane((wall, 0.0), (-1.0, 0.0))
    discs = [Disc(f"{i}", radius=radius) for i, radius in enumerate(radii)]
    contacts = [
        PlaneContact(f"{name}{disc.body}", disc, plane, mu)
        for disc in discs
        for name, plane in (("floor", FLOOR), ("left", left), ("right", right))
    ]
    contacts += [
        DiscContact(f"{i}{j}", discs[i], discs[j], mu) for i, j in ((1, 0), (2, 0), (2, 1))
    ]
    bodies = [
        Body.disc(disc.body, disc.radius, mass) for disc, mass in zip(discs, masses, strict=True)
    ]
    lower = np.array([-wall + radii[2], radii[2]])
    upper = lower + (radii[0] + radii[2]) * np.array([math.cos(angle), math.sin(angle)])
    q = np.array([*upper, 0.0, wall - radii[1], radii[1], 0.0, *lower, 0.0])
    return PlanarSystem(bodies, contacts), q, np.array([0.0, 0.0, 0.27, *np.zeros(6)])


def test_discs_in_corners_move_on():
    # Inner forces at an edge of their cones would give way after a microsecond, again and again.
    system, q, v = corner_discs()
    motion = carom.simulate(system, q, v, 0.35, LAW, max_steps=200)
    assert motion.status == "finished", motion.message
    check_motion(motion, looks=3)
    # Disc 0 leaves disc 2 where its force vanishes: nothing else happens until then.
    first, second = motion.segments
    assert first.modes[system.contacts.index("20")] == "sliding +"
    assert second.modes[system.contacts.index("20")] == "free"
    assert motion.at(t=first.end - 1e-9).rate[0, system.contacts.index("20"), 0] < 1e-5


def shaken_point():
    """Return a point on a floor that is shaken to and fro a million times a second."""
    return PlanarSystem(
        [Body.point("point", 1.0)],
        [PlaneContact("A", Disc("point"), FLOOR, 0.5)],
        inputs=lambda t, *_: [1000.0 * math.sin(2e6 * math.pi * t), 0.0],
    )


@pytest.mark.parametrize(("zeno_time", "status"), [(1e-6, "stalled"), (1e-9, "finished")])
def test_a_motion_of_short_segments_stalls_unless_they_are_wanted(zeno_time, status):
    motion = carom.simulate(
        *(shaken_point(), np.zeros(2), np.zeros(2), 1e-4, LAW), max_step=1e-7, zeno_time=zeno_time
    )
    assert motion.status == status
    if status == "stalled":
        assert len(motion.segments) == 100
        assert "zeno_time" in motion.message
    else:
        assert len(motion.segments) == 200


def four_boxes():
    """Return four boxes side by side, 1 cm above the floor."""
    boxes = [Body.box(f"box {k}", 1.0, 1.0, 1.0) for k in range(4)]
    contacts = [
        PlaneContact(f"{name}{k}", Disc(box.name, point), FLOOR, 0.5)
        for k, box in enumerate(boxes)
        for name, point in zip("AB", box.outline[0].points[:2], strict=True)
    ]
    q = np.concatenate([[2.0 * k, 0.51, 0.0] for k in range(4)])
    return PlanarSystem(boxes, contacts), q


def test_sequences_of_eight_contacts_are_drawn():
    system, q = four_boxes()
    after = []
    for seed in (0, 0, 1):
        motion = carom.simulate(system, q, np.zeros(12), 0.046, LAW, seed=seed, max_impacts=1)
        check_motion(motion)
        assert motion.impacts[0].contacts == system.contacts
        after.append(motion.impacts[0].v_post)
    np.testing.assert_array_equal(after[0], after[1])
    assert (after[0] != after[2]).any()
    # Which corner of a box comes first is decided box by box: each may turn either way.
    turns = [
        carom.simulate(system, q, np.zeros(12), 0.046, LAW, seed=seed, max_impacts=1)
        .impacts[0]
        .v_post[2::3]
        for seed in range(8)
    ]
    assert (np.max(turns, axis=0) > 0.0).all()
    assert (np.min(turns, axis=0) < 0.0).all()


def test_law_that_refuses_a_later_impact_keeps_the_motion_so_far():
    class Picky(carom.ImpactLaw):
        def resolve(self, problem):
            if problem.num_contacts > 1:
                raise carom.InvalidProblem("contacts: expected one, got more")
            return LAW.resolve(problem)

    system = PlanarSystem(
        [Body.point("one", 1.0, joints=(UP,)), Body.point("two", 1.0, joints=(UP,))],
        [PlaneContact(name, Disc(name), FLOOR, 0.0) for name in ("one", "two")],
    )
    motion = carom.simulate(system, [0.1, 0.5], np.zeros(2), 1.0, Picky())
    assert motion.status == "impact not resolved"
    assert "contacts: expected one, got more" in motion.message
    assert [part.contacts for part in motion.impacts] == [("one",)]
    assert motion.end_time == pytest.approx(math.sqrt(2 * 0.5 / G), abs=1e-9)
    # Where nothing has moved yet it is the wrong law, and said at once.
    with pytest.raises(carom.InvalidProblem, match="expected one"):
        carom.simulate(system, np.zeros(2), [-1.0, -1.0], 1.0, Picky())


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


BOUNCING = ("newtons-cradle", "bouncing-block")
INELASTIC = tuple(name for name in carom.scenes.names() if name not in BOUNCING)


@pytest.mark.parametrize(
    ("law", "name"),
    [(LAW, name) for name in INELASTIC] + [(ONE_SAMPLE, name) for name in carom.scenes.names()],
)
def test_scenes_move_to_the_end_by_the_laws_of_contact(law, name):
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
