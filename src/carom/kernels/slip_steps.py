"""Steps of the slip equation t' = B f(t) + c, f_j = -r_j t_j / |t_j|, for k contacts that slip.

A step of length h returns the friction impulse F = int f and t after it. Two methods share this:
Dormand and Prince's explicit DOP853 of order 8 where slip turns slowly, and the linearly
implicit RODAS of orders 4(3) (Hairer and Wanner, Solving ODEs II, IV.7) where some slip is small,
so that it turns, or is held in its direction, at a rate r B / |t| that explicit steps cannot bear.
Both keep t = t_0 + B F + c h.
"""

import numpy as np
from scipy.integrate import DOP853

from carom.kernels.jit import expanded, inlined, lean
from carom.kernels.slip_integrals import (
    EXPLICIT,
    GAMMA,
    IMPLICIT,
    IMPLICIT_PAST,
    NUM_STAGES,
    add_explicit,
    add_implicit,
    finish_explicit,
    finish_implicit,
)

EXPLICIT_ERROR, EXPLICIT_CORRECTION = DOP853.E5, DOP853.E3
"""Errors of orders 5 and 3, whose mixture is an estimate of order 8."""

FIFTH = 0.3
"""Least share of the error of order 5 that counts: where that one changes its sign, the estimate of
order 8, which has its square, is far too small on either side."""

RELATIVE = 0.02
"""Largest estimated error as a share of the slip."""

LEAST = 1e-13
"""Smaller errors are rounding."""

IMPLICIT_TIME = np.array([0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0])


@inlined
def length(x, y):
    """Return the length of a vector; `hypot`, which minds overflow, takes several times as long."""
    return np.sqrt(x * x + y * y)


@inlined
def friction_against(t, limit, k, f):
    """Write the friction of contacts that slip: their limit, against their slip."""
    for j in range(k):
        x, y = t[2 * j], t[2 * j + 1]
        slip = length(x, y)
        pull = -limit[j] / slip if slip > 0.0 else 0.0
        f[2 * j], f[2 * j + 1] = pull * x, pull * y


@inlined
def respond(B, c, part, f, n, slope):
    """Write slope = B f + part c."""
    for x in range(n):
        value = part * c[x]
        for y in range(n):
            value += B[x, y] * f[y]
        slope[x] = value


@inlined
def allowed(accuracy, t, p):
    """Return the error that the slip which begins at entry p may have."""
    return min(accuracy, RELATIVE * length(t[p], t[p + 1]) + LEAST)


@lean
def explicit_step(h, k, work):
    """Take an explicit step; return its error in t, as a share of what is allowed.

    Small slip must not be lost in the error, so it is measured by itself (`RELATIVE`).

    Args:
        h: Length.
        k: Number of contacts that slip.
        work: With B, drive, slip_limit, t, and f and slope that belong to t. Its t_next and f_next
            become slip and friction after the step, its F the friction impulse.
    """
    n, t, t_next, f, F, stages = 2 * k, work.t, work.t_next, work.f_next, work.F, work.stages
    for x in range(n):
        stages[x, 0] = work.slope[x]
        F[x] = EXPLICIT[NUM_STAGES, 0] * work.f[x]
    add_explicit(work, 0, work.f, n)
    for i in range(1, NUM_STAGES + 1):
        # Few stages of few numbers: sums in registers, not sums of rows, are what is quick.
        for x in range(n):
            value = 0.0
            for j in range(i):
                value += EXPLICIT[i, j] * stages[x, j]
            t_next[x] = t[x] + h * value
        friction_against(t_next, work.slip_limit, k, f)
        if i < NUM_STAGES:
            respond(work.B, work.drive, 1.0, f, n, work.stage)
            for x in range(n):
                stages[x, i] = work.stage[x]
                F[x] += EXPLICIT[NUM_STAGES, i] * f[x]
            add_explicit(work, i, f, n)
    error = 0.0
    # By lengths of errors, so that steps are the same whatever the tangents.
    for p in range(0, n, 2):
        fifth, third = 0.0, 0.0
        for x in (p, p + 1):
            of_five, of_three = 0.0, 0.0
            for j in range(NUM_STAGES):
                of_five += EXPLICIT_ERROR[j] * stages[x, j]
                of_three += EXPLICIT_CORRECTION[j] * stages[x, j]
            fifth += of_five * of_five
            third += of_three * of_three
            F[x] *= h
        size = np.sqrt(fifth + 0.01 * third)
        if size > 0.0:
            estimate = max(fifth / size, FIFTH * np.sqrt(fifth))
            error = max(error, h * estimate / allowed(work.accuracy, t, p))
    finish_explicit(work, h, n)
    return error


@lean
def implicit_step(h, k, work):
    """Take a linearly implicit step, as `explicit_step` does."""
    n, t, t_next, f, F = 2 * k, work.t, work.t_next, work.f_next, work.F
    past, shift, drift = work.past, work.shift, work.stage
    _linearize(h, k, work.slip_limit, work.B, work.drive, t, work.system, drift)
    factor(work.system, work.order, n)
    for i in range(6):
        for x in range(n):
            t_next[x] = t[x]
        for j in range(i):
            a = IMPLICIT[i, j]
            for x in range(n):
                t_next[x] += a * shift[j, x]
        friction_against(t_next, work.slip_limit, k, f)
        for x in range(n):
            f[x] += h * IMPLICIT_TIME[i] * drift[x]
        for j in range(i):
            a = IMPLICIT_PAST[i, j] / h
            for x in range(n):
                f[x] += a * past[j, x]
        solve(work.system, work.order, n, f, past[i])
        respond(work.B, work.drive, h * IMPLICIT_TIME[i], past[i], n, shift[i])
        add_implicit(work, i, h, n)
    error = 0.0
    for x in range(n):
        total, moved = 0.0, 0.0
        for j in range(6):
            total += IMPLICIT[6, j] * past[j, x]
            moved += IMPLICIT[6, j] * shift[j, x]
        F[x] = total
        t_next[x] = t[x] + moved
    for p in range(0, n, 2):
        size = length(shift[5, p], shift[5, p + 1])
        error = max(error, size / allowed(work.accuracy, t, p))
    finish_implicit(work, n)
    friction_against(t_next, work.slip_limit, k, f)
    return error


@expanded
def _linearize(h, k, limit, B, c, t, system, drift):
    """Write 1 / (gamma h) - D B and D c, where D = df/dt."""
    n = 2 * k
    for j in range(k):
        p, q = 2 * j, 2 * j + 1
        x, y = t[p], t[q]
        square = x * x + y * y
        stiff = limit[j] / (square * np.sqrt(square))
        # -D = r (1 - d d') / |t|, by the vector square to t.
        for s in range(n):
            across = stiff * (x * B[q, s] - y * B[p, s])
            system[p, s] = -y * across
            system[q, s] = x * across
        across = -stiff * (x * c[q] - y * c[p])
        drift[p], drift[q] = -y * across, x * across
    for x in range(n):
        system[x, x] += 1.0 / (GAMMA * h)


@expanded
def factor(L, order, n):
    """Factor a regular matrix in place with partial pivoting."""
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(L[i, k]) > abs(L[p, k]):
                p = i
        order[k] = p
        if p != k:
            for j in range(n):
                L[k, j], L[p, j] = L[p, j], L[k, j]
        inverse = 1.0 / L[k, k]
        for i in range(k + 1, n):
            share = L[i, k] * inverse
            L[i, k] = share
            if share != 0.0:
                for j in range(k + 1, n):
                    L[i, j] -= share * L[k, j]


@expanded
def solve(L, order, n, b, x):
    """Solve for x with the factors; b is destroyed."""
    for k in range(n):
        p = order[k]
        b[k], b[p] = b[p], b[k]
    for k in range(n):
        value = b[k]
        for j in range(k):
            value -= L[k, j] * x[j]
        x[k] = value
    for k in range(n - 1, -1, -1):
        value = x[k]
        for j in range(k + 1, n):
            value -= L[k, j] * x[j]
        x[k] = value / L[k, k]
