"""What Section 4 of the paper says of every motion [HalmPosa]."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carom
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact, Prismatic
from tests.reference.motion_checks import check_motion
from tests.reference.random_drops import drops

G = 9.81
LAWS = {
    "routh": carom.Routh(num_samples=1),
    "sequential": carom.Sequential(),
    "anitescu": carom.AnitescuPotra(),
}
FEW = settings(max_examples=max(15, settings.default.max_examples // 7))
"""100 examples of a test that is quick are worth some fifteen motions."""


def ball(mass=1.0, mu=0.0):
    """Return the paper's ball, which moves up and down only: q = z = gap."""
    body = Body.point("ball", mass, joints=(Prismatic((0.0, 1.0)),))
    return PlanarSystem([body], [PlaneContact("A", Disc("ball"), FLOOR, mu)])


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize(("height", "speed"), [(1.0, 0.0), (0.5, 2.0), (0.0, 3.0), (0.2, -1.0)])
def test_ball_flies_lands_and_stays(law, height, speed):
    mass = 1.3
    motion = carom.simulate(ball(mass), [height], [speed], 2.0, law)
    check_motion(motion)
    landing = (speed + math.sqrt(speed**2 + 2 * G * height)) / G
    (impact,) = motion.impacts
    assert impact.kind == "collision"
    assert impact.t == pytest.approx(landing, abs=1e-9)
    t = np.linspace(0.0, 2.0, 400)
    z = np.where(t < landing, height + speed * t - G * t**2 / 2, 0.0)
    states = motion.at(t=t)
    np.testing.assert_allclose(states.q[:, 0], z, atol=1e-9)
    rate = np.where(t < landing, speed - G * t, 0.0)
    np.testing.assert_allclose(states.v[:, 0], rate, atol=1e-8)
    force = np.where(t < landing, 0.0, mass * G)
    np.testing.assert_allclose(states.rate[:, 0, 0], force, atol=1e-7)
    # The impulse is the momentum, and s counts it.
    hit = math.sqrt(speed**2 + 2 * G * height)
    assert impact.impulse[-1, 0, 0] == pytest.approx(mass * hit, abs=1e-8)
    assert motion.s[-1] == pytest.approx(2.0 + mass * hit + mass * G * (2.0 - landing), abs=1e-7)


def test_phase_portrait_of_the_ball():
    motion = carom.simulate(ball(), [0.6], [1.0], 1.5, LAWS["sequential"])
    s = np.linspace(0.0, motion.s[-1], 2001)
    states = motion.at(s=s)
    z, rate = states.q[:, 0], states.v[:, 0]
    assert z.min() >= -1e-9
    # In flight energy is kept; in the impact the flow is vertical; at the end the ball rests.
    (impact,) = motion.impacts
    first = impact.t
    last = first + impact.impulse[-1, 0, 0]
    flight, hit, rest = s < first - 1e-9, (s > first) & (s < last), s > last + 1e-9
    np.testing.assert_allclose(rate[flight] ** 2 / 2 + G * z[flight], 0.5 + G * 0.6, rtol=1e-9)
    np.testing.assert_allclose(z[hit], 0.0, atol=1e-9)
    np.testing.assert_allclose(np.diff(rate[hit]) / np.diff(s[hit]), 1.0, rtol=1e-6)
    np.testing.assert_allclose(states.t[hit], first, atol=1e-9)
    np.testing.assert_allclose(rate[rest], 0.0, atol=1e-9)
    np.testing.assert_allclose(np.diff(states.t[rest]) / np.diff(s[rest]), 1 / (1 + G), rtol=1e-6)
    # Continuous in s, with slopes that the masses and forces bound.
    assert np.abs(np.diff(rate)).max() <= (G + 1.0) * (s[1] - s[0]) * 1.01


def test_friction_means_nothing_to_a_ball_that_cannot_slide():
    smooth = carom.simulate(ball(mu=0.0), [0.3], [0.0], 1.0, LAWS["sequential"])
    rough = carom.simulate(ball(mu=0.8), [0.3], [0.0], 1.0, LAWS["sequential"])
    check_motion(rough)
    np.testing.assert_allclose(rough.q[-1], smooth.q[-1], atol=1e-12)
    assert rough.impacts[0].t == pytest.approx(smooth.impacts[0].t, abs=1e-12)


def move(drop, law, seed, duration=0.6):
    return carom.simulate(
        drop.system, drop.q, drop.v, duration, LAWS[law], seed=seed, max_steps=4000, max_impacts=300
    )


@FEW
@given(drops(), st.sampled_from(sorted(LAWS)), st.integers(0, 100))
def test_everything_moves_by_the_laws_of_contact(drop, law, seed):
    motion = move(drop, law, seed)
    assert motion.status in ("finished", "impact limit", "step limit"), motion.message
    check_motion(motion, looks=3)


@FEW
@given(drops(most_bodies=1), st.sampled_from(sorted(LAWS)), st.integers(0, 100))
def test_same_seed_same_motion(drop, law, seed):
    one, other = (move(drop, law, seed, duration=0.3) for _ in range(2))
    assert (one.status, one.message) == (other.status, other.message)
    for first, second in zip(one.states, other.states, strict=True):
        np.testing.assert_array_equal(first, second)


@FEW
@given(drops(most_bodies=1), st.integers(0, 100))
def test_momentum_changes_by_weight_and_contact_impulses(drop, seed):
    motion = move(drop, "routh", seed)
    body = drop.system.bodies[0]
    impulse = np.zeros(2)
    for pair, (normal, tangent) in zip(drop.system.contact_pairs, motion.impulse[-1], strict=True):
        n = np.array(pair.plane.normal)
        impulse += normal * n + tangent * np.array([n[1], -n[0]])

    def momentum(q, v):
        turn = np.array([[math.cos(q[2]), -math.sin(q[2])], [math.sin(q[2]), math.cos(q[2])]])
        x, y = turn @ np.array(body.com)
        return body.mass * (v[:2] + v[2] * np.array([-y, x]))

    change = momentum(motion.q[-1], motion.v[-1]) - momentum(motion.q[0], motion.v[0])
    weight = np.array([0.0, -body.mass * G * (motion.end_time - motion.start_time)])
    size = 1.0 + np.abs(impulse).max()
    # An accumulation is a limit: what it sums up is not exact.
    np.testing.assert_allclose(change, weight + impulse, atol=2e-7 * size)
