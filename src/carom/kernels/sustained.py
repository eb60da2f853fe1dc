"""Contact forces and accelerations of one choice of modes, and whether its conditions hold.

Closed contacts have C dv/dt + bias = 0, with rows C of their normals and of the tangents that
stick; forces act along rows G, which differ from C in that friction comes with a sliding normal.
Work is done in layers of one array (8, w, w), w = `width(m, n)`.
"""

import math

from carom.kernels.jit import ONE, ZERO, expanded, lean
from carom.kernels.least_norm import least_norm, orthogonalize
from carom.kernels.linear import dot, eliminate

FREE, STICKING, PLUS, MINUS, SMOOTH = range(5)
"""A contact's mode; `SMOOTH` is closed without friction."""

STABILIZATION = 20.0
"""Rate at which rounding errors of a closed contact's gap and velocity are let die out [1/s]."""
KEPT = 1e-7
"""A closed contact stays closed if it accelerates by no more than this share of its unit."""
HOLDS = 1e-9
"""A margin may fall short by this share of the forces or accelerations at hand."""

NO_INERTIA, UNIQUE, DEPENDENT = range(3)
"""What forces may be: none, since M is singular; unique; one choice of many."""

ROWS, FORCES, MOVED, FACTOR, MATRIX, BASIS, RIGHT, VECTORS = range(8)
"""Layers of the work array: C; G; M^-1 times columns; Cholesky's factor; two matrices; a right
side; and vectors, which are the next."""
WEIGHT, SIZE, TARGET, LENGTH = range(4)


@lean
def width(m, n):
    """Return the width of the work array for m contacts and n velocities."""
    return max(2 * m, n, 4) + 1


@lean
def slip_sign(mode):
    """Return the direction of a mode's slip: 1, -1, or 0 if it has none."""
    return 1.0 if mode == PLUS else (-1.0 if mode == MINUS else 0.0)


@expanded
def assemble(J_n, J_t, modes, mu, error, work):
    """Fill rows C and G of closed contacts and their weights by an error (m, 2); return how many.

    Each has its normal first, and then, if it sticks, its tangent.
    """
    k = ZERO
    for i in range(len(modes)):
        if modes[i] == FREE:
            continue
        drag = mu[i] * slip_sign(modes[i])
        for a in range(J_n.shape[1]):
            work[ROWS, k, a], work[FORCES, k, a] = J_n[i, a], J_n[i, a] - drag * J_t[i, a]
        work[VECTORS, WEIGHT, k] = error[i, 0]
        k += 1
        if modes[i] == STICKING:
            for a in range(J_n.shape[1]):
                work[ROWS, k, a], work[FORCES, k, a] = J_t[i, a], J_t[i, a]
            work[VECTORS, WEIGHT, k] = error[i, 1]
            k += 1
    return k


@lean
def respond(M, r, work):
    """Replace the first r columns by M^-1 times them; False if M is not positive definite.

    By Cholesky's factors, which do not mind that masses differ by orders of magnitude.
    """
    n, L, X = len(M), work[FACTOR], work[MOVED]
    for i in range(n):
        for j in range(i + 1):
            rest = M[i, j]
            for k in range(j):
                rest -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = rest / L[j, j]
            elif rest > 0.0:
                L[i, i] = math.sqrt(rest)
            else:
                return False
    for j in range(r):
        for i in range(n):
            for k in range(i):
                X[i, j] -= L[i, k] * X[k, j]
            X[i, j] /= L[i, i]
        for i in range(n - 1, -1, -1):
            for k in range(i + 1, n):
                X[i, j] -= L[k, i] * X[k, j]
            X[i, j] /= L[i, i]
    return True


@expanded
def weigh(k, n, work):
    """Let k columns of M^-1 G^T, weighed, move rows C by minus the weights; True if dependent.

    Where contacts depend on each other, the new weights have the least norm.
    """
    C, moved, A, B, x = work[ROWS], work[MOVED], work[MATRIX], work[RIGHT], work[VECTORS, WEIGHT]
    size, target = work[VECTORS, SIZE], work[VECTORS, TARGET]
    for i in range(k):
        for j in range(k):
            A[i, j] = 0.0
            for a in range(n):
                A[i, j] += C[i, a] * moved[a, j]
        # Rows are scaled by what a contact does to itself, so that units do not matter.
        size[i] = math.sqrt(abs(A[i, i])) or 1.0
    for i in range(k):
        target[i] = B[i, 0] = -x[i] / size[i]
        for j in range(k):
            A[i, j] /= size[i] * size[j]
            work[BASIS, i, j] = A[i, j]
    is_dependent = eliminate(work[BASIS], B, k, ONE) == 0
    if is_dependent:
        least_norm(A, work[BASIS], work[VECTORS, LENGTH], k, target, x)
    for i in range(k):
        x[i] = (x[i] if is_dependent else B[i, 0]) / size[i]
    return is_dependent


@expanded
def _add_inner(inner, modes, k, n, work):
    """Add inner forces (m, 2) to k weights, but for what would have an effect."""
    A, V, wish = work[MATRIX], work[BASIS], work[VECTORS, TARGET]
    j = 0
    for i in range(len(modes)):
        if modes[i] != FREE:
            wish[j] = inner[i, 0]
            j += 1
        if modes[i] == STICKING:
            wish[j] = inner[i, 1]
            j += 1
    for i in range(k):
        for a in range(n):
            A[a, i] = work[FORCES, i, a]
    zero = orthogonalize(A, V, work[VECTORS, LENGTH], n, k)
    for j in range(k):
        if work[VECTORS, LENGTH, j] <= zero:
            weight = 0.0
            for i in range(k):
                weight += V[i, j] * wish[i]
            for i in range(k):
                work[VECTORS, WEIGHT, i] += weight * V[i, j]


@lean
def solve(
    M, force, phi, J_n, J_t, bias, v, modes, mu, inner, work, contact_force, acceleration
):  # fmt: skip
    """Fill the contact forces (m, 2) and dv/dt (nv,) of a choice of modes; return a status.

    If contacts depend on each other, so that forces are not unique, they have the least norm, plus
    what of the `inner` ones (m, 2) changes no acceleration.
    """
    m, n = J_n.shape
    x, moved = work[VECTORS, WEIGHT], work[MOVED]
    for i in range(m):
        # What C dv/dt is to be, but for its sign.
        speed, slide = dot(J_n[i], v), dot(J_t[i], v)
        contact_force[i, 0] = bias[i, 0] + STABILIZATION * (2.0 * speed + STABILIZATION * phi[i])
        contact_force[i, 1] = bias[i, 1] + STABILIZATION * slide
    k = assemble(J_n, J_t, modes, mu, contact_force, work)
    for a in range(n):
        moved[a, k] = force[a]
        for i in range(k):
            moved[a, i] = work[FORCES, i, a]
    if not respond(M, k + 1, work):
        return NO_INERTIA
    for a in range(n):
        acceleration[a] = moved[a, k]
    for i in range(k):
        for a in range(n):
            x[i] += work[ROWS, i, a] * acceleration[a]
    is_dependent = weigh(k, n, work)
    for a in range(n):
        for j in range(k):
            acceleration[a] += moved[a, j] * x[j]
    if is_dependent:
        _add_inner(inner, modes, k, n, work)
    j = 0
    for i in range(m):
        contact_force[i, 0] = contact_force[i, 1] = 0.0
        if modes[i] != FREE:
            contact_force[i, 0] = x[j]
            contact_force[i, 1] = -mu[i] * slip_sign(modes[i]) * x[j]
            j += 1
        if modes[i] == STICKING:
            contact_force[i, 1] = x[j]
            j += 1
    return DEPENDENT if is_dependent else UNIQUE


@lean
def _larger(J_n, J_t, i, work, j, normal_bias, tangent_bias):
    """Return the larger of the two accelerations of contact i, of motion j."""
    for a in range(J_n.shape[1]):
        normal_bias += J_n[i, a] * work[MOVED, a, j]
        tangent_bias += J_t[i, a] * work[MOVED, a, j]
    return max(abs(normal_bias), abs(tangent_bias))


@lean
def scales(M, force, J_n, J_t, bias, work, out):
    """Fill the acceleration and the force that each contact has to cope with, (m, 2).

    That is what it would have without contacts, or what others cause at it when they stop theirs.
    Contacts of bodies that have nothing to do with each other do not share their units. False if M
    is singular.
    """
    m, n = J_n.shape
    alone, own = work[VECTORS, WEIGHT], work[VECTORS, SIZE]
    for a in range(n):
        work[MOVED, a, m] = force[a]
        for i in range(m):
            work[MOVED, a, i] = J_n[i, a]
    if not respond(M, m + 1, work):
        return False
    for i in range(m):
        alone[i] = _larger(J_n, J_t, i, work, m, bias[i, 0], bias[i, 1])
        own[i] = 0.0
        for a in range(n):
            own[i] += J_n[i, a] * work[MOVED, a, i]
    for i in range(m):
        out[i, 0] = alone[i]
        for j in range(m):
            if own[j] > 0.0:
                caused = _larger(J_n, J_t, i, work, j, 0.0, 0.0) / own[j] * alone[j]
                out[i, 0] = max(out[i, 0], caused)
        out[i, 0] = out[i, 0] or 1.0
        out[i, 1] = out[i, 0] / own[i] if own[i] > 0.0 else 1.0
    return True


@lean
def margins(J_n, J_t, bias, modes, mu, resting, contact_force, acceleration, unit, out):
    """Fill by how much each condition of a choice of modes holds, free of units, (m, 2).

    `unit` holds the accelerations and forces of `scales`; `resting` contacts, if free or sliding,
    only begin to be. Where there is no condition, the margin is 1.
    """
    for i in range(J_n.shape[0]):
        a_n, a_t = dot(J_n[i], acceleration, bias[i, 0]), dot(J_t[i], acceleration, bias[i, 1])
        out[i, 0] = out[i, 1] = 1.0
        if modes[i] != FREE:
            out[i, 0] = contact_force[i, 0] / unit[i, 1]
        elif resting[i]:
            out[i, 0] = a_n / unit[i, 0]
        slip = slip_sign(modes[i])
        if modes[i] == STICKING:
            out[i, 1] = (mu[i] * contact_force[i, 0] - abs(contact_force[i, 1])) / unit[i, 1]
        elif slip != 0.0 and resting[i]:
            out[i, 1] = slip * a_t / unit[i, 0]
