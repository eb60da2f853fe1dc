"""The affine pieces of the impact step.

For one configuration the step LCP changes only with u = (v_c, cap): contact velocities and the
caps on the normal impulses. Give every contact a mode, and the impulse is one affine map
lambda = L u, valid where C u >= 0. A contact's modes, by number:

    0                  free: lambda_n = 0, v_n' >= 0
    1 + f              closed: v_n' = 0, 0 <= lambda_n <= cap
    1 + F + f          compressing: lambda_n = cap, v_n' <= 0

and, of friction, f = 0 sticking, f = 1 .. k sliding against direction f - 1 (the impulse is in
that corner of the friction polygon), then, in space only, f = k + 1 .. 2k sliding square to an
edge of the polygon (the impulse is between two corners). F counts them: 3 in the plane,
1 + 2 k in space. Contact coordinates are contact by contact, normal first.

The sign of a piece is that of its determinant. With the caps fixed, velocities before a step
depend on velocities and impulses after it by a piecewise affine map of degree one, so the number
of solutions of a step is 1 + 2 (number of negative pieces that hold it): see docs/pieces.md.
"""

import numpy as np

from carom.kernels.jit import ZERO, expanded, kernel, lean
from carom.kernels.linear import dot, eliminate
from carom.kernels.tolerances import VANISHING

BASIS, CAPS, EQUATIONS, SYSTEM, UNKNOWN, AFTER, NUM_LAYERS = range(7)
"""Layers of the work array (NUM_LAYERS, c, c + m) of `build_piece`: those of `parametrize`; the
linear system; its right sides and solution; velocities after the step."""


@kernel
def num_frictions(d, k):
    """Count the friction states F of a contact."""
    return 3 if d == 1 else 1 + 2 * k


@kernel
def num_modes(d, k, capped):
    """Count the modes of a contact."""
    return 1 + (2 * num_frictions(d, k) if capped else num_frictions(d, k))


@lean
def max_conditions(d, k):
    """Bound the number of inequalities that one contact adds to a piece."""
    return 2 + (2 if d == 1 else max(k, 3))


@lean
def parametrize(mu, D, modes, basis, caps, equations):
    """Write lambda = basis xi + caps cap and equations (v_c + A lambda) = 0; count the xi."""
    k, d = D.shape
    F = num_frictions(d, k)
    for a in range(len(basis)):
        basis[a], caps[a], equations[a] = 0.0, 0.0, 0.0
    size = 0
    for i in range(modes.shape[0]):
        if modes[i] == 0:
            continue
        n = i * (1 + d)
        compressing = modes[i] > F
        friction = (modes[i] - 1) % F
        corner = -1 if friction == 0 else (friction - 1) % k
        if compressing:
            caps[n, i] = 1.0
            if corner >= 0:
                for j in range(d):
                    caps[n + 1 + j, i] = mu[i] * D[corner, j]
        else:
            # Scaled by the friction coefficient so that large ones keep the system balanced.
            scale = 1.0 if corner < 0 else 1.0 / max(1.0, mu[i])
            basis[n, size] = scale
            if corner >= 0:
                for j in range(d):
                    basis[n + 1 + j, size] = scale * mu[i] * D[corner, j]
            equations[size, n] = 1.0
            size += 1
        if friction == 0:
            for j in range(d):
                basis[n + 1 + j, size] = 1.0
                equations[size, n + 1 + j] = 1.0
                size += 1
        elif friction > k:
            for j in range(d):
                along = D[(corner + 1) % k, j] - D[corner, j]
                basis[n + 1 + j, size] = along
                equations[size, n + 1 + j] = along
            size += 1
    return size


@lean
def _solve_modes(A, mu, D, modes, work, L):
    """Fill the impulse map L of one choice of modes; return its sign, 0 if it has none."""
    basis, caps, equations = work[BASIS], work[CAPS], work[EQUATIONS]
    system, unknown = work[SYSTEM], work[UNKNOWN]
    m, c = modes.shape[0], A.shape[0]
    size = parametrize(mu, D, modes, basis, caps, equations)
    for r in range(size):
        system[r], unknown[r] = 0.0, 0.0
    for r in range(size):
        for a in range(c):
            if equations[r, a] == 0.0:
                continue
            unknown[r, a] -= equations[r, a]
            for b in range(c):
                weight = equations[r, a] * A[a, b]
                for s in range(size):
                    system[r, s] += weight * basis[b, s]
                for i in range(m):
                    unknown[r, c + i] -= weight * caps[b, i]
    sign = eliminate(system, unknown, size, c + m)
    if sign == 0:
        return 0
    for a in range(c):
        for j in range(c + m):
            total = caps[a, j - c] if j >= c else 0.0
            for s in range(size):
                total += basis[a, s] * unknown[s, j]
            L[a, j] = total
    return sign


@lean
def _normalize(C, row):
    """Scale a condition to length one; return the next free row (a vanishing one is dropped)."""
    square = dot(C[row], C[row])
    if square < VANISHING * VANISHING:
        return row
    length = np.sqrt(square)
    for j in range(C.shape[1]):
        C[row, j] /= length
    return row + 1


@lean
def _normal_conditions(mode, F, n, cap, capped, L, after, C, row):
    """Write the inequalities of a contact's normal direction."""
    if mode == 0 or mode > F:
        sign = 1.0 if mode == 0 else -1.0
        for j in range(C.shape[1]):
            C[row, j] = sign * after[n, j]
        return _normalize(C, row)
    for j in range(C.shape[1]):
        C[row, j] = L[n, j]
    row = _normalize(C, row)
    if capped:
        for j in range(C.shape[1]):
            C[row, j] = -L[n, j]
        C[row, cap] += 1.0
        row = _normalize(C, row)
    return row


@lean
def edge(D, a):
    """Return the outward normal of a friction polygon's edge, from corner a to the next one.

    In the plane it is the corner itself. The third number is its distance from the centre.
    """
    k, d = D.shape
    if d == 1:
        return D[a, 0], 0.0, D[a, 0] * D[a, 0]
    b = (a + 1) % k
    x, y = D[b, 1] - D[a, 1], D[a, 0] - D[b, 0]
    return x, y, x * D[a, 0] + y * D[a, 1]


@lean
def _tangent_conditions(friction, n, mu, D, L, after, C, row):
    """Write the inequalities of a contact's friction."""
    k, d = D.shape
    size = C.shape[1]
    if friction == 0:
        for a in range(k):
            x, y, offset = edge(D, a)
            for j in range(size):
                C[row, j] = mu * offset * L[n, j] - x * L[n + 1, j]
                if d == 2:
                    C[row, j] -= y * L[n + 2, j]
            row = _normalize(C, row)
    elif friction <= k:
        corner = friction - 1
        for turn in range(1 if d == 1 else 2):
            other = (corner + (1 if turn == 0 else k - 1)) % k
            for j in range(size):
                C[row, j] = 0.0
                for t in range(d):
                    C[row, j] += (D[other, t] - D[corner, t]) * after[n + 1 + t, j]
            row = _normalize(C, row)
    else:
        row = _edge_conditions((friction - 1) % k, n, mu, D, L, after, C, row)
    return row


@expanded
def _edge_conditions(a, n, mu, D, L, after, C, row):
    """Write that the impulse lies between two corners and the velocity points against both."""
    b = (a + 1) % D.shape[0]
    size = C.shape[1]
    x, y = D[b, 0] - D[a, 0], D[b, 1] - D[a, 1]
    for corner, sign in ((a, 1.0), (b, -1.0)):
        level = x * D[corner, 0] + y * D[corner, 1]
        for j in range(size):
            along = x * L[n + 1, j] + y * L[n + 2, j]
            C[row, j] = sign * (along - mu * level * L[n, j])
        row = _normalize(C, row)
    for j in range(size):
        C[row, j] = x * after[n + 2, j] - y * after[n + 1, j]
    return _normalize(C, row)


@expanded
def build_piece(A, mu, D, modes, capped, work, L, C):
    """Fill the impulse map L (c, c + m) and the conditions C (rows, c + m), each of length one.

    Return the piece's sign, 0 where the modes (m,) do not fix the impulse, and the number of
    conditions. If impulses are not capped, caps play no part.
    """
    m, c = modes.shape[0], A.shape[0]
    k, d = D.shape
    F = num_frictions(d, k)
    after = work[AFTER]
    sign = _solve_modes(A, mu, D, modes, work, L)
    if sign == 0:
        return 0, 0
    for a in range(c):
        for j in range(c + m):
            after[a, j] = dot(A[a], L[:, j], 1.0 if a == j else 0.0)
    row = ZERO
    for i in range(m):
        n = i * (1 + d)
        row = _normal_conditions(modes[i], F, n, c + i, capped, L, after, C, row)
        if modes[i] > 0:
            friction = (modes[i] - 1) % F
            row = _tangent_conditions(friction, n, mu[i], D, L, after, C, row)
    return sign, row


@lean
def read_code(code, base, modes):
    """Write the digits of a number to the given base: the modes of all contacts."""
    for i in range(modes.shape[0]):
        modes[i] = code % base
        code //= base


@kernel
def tabulate(A, mu, D, wanted, capped):
    """Build the pieces of given modes (n, m), without those that do not fix the impulse.

    Return L, C, num_conditions, sign and modes, with one entry per piece.
    """
    total, m = wanted.shape
    k, d = D.shape
    c = m * (1 + d)
    L, C = np.empty((total, c, c + m)), np.zeros((total, m * max_conditions(d, k), c + m))
    number, sign, modes = np.empty(total, np.int64), np.empty(total, np.int64), wanted.copy()
    work = np.empty((NUM_LAYERS, c, c + m))
    count = 0
    for p in range(total):
        for i in range(m):
            modes[count, i] = wanted[p, i]
        sign[count], number[count] = build_piece(
            A, mu, D, modes[count], capped, work, L[count], C[count]
        )
        C[count, number[count] :] = 0.0
        if sign[count] != 0:
            count += 1
    return L[:count], C[:count], number[:count], sign[:count], modes[:count]


@kernel
def solutions(A, mu, D, capped, u, tolerance, found, impulses):
    """List the modes (most, m) and impulses (most, c) of every piece that holds u.

    No table is kept. Return how many there are; those beyond `most` are left out.
    """
    m, c = mu.shape[0], A.shape[0]
    k, d = D.shape
    base = num_modes(d, k, capped)
    L, C = np.empty((c, c + m)), np.zeros((m * max_conditions(d, k), c + m))
    work = np.empty((NUM_LAYERS, c, c + m))
    modes = np.empty(m, np.int64)
    count = 0
    for code in range(base**m):
        read_code(code, base, modes)
        sign, num_conditions = build_piece(A, mu, D, modes, capped, work, L, C)
        is_inside = sign != 0
        for r in range(num_conditions):
            is_inside = is_inside and dot(C[r], u) >= -tolerance
        if not is_inside:
            continue
        if count < found.shape[0]:
            impulse = L @ u
            for a in range(c):
                impulses[count, a] = impulse[a]
            for i in range(m):
                found[count, i] = modes[i]
        count += 1
    return count
