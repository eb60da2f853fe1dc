"""Planar motions at fixed rates, in plain NumPy: from event to event, modes by trying all of them.

At fixed rates the motion is unique, so that two implementations must agree to rounding.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

ZERO = 1e-11
MOST_EVENTS = 400


def follow_rates(
    A: FloatArray, mu: FloatArray, start: FloatArray, rates: FloatArray
) -> FloatArray | None:
    """Return velocities (2 m,) where the first contact that acts stops, or None if none does."""
    u = start.copy()
    normal, slip = 2 * np.arange(len(mu)), 2 * np.arange(len(mu)) + 1
    acting = rates > 0.0
    for _ in range(MOST_EVENTS):
        change = A @ _push(A, mu, u, rates)
        with np.errstate(divide="ignore", invalid="ignore"):
            stops = np.where(acting & (change[normal] > 0.0), -u[normal] / change[normal], np.inf)
            turns = np.where(
                acting & (u[slip] * change[slip] < 0.0), -u[slip] / change[slip], np.inf
            )
        if np.isinf(stops.min()) and np.isinf(turns.min()):
            return None
        u = u + min(stops.min(), turns.min()) * change
        u[slip[np.abs(u[slip]) < ZERO]] = 0.0
        if stops.min() <= turns.min():
            return u
    raise AssertionError("slip ends and begins without end")


def _push(A: FloatArray, mu: FloatArray, u: FloatArray, rates: FloatArray) -> FloatArray:
    """Return the rates of impulse, with the friction that contacts without slip need or have."""
    push = np.zeros(len(u))
    push[::2] = rates
    push[1::2] = -mu * rates * np.sign(u[1::2])
    still = np.flatnonzero((rates > 0.0) & (u[1::2] == 0.0))
    rows = 2 * still + 1
    for signs in product((0, -1, 1), repeat=len(still)):
        s = np.array(signs, dtype=float)
        own = push.copy()
        own[rows] = -mu[still] * rates[still] * s
        free = rows[s == 0.0]
        own[free] = np.linalg.lstsq(A[np.ix_(free, free)], -(A @ own)[free], rcond=1e-11)[0]
        slip = (A @ own)[rows]
        within = np.abs(own[rows]) <= mu[still] * rates[still] + ZERO
        as_it_slips = np.where(s == 0.0, np.abs(slip) <= ZERO, slip * s >= -ZERO)
        if within.all() and as_it_slips.all():
            return own
    raise AssertionError("no mode fits")
