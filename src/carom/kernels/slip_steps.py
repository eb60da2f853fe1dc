"""Steps of the slip equation t' = B f(t) + c, f_j = -r_j t_j / |t_j|, for k contacts that slip.

A step of length h returns the friction impulse F = int f and t after it. Two methods share this:
Dormand and Prince's explicit pair of orders 5(4) where slip turns slowly, and the linearly
implicit RODAS of orders 4(3) (Hairer and Wanner, Solving ODEs II, IV.7) where some slip is small,
so that it turns, or is held in its direction, at a rate r B / |t| that explicit steps cannot bear.
Both keep t = t_0 + B F + c h.
"""

import numpy as np

from carom.kernels.jit import inlined

EXPLICIT = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
"""Dormand and Prince's stages; the last row is the step itself."""

EXPLICIT_ERROR = np.array(
    [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
)

ACCURACY = 1e-9
"""Largest estimated error of a step, as a share of the impact's speed; the true one is less."""

IMPLICIT_ACCURACY = 1e-8
"""The same for implicit steps, whose estimate is of lower order: 50 times the error or more."""

RELATIVE = 0.02
"""Largest estimated error as a share of the slip."""

LEAST = 1e-13
"""Smaller errors are rounding."""

GAMMA = 0.25
IMPLICIT = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.544, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0, 0.0],
        [3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0, 0.0],
        [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 0.0, 0.0],
        [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0, 0.0],
        [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0, 1.0],
    ]
)
"""RODAS' stages; the last row is the step itself, and what it adds to the sixth is the error."""

IMPLICIT_PAST = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [-5.6688, 0.0, 0.0, 0.0, 0.0],
        [-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0],
        [-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0],
        [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616, 0.0],
        [
            8.083246795921522,
            -7.981132988064893,
            -31.52159432874371,
            16.31930543123136,
            -6.058818238834054,
        ],
    ]
)
IMPLICIT_TIME = np.array([0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0])


@inlined
def friction_against(t, limit, k, f):
    """Write the friction of contacts that slip: their limit, against their slip."""
    for j in range(k):
        x, y = t[2 * j], t[2 * j + 1]
        length = np.sqrt(x * x + y * y)
        pull = -limit[j] / length if length > 0.0 else 0.0
        f[2 * j], f[2 * j + 1] = pull * x, pull * y


@inlined
def respond(B, c, part, f, n, slope):
    """Write slope = B f + part c, for a symmetric B."""
    for x in range(n):
        slope[x] = part * c[x]
    for y in range(n):
        value = f[y]
        for x in range(n):
            slope[x] += B[y, x] * value


@inlined
def allowed(t, x, accuracy):
    """Return the error that entry x of slip may have."""
    p = x - x % 2
    return min(accuracy, RELATIVE * np.sqrt(t[p] * t[p] + t[p + 1] * t[p + 1]) + LEAST)


@inlined
def explicit_step(h, k, limit, B, c, t, f, slope, t_next, F):
    """Take an explicit step; return its error in t, as a share of `ACCURACY`.

    Small slip must not be lost in the error, so it is measured by itself (`RELATIVE`).

    Args:
        h: Length.
        k: Number of contacts that slip.
        limit: (k,) largest friction.
        B: (2 k, 2 k) rates of t for friction, of which it takes the leading block as it does below.
        c: (2 k,) rates of t without friction.
        t: (2 k,) slip.
        f: (7, 2 k) friction at the stages, the first given; the last belongs to t_next.
        slope: (7, 2 k) rates of t at the stages, the first given.
        t_next: (2 k,) becomes slip after the step.
        F: (2 k,) becomes the friction impulse.
    """
    n = 2 * k
    for i in range(1, 7):
        for x in range(n):
            t_next[x] = 0.0
        for j in range(i):
            a = EXPLICIT[i, j]
            for x in range(n):
                t_next[x] += a * slope[j, x]
        for x in range(n):
            t_next[x] = t[x] + h * t_next[x]
        friction_against(t_next, limit, k, f[i])
        respond(B, c, 1.0, f[i], n, slope[i])
    error = 0.0
    for x in range(n):
        value, total = 0.0, 0.0
        for j in range(6):
            total += EXPLICIT[6, j] * f[j, x]
            value += EXPLICIT_ERROR[j] * slope[j, x]
        F[x] = h * total
        value = abs(h * (value + EXPLICIT_ERROR[6] * slope[6, x]))
        error = max(error, value / allowed(t, x, ACCURACY))
    return error


@inlined
def implicit_step(h, k, limit, B, c, t, f, slope, t_next, F, past, shift, system, order):
    """Take a linearly implicit step, as `explicit_step` does.

    `past`, `shift` (>= 6, 2 k), `system` (2 k, 2 k) and `order` (2 k,) are scratch; f[6] belongs
    to t_next, as above; f[5] and slope[1:] are scratch.
    """
    n = 2 * k
    _linearize(h, k, limit, B, c, t, system, slope[1])
    factor(system, order, n)
    for i in range(6):
        for x in range(n):
            t_next[x] = t[x]
        for j in range(i):
            a = IMPLICIT[i, j]
            for x in range(n):
                t_next[x] += a * shift[j, x]
        friction_against(t_next, limit, k, f[5])
        for x in range(n):
            f[5, x] += h * IMPLICIT_TIME[i] * slope[1, x]
        for j in range(i):
            a = IMPLICIT_PAST[i, j] / h
            for x in range(n):
                f[5, x] += a * past[j, x]
        solve(system, order, n, f[5], past[i])
        respond(B, c, h * IMPLICIT_TIME[i], past[i], n, shift[i])
    error = 0.0
    for x in range(n):
        total, moved = 0.0, 0.0
        for j in range(6):
            total += IMPLICIT[6, j] * past[j, x]
            moved += IMPLICIT[6, j] * shift[j, x]
        F[x] = total
        t_next[x] = t[x] + moved
        error = max(error, abs(shift[5, x]) / allowed(t, x, IMPLICIT_ACCURACY))
    friction_against(t_next, limit, k, f[6])
    return error


@inlined
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


@inlined
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


@inlined
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
