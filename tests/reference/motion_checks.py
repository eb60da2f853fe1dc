"""Judge a motion by the laws of contact alone [HalmPosa, Section 4], whoever made it.

Nothing is taken on trust but what a trajectory says of itself: states and impulses. Between impacts
Newton's law, Signorini's conditions and Coulomb's friction must hold at every moment; in impacts
velocities must follow from the impulses, those lie in the friction cones, and nothing approaches
afterwards.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from carom.motion.parts import Impact, Segment
from carom.motion.trajectory import Trajectory

GAP = 1e-9
"""Depth to which bodies may seem to penetrate [m]."""

ENERGY = 1e-8
"""Share of the energies at hand by which energy may seem to rise."""

APART = 1e-7
"""Gap from which on a contact cannot have a force [m]."""

HOP = 1e-6
"""Share of the velocities by which they may jump between parts of a motion."""

KNOWN = 1e-9
"""Accuracy of slip in space, from which its direction follows, as a share of velocities and 1."""

SLIDING = 1e-6
"""Slip from which on friction must be full and against it [m/s]."""


def check_motion(
    motion: Trajectory,
    *,
    looks: int = 5,
    forces: float = 1e-6,
    has_inputs: bool = False,
    speed: float = 1e-7,
) -> None:
    """Assert that a motion obeys the laws of contact.

    Args:
        motion: The motion.
        looks: Moments of each step of the integrator that are looked at.
        forces: Share of the forces at hand by which conditions on forces may fail.
        has_inputs: Whether inputs do work, so that energy may rise.
        speed: Speed by which contacts may approach after an impact [m/s].
    """
    _check_clocks(motion)
    _check_joints(motion)
    size = _energy_size(motion)
    energies: list[float] = []
    for part in motion.parts:
        if isinstance(part, Segment):
            energies += _check_segment(motion, part, looks, forces)
        else:
            found = _check_impact(motion, part, speed)
            np.testing.assert_allclose(part.energy, [found[0], found[-1]], atol=1e-9 * size)
            energies += found
    if not has_inputs:
        rise = float((np.array(energies) - np.minimum.accumulate(energies)).max(initial=0.0))
        assert rise <= ENERGY * size, f"energy rises by {rise:.3g} of {size:.3g} J"


def _energy_size(motion: Trajectory) -> float:
    """Return the most of kinetic energy, the range of potential energy, and a fall by 10 cm."""
    system = motion.require_system()
    weight = np.abs(system.dynamics(motion.q[0], motion.v[0], motion.t[0]).force).max()
    potential = np.array([system.potential_energy(q) for q in motion.q])
    total = motion.energy
    return float(np.abs(total - potential).max() + np.ptp(potential) + 0.1 * weight)


def _check_clocks(motion: Trajectory) -> None:
    t, s = motion.t, motion.s
    assert (np.diff(t) >= 0.0).all(), "time goes back"
    assert (np.diff(s) >= -1e-12 * max(1.0, s[-1])).all(), "s goes back"
    expected = t - t[0] + motion.impulse[:, :, 0].sum(axis=1)
    np.testing.assert_allclose(s, expected, atol=1e-12 * max(1.0, abs(s[-1])))


def _check_joints(motion: Trajectory) -> None:
    """Assert that parts fit together."""
    rows = [_ends(motion, part) for part in motion.parts]
    for before, after in pairwise(rows):
        assert before[1][0] == after[0][0], "a gap in time"
        for old, new, what in zip(before[1][1:], after[0][1:], "qvp", strict=True):
            size = 1.0 + np.abs(old).max(initial=0.0)
            error = np.abs(new - old).max(initial=0.0)
            # A hop that is too low to be seen is left out, with its velocity.
            slack = HOP if what == "v" else 1e-7
            assert error <= slack * size, f"{what} jumps by {error:.3g} at t = {before[1][0]:g}"


def _ends(motion: Trajectory, part: Segment | Impact) -> list[tuple[float, ...]]:
    if isinstance(part, Impact):
        return [
            (part.start, part.q[0], part.v[0], part.impulse[0]),
            (part.end, part.q[-1], part.v[-1], part.impulse[-1]),
        ]
    values = part.values(np.array([part.start, part.end]))
    q, v, impulse = motion.layout.unpack(values)
    return [(part.start, q[0], v[0], impulse[0]), (part.end, q[-1], v[-1], impulse[-1])]


def _check_segment(motion: Trajectory, part: Segment, looks: int, slack: float) -> list[float]:
    system = motion.require_system()
    mu = system.mu
    shares = (np.arange(looks) + 0.5) / looks
    energies = []
    for left, right in pairwise(part.knots):
        assert right > left, "a step without duration"
        t = left + (right - left) * shares
        values, slopes = part.values(t), part.values(t, derivative=True)
        for k in range(looks):
            q, v, impulse = motion.layout.unpack(values[k])
            dq, dv, rate = motion.layout.unpack(slopes[k])
            here = system.dynamics(q, v, float(t[k]))
            at = f"at t = {t[k]:.9g}"
            depth = here.phi.min(initial=0.0)
            assert depth >= -GAP, f"a gap of {depth:.3g} m {at}"
            pull = here.J_n.T @ rate[:, 0] + np.einsum("mtn,mt->n", here.J_t, rate[:, 1:])
            size = 1.0 + np.abs(here.force).max() + np.abs(rate).max(initial=0.0)
            # Polynomials of short steps differentiate rounding.
            error = slack * size + 1e-13 * (1.0 + np.abs(v).max()) / (right - left)
            if here.J_t.shape[1] == 2:
                # Impulses are sums since the start of the motion, with the digits of sums.
                error += 1e-14 * np.abs(impulse).max(initial=0.0) / (right - left)
            newton = np.abs(here.M @ dv - here.force - pull).max()
            scale = max(1.0, np.abs(here.M).max())
            assert newton <= error * scale, f"Newton's law fails by {newton:.3g} N {at}"
            still = np.abs(dq - system.velocity_map(q) @ v).max()
            assert still <= 1e-7 * (1.0 + np.abs(v).max()) + 1e-13 / (right - left), at
            normal, tangent = rate[:, 0], rate[:, 1:]
            assert normal.min(initial=0.0) >= -error, f"a contact pulls {at}: {normal}"
            slip = here.J_t @ v
            speed = np.linalg.norm(slip, axis=1)
            # In space slip has a direction, which is known as well as its velocity is.
            known = KNOWN * (1.0 + np.abs(v).max()) * (np.array(part.modes) == "sliding")
            turned = known * mu * normal / np.maximum(speed, KNOWN)
            outside = (np.linalg.norm(tangent, axis=1) - mu * normal - turned).max(initial=-1.0)
            assert outside <= error * (1.0 + mu.max(initial=0.0)), f"outside the cone {at}"
            apart = here.phi > APART
            assert np.abs(rate[apart]).max(initial=0.0) <= error, f"a force at a distance {at}"
            slides = speed > SLIDING
            along = slip / np.where(slides, speed, 1.0)[:, None]
            against = tangent + (mu * normal)[:, None] * along
            drag = (np.linalg.norm(against, axis=1) - turned)[slides].max(initial=0.0)
            assert drag <= error * (1.0 + mu.max(initial=0.0)), f"friction is not full {at}"
            energies.append(system.energy(q, v))
    return energies


def _check_impact(motion: Trajectory, part: Impact, speed: float) -> list[float]:
    system = motion.require_system()
    mu = system.mu
    q = part.q[0]
    here = system.dynamics(q, part.v[0], part.t)
    at = f"in the impact at t = {part.t:.9g}"
    assert here.phi.min() >= -GAP, f"penetration {at}"
    steps = np.diff(part.impulse, axis=0)
    # Impulses are sums since the start of the motion: the 1e-15th of them is rounding.
    rounding = 1e-6 * np.abs(part.impulse).max(initial=0.0)
    size = np.abs(steps).max(initial=0.0) + np.abs(part.v).max() + rounding
    assert steps[:, :, 0].min(initial=0.0) >= -1e-9 * size, f"a contact pulls {at}"
    touching = [motion.contacts.index(name) for name in part.contacts]
    others = np.setdiff1d(np.arange(len(mu)), touching)
    assert not steps[:, others].any(), f"an impulse at a distance {at}"
    outside = np.linalg.norm(steps[:, :, 1:], axis=2) - mu * steps[:, :, 0]
    assert outside.max(initial=-1.0) <= 1e-8 * size * (1.0 + mu.max()), f"outside the cone {at}"
    energies = [system.energy(q, v) for v in part.v]
    if part.kind == "accumulation":
        assert part.duration > 0.0
        energies = [energies[0], system.energy(part.q[-1], part.v[-1])]
    else:
        if system.restitution[touching].any():
            # What contacts store on the way they return: only the ends can be compared.
            energies = [energies[0], energies[-1]]
        assert part.duration == 0.0
        np.testing.assert_array_equal(part.q[0], part.q[1])
        total = part.impulse[-1] - part.impulse[0]
        pull = here.J_n.T @ total[:, 0] + np.einsum("mtn,mt->n", here.J_t, total[:, 1:])
        newton = np.abs(here.M @ (part.v[-1] - part.v[0]) - pull).max()
        slack = 1e-9 * (np.abs(here.M).max() * size + size)
        assert newton <= slack, f"Newton's law {at}"
    end = system.dynamics(part.q[-1], part.v[-1], part.end)
    close = end.phi <= GAP
    approach = (end.J_n @ part.v[-1])[close].min(initial=0.0)
    assert approach >= -speed * (1.0 + np.abs(part.v).max()), f"still approaching {at}: {approach}"
    return energies
