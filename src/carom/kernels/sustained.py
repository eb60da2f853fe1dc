"""Contact forces and accelerations of one choice of modes, and whether its conditions hold.

Closed contacts have C dv/dt + bias = 0, with rows C of their normals and of the tangents that
stick; forces act along rows G, which differ from C in that friction comes with a sliding normal.
"""

import numpy as np

from carom.kernels.jit import kernel
from carom.kernels.linear import dot, eliminate

FREE, STICKING, PLUS, MINUS, SMOOTH = range(5)
"""A contact's mode; `SMOOTH` is closed without friction."""


@kernel
def slip_sign(mode):
    """Return the direction of a mode's slip: 1, -1, or 0 if it has none."""
    return 1.0 if mode == PLUS else (-1.0 if mode == MINUS else 0.0)


@kernel
def _assemble(phi, J_n, J_t, bias, v, modes, mu, rate, C, G, target):
    """Fill rows C and G of closed contacts and the target -C dv/dt; return their number."""
    m, n = J_n.shape
    k = 0
    for i in range(m):
        if modes[i] == FREE:
            continue
        drag = mu[i] * slip_sign(modes[i])
        C[k] = J_n[i]
        for a in range(n):
            G[k, a] = J_n[i, a] - drag * J_t[i, a]
        target[k] = bias[i, 0] + 2.0 * rate * dot(J_n[i], v) + rate * rate * phi[i]
        k += 1
        if modes[i] == STICKING:
            C[k], G[k] = J_t[i], J_t[i]
            target[k] = bias[i, 1] + rate * dot(J_t[i], v)
            k += 1
    return k


@kernel
def _respond(M, rows, force, moved):
    """Fill M^-1 times some rows and, last, the smooth force; False if M is singular."""
    k, n = rows.shape
    moved[:, :k], moved[:, k] = rows.T, force
    return eliminate(M.copy(), moved, n, k + 1) != 0


@kernel
def solve(M, force, phi, J_n, J_t, bias, v, modes, mu, rate, contact_force, acceleration):
    """Fill the contact forces (m, 2) and dv/dt (nv,) of a choice of modes.

    Gaps and velocities of closed contacts are let die out at a `rate`. False, with nothing filled,
    if the contacts depend on each other, so that forces are not unique.
    """
    m, n = J_n.shape
    C, G, target = np.empty((2 * m, n)), np.empty((2 * m, n)), np.empty(2 * m)
    k = _assemble(phi, J_n, J_t, bias, v, modes, mu, rate, C, G, target)
    moved = np.empty((n, k + 1))
    if not _respond(M, G[:k], force, moved):
        return False
    A, size, x = np.empty((k, k)), np.empty(k), np.empty((k, 1))
    for i in range(k):
        x[i, 0] = -dot(C[i], moved[:, k], target[i])
        for j in range(k):
            A[i, j] = dot(C[i], moved[:, j])
        size[i] = np.sqrt(abs(A[i, i])) or 1.0
    for i in range(k):
        x[i, 0] /= size[i]
        for j in range(k):
            A[i, j] /= size[i] * size[j]
    if eliminate(A, x, k, 1) == 0:
        return False
    acceleration[:] = moved[:, k]
    for j in range(k):
        x[j, 0] /= size[j]
        for a in range(n):
            acceleration[a] += moved[a, j] * x[j, 0]
    j = 0
    for i in range(m):
        contact_force[i] = 0.0
        if modes[i] != FREE:
            contact_force[i, 0] = x[j, 0]
            contact_force[i, 1] = -mu[i] * slip_sign(modes[i]) * x[j, 0]
            j += 1
        if modes[i] == STICKING:
            contact_force[i, 1] = x[j, 0]
            j += 1
    return True


@kernel
def _larger(normal, tangent, motion, normal_bias, tangent_bias):
    """Return the larger of the two accelerations of a contact."""
    return max(abs(dot(normal, motion, normal_bias)), abs(dot(tangent, motion, tangent_bias)))


@kernel
def scales(M, force, J_n, J_t, bias, out):
    """Fill the acceleration and the force that each contact has to cope with, (m, 2).

    That is what it would have without contacts, or what others cause at it when they stop theirs.
    Contacts of bodies that have nothing to do with each other do not share their units. False,
    with nothing filled, if M is singular.
    """
    m, n = J_n.shape
    moved = np.empty((n, m + 1))
    if not _respond(M, J_n, force, moved):
        return False
    alone, own = np.zeros(m), np.zeros(m)
    for i in range(m):
        alone[i] = _larger(J_n[i], J_t[i], moved[:, m], bias[i, 0], bias[i, 1])
        own[i] = dot(J_n[i], moved[:, i])
    for i in range(m):
        out[i, 0] = alone[i]
        for j in range(m):
            if own[j] > 0.0:
                caused = _larger(J_n[i], J_t[i], moved[:, j], 0.0, 0.0) / own[j] * alone[j]
                out[i, 0] = max(out[i, 0], caused)
        out[i, 0] = out[i, 0] or 1.0
        out[i, 1] = out[i, 0] / own[i] if own[i] > 0.0 else 1.0
    return True


@kernel
def margins(J_n, J_t, bias, modes, mu, resting, contact_force, acceleration, unit, out):
    """Fill by how much each condition of a choice of modes holds, free of units, (m, 2).

    `unit` holds the accelerations and forces of `scales`; `resting` contacts, if free or sliding,
    only begin to be. Where there is no condition, the margin is 1.
    """
    for i in range(J_n.shape[0]):
        a_n, a_t = dot(J_n[i], acceleration, bias[i, 0]), dot(J_t[i], acceleration, bias[i, 1])
        out[i] = 1.0
        if modes[i] != FREE:
            out[i, 0] = contact_force[i, 0] / unit[i, 1]
        elif resting[i]:
            out[i, 0] = a_n / unit[i, 0]
        slip = slip_sign(modes[i])
        if modes[i] == STICKING:
            out[i, 1] = (mu[i] * contact_force[i, 0] - abs(contact_force[i, 1])) / unit[i, 1]
        elif slip != 0.0 and resting[i]:
            out[i, 1] = slip * a_t / unit[i, 0]
