"""Modes of contacts in space with which a motion can go on.

Up to four contacts that move each other have all choices of modes tried. For more there are too
many, and a complementarity problem over round cones is solved instead, from several starts: it
finds a choice of modes if there is one that sweeps lead to, not all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from carom.kernels.cones import solve_cones
from carom.motion.spatial_law import SLIDING, SpatialLaw
from carom.motion.sustained import FREE, HOLDS, SMOOTH, STICKING, Sustained
from carom.systems.system import Dynamics
from carom.typing import BoolArray, FloatArray, IntArray

MOST_CHOICES = 81
"""Maximum number of choices that are all tried: those of four contacts at rest."""
MOST_TURNS = 30
"""Maximum number of Newton's steps for directions of slip that begins."""
LONGEST_TURN = 0.5
"""Longest of them [rad]."""
AIMED = 1e-12
"""Share of its acceleration by which slip that begins may leave its aim."""
TURN = 1e-7
"""Difference of angles by which derivatives are found [rad]."""
HOVERS = 1e-7
"""A free contact that parts with less than this share of its unit might as well be closed."""
MOST_REPAIRS = 40
"""Maximum number of changes of modes that lead from a cone problem to modes that hold."""

Choice = tuple[SpatialLaw, Sustained]


def rest_and_slip(
    here: Dynamics, v: FloatArray, near: BoolArray, rest_speed: float, still: float
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the near contacts that do not part, normal velocities (m,) and slip directions (m, 2).

    Directions are zero where there is no slip.
    """
    speed = here.J_n @ v
    terms = np.abs(here.J_n) @ np.abs(v)
    rests = speed <= np.maximum(rest_speed, still * terms)
    slip, least = slip_and_rest(here, v, rest_speed, still)
    size = np.hypot(slip[:, 0], slip[:, 1])
    slides = size > least
    directions = np.where(slides[:, None], slip / np.where(slides, size, 1.0)[:, None], 0.0)
    return np.flatnonzero(near & rests), speed, directions


def slip_and_rest(
    here: Dynamics, v: FloatArray, rest_speed: float, still: float
) -> tuple[FloatArray, FloatArray]:
    """Return slip (m, 2), and the slip (m,) that counts as rest [m/s]."""
    terms = np.abs(here.J_t) @ np.abs(v)
    return here.J_t @ v, np.maximum(rest_speed, still * np.hypot(terms[:, 0], terms[:, 1]))


def solutions(
    here: Dynamics, v: FloatArray, mu: FloatArray, touching: IntArray, slip: FloatArray
) -> Iterator[Choice]:
    """Yield choices of modes whose conditions hold, but for those that lift a contact for nothing.

    All contacts that do not touch are free.
    """
    options = [_options(here, mu, slip, int(i)) for i in touching]
    blank = np.zeros(len(mu), np.int64)
    if math.prod(map(len, options)) <= MOST_CHOICES:
        found = [
            each
            for chosen in product(*options)
            for each in _held(here, v, _law(blank, mu, touching, slip, chosen))
        ]
    else:
        found = _by_cones(here, v, _law(blank, mu, touching, slip, [x[0] for x in options]))
    for law, sustained in found:
        hovers = _hovering(here, law, sustained)
        if not any(_closes(other, law, hovers) for other, _ in found):
            yield law, sustained


def _options(here: Dynamics, mu: FloatArray, slip: FloatArray, i: int) -> tuple[int, ...]:
    """Return the modes that a touching contact may be in."""
    if mu[i] == 0.0 or not here.J_t[i].any():
        return SMOOTH, FREE
    return (SLIDING, FREE) if slip[i].any() else (STICKING, SLIDING, FREE)


def _law(
    blank: IntArray, mu: FloatArray, touching: IntArray, slip: FloatArray, chosen: object
) -> SpatialLaw:
    modes, resting = blank.copy(), np.zeros(len(mu), np.bool_)
    modes[touching] = chosen
    # A contact that slides already has no condition on how its slip goes on.
    resting[touching] = ~slip[touching].any(axis=1) | (modes[touching] == FREE)
    return SpatialLaw(modes, mu, resting, aims=slip)


def _held(here: Dynamics, v: FloatArray, law: SpatialLaw) -> list[Choice]:
    """Return one choice of modes with every direction of slip that begins, if it holds."""
    pairs = ((aimed, aimed.evaluate(here, v)) for aimed in _aimed(here, v, law))
    return [(aimed, found) for aimed, found in pairs if found.holds]


def _hovering(here: Dynamics, law: SpatialLaw, found: Sustained) -> BoolArray:
    """Return which free contacts touch and do not part either, (m,)."""
    free = (law.modes == FREE) & law.resting
    a_n = here.J_n @ found.acceleration + here.bias[:, 0]
    size = float(np.abs(here.J_n @ np.linalg.solve(here.M, here.force)).max(initial=0.0)) or 1.0
    return np.asarray(free & (np.abs(a_n) <= HOVERS * size))


def _closes(other: SpatialLaw, law: SpatialLaw, hovers: BoolArray) -> bool:
    """Return whether another choice closes contacts that hover, and none less."""
    closed, own = other.modes != FREE, law.modes != FREE
    return bool((closed & hovers).any() and (closed | ~own).all())


def _aimed(here: Dynamics, v: FloatArray, law: SpatialLaw) -> Iterator[SpatialLaw]:
    """Yield a choice of modes with aims for which slip begins along them."""
    begins = law.begins
    if not len(begins):
        yield law
        return
    seen: list[FloatArray] = []
    for angles in _guesses(here, v, law):
        found = _turned(here, v, law, angles)
        if found is None:
            continue
        aims = found.aims[begins]
        if not any(np.abs(aims - other).max() <= 1e-6 for other in seen):
            seen.append(aims)
            yield found


def _guesses(here: Dynamics, v: FloatArray, law: SpatialLaw) -> Iterator[FloatArray]:
    """Yield angles at which slip may begin: against what would hold it, or where it is free to."""
    begins = law.begins
    sticks, smooth = law.modes.copy(), law.modes.copy()
    sticks[begins], smooth[begins] = STICKING, SMOOTH
    held = -replace(law, modes=sticks).judge(here, v).force[begins, 1:]
    yield np.arctan2(held[:, 1], held[:, 0])
    a = replace(law, modes=smooth).judge(here, v).acceleration
    free = here.J_t[begins] @ a + here.bias[begins, 1:]
    start = np.arctan2(free[:, 1], free[:, 0])
    yield start
    if len(begins) == 1:
        yield from (start + 0.5 * np.pi * k for k in (1.0, 2.0, 3.0))


def _turned(
    here: Dynamics, v: FloatArray, law: SpatialLaw, angles: FloatArray
) -> SpatialLaw | None:
    """Return the law with aims near some angles along which slip accelerates, by Newton's method.

    The component of the slip's acceleration across its aim vanishes. Its derivative by the angle
    has -mu lambda_n times a mobility, and is regular also where slip accelerates by nothing, at the
    edge between sticking and sliding.
    """
    begins, k = law.begins, len(law.begins)

    def across(at: FloatArray) -> tuple[SpatialLaw, FloatArray, float]:
        aims = law.aims.copy()
        aims[begins] = np.column_stack([np.cos(at), np.sin(at)])
        aimed = replace(law, aims=aims)
        a = aimed.judge(here, v).acceleration
        a_t = here.J_t[begins] @ a + here.bias[begins, 1:]
        u = aims[begins]
        size = float(np.abs(here.J_t[begins]).max() * np.abs(a).max() + np.abs(here.bias).max())
        return aimed, u[:, 0] * a_t[:, 1] - u[:, 1] * a_t[:, 0], size

    for _ in range(MOST_TURNS):
        aimed, off, size = across(angles)
        if np.abs(off).max() <= AIMED * size:
            return aimed
        slope = np.column_stack([(across(angles + TURN * e)[1] - off) / TURN for e in np.eye(k)])
        step = np.linalg.lstsq(slope, -off, rcond=1e-9)[0]
        longest = float(np.abs(step).max())
        if not longest > 1e-15:
            return aimed if np.abs(off).max() <= HOLDS * size else None
        angles = angles + step * min(1.0, LONGEST_TURN / longest)
    return None


def _by_cones(here: Dynamics, v: FloatArray, law: SpatialLaw) -> list[Choice]:
    """Return choices of modes that cone problems lead to, for many contacts."""
    touching = np.flatnonzero(law.resting | (law.modes != FREE))
    J = np.concatenate([here.J_n[touching, None], here.J_t[touching]], axis=1)
    flat = J.reshape(-1, J.shape[2])
    A = flat @ np.linalg.solve(here.M, flat.T)
    a = np.linalg.solve(here.M, here.force)
    b = flat @ a + here.bias[touching].ravel()
    limit = np.where(law.modes[touching] == SMOOTH, 0.0, law.mu[touching])
    own = _size(b, A)
    found: list[Choice] = []
    for start in range(3):
        # Friction from nothing, from the load at rest, and from a push at every normal.
        x = np.zeros(len(b))
        if start == 1:
            x = np.linalg.lstsq(A, -b, rcond=1e-10)[0]
        elif start == 2:
            x[::3] = own
        solve_cones(A, b, limit, law.aims[touching], x)
        force = x.reshape(-1, 3)
        for choice in _repaired(here, v, _read(law, touching, force, own)):
            if not any((choice[0].modes == other.modes).all() for other, _ in found):
                found.append(choice)
    return found


def _size(b: FloatArray, A: FloatArray) -> float:
    """Return the size of forces that stop accelerations."""
    own = np.diag(A)
    return float(np.abs(b).max() / (own[own > 0.0].min(initial=1.0) or 1.0)) or 1.0


def _read(law: SpatialLaw, touching: IntArray, force: FloatArray, size: float) -> SpatialLaw:
    """Return the modes that forces (c, 3) of touching contacts tell."""
    modes, aims, resting = law.modes.copy(), law.aims.copy(), law.resting.copy()
    for i, (normal, *friction) in zip(touching, force, strict=True):
        if normal <= 1e-9 * size:
            modes[i], resting[i] = FREE, True
        elif law.modes[i] == STICKING:
            pull = math.hypot(*friction)
            if pull >= law.mu[i] * normal * (1.0 - 1e-9):
                modes[i], aims[i] = SLIDING, -np.array(friction) / pull
    return replace(law, modes=modes, aims=aims, resting=resting)


def _repaired(here: Dynamics, v: FloatArray, law: SpatialLaw) -> list[Choice]:
    """Change the mode whose condition fails most until all hold."""
    slipping = law.aims.any(axis=1) & ~law.resting
    for _ in range(MOST_REPAIRS):
        begins = law.begins
        if len(begins):
            aim = law.aims[begins]
            law = _turned(here, v, law, np.arctan2(aim[:, 1], aim[:, 0])) or law
        found = law.evaluate(here, v)
        if found.holds:
            return [(law, found)]
        judged = law.judge(here, v)
        i, kind = np.unravel_index(int(judged.margins.argmin()), judged.margins.shape)
        law = _changed(here, law, judged.force, int(i), int(kind), bool(slipping[i]))
    return []


def _changed(
    here: Dynamics, law: SpatialLaw, force: FloatArray, i: int, kind: int, is_slipping: bool
) -> SpatialLaw:
    """Return modes with one contact changed whose normal or tangential condition fails."""
    modes, aims, resting = law.modes.copy(), law.aims.copy(), law.resting.copy()
    if kind == 0 and modes[i] != FREE:
        modes[i], resting[i] = FREE, True
    elif kind == 0:
        immobile = law.mu[i] == 0.0 or not here.J_t[i].any()
        modes[i] = SMOOTH if immobile else SLIDING if is_slipping else STICKING
        resting[i] = not is_slipping
    elif modes[i] == STICKING:
        friction = force[i, 1:]
        modes[i], aims[i] = SLIDING, -friction / (np.linalg.norm(friction) or 1.0)
    else:
        modes[i] = STICKING
    return replace(law, modes=modes, aims=aims, resting=resting)
