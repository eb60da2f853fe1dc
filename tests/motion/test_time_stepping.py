"""Time steps against closed forms, with errors that fall with the step, and what always holds."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carom
from carom.systems import PD, Box, ControlledSystem, Cylinder, HalfSpace, SpatialBody, Sphere
from carom.systems.quaternions import rotation, turn

G = 9.81
LAW = carom.Routh()
STEP = 1e-3
UPRIGHT = [1.0, 0.0, 0.0, 0.0]
REST = [0.0] * 6
GAP = -1e-6
ENERGY = 1e-10
"""Share of the energy at the start by which it may seem to rise in a step."""


def incline(degrees):
    angle = math.radians(degrees)
    return HalfSpace(normal=(math.sin(angle), 0.0, math.cos(angle)))


def moved(system, q, v, duration, step=STEP, **options):
    motion = carom.simulate(system, q, v, duration, LAW, time_step=step, **options)
    assert motion.is_finished, motion.message
    return motion


def check(motion, energy=True):
    """Assert what holds of every motion in time steps."""
    system, mu = motion.system, motion.system.mu
    assert min(system.gap(q).min() for q in motion.q) >= GAP
    # Within steps gaps are as far off as a step bends: h^2 / 8 of their acceleration.
    between, long = motion.at(t=0.5 * (motion.t[1:] + motion.t[:-1])), np.diff(motion.t).max()
    states = zip(motion.q, motion.v, strict=True)
    bends = max(np.abs(system.contact_bias(q, v)[:, 0]).max() for q, v in states)
    assert min(system.gap(q / scale(q)).min() for q in between.q) >= GAP - long**2 / 8.0 * bends
    added = np.diff(motion.impulse, axis=0)
    size = added[..., 0].max(initial=1e-300)
    assert added[..., 0].min(initial=0.0) >= -1e-12 * size
    friction = np.linalg.norm(added[..., 1:], axis=2)
    assert (friction - mu * added[..., 0]).max(initial=0.0) <= 1e-9 * size
    if energy:
        total = motion.energy
        assert np.diff(total).max(initial=0.0) <= ENERGY * abs(total[0])


def scale(q):
    """Return what a configuration between two knots has to be divided by."""
    return np.concatenate([np.ones(3), np.full(4, np.linalg.norm(q[3:]))])


def test_a_ball_drops_and_rests():
    ball = SpatialBody(Sphere(0.1), 2.0, mu=0.3)
    motion = moved(ball, [0.0, 0.0, 0.6, *UPRIGHT], REST, 1.0)
    check(motion)
    (impact,) = motion.impacts
    assert abs(impact.t - math.sqrt(2.0 * 0.5 / G)) <= 1e-9
    np.testing.assert_allclose(motion.q[-1], [0.0, 0.0, 0.1, *UPRIGHT], atol=1e-9)
    # All of the weight is carried from then on.
    weight = np.diff(motion.impulse[-2:, 0, 0]) / np.diff(motion.t[-2:])
    np.testing.assert_allclose(weight, 2.0 * G, rtol=1e-9)


def test_a_ball_bounces_to_rest():
    ball = SpatialBody(Sphere(0.1), 2.0, mu=0.3, restitution=0.6)
    motion = moved(ball, [0.0, 0.0, 0.6, *UPRIGHT], REST, 2.5)
    check(motion)
    fall = math.sqrt(2.0 * 0.5 / G)
    times = [fall * (1.0 + 2.0 * sum(0.6**i for i in range(1, k + 1))) for k in range(8)]
    np.testing.assert_allclose([impact.t for impact in motion.impacts[:8]], times, atol=1e-8)
    # Infinitely many bounces are over after t (1 + e) / (1 - e).
    assert abs(motion.impacts[-1].t - fall * 1.6 / 0.4) <= 10.0 * STEP
    assert np.abs(motion.v[-1]).max() <= 1e-12


def test_a_ball_slides_until_it_rolls():
    ball = SpatialBody(Sphere(0.1), 2.0, mu=0.3)
    motion = moved(ball, [0.0, 0.0, 0.1, *UPRIGHT], [1.0, 0.5, 0.0, 0.0, 0.0, 0.0], 1.0)
    check(motion)
    np.testing.assert_allclose(motion.v[-1, :2], np.array([1.0, 0.5]) * 5.0 / 7.0, atol=1e-9)
    rolls = 2.0 * math.hypot(1.0, 0.5) / (7.0 * 0.3 * G)
    sticks = next(part for part in motion.segments if part.modes == ("sticking",))
    assert abs(sticks.start - rolls) <= STEP


@pytest.mark.parametrize(("mu", "share"), [(0.1, None), (0.6, 5.0 / 7.0)])
def test_a_ball_on_an_incline(mu, share):
    slope = math.radians(30.0)
    ball = SpatialBody(Sphere(0.1), 2.0, mu=mu, planes={"slope": incline(30.0)})
    start = 0.1 * incline(30.0).normal
    motion = moved(ball, [*start, *UPRIGHT], REST, 0.5)
    check(motion)
    pull = G * math.sin(slope)
    expected = pull - mu * G * math.cos(slope) if share is None else share * pull
    assert abs(np.linalg.norm(motion.v[-1, :3]) - 0.5 * expected) <= 1e-9
    assert abs(np.linalg.norm(motion.q[-1, :3] - start) - 0.125 * expected) <= 1e-9


@pytest.mark.parametrize(("mu", "slides"), [(0.3, True), (0.7, False)])
def test_a_box_on_an_incline(mu, slides):
    slope = math.radians(30.0)
    plane = incline(30.0)
    box = SpatialBody(Box([0.4, 0.3, 0.1]), 3.0, mu=mu, planes={"slope": plane})
    start = [*(0.05 * plane.normal), *turn([0.0, slope, 0.0])]
    motion = moved(box, start, REST, 0.5)
    check(motion)
    expected = G * (math.sin(slope) - mu * math.cos(slope)) if slides else 0.0
    assert abs(np.linalg.norm(motion.v[-1, :3]) - 0.5 * expected) <= 1e-8
    assert np.abs(motion.v[-1, 3:]).max() <= 1e-8


def test_a_cylinder_rolls_down_an_incline():
    plane = incline(20.0)
    can = SpatialBody(Cylinder(0.1, 0.3), 2.0, mu=0.5, planes={"slope": plane})
    lying = turn([math.pi / 2.0, 0.0, 0.0])
    motion = moved(can, [*(0.1 * plane.normal), *lying], REST, 0.5)
    check(motion)
    expected = 2.0 / 3.0 * G * math.sin(math.radians(20.0)) * 0.5
    assert abs(np.linalg.norm(motion.v[-1, :3]) - expected) <= 1e-6


def test_a_disc_that_lies_flat_spins_down():
    # All of its weight is on the rim: 1/2 m r^2 dω/dt = -μ m g r.
    disc = SpatialBody(Cylinder(0.2, 0.02, num_fixed=4), 1.5, mu=0.2)
    motion = moved(disc, [0.0, 0.0, 0.01, *UPRIGHT], [0.0, 0.0, 0.0, 0.0, 0.0, 6.0], 0.5)
    check(motion)
    slowing = 2.0 * 0.2 * G / 0.2
    states = motion.at(t=[0.1, 0.2, 0.3])
    np.testing.assert_allclose(states.v[:, 5], 6.0 - slowing * states.t, atol=1e-6)
    stops = next(part for part in motion.segments if "sliding" not in part.modes)
    assert abs(stops.start - 6.0 / slowing) <= STEP
    assert np.abs(motion.v[-1]).max() <= 1e-12


def precession_error(step):
    """Return by how much Euler's disc leaves its steady motion, which has a closed form."""
    radius, tilt, mass = 0.1, math.radians(30.0), 1.0
    inertia = mass * radius**2 * np.array([0.25, 0.25, 0.5])
    coin = SpatialBody(Cylinder(radius, 1e-9), mass, mu=1.0, inertia=inertia)
    rate = math.sqrt(4.0 * G / (radius * math.sin(tilt)))
    # It turns about the diameter through its lowest point, which is at rest as its centre is.
    attitude = turn([0.0, tilt, 0.0])
    start = [0.0, 0.0, radius * math.sin(tilt), *attitude]
    speed = -rate * math.sin(tilt)
    motion = moved(coin, start, [0.0, 0.0, 0.0, speed, 0.0, 0.0], 0.2, step)
    check(motion)
    axes = np.array([rotation(q[3:])[:, 2] for q in motion.q])
    angle = np.unwrap(np.arctan2(axes[:, 1], axes[:, 0]))
    turned = abs(angle[-1] - angle[0]) / (rate * 0.2)
    return max(np.abs(motion.q[:, 2] / start[2] - 1.0).max(), abs(turned - 1.0))


def test_a_coin_whirls_as_eulers_disc():
    coarse, fine = precession_error(1e-3), precession_error(2.5e-4)
    assert 3.5 <= coarse / fine <= 4.5
    assert fine <= 6e-3


def curved_slip(step):
    """Return where a box ends that slides and spins, so that its slip turns."""
    box = SpatialBody(Box([0.5, 0.3, 0.2]), 3.0, mu=0.3)
    v = [1.0, 0.4, 0.0, 0.0, 0.0, 5.0]
    return moved(box, [0.0, 0.0, 0.1, *UPRIGHT], v, 0.3, step).q[-1]


def test_errors_fall_with_the_step():
    best = curved_slip(1e-4)
    steps = (8e-3, 4e-3, 2e-3)
    errors = [np.abs(curved_slip(step) - best).max() for step in steps]
    for coarse, fine in itertools.pairwise(errors):
        assert coarse / fine >= 1.6
    assert errors[-1] <= 2e-3


def test_planar_motion_agrees_with_events():
    scene = carom.scenes.load("zeno-block")
    law = carom.Sequential()
    exact = carom.simulate(scene.system, scene.q, scene.v, 3.0, law)
    errors = []
    for step in (2e-3, 5e-4):
        motion = carom.simulate(scene.system, scene.q, scene.v, 3.0, law, time_step=step)
        assert motion.is_finished
        assert motion.layout == exact.layout
        first = [impact.t for impact in motion.impacts[:6]]
        times = [impact.t for impact in exact.impacts[:6]]
        errors.append(np.abs(np.array(first) - times).max())
        # Infinitely many impacts, and then rest.
        assert np.abs(motion.v[-1]).max() <= 1e-12
    assert errors[1] <= 0.35 * errors[0]
    assert errors[1] <= 2e-3


def test_motion_in_space_agrees_with_events():
    # A box tumbles and lands on a corner, where the law draws the same in both.
    box = SpatialBody(Box([0.4, 0.25, 0.3]), 2.0, mu=0.3)
    q, v = [0.0, 0.0, 0.5, *turn([0.6, 0.4, 0.2])], [0.3, 0.1, 0.0, 1.0, 2.0, 3.0]
    given = box, q, v, 0.26, LAW
    exact = carom.simulate(*given, seed=1)
    assert len(exact.impacts) == 1
    assert exact.end_time - exact.impacts[0].t >= 5e-3
    errors = []
    for step in (2e-3, 2.5e-4):
        motion = carom.simulate(*given, seed=1, time_step=step)
        assert abs(motion.impacts[0].t - exact.impacts[0].t) <= 1e-4 * step
        errors.append(np.abs(motion.v[-1] - exact.v[-1]).max())
    assert errors[1] <= 0.25 * errors[0]
    assert errors[1] <= 1e-5


@st.composite
def throws(draw):
    """Draw a box over a floor and beside a wall, and how it is thrown."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    planes = {"floor": HalfSpace(), "wall": HalfSpace((0.7, 0.0, 0.0), (-1.0, 0.0, 0.2))}
    mu, bounce = rng.uniform(0.0, 1.2), float(rng.choice([0.0, 0.0, 0.5]))
    sides = rng.uniform(0.1, 0.5, 3)
    box = SpatialBody(Box(sides), rng.uniform(0.5, 5.0), mu=mu, planes=planes, restitution=bounce)
    attitude = rng.normal(size=4)
    attitude /= np.linalg.norm(attitude)
    q = np.concatenate([[0.0, 0.0, rng.uniform(0.45, 0.7)], attitude])
    return box, q, rng.normal(size=6) * [1.0, 1.0, 1.0, 4.0, 4.0, 4.0]


@settings(max_examples=12, deadline=None)
@given(throws(), st.sampled_from([1e-3, 3e-3]))
def test_no_throw_breaks_the_laws(throw, step):
    box, q, v = throw
    check(moved(box, q, v, 1.0, step))


def test_a_box_that_lands_flat_fans_out():
    box = SpatialBody(Box([0.4, 0.25, 0.3]), 10.0, mu=0.6)
    q, v = [0.0, 0.0, 0.35, *UPRIGHT], [0.3, 0.1, 0.0, 0.0, 0.0, 0.0]
    options = {"seed": 1, "time_step": STEP}
    motions = carom.simulate_many(box, q, v, 0.5, LAW, 6, num_processes=1, **options)
    lands = math.sqrt(2.0 * 0.2 / G)
    assert {round(motion.impacts[0].t, 9) for motion in motions.trajectories} == {round(lands, 9)}
    for motion in motions.trajectories:
        assert len(motion.impacts[0].contacts) == 4
        check(motion)
    spread = motions.spread([lands - 0.01, lands + 0.1])
    assert spread[0].max() <= 1e-12
    assert spread[1].max() >= 3e-3


def test_processes_change_no_bit():
    box = SpatialBody(Box([0.4, 0.25, 0.3]), 10.0, mu=0.6)
    q, v = [0.0, 0.0, 0.25, *UPRIGHT], [0.3, 0.1, 0.0, 1.0, 0.0, 0.0]
    one, two = (
        carom.simulate_many(box, q, v, 0.3, LAW, 3, num_processes=n, time_step=STEP) for n in (1, 2)
    )
    for first, second in zip(one.trajectories, two.trajectories, strict=True):
        np.testing.assert_array_equal(first.q, second.q)
        np.testing.assert_array_equal(first.impulse, second.impulse)


def test_large_gains_need_no_small_step():
    # A ball is held in the air by a spring and damper far stiffer than a step can follow.
    ball = SpatialBody(Sphere(0.1), 2.0, mu=0.3)
    hold = PD([0, 1, 2], [0, 1, 2], [0.2, 0.0, 0.6], stiffness=1e7, damping=1e5)
    motion = moved(ControlledSystem(ball, hold), [0.0, 0.0, 0.5, *UPRIGHT], REST, 0.5, 5e-3)
    sag = 2.0 * G / 1e7
    np.testing.assert_allclose(motion.q[-1, :3], [0.2, 0.0, 0.6 - sag], atol=1e-7)


def test_inputs_give_what_energy_they_give():
    # A ball is driven down onto the ground, lifted, and pushed, by forces of time.
    ball = SpatialBody(Sphere(0.1), 2.0, mu=0.5)

    def inputs(t, *_):
        return [4.0 * math.sin(9.0 * t), 1.0, 30.0 * math.sin(5.0 * t), 0.0, 0.0, 0.0]

    motion = moved(ControlledSystem(ball, inputs), [0.0, 0.0, 0.3, *UPRIGHT], REST, 2.0)
    check(motion, energy=False)
    work = np.zeros(len(motion.t))
    for k in range(1, len(work)):
        way = motion.q[k, :3] - motion.q[k - 1, :3]
        work[k] = work[k - 1] + np.array(inputs(motion.t[k - 1])[:3]) @ way
    gained = motion.energy - work
    # Inputs of rolling bodies act on their centres alone; corrections of gaps are below 1e-6 m.
    assert np.diff(gained).max() <= 1e-8


def test_steps_are_checked():
    ball = SpatialBody(Sphere(0.1), 2.0, mu=0.3)
    with pytest.raises(carom.InvalidOption, match="time_step"):
        carom.simulate(ball, [0.0, 0.0, 0.6, *UPRIGHT], REST, 1.0, LAW, time_step=0.0)
    with pytest.raises(carom.InvalidProblem, match="no penetration"):
        moved(ball, [0.0, 0.0, 0.05, *UPRIGHT], REST, 1.0)


def test_limits_end_a_motion_in_words():
    ball = SpatialBody(Sphere(0.1), 2.0, mu=0.3, restitution=0.9)
    given = ball, [0.0, 0.0, 0.3, *UPRIGHT], REST, 5.0, LAW
    assert carom.simulate(*given, time_step=STEP, max_impacts=3).status == "impact limit"
    stopped = carom.simulate(*given, time_step=STEP, max_steps=100)
    assert stopped.status == "step limit"
    assert abs(stopped.end_time - 0.1) <= 1e-12


def test_a_motion_of_no_duration():
    ball = SpatialBody(Sphere(0.1), 2.0, mu=0.3)
    motion = moved(ball, [0.0, 0.0, 0.3, *UPRIGHT], REST, 0.0)
    assert motion.end_time == 0.0


def test_files_keep_motions_in_steps(tmp_path):
    box = SpatialBody(Box([0.4, 0.25, 0.3]), 10.0, mu=0.6)
    motion = moved(box, [0.0, 0.0, 0.25, *UPRIGHT], [0.3, 0.1, 0.0, 1.0, 0.0, 0.0], 0.3)
    motion.save(tmp_path / "motion.npz")
    again = carom.load(tmp_path / "motion.npz")
    np.testing.assert_array_equal(again.q, motion.q)
    np.testing.assert_array_equal(again.impulse, motion.impulse)
