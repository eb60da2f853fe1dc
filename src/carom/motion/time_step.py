"""The contact problem of one time step, and the least way by which bodies are pushed apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carom.kernels.friction_newton import polish, relax
from carom.kernels.friction_step import (
    ACCURATE,
    SINGULAR,
    act,
    free_velocity,
    residual_of,
    resolve_contacts,
)
from carom.systems.system import Dynamics, Input
from carom.typing import FloatArray, IntArray

ACCEPTED, ROUGH = 1e-9, 1e-4
"""Residual of contacts, as a share of the largest velocity, at which they count as solved; and that
which is taken if nothing better is found, as where many contacts of one body share a load."""
NOTHING, NO_GAIN = np.empty(0), np.empty((0, 0))


class Before(NamedTuple):
    """What a step begins with.

    Attributes:
        here: Everything at its beginning.
        v: (nv,) velocity.
        mu: (m,) friction coefficients.
        drive: Inputs, if they are known.
        force: (m, 3) contact forces of the step before [N].
        acceleration: (nv,) acceleration of the step before by all but inputs and contacts.
        length: Its length, infinite after a jump [s].
    """

    here: Dynamics
    v: FloatArray
    mu: FloatArray
    drive: Input | None
    force: FloatArray
    acceleration: FloatArray
    length: float


class Trial(NamedTuple):
    """A step that is tried: contacts that may act, and what comes of them.

    Attributes:
        which: (n,) numbers of the contacts that may act.
        P: (n, 3) impulses, normal first [N s].
        u: (n, 3) contact velocities at the end, along the normal above that which closes the gap
            [m/s].
        v: (nv,) velocity at the end.
        acceleration: (nv,) acceleration at the beginning by all but inputs and contacts.
        pull: (nv,) impulse of the inputs [N s].
        scale: Largest contact velocity at the end without contact [m/s].
        is_relaxed: Whether contacts had no solution but that of the nearest convex problem.
    """

    which: IntArray
    P: FloatArray
    u: FloatArray
    v: FloatArray
    acceleration: FloatArray
    pull: FloatArray
    scale: float
    is_relaxed: bool


def solve_step(before: Before, h: float, which: IntArray) -> Trial:
    """Return velocities and impulses of a step in which some contacts may act."""
    here, v = before.here, before.v
    nv, n = len(v), len(which)
    pull, gain, force = _input(before, h)
    L, a, v_free, v_next = np.zeros((nv, nv)), np.empty(nv), np.empty(nv), np.empty(nv)
    given = here.M, force, pull.copy(), gain.copy(), v, h, 0.5 * h / before.length
    if free_velocity(*given, before.acceleration, L, a, v_free) == SINGULAR:
        raise np.linalg.LinAlgError("the mass matrix is singular")
    P, u, scale, is_relaxed = h * before.force[which], np.empty(3 * n), 0.0, False
    if n:
        room = np.maximum(here.phi, 0.0) / h
        scratch, told = _scratch(n, nv), np.zeros(2)
        rows = here.J_n, here.J_t, here.bias, room, before.mu, v_free, h, which
        resolve_contacts(L, *rows, P, *scratch, u, v_next, told)
        scale = float(np.abs(scratch[2]).max())
        if told[1] > ACCEPTED:
            is_relaxed = _insist(scratch, before.mu, which, P, u, scale, float(told[1]))
            act(L, v_free, scratch[0], P, v_next)
    else:
        v_next = v_free
    if not np.isfinite(v_next).all():
        raise FloatingPointError("velocities leave the range of numbers")
    if len(gain):
        pull = pull - gain @ v_next
    return Trial(which, P, u.reshape(-1, 3), v_next, a, pull, scale, is_relaxed)


def _input(before: Before, h: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the impulse of inputs, what the velocity takes off it, and all other forces."""
    drive, force = before.drive, before.here.force
    if drive is None or (drive.damping is None and not drive.force.any()):
        return NOTHING, NO_GAIN, force
    others = force - drive.force
    if drive.damping is None or drive.stiffness is None:
        return h * drive.force, NO_GAIN, others
    gain = h * (drive.damping + h * drive.stiffness)
    return h * (drive.force + drive.damping @ before.v), gain, others


def _insist(
    scratch: tuple[FloatArray, FloatArray, FloatArray],
    mu: FloatArray,
    which: IntArray,
    P: FloatArray,
    u: FloatArray,
    scale: float,
    residual: float,
) -> bool:
    """Solve contacts on which sweeps do not settle; write P and u, return whether relaxed."""
    _, A, b = scratch
    n, best = 3 * len(which), P.copy()
    for start in (best, np.zeros_like(P)):
        trial = start.copy()
        room = np.empty_like(P), np.empty(n), np.empty(n), *np.zeros((3, n, n))
        found = polish(A, b, mu, which, trial, ACCURATE * scale, u, *room) / scale
        if found < residual:
            residual, best = found, trial
        if residual <= ACCEPTED:
            break
    P[:] = best
    if residual > ROUGH:
        relax(A, b, mu, which, P)
    residual_of(A, b, mu, which, P, u)
    return residual > ROUGH


def push_apart(here: Dynamics, which: IntArray) -> FloatArray:
    """Return the least way (nv,), by energy, after which some contacts do not penetrate."""
    nv, n = len(here.M), len(which)
    L, a, none, change = np.zeros((nv, nv)), np.empty(nv), np.zeros(nv), np.empty(nv)
    free_velocity(here.M, none, NOTHING, NO_GAIN, none, 0.0, 0.0, none, L, a, change)
    P, u, told = np.zeros((n, 3)), np.empty(3 * n), np.zeros(2)
    # Gaps in place of velocities, and no friction.
    smooth = np.zeros_like(here.phi)
    rows = here.J_n, here.J_t, here.bias, here.phi, smooth, none, 0.0, which
    resolve_contacts(L, *rows, P, *_scratch(n, nv), u, change, told)
    return change


def _scratch(n: int, nv: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return arrays for n contacts to work with: rows, their products, and a vector."""
    return np.empty((3 * n, nv)), np.empty((3 * n, 3 * n)), np.empty(3 * n)
