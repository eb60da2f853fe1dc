"""A rod that slides on its tip jams where no finite force keeps the tip on the floor.

With half length l the normal acceleration of a tip that slides to -x under the normal force F is
a_n = l w^2 sin - g + F (1 + 3 cos^2 - 3 mu sin cos) / m. The paradox needs the last factor and the
first two terms to be negative; with the first two positive the tip may fly or stay.
"""

import math

import numpy as np
import pytest

import carom
from carom.motion.parts import Impact

GRAVITY = 9.81
ANGLES = (0.9, math.atan(2.0), 1.3)
LAWS = {
    "sequential": carom.Sequential(),
    "single": carom.RouthSingle(),
    "routh": carom.Routh(num_samples=1),
    "exact": carom.RouthExact(),
}


def least_friction(angle):
    """Return the friction coefficient from which on friction presses the tip in."""
    c, s = math.cos(angle), math.sin(angle)
    return (1 + 3 * c**2) / (3 * s * c)


def moved(duration=1e-6, law=None, seed=0, **parameters):
    scene = carom.scenes.load("painleve-rod", **parameters)
    law = carom.RouthSingle() if law is None else law
    return carom.simulate(scene.system, scene.q, scene.v, duration, law, seed=seed)


def starts_with_an_impact(**parameters):
    motion = moved(duration=1e-10, **parameters)
    first = motion.parts[0]
    if isinstance(first, Impact):
        assert first.kind == "without collision"
        assert first.t == motion.start_time
        return True
    return False


def boundary(jams, low, high):
    """Return where `jams` changes, by bisection."""
    at_low = jams(low)
    assert jams(high) != at_low
    while high - low > 1e-7 * max(abs(low), abs(high)):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if jams(middle) == at_low else (low, middle)
    return 0.5 * (low + high)


@pytest.mark.parametrize("rate", [0.0, 1.5, -1.5])
@pytest.mark.parametrize("angle", ANGLES)
def test_rod_jams_from_the_least_friction_on(angle, rate):
    found = boundary(
        lambda mu: starts_with_an_impact(angle=angle, mu=mu, rate=rate),
        0.5 * least_friction(angle),
        2.0 * least_friction(angle),
    )
    assert found == pytest.approx(least_friction(angle), rel=1e-6)


@pytest.mark.parametrize("mu", [1.4, 2.0])
def test_rod_jams_between_two_angles(mu):
    # mu 3 sin cos = 1 + 3 cos^2 is a quadratic equation for the tangent.
    low, high = np.sort(np.arctan(np.roots([1.0, -3.0 * mu, 4.0])))
    middle = 0.5 * (low + high)
    for bound, outside in ((low, 0.5 * low), (high, 0.5 * (high + math.pi / 2))):
        ends = sorted((outside, middle))
        found = boundary(lambda angle: starts_with_an_impact(angle=angle, mu=mu), *ends)
        assert found == pytest.approx(bound, rel=1e-6)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rod_that_turns_fast_enough_may_fly(angle, sign):
    # With the negative sign the rod comes down while it flies, and flies for a moment only.
    length = 0.4
    bound = math.sqrt(GRAVITY / (length / 2 * math.sin(angle)))
    mu = 1.3 * least_friction(angle)
    found = boundary(
        lambda rate: starts_with_an_impact(angle=angle, mu=mu, rate=sign * rate, length=length),
        0.5 * bound,
        1.5 * bound,
    )
    assert found == pytest.approx(bound, rel=1e-6)


@pytest.mark.parametrize("excess", [1e-5, 1e-6, 3e-7, 1e-8])
def test_rod_that_may_fly_for_a_moment_only_jams_after_it(excess):
    angle = 1.3
    rate = -math.sqrt(GRAVITY / math.sin(angle)) * (1.0 + excess)
    motion = moved(duration=1e-4, angle=angle, mu=1.3 * least_friction(angle), rate=rate)
    assert motion.status == "finished", motion.message
    assert len(motion.impacts) == 1
    # l w^2 sin - g falls at the rate l w^3 cos; flight comes down after three times as long.
    moment = 2 * excess * GRAVITY / abs(rate**3 * math.cos(angle))
    assert motion.impacts[0].t <= 4.0 * moment + 1e-9


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_jammed_rod_sticks_with_less_energy(angle, rate):
    mu = 1.2 * least_friction(angle)
    motion = moved(duration=0.01, angle=angle, mu=mu, rate=rate)
    impact = motion.parts[0]
    assert impact.kind == "without collision"
    assert impact.contacts == ("A",)
    system, q = motion.system, motion.q[0]
    tip = [system.normal_jacobian(q)[0], system.tangent_jacobian(q)[0, 0]]
    np.testing.assert_allclose(tip @ impact.v_post, 0.0, atol=1e-9)
    assert impact.energy_lost > 0.0
    energies = [system.energy(q, v) for v in (impact.v_pre, impact.v_post)]
    np.testing.assert_allclose(impact.energy, energies, rtol=1e-12)
    # Until the slip ends friction is mu times the normal impulse; the tip then comes to rest while
    # it sticks. Both impulses follow from the change of velocity alone.
    change = system.mass_matrix(q) @ (impact.v_post - impact.v_pre)
    np.testing.assert_allclose(impact.impulse[-1, 0], [change[1], change[0]], atol=1e-12)
    assert motion.parts[1].modes == ("sticking",)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("share", [1 - 1e-6, 0.9, 0.5])
def test_rod_slides_on_with_less_friction(angle, share):
    mu = share * least_friction(angle)
    motion = moved(duration=1e-5, angle=angle, mu=mu)
    first = motion.segments[0]
    assert motion.parts[0] is first
    assert first.modes == ("sliding -",)
    assert first.num_solutions == 1
    # Force and slip at the start, in closed form.
    c, s = math.cos(angle), math.sin(angle)
    force = GRAVITY / (1 + 3 * c**2 - 3 * mu * s * c)
    rate = motion.at(t=0.0).rate[0, 0]
    np.testing.assert_allclose(rate, [force, mu * force], rtol=1e-7)


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("rate", [0.0, 2.0])
def test_laws_agree_on_one_contact(angle, rate):
    mu = 1.25 * least_friction(angle)
    ends = [
        moved(law=law, seed=3, angle=angle, mu=mu, rate=rate).impacts[0] for law in LAWS.values()
    ]
    for end in ends:
        np.testing.assert_allclose(end.v_post, ends[0].v_post, atol=1e-9)
        np.testing.assert_allclose(end.impulse[-1], ends[0].impulse[-1], atol=1e-9)


@pytest.mark.parametrize("angle", ANGLES)
def test_tip_flies_or_stays_where_both_solve_the_contact(angle):
    mu = 1.3 * least_friction(angle)
    rate = 1.2 * math.sqrt(GRAVITY / math.sin(angle))
    chosen = set()
    for seed in range(12):
        motion = moved(duration=1e-4, seed=seed, angle=angle, mu=mu, rate=rate)
        first = motion.parts[0]
        assert first.num_solutions == 2
        chosen.add(first.modes)
        again = moved(duration=1e-4, seed=seed, angle=angle, mu=mu, rate=rate)
        assert again.parts[0].modes == first.modes
        c, s = math.cos(angle), math.sin(angle)
        force = (GRAVITY - rate**2 * s) / (1 + 3 * c**2 - 3 * mu * s * c)
        assert force > 0.0
        expected = 0.0 if first.modes == ("free",) else force
        assert motion.at(t=0.0).rate[0, 0, 0] == pytest.approx(expected, rel=1e-7)
    assert chosen == {("free",), ("sliding -",)}


def check_motion(motion):
    """Assert that a motion lasts to its end, and that energy and the tip never rise or sink."""
    assert motion.status == "finished", motion.message
    energy = motion.energy
    assert (np.diff(energy) <= 1e-8 * np.abs(energy).max()).all()
    t = np.linspace(motion.start_time, motion.end_time, 200)
    gaps = [motion.system.gap(q)[0] for q in motion.at(t=t).q]
    assert min(gaps) >= -1e-9


@pytest.mark.parametrize("seed", range(10))
def test_rod_moves_on_from_any_start(seed):
    rng = np.random.default_rng(seed)
    check_motion(
        moved(
            duration=0.3,
            seed=seed,
            angle=rng.uniform(0.3, 2.5),
            mu=rng.uniform(0.0, 3.0),
            speed=rng.uniform(0.1, 10.0),
            rate=rng.uniform(-6.0, 6.0),
        )
    )


def test_slide_into_the_singular_point():
    # Friction turns the rod up to where both the factor of the force and l w^2 sin - g vanish, and
    # its force grows without bound on the way [Genot and Brogliato 1999].
    angle, mu, rate = 0.68085, 1.759135, 2.598159
    assert mu < least_friction(angle)
    assert rate**2 * math.sin(angle) < GRAVITY
    motion = moved(duration=0.02, angle=angle, mu=mu, rate=rate, speed=9.588)
    check_motion(motion)
    assert motion.segments[0].modes == ("sliding -",)
    *_, turn = motion.at(t=0.02).q[0]
    assert mu == pytest.approx(least_friction(turn), abs=0.02)
    # What comes after the point is not settled; the way to it is, and is kept.
    further = moved(duration=0.1, angle=angle, mu=mu, rate=rate, speed=9.588)
    assert further.status in ("finished", "forces without bound"), further.message
    assert further.segments[0].end == pytest.approx(0.0206, abs=1e-3)
    assert (np.diff(further.energy) <= 1e-8 * abs(further.energy[0])).all()
