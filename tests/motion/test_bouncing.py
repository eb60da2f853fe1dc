"""Judge bouncing by closed forms: balls, a dimer, a row of pendulums."""

import math

import numpy as np
import pytest

import carom
from carom.systems import (
    FLOOR,
    Body,
    Circle,
    Disc,
    DiscContact,
    PlanarSystem,
    PlaneContact,
    Prismatic,
    Revolute,
)
from tests.reference.motion_checks import check_motion
from tests.reference.reflect import Reflect

G, RADIUS = 9.81, 0.1
ROUTH = carom.Routh(num_samples=1)
CLOSE = 1e-9
"""Share of the whole time to which times of bounces agree with the closed form."""


def balls(*restitution, inputs=None):
    """Return balls that bounce beside each other on vertical rails."""
    rail = (Prismatic((0.0, 1.0)),)
    bodies = [Body.disc(f"ball {i}", RADIUS, 2.0, joints=rail) for i in range(len(restitution))]
    contacts = [
        PlaneContact(f"floor {i}", Disc(body.name, radius=RADIUS), FLOOR, 0.0, restitution=e)
        for i, (body, e) in enumerate(zip(bodies, restitution, strict=True))
    ]
    return PlanarSystem(bodies, contacts, inputs=inputs)


def bounces(e, height, count):
    """Return when a ball that falls from a height [m] hits, time by time, and when it rests."""
    fall = math.sqrt(2.0 * height / G)
    k = np.arange(count)
    return fall + 2.0 * fall * e * (1.0 - e**k) / (1.0 - e), fall * (1.0 + e) / (1.0 - e)


def no_inputs(*_):
    return [0.0]


@pytest.mark.parametrize("law", [Reflect(), ROUTH], ids=["reflect", "routh"])
@pytest.mark.parametrize("in_python", [False, True], ids=["compiled", "in Python"])
@pytest.mark.parametrize("e", [0.3, 0.5, 0.8, 0.9])
def test_dropped_ball_bounces_and_rests_when_the_closed_form_says(e, in_python, law):
    system = balls(e, inputs=no_inputs if in_python else None)
    end = bounces(e, 1.0, 1)[1]
    motion = carom.simulate(system, [1.0 + RADIUS], [0.0], end + 0.5, law)
    check_motion(motion)
    *collisions, last = motion.impacts
    assert last.kind == "accumulation"
    assert last.duration <= 1e-6
    assert {impact.kind for impact in collisions} == {"collision"}
    times, _ = bounces(e, 1.0, len(collisions))
    np.testing.assert_allclose([x.t for x in collisions], times, rtol=0.0, atol=CLOSE * end)
    assert last.end == pytest.approx(end, rel=CLOSE)
    # Each bounce keeps e^2 of the energy of motion, until all of it is gone.
    at_rest = 2.0 * G * RADIUS
    energy = np.array([impact.energy[1] for impact in collisions]) - at_rest
    expected = 2.0 * G * e ** (2.0 * np.arange(1, len(energy) + 1))
    np.testing.assert_allclose(energy, expected, atol=1e-9)
    # It rests, and the floor has taken all the momentum of its weight.
    assert motion.segments[-1].modes == ("closed",)
    final = motion.at(t=[end + 0.5])
    np.testing.assert_allclose(final.q, RADIUS, atol=1e-12)
    np.testing.assert_allclose(final.v, 0.0, atol=1e-12)
    assert motion.impulse[-1, 0, 0] == pytest.approx(2.0 * G * (end + 0.5), rel=CLOSE)


@pytest.mark.parametrize("e", [0.01, 0.1, 0.97, 0.99])
def test_first_and_last_bounces_of_dull_and_lively_balls(e):
    # A dull ball stops before eight bounces are seen; the last bounces of a lively one are lower
    # than rounding when more than `zeno_time` is left. Both come to rest some microseconds early.
    end = bounces(e, 1.0, 1)[1]
    motion = carom.simulate(balls(e), [1.0 + RADIUS], [0.0], end + 0.5, Reflect())
    assert motion.status == "finished"
    times, _ = bounces(e, 1.0, len(motion.impacts))
    np.testing.assert_allclose([x.t for x in motion.impacts], times, atol=1e-8 * max(end, 1.0))
    assert -5e-6 < motion.impacts[-1].t - end < 1e-8
    assert motion.segments[-1].modes == ("closed",)


def test_elastic_ball_comes_back_to_where_it_was():
    period = 2.0 * math.sqrt(2.0 / G)
    motion = carom.simulate(balls(1.0), [1.0 + RADIUS], [0.0], 10.0 * period, Reflect())
    assert len(motion.impacts) == 10
    at = period * np.arange(11)
    np.testing.assert_allclose(motion.at(t=at).q[:, 0], 1.0 + RADIUS, atol=1e-9)
    np.testing.assert_allclose(motion.energy, motion.energy[0], rtol=1e-9)


def test_balls_beside_each_other_bounce_as_if_alone():
    kinds = {0: (0.8, 1.0), 1: (0.6, 0.7), 2: (0.8, 0.4)}
    system = balls(*(e for e, _ in kinds.values()))
    q = [height + RADIUS for _, height in kinds.values()]
    motion = carom.simulate(system, q, [0.0] * 3, 6.0, Reflect())
    check_motion(motion)
    for i, (e, height) in kinds.items():
        gains = [np.diff(x.impulse[:, i, 0]).sum() for x in motion.impacts]
        hits = [
            x.t
            for x, gain in zip(motion.impacts, gains, strict=True)
            if x.kind == "collision" and gain > 0.0
        ]
        times, end = bounces(e, height, len(hits))
        np.testing.assert_allclose(hits, times, rtol=0.0, atol=CLOSE * end)
        # It rests from the end of its own bounces, while others still bounce.
        later = motion.at(t=[end + 1e-5, end + 0.1])
        np.testing.assert_allclose(later.q[:, i], RADIUS, atol=1e-12)
    assert motion.segments[-1].modes == ("closed",) * 3


def dimer(e, mu=0.0):
    """Return two point masses in balls at the ends of a rod of 1 m without mass."""
    ends = {"A": -0.5, "B": 0.5}
    outline = tuple(Circle((x, 0.0), RADIUS) for x in ends.values())
    rod = Body("dimer", mass=2.0, inertia=2.0 * 0.5**2, outline=outline)
    return PlanarSystem(
        [rod],
        [PlaneContact(k, Disc("dimer", (x, 0.0), RADIUS), FLOOR, mu, e) for k, x in ends.items()],
    )


def test_dimer_that_lands_flat_bounces_as_two_balls():
    # Flat, neither end moves the other: 1 / m - l^2 / I = 0.
    e = 0.8
    end = bounces(e, 1.0, 1)[1]
    motion = carom.simulate(dimer(e), [0.0, 1.0 + RADIUS, 0.0], [0.3, 0.0, 0.0], 5.0, Reflect())
    check_motion(motion)
    *collisions, last = motion.impacts
    times, _ = bounces(e, 1.0, len(collisions))
    np.testing.assert_allclose([x.t for x in collisions], times, rtol=0.0, atol=CLOSE * end)
    assert (last.kind, last.contacts) == ("accumulation", ("A", "B"))
    assert last.end == pytest.approx(end, rel=CLOSE)
    np.testing.assert_allclose(motion.at(t=[5.0]).q, [[1.5, RADIUS, 0.0]], atol=1e-9)
    np.testing.assert_allclose(motion.at(t=[5.0]).v, [[0.3, 0.0, 0.0]], atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tilted_dimer_returns_at_its_lower_end_and_comes_to_rest(seed):
    e, tilt = 0.8, 0.3
    q = [0.0, 1.0, tilt]
    motion = carom.simulate(dimer(e), q, [0.3, 0.0, 0.0], 8.0, Reflect(), seed=seed)
    check_motion(motion)
    first = motion.impacts[0]
    fall = math.sqrt(2.0 * (1.0 - 0.5 * math.sin(tilt) - RADIUS) / G)
    assert first.contacts == ("A",)
    assert first.t == pytest.approx(fall, rel=1e-9)
    # With u = y' - l cos(tilt) w, the impulse is (1 + e) |u| / (1 / m + (l cos)^2 / I).
    lever = 0.5 * math.cos(tilt)
    impulse = (1.0 + e) * G * fall / (1.0 / 2.0 + lever**2 / 0.5)
    expected = [0.3, -G * fall + impulse / 2.0, -lever * impulse / 0.5]
    np.testing.assert_allclose(first.v_post, expected, rtol=1e-9)
    assert motion.segments[-1].modes == ("closed", "closed")
    np.testing.assert_allclose(motion.at(t=[8.0]).q[:, 1:], [[RADIUS, 0.0]], atol=1e-9)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.5])
def test_dimer_with_friction_comes_to_rest(mu):
    motion = carom.simulate(dimer(0.8, mu), [0.0, 1.0, 0.3], [0.5, 0.0, 0.0], 8.0, ROUTH, seed=1)
    check_motion(motion, looks=3)
    assert motion.status == "finished"
    assert any(part.kind == "accumulation" for part in motion.impacts)
    assert motion.segments[-1].modes == ("sticking", "sticking")
    np.testing.assert_allclose(motion.at(t=[8.0]).q[:, 1:], [[RADIUS, 0.0]], atol=1e-9)
    np.testing.assert_allclose(motion.at(t=[8.0]).v, 0.0, atol=1e-9)


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.5])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("bouncing-block", {"speed": 2.06538, "rate": -4.13076}),
        ("bouncing-block", {"pitch": 0.2, "restitution": 0.5}),
        ("zeno-block", {"restitution": 0.5}),
    ],
    ids=["pivots", "pitched", "rocks"],
)
def test_block_with_friction_bounces_rocks_and_comes_to_rest(name, parameters, mu):
    scene = carom.scenes.load(name, mu=mu, **parameters)
    motion = carom.simulate(scene.system, scene.q, scene.v, 4.0, ROUTH, seed=3)
    check_motion(motion, looks=3)
    assert motion.status == "finished"
    assert motion.segments[-1].modes == ("sticking", "sticking")
    np.testing.assert_allclose(motion.at(t=[4.0]).v, 0.0, atol=1e-9)
    assert motion.at(t=[4.0]).q[0, 2] == pytest.approx(0.0, abs=1e-9)


def test_spinning_disc_rolls_in_the_end():
    # Impulses at the lowest point keep the moment of momentum about it, m (r x' - r^2 w / 2).
    disc = Body.disc("disc", RADIUS, 2.0)
    contact = PlaneContact("floor", Disc("disc", radius=RADIUS), FLOOR, mu=0.4, restitution=0.8)
    start = [1.0, 0.0, -20.0]
    motion = carom.simulate(
        PlanarSystem([disc], [contact]), [0.0, 1.0 + RADIUS, 0.0], start, 6.0, ROUTH
    )
    check_motion(motion, looks=3)
    assert motion.segments[-1].modes == ("sticking",)
    x, y, rate = motion.at(t=[6.0]).v[0]
    assert y == pytest.approx(0.0, abs=1e-9)
    assert x + RADIUS * rate == pytest.approx(0.0, abs=1e-9)
    kept = start[0] - 0.5 * RADIUS * start[2]
    assert x - 0.5 * RADIUS * rate == pytest.approx(kept, rel=1e-9)


def pendulums(e):
    """Return three equal balls on rods of 5 m that touch where they hang."""
    length, radius = 5.0, 0.5
    bodies = [
        Body(
            f"ball {i}",
            mass=1.0,
            inertia=0.4 * radius**2,
            placement=(2.0 * radius * i, length),
            joints=(Revolute(),),
            com=(0.0, -length),
            outline=(Circle((0.0, -length), radius),),
        )
        for i in range(3)
    ]
    discs = [Disc(body.name, (0.0, -length), radius) for body in bodies]
    contacts = [DiscContact(k, discs[i + 1], discs[i], 0.0, e) for i, k in enumerate("AB")]
    return PlanarSystem(bodies, contacts)


def test_elastic_newtons_cradle_swings_on_at_both_ends():
    motion = carom.simulate(pendulums(1.0), [-0.3, 0.0, 0.0], [0.0] * 3, 20.0, Reflect())
    check_motion(motion)
    assert motion.status == "finished"
    # One ball swings at a time, half a period each; the others hang.
    times = np.array([impact.t for impact in motion.impacts])
    assert len(times) >= 8
    np.testing.assert_allclose(np.diff(times), 2.0 * times[0], rtol=1e-8)
    np.testing.assert_allclose(motion.energy, motion.energy[0], rtol=1e-9)
    right = motion.at(t=2.0 * times[:1]).q[0]
    np.testing.assert_allclose(right, [0.0, 0.0, 0.3], atol=1e-8)


def test_newtons_cradle_that_loses_energy_swings_together_in_the_end():
    motion = carom.simulate(pendulums(0.6), [-0.3, 0.0, 0.0], [0.0] * 3, 40.0, Reflect())
    check_motion(motion)
    assert motion.status == "finished"
    rates = motion.at(t=[40.0]).v[0]
    assert np.ptp(rates) < 1e-3 * np.abs(motion.v).max()


def test_block_that_rocks_without_restitution_moves_as_before():
    # Restitution of zero is no restitution, to the last bit.
    scene = carom.scenes.load("zeno-block")
    same = carom.scenes.load("zeno-block", restitution=0.0)
    one, other = (
        carom.simulate(x.system, x.q, x.v, 3.0, carom.Sequential()) for x in (scene, same)
    )
    np.testing.assert_array_equal(one.v, other.v)
    np.testing.assert_array_equal(one.t, other.t)
    assert one.impacts[-1].kind == "accumulation"
