"""Kernels of sustained contact as Python calls them: they make their own arrays."""

import math

import numpy as np

from carom.kernels.choices import appraise, num_options, option, rest_and_slip_of
from carom.kernels.jit import kernel, plain
from carom.kernels.sustained import DEPENDENT, FREE, HOLDS, margins, scales, solve, width
from carom.typing import BoolArray, FloatArray, IntArray

NO_CONTACTS, NO_SLIP = np.empty(0, np.int64), np.empty(0)


@kernel
def _judge(M, force, phi, J_n, J_t, bias, v, modes, mu, resting, inner, touching, slip, most):
    """Judge a choice of modes, or `most` of touching contacts, whose modes are overwritten.

    Return what `judge` returns, of the last one; the choices (num, m) that `candidates` returns;
    and units (m, 2). It is one kernel for all of these, because each that calls `solve` takes as
    long to compile as all that it calls.
    """
    m, n = J_n.shape
    size = width(m, n)
    contact_force, acceleration, margin = np.empty((m, 2)), np.empty(n), np.empty((m, 2))
    unit, work = np.ones((m, 2)), np.empty((8, size, size))
    found, count = np.empty((4, m), np.int64), 0
    is_kept, is_mendable, is_dependent = False, False, False
    if not scales(M, force, J_n, J_t, bias, work, unit):
        acceleration[0], most = np.nan, 0
    for choice in range(most):
        for k in range(len(touching) - 1, -1, -1):
            i = touching[k]
            modes[i] = option(mu[i], slip[i], choice)
            choice //= num_options(mu[i], slip[i])
            # A contact that slides already has no condition on how its slip goes on.
            resting[i] = slip[i] == 0.0 or modes[i] == FREE
        status = solve(
            *(M, force, phi, J_n, J_t, bias, v, modes, mu, inner, work),
            *(contact_force, acceleration),
        )
        margins(J_n, J_t, bias, modes, mu, resting, contact_force, acceleration, unit, margin)
        is_kept, least, is_mendable = appraise(
            *(phi, J_n, J_t, bias, v, modes, acceleration, unit, margin)
        )
        is_dependent = status == DEPENDENT
        if is_kept and (least >= -HOLDS or (is_mendable and is_dependent)):
            if count == len(found):
                found = _copied(found, np.empty((2 * count, m), np.int64))
            for i in range(m):
                found[count, i] = modes[i]
            count += 1
    judged = contact_force, acceleration, margin, is_kept, is_mendable, is_dependent
    return judged, found[:count], unit


def judge(
    M: FloatArray,
    force: FloatArray,
    phi: FloatArray,
    J_n: FloatArray,
    J_t: FloatArray,
    bias: FloatArray,
    v: FloatArray,
    modes: IntArray,
    mu: FloatArray,
    resting: BoolArray,
    inner: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, bool, bool, bool]:
    """Return the forces (m, 2), dv/dt (nv,) and margins (m, 2) of a choice of modes.

    Return also whether forces exist that keep closed contacts closed, and sticking ones still;
    whether conditions fail, but only such as forces alone can meet; and whether contacts depend on
    each other, so that there are other forces. The first of dv/dt is NaN if M is singular.
    """
    given = M, force, phi, J_n, J_t, bias, v, modes, mu, resting, inner
    return judge_in_units(*given)[0]


def judge_in_units(
    *given: FloatArray | IntArray | BoolArray,
) -> tuple[tuple[FloatArray, FloatArray, FloatArray, bool, bool, bool], FloatArray]:
    """Return what `judge` returns, of the same arguments, and the units (m, 2) of the margins."""
    judged: tuple[FloatArray, FloatArray, FloatArray, bool, bool, bool]
    judged, _, unit = _judge(*given, NO_CONTACTS, NO_SLIP, 1)
    return judged, unit


def candidates(
    M: FloatArray,
    force: FloatArray,
    phi: FloatArray,
    J_n: FloatArray,
    J_t: FloatArray,
    bias: FloatArray,
    v: FloatArray,
    mu: FloatArray,
    touching: IntArray,
    slip: FloatArray,
) -> IntArray:
    """Return choices of modes (num, m) for touching contacts whose conditions hold, or may.

    Others are free. Of contacts that depend on each other, other forces may meet the conditions.
    """
    m, most = len(mu), math.prod(plain(num_options)(mu[i], slip[i]) for i in touching)
    modes, resting, inner = np.zeros(m, np.int64), np.zeros(m, np.bool_), np.zeros((m, 2))
    given = M, force, phi, J_n, J_t, bias, v, modes, mu, resting, inner
    found: IntArray
    _, found, _ = _judge(*given, touching, slip, most)
    return found


def project(
    M: FloatArray, J_n: FloatArray, J_t: FloatArray, modes: IntArray, error: FloatArray
) -> FloatArray:
    """Return the smallest change (n,), by energy, that undoes motion of closed contacts.

    Their normals, and the tangents of those that stick, move by the entries of `error` (m, 2): it
    is dv/dt, at rest and without forces, of contacts with the error for a bias. The first entry is
    NaN if M is singular.
    """
    m, n = J_n.shape
    still, no_friction = np.zeros(n), np.zeros(m)
    # Read-only, as a system's are: else the kernel would be compiled once more.
    no_friction.flags.writeable = False
    return judge(
        *(M, still, np.zeros(m), J_n, J_t, error, still),
        *(modes, no_friction, np.zeros(m, np.bool_), np.zeros((m, 2))),
    )[1]


def units(
    M: FloatArray,
    force: FloatArray,
    J_n: FloatArray,
    J_t: FloatArray,
    bias: FloatArray,
    mu: FloatArray,
) -> FloatArray:
    """Return the acceleration and the force that each contact has to cope with, (m, 2)."""
    m, n = J_n.shape
    nothing = np.zeros(m, np.int64), mu, np.zeros(m, np.bool_), np.zeros((m, 2))
    given = M, force, np.zeros(m), J_n, J_t, bias, np.zeros(n), *nothing
    unit: FloatArray
    _, _, unit = _judge(*given, NO_CONTACTS, NO_SLIP, 0)
    return unit


@kernel
def _copied(source, target):
    """Return a target whose first rows are those of a source."""
    for k in range(len(source)):
        for i in range(source.shape[1]):
            target[k, i] = source[k, i]
    return target


@kernel
def rest_and_slip(J_n, J_t, v, near, rest_speed, still):
    """Return the near contacts that do not part, and normal velocities and signs of slip (m,)."""
    m = len(near)
    speed, slip, touching, count = np.empty(m), np.empty(m), np.empty(m, np.int64), 0
    for i in range(m):
        speed[i], slip[i], rests = rest_and_slip_of(J_n, J_t, v, i, rest_speed, still)
        if near[i] and rests:
            touching[count] = i
            count += 1
    return touching[:count], speed, slip


@kernel
def judge_forces(J_n, J_t, bias, modes, mu, resting, contact_force, acceleration, unit):
    """Return the margins (m, 2) of given contact forces (m, 2) and dv/dt (nv,)."""
    out = np.empty((len(J_n), 2))
    margins(J_n, J_t, bias, modes, mu, resting, contact_force, acceleration, unit, out)
    return out
