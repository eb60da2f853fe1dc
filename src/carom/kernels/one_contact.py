"""One contact of a time step whose normal impulse and friction move each other much."""

import numpy as np

from carom.kernels.jit import inlined, lean

NUM_ANGLES = 48
"""Number of directions between which that of slip is looked for."""


@lean
def one_contact(A, k, n0, t0, t1, mu, p, f, g):
    """Return the impulse of one contact where friction and normal impulse move each other much.

    It sticks if what stops it lies in the cone. Else it slides along a direction d for which
    u_t is along d: of all of them, the nearest to the one given is taken.
    """
    if n0 >= 0.0:
        return 0.0, 0.0, 0.0
    a, x, y = A[k, k], A[k, k + 1], A[k, k + 2]
    c, d, e = A[k + 1, k + 1], A[k + 1, k + 2], A[k + 2, k + 2]
    det = a * (c * e - d * d) - x * (x * e - d * y) + y * (x * d - c * y)
    if det > 1e-12 * a * c * e:
        r = -((c * e - d * d) * n0 + (d * y - x * e) * t0 + (x * d - c * y) * t1) / det
        v = -((d * y - x * e) * n0 + (a * e - y * y) * t0 + (x * y - a * d) * t1) / det
        w = -((x * d - c * y) * n0 + (x * y - a * d) * t0 + (a * c - x * x) * t1) / det
        if r >= 0.0 and v * v + w * w <= mu * mu * r * r:
            return r, v, w
    given = np.arctan2(-g, -f)
    best, chosen = np.inf, given
    step = 2.0 * np.pi / NUM_ANGLES
    last = _askew(A, k, n0, t0, t1, mu, given - np.pi)
    for i in range(NUM_ANGLES):
        high = given - np.pi + (i + 1) * step
        after = _askew(A, k, n0, t0, t1, mu, high)
        if last * after <= 0.0 and last != after:
            low, left = high - step, last
            for _ in range(60):
                middle = 0.5 * (low + high)
                value = _askew(A, k, n0, t0, t1, mu, middle)
                if left * value <= 0.0:
                    high = middle
                else:
                    low, left = middle, value
            normal, slip = _slide(A, k, n0, t0, t1, mu, 0.5 * (low + high))
            if normal > 0.0 and slip >= 0.0 and abs(low - given) < best:
                best, chosen = abs(low - given), 0.5 * (low + high)
        last = after
    if best == np.inf:
        return p, f, g
    normal, _ = _slide(A, k, n0, t0, t1, mu, chosen)
    return normal, -mu * normal * np.cos(chosen), -mu * normal * np.sin(chosen)


@inlined
def _sliding_velocity(A, k, n0, t0, t1, mu, angle):
    """Return a factor, the slip times the factor, and the direction of a contact that slides so.

    The normal impulse is -n0 / factor.
    """
    x, y = np.cos(angle), np.sin(angle)
    factor = A[k, k] - mu * (A[k, k + 1] * x + A[k, k + 2] * y)
    u0 = t0 * factor - n0 * (A[k + 1, k] - mu * (A[k + 1, k + 1] * x + A[k + 1, k + 2] * y))
    u1 = t1 * factor - n0 * (A[k + 2, k] - mu * (A[k + 2, k + 1] * x + A[k + 2, k + 2] * y))
    return factor, u0, u1, x, y


@lean
def _askew(A, k, n0, t0, t1, mu, angle):
    """Return how far the slip of a contact is off the direction along which it slides."""
    _, u0, u1, x, y = _sliding_velocity(A, k, n0, t0, t1, mu, angle)
    return x * u1 - y * u0


@lean
def _slide(A, k, n0, t0, t1, mu, angle):
    """Return the normal impulse and the slip along a direction of a contact that slides so."""
    factor, u0, u1, x, y = _sliding_velocity(A, k, n0, t0, t1, mu, angle)
    if factor == 0.0:
        return -1.0, -1.0
    return -n0 / factor, (x * u0 + y * u1) / factor
