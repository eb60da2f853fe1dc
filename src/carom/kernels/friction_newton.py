"""One time step of contacts where sweeps do not settle: Newton's method, and a convex problem.

The conditions of `friction_step` are equations between impulses and their natural map, which is
smooth but for kinks. Steps of Levenberg and Marquardt never let the sum of squares rise.
"""

import numpy as np

from carom.kernels.friction_step import factor, measure, solve_lower, solve_upper
from carom.kernels.jit import filling, lean

MOST_STEPS = 40
MOST_SWEEPS, SETTLED = 5000, 1e-13
"""Number of sweeps over the convex problem, and change of velocities that ends them [m/s]."""
GIVEN_UP = 1e12
"""Damping, as a share of the largest square of a column, at which steps lead nowhere."""


@filling
def polish(A, b, mu, which, P, target, u, P_next, F, F_next, slope, square, L):
    """Improve impulses P (n, 3) until the residual is at most `target` [m/s]; return it.

    Args:
        A, b, mu, which, P, u: As in `friction_step.resolve_contacts`.
        target: Residual at which to stop [m/s].
        P_next: (n, 3) scratch.
        F, F_next: (3 n,) scratch.
        slope, square, L: (3 n, 3 n) scratch.
    """
    n, damping = 3 * len(which), 1e-8
    worth = _equations(A, b, mu, which, P, u, F)
    for _ in range(MOST_STEPS):
        if measure(A, b, mu, which, P, u) <= target:
            break
        _slopes(A, mu, which, P, u, slope)
        top = _squares(slope, square)
        found = False
        while damping < GIVEN_UP and not found:
            for i in range(n):
                square[i, i] += damping * top
            if factor(square, L):
                _gradient(slope, F, F_next)
                solve_lower(L, F_next)
                solve_upper(L, F_next)
                for i in range(n):
                    P_next[i // 3, i % 3] = P[i // 3, i % 3] - F_next[i]
                after = _equations(A, b, mu, which, P_next, u, F_next)
                found = after < worth
            for i in range(n):
                square[i, i] -= damping * top
            damping *= 0.1 if found else 10.0
        if not found:
            break
        damping, worth = max(damping, 1e-15), after
        for i in range(n):
            P[i // 3, i % 3] = P_next[i // 3, i % 3]
            F[i] = F_next[i]
        _equations(A, b, mu, which, P, u, F)
    _into_cones(mu, which, P)
    return measure(A, b, mu, which, P, u)


@lean
def _into_cones(mu, which, P):
    """Take rounding out of impulses, so that each lies in its cone."""
    for x in range(len(which)):
        P[x, 0] = max(0.0, P[x, 0])
        limit, size = mu[which[x]] * P[x, 0], np.sqrt(P[x, 1] * P[x, 1] + P[x, 2] * P[x, 2])
        if size > limit:
            P[x, 1] *= limit / size
            P[x, 2] *= limit / size


@lean
def _equations(A, b, mu, which, P, u, F):
    """Write u and the equations F, which are zero at a solution [m/s]; return half of |F|^2."""
    for k in range(len(b)):
        total = b[k]
        for j in range(len(b)):
            total += A[k, j] * P[j // 3, j % 3]
        u[k] = total
    square = 0.0
    for x in range(len(which)):
        k = 3 * x
        F[k] = min(u[k], A[k, k] * P[x, 0])
        size = max(A[k + 1, k + 1], A[k + 2, k + 2])
        limit = mu[which[x]] * max(0.0, P[x, 0])
        f, g = _pulled(P, u, x, size)
        length = np.sqrt(f * f + g * g)
        share = limit / length if length > limit else 1.0
        F[k + 1], F[k + 2] = size * (P[x, 1] - share * f), size * (P[x, 2] - share * g)
        square += 0.5 * (F[k] * F[k] + F[k + 1] * F[k + 1] + F[k + 2] * F[k + 2])
    return square


@lean
def _pulled(P, u, x, size):
    """Return the friction of a contact after one step against its slip."""
    if size == 0.0:
        return P[x, 1], P[x, 2]
    return P[x, 1] - u[3 * x + 1] / size, P[x, 2] - u[3 * x + 2] / size


@lean
def _slopes(A, mu, which, P, u, slope):
    """Write the derivatives of the equations by the impulses."""
    n = len(u)
    for x in range(len(which)):
        k = 3 * x
        opens = u[k] >= A[k, k] * P[x, 0]
        size = max(A[k + 1, k + 1], A[k + 2, k + 2])
        limit = mu[which[x]] * max(0.0, P[x, 0])
        f, g = _pulled(P, u, x, size)
        length = np.sqrt(f * f + g * g)
        slides = length > limit
        share = limit / length if slides else 1.0
        if slides:
            f, g = f / length, g / length
        for j in range(n):
            slope[k, j] = 0.0 if opens else A[k, j]
            d, e = -A[k + 1, j], -A[k + 2, j]
            if size > 0.0:
                d += size if j == k + 1 else 0.0
                e += size if j == k + 2 else 0.0
            if slides:
                along = f * d + g * e
                d, e = share * (d - along * f), share * (e - along * g)
                if j == k and P[x, 0] > 0.0:
                    d += size * mu[which[x]] * f
                    e += size * mu[which[x]] * g
            slope[k + 1, j] = (size if j == k + 1 else 0.0) - d
            slope[k + 2, j] = (size if j == k + 2 else 0.0) - e
        if opens:
            slope[k, k] = A[k, k]


@lean
def _squares(slope, square):
    """Write the products of all columns; return the largest."""
    n, top = len(slope), 0.0
    for i in range(n):
        for j in range(i + 1):
            entry = 0.0
            for k in range(n):
                entry += slope[k, i] * slope[k, j]
            square[i, j] = entry
            square[j, i] = entry
        top = max(top, square[i, i])
    return top


@lean
def _gradient(slope, F, target):
    """Write the products of all columns with the equations."""
    for i in range(len(F)):
        entry = 0.0
        for k in range(len(F)):
            entry += slope[k, i] * F[k]
        target[i] = entry


@filling
def relax(A, b, mu, which, P):
    """Solve the nearest convex problem, which has a solution that sweeps always approach.

    It asks u_n >= mu |u_t| of contacts that slide, which therefore part a little, as those of
    Anitescu's scheme do. Nothing penetrates, and no energy comes from it. Return by how much the
    last sweep changed a velocity [m/s].
    """
    n, change = len(which), 0.0
    for _ in range(MOST_SWEEPS):
        change = 0.0
        for x in range(n):
            k = 3 * x
            size = A[k, k] + A[k + 1, k + 1] + A[k + 2, k + 2]
            own = mu[which[x]]
            u0, u1, u2 = b[k], b[k + 1], b[k + 2]
            for j in range(3 * n):
                push = P[j // 3, j % 3]
                u0 += A[k, j] * push
                u1 += A[k + 1, j] * push
                u2 += A[k + 2, j] * push
            p, f, g = P[x, 0] - u0 / size, P[x, 1] - u1 / size, P[x, 2] - u2 / size
            length = np.sqrt(f * f + g * g)
            if length > own * p:
                if own * length <= -p:
                    p, f, g = 0.0, 0.0, 0.0
                else:
                    p = (p + own * length) / (1.0 + own * own)
                    f, g = own * p * f / length, own * p * g / length
            moved = abs(p - P[x, 0]) + abs(f - P[x, 1]) + abs(g - P[x, 2])
            change = max(change, size * moved)
            P[x, 0], P[x, 1], P[x, 2] = p, f, g
        if change <= SETTLED:
            break
    return change
