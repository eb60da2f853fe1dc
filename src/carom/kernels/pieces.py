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

from carom.kernels.jit import kernel
from carom.kernels.linear import eliminate
from carom.kernels.tolerances import VANISHING


@kernel
def num_frictions(d, k):
    """Count the friction states F of a contact."""
    return 3 if d == 1 else 1 + 2 * k


@kernel
def max_conditions(d, k):
    """Bound the number of inequalities that one contact adds to a piece."""
    return 2 + (2 if d == 1 else max(k, 3))


@kernel
def make_piece_work(m, d):
    """Allocate what `build_piece` needs for m contacts."""
    c = m * (1 + d)
    basis = np.empty((c, c))
    caps = np.empty((c, m))
    equations = np.empty((c, c))
    system = np.empty((c, c))
    unknown = np.empty((c, c + m))
    after = np.empty((c, c + m))
    return basis, caps, equations, system, unknown, after


@kernel
def parametrize(mu, D, modes, basis, caps, equations):
    """Write lambda = basis xi + caps cap and equations (v_c + A lambda) = 0; count the xi."""
    m = modes.shape[0]
    k, d = D.shape
    F = num_frictions(d, k)
    basis[:] = 0.0
    caps[:] = 0.0
    equations[:] = 0.0
    size = 0
    for i in range(m):
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


@kernel
def _solve_modes(A, mu, D, modes, work, L):
    """Fill the impulse map L of one choice of modes; return its sign, 0 if it has none."""
    basis, caps, equations, system, unknown, _ = work
    m = modes.shape[0]
    c = A.shape[0]
    size = parametrize(mu, D, modes, basis, caps, equations)
    for r in range(size):
        for s in range(size):
            system[r, s] = 0.0
        for j in range(c + m):
            unknown[r, j] = 0.0
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


@kernel
def _normalize(C, row):
    """Scale a condition to length one; return the next free row (a vanishing one is dropped)."""
    length = 0.0
    for j in range(C.shape[1]):
        length += C[row, j] * C[row, j]
    if length < VANISHING * VANISHING:
        return row
    length = np.sqrt(length)
    for j in range(C.shape[1]):
        C[row, j] /= length
    return row + 1


@kernel
def _normal_conditions(mode, F, n, cap, capped, L, after, C, row):
    """Write the inequalities of a contact's normal direction."""
    size = C.shape[1]
    if mode == 0 or mode > F:
        sign = 1.0 if mode == 0 else -1.0
        for j in range(size):
            C[row, j] = sign * after[n, j]
        return _normalize(C, row)
    for j in range(size):
        C[row, j] = L[n, j]
    row = _normalize(C, row)
    if capped:
        for j in range(size):
            C[row, j] = -L[n, j]
        C[row, cap] += 1.0
        row = _normalize(C, row)
    return row


@kernel
def _tangent_conditions(friction, n, mu, D, L, after, C, row):
    """Write the inequalities of a contact's friction."""
    k, d = D.shape
    size = C.shape[1]
    if friction == 0:
        for a in range(k if d == 2 else 2):
            b = (a + 1) % k
            # Outward normal of the polygon's edge from corner a to corner b (in the plane: the
            # corner itself), and the edge's distance from the centre for mu lambda_n = 1.
            x = D[b, 1] - D[a, 1] if d == 2 else D[a, 0]
            y = D[a, 0] - D[b, 0] if d == 2 else 0.0
            offset = x * D[a, 0] + (y * D[a, 1] if d == 2 else 0.0)
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


@kernel
def _edge_conditions(a, n, mu, D, L, after, C, row):
    """Write that the impulse lies between two corners and the velocity points against both."""
    b = (a + 1) % D.shape[0]
    size = C.shape[1]
    x = D[b, 0] - D[a, 0]
    y = D[b, 1] - D[a, 1]
    for end in range(2):
        corner = a if end == 0 else b
        sign = 1.0 if end == 0 else -1.0
        level = x * D[corner, 0] + y * D[corner, 1]
        for j in range(size):
            along = x * L[n + 1, j] + y * L[n + 2, j]
            C[row, j] = sign * (along - mu * level * L[n, j])
        row = _normalize(C, row)
    for j in range(size):
        C[row, j] = x * after[n + 2, j] - y * after[n + 1, j]
    return _normalize(C, row)


@kernel
def build_piece(A, mu, D, modes, capped, work, L, C):
    """Build one affine piece.

    Args:
        A: (c, c) Delassus matrix, c = m (1 + d).
        mu: (m,) friction coefficients.
        D: (k, d) friction directions, in order of their angle.
        modes: (m,) mode of each contact.
        capped: Whether normal impulses have caps; if not, caps play no part.
        work: From `make_piece_work(m, d)`.
        L: (c, c + m) result, the impulse as a function of u.
        C: (rows, c + m) result, the conditions C u >= 0, each of length one.

    Returns:
        (sign, number of conditions); sign 0 where the modes do not fix the impulse.
    """
    m = modes.shape[0]
    k, d = D.shape
    c = A.shape[0]
    F = num_frictions(d, k)
    after = work[5]
    sign = _solve_modes(A, mu, D, modes, work, L)
    if sign == 0:
        return 0, 0
    for a in range(c):
        for j in range(c + m):
            total = 1.0 if a == j else 0.0
            for b in range(c):
                total += A[a, b] * L[b, j]
            after[a, j] = total
    row = 0
    for i in range(m):
        n = i * (1 + d)
        row = _normal_conditions(modes[i], F, n, c + i, capped, L, after, C, row)
        if modes[i] > 0:
            friction = (modes[i] - 1) % F
            row = _tangent_conditions(friction, n, mu[i], D, L, after, C, row)
    return sign, row


@kernel
def tabulate(A, mu, D, capped):
    """Build every piece that fixes the impulse; for few contacts only, since modes multiply.

    Returns:
        (L, C, num_conditions, sign, modes), one entry a piece.
    """
    m = mu.shape[0]
    k, d = D.shape
    F = num_frictions(d, k)
    base = 1 + (2 * F if capped else F)
    modes = np.empty((base**m, m), np.int64)
    for code in range(modes.shape[0]):
        read_code(code, base, modes[code])
    return _tabulate(A, mu, D, modes, capped)


@kernel
def tabulate_modes(A, mu, D, modes):
    """Build the pieces of given modes (n, m), without those that do not fix the impulse."""
    return _tabulate(A, mu, D, modes, True)


@kernel
def read_code(code, base, modes):
    """Write the digits of a number to the given base: the modes of all contacts."""
    for i in range(modes.shape[0]):
        modes[i] = code % base
        code //= base


@kernel
def _tabulate(A, mu, D, wanted, capped):
    total, m = wanted.shape
    k, d = D.shape
    c = m * (1 + d)
    L = np.empty((total, c, c + m))
    C = np.zeros((total, m * max_conditions(d, k), c + m))
    num_conditions = np.empty(total, np.int64)
    sign = np.empty(total, np.int64)
    modes = np.empty((total, m), np.int64)
    work = make_piece_work(m, d)
    count = 0
    for p in range(total):
        modes[count] = wanted[p]
        sign[count], num_conditions[count] = build_piece(
            A, mu, D, modes[count], capped, work, L[count], C[count]
        )
        C[count, num_conditions[count] :] = 0.0
        if sign[count] != 0:
            count += 1
    return L[:count], C[:count], num_conditions[:count], sign[:count], modes[:count]


@kernel
def solutions(A, mu, D, capped, u, tolerance, found, impulses):
    """Find every piece that holds u, without keeping a table.

    Args:
        A, mu, D, capped: As for `build_piece`.
        u: (c + m,) contact velocities and caps.
        tolerance: How far outside a piece u may lie.
        found: (most, m) result, modes.
        impulses: (most, c) result.

    Returns:
        How many there are; more than `most` means that the rest was left out.
    """
    m = mu.shape[0]
    k, d = D.shape
    c = A.shape[0]
    F = num_frictions(d, k)
    base = 1 + (2 * F if capped else F)
    L = np.empty((c, c + m))
    C = np.zeros((m * max_conditions(d, k), c + m))
    work = make_piece_work(m, d)
    modes = np.empty(m, np.int64)
    count = 0
    for code in range(base**m):
        read_code(code, base, modes)
        sign, num_conditions = build_piece(A, mu, D, modes, capped, work, L, C)
        if sign == 0 or np.any(C[:num_conditions] @ u < -tolerance):
            continue
        if count < found.shape[0]:
            found[count] = modes
            impulses[count] = L @ u
        count += 1
    return count
