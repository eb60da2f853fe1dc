"""Modes of contacts in space with which a motion can go on.

Up to four contacts that move each other have all choices of modes tried. For more there are too
many, and a complementarity problem over round cones is solved instead, from several starts: it
finds a choice of modes if there is one that sweeps lead to, not all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from carom.kernels.cone_choices import choices_that_may_hold
from carom.kernels.cones import sweep_cones
from carom.motion.spatial_law import SLIDING, SpatialLaw
from carom.motion.sustained import FREE, SMOOTH, STICKING, Sustained
from carom.systems.system import Dynamics
from carom.typing import ArrayLike, BoolArray, FloatArray, IntArray

MOST_CHOICES = 81
"""Maximum number of choices that are all tried: those of four contacts at rest."""
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
    here: Dynamics,
    v: FloatArray,
    mu: FloatArray,
    touching: IntArray,
    slip: FloatArray,
    is_beaten: Callable[[IntArray, FloatArray], bool] = lambda *_: False,
) -> Iterator[Choice]:
    """Yield choices of modes whose conditions hold, but for those that are beaten.

    Those with most contacts closed, and most of them sticking, come first. Others are left out if
    they lift a contact for nothing, or let one slip that can be held. All contacts that do not
    touch are free.
    """
    options = [_options(here, mu, slip, int(i)) for i in touching]
    problem = _cone_problem(here, touching)
    laws: Iterable[SpatialLaw] = ()
    if math.prod(map(len, options)) <= MOST_CHOICES:
        laws = sorted(_tried(problem, mu, touching, slip, options), key=_at_rest, reverse=True)
    modes = [chosen[0] for chosen in options]
    usual = _law(mu, touching, slip, modes, slip)
    found: list[SpatialLaw] = []
    partial: list[Choice] = []
    for law in _then(laws, found, lambda: _by_cones(here, v, problem, usual)):
        sustained = law.evaluate(here, v, is_beaten)
        if not sustained.holds:
            continue
        hovers = _hovering(here, law, sustained)
        if any(_closes(other, law, hovers) for other in found):
            continue
        if any(_holds(other, law) and other.judge(here, v).is_dependent for other in found):
            continue
        if _slips_in_part(law) and law.judge(here, v).is_dependent:
            partial.append((law, sustained))
            continue
        found.append(law)
        yield law, sustained
    # Contacts of which some slip with no acceleration, though they depend on each other, only
    # share their load in another way than those that slip all together.
    for law, sustained in partial:
        if not found or not _is_slow(here, law, sustained):
            yield law, sustained


def _then(
    laws: Iterable[SpatialLaw], found: list[SpatialLaw], others: Callable[[], list[SpatialLaw]]
) -> Iterator[SpatialLaw]:
    """Yield laws, and others if by then none was found to hold."""
    yield from laws
    if not found:
        yield from others()


def _at_rest(law: SpatialLaw) -> tuple[int, int]:
    """Return how many contacts are closed, and how many of them stick."""
    return int((law.modes != FREE).sum()), int((law.modes == STICKING).sum())


def _options(here: Dynamics, mu: FloatArray, slip: FloatArray, i: int) -> tuple[int, ...]:
    """Return the modes that a touching contact may be in."""
    if mu[i] == 0.0 or not here.J_t[i].any():
        return SMOOTH, FREE
    return (SLIDING, FREE) if slip[i].any() else (STICKING, SLIDING, FREE)


class ConeProblem(NamedTuple):
    """Hold how c touching contacts accelerate: by A x + b for forces x (3 c,), normal first."""

    A: FloatArray
    b: FloatArray


def _cone_problem(here: Dynamics, touching: IntArray) -> ConeProblem:
    J = np.concatenate([here.J_n[touching, None], here.J_t[touching]], axis=1)
    flat = J.reshape(-1, J.shape[2])
    moved = np.linalg.solve(here.M, np.column_stack([flat.T, here.force]))
    b = flat @ moved[:, -1] + here.bias[touching].ravel()
    return ConeProblem(np.ascontiguousarray(flat @ moved[:, :-1]), b)


def _tried(
    problem: ConeProblem,
    mu: FloatArray,
    touching: IntArray,
    slip: FloatArray,
    options: list[tuple[int, ...]],
) -> Iterator[SpatialLaw]:
    """Yield all choices of modes whose conditions may hold."""
    table = np.zeros((len(touching), 3), np.int64)
    for row, modes in zip(table, options, strict=True):
        row[: len(modes)] = modes
    counts = np.array([len(modes) for modes in options], np.int64)
    # Where friction ends in sweeps, slip may begin against it.
    x = np.zeros(len(problem.b))
    limit = np.where([SMOOTH in modes for modes in options], 0.0, mu[touching])
    sweep_cones(*problem, limit, slip[touching], x)
    hint = -x.reshape(-1, 3)[:, 1:]
    size = np.hypot(*hint.T)
    hint /= np.where(size > 0.0, size, 1.0)[:, None]
    found = choices_that_may_hold(*problem, mu[touching], slip[touching], table, counts, hint)
    for modes, aims in zip(*found, strict=True):
        all_aims = np.zeros((len(mu), 2))
        all_aims[touching] = aims
        yield _law(mu, touching, slip, modes, all_aims)


def _law(
    mu: FloatArray, touching: IntArray, slip: FloatArray, chosen: ArrayLike, aims: FloatArray
) -> SpatialLaw:
    modes, resting = np.zeros(len(mu), np.int64), np.zeros(len(mu), np.bool_)
    modes[touching] = chosen
    # A contact that slides already has no condition on how its slip goes on.
    resting[touching] = ~slip[touching].any(axis=1) | (modes[touching] == FREE)
    return SpatialLaw(modes, mu, resting, aims=aims.copy())


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


def _holds(other: SpatialLaw, law: SpatialLaw) -> bool:
    """Return whether another choice keeps at rest what slips here only as loads are shared here.

    Where contacts depend on each other, whether a body begins to slip is a matter of how they share
    their load. It rests if there is a way.
    """
    is_slower = not len(other.begins) and len(law.begins) > 0
    return is_slower and bool(((other.modes != FREE) == (law.modes != FREE)).all())


def _by_cones(
    here: Dynamics, v: FloatArray, problem: ConeProblem, law: SpatialLaw
) -> list[SpatialLaw]:
    """Return choices of modes that cone problems lead to, for many contacts."""
    touching = np.flatnonzero(law.resting | (law.modes != FREE))
    A, b = problem
    limit = np.where(law.modes[touching] == SMOOTH, 0.0, law.mu[touching])
    slip = np.where(law.resting[touching, None], 0.0, law.aims[touching])
    size = _size(b, A)
    found: list[SpatialLaw] = []
    for start in range(3):
        # Friction from nothing, from the load at rest, and from a push at every normal.
        x: FloatArray = np.zeros(len(b))
        if start == 1:
            x = np.asarray(np.linalg.lstsq(A, -b, rcond=1e-10)[0], dtype=np.float64)
        elif start == 2:
            x[::3] = size
        sweep_cones(A, b, limit, slip, x)
        law_read = _read(law, touching, x.reshape(-1, 3), size)
        repaired = _repaired(here, v, problem, touching, law_read, np.any(law.aims, axis=1))
        if repaired and not any((repaired.modes == other.modes).all() for other in found):
            found.append(repaired)
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


def _repaired(
    here: Dynamics,
    v: FloatArray,
    problem: ConeProblem,
    touching: IntArray,
    law: SpatialLaw,
    is_slipping: BoolArray,
) -> SpatialLaw | None:
    """Change the mode whose condition fails most until all hold."""
    for _ in range(MOST_REPAIRS):
        law = _aimed(problem, touching, law, is_slipping)
        found = law.evaluate(here, v)
        if found.holds:
            return law
        judged = law.judge(here, v)
        i, kind = np.unravel_index(int(judged.margins.argmin()), judged.margins.shape)
        law = _changed(here, law, judged.force, int(i), int(kind), bool(is_slipping[i]))
    return None


def _slips_in_part(law: SpatialLaw) -> bool:
    """Return whether slip begins at some contacts while others stick."""
    return len(law.begins) > 0 and bool((law.modes == STICKING).any())


def _is_slow(here: Dynamics, law: SpatialLaw, found: Sustained) -> bool:
    """Return whether slip that begins hardly accelerates."""
    a_t = here.J_t[law.begins] @ found.acceleration + here.bias[law.begins, 1:]
    size = np.abs(here.J_t[law.begins] @ np.linalg.solve(here.M, here.force)).max()
    return bool(np.abs(a_t).max() <= HOVERS * size)


def _aimed(
    problem: ConeProblem, touching: IntArray, law: SpatialLaw, is_slipping: BoolArray
) -> SpatialLaw:
    """Return the law with aims along which slip accelerates, near those that it has."""
    if not len(law.begins):
        return law
    counts = np.ones(len(touching), np.int64)
    table = np.repeat(law.modes[touching, None], 3, axis=1)
    slip = np.where(is_slipping[touching, None], law.aims[touching], 0.0)
    own = law.aims[touching]
    _, found = choices_that_may_hold(*problem, law.mu[touching], slip, table, counts, own)
    aims = law.aims.copy()
    if len(found):
        aims[touching] = found[0]
    return replace(law, aims=aims)


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
