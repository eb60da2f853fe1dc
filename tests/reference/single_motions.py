"""Random exact planar motions in which one contact acts at a time, in plain NumPy.

A contact acts until an event: it stops approaching, its slip ends (from where on it sticks if
friction can hold it, else it slides the other way), or chance stops it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from carom.contact_space import ContactSpace

FloatArray = NDArray[np.float64]

MOST_EVENTS = 60
ZERO = 1e-12
ENDED = 1e-7
"""Contacts that take turns for ever are stopped below this approach."""


def random_motion(
    space: ContactSpace, start: FloatArray, rng: np.random.Generator
) -> FloatArray | None:
    """Return the impulses (n, 2 m) of one motion; None if it has not ended after many events."""
    A, mu, m = space.A, space.mu, space.num_contacts
    u, rows = start.copy(), []
    eager = 1.0 - 0.5 * rng.random() ** 2
    weights = rng.exponential(size=m)
    while len(rows) < MOST_EVENTS:
        if not (u[::2] < -ENDED).any():
            return np.array(rows)
        may = np.flatnonzero(u[::2] <= 0.0)
        i = int(rng.choice(may, p=weights[may] / weights[may].sum()))
        share = rng.random() if rng.random() > eager else 1.0
        n, t = 2 * i, 2 * i + 1
        # One turn: slide, then stick or slide back, until the normal velocity is zero.
        for _ in range(2):
            frictions = _frictions(A, mu[i], u, n, t)
            if not frictions:
                break
            row = np.zeros(2 * m)
            row[n], row[t] = 1.0, frictions[int(rng.integers(len(frictions)))]
            rate = A @ row
            lengths = [-u[k] / rate[k] for k in (n, t) if u[k] * rate[k] < 0.0]
            if not lengths:
                break
            length = min(lengths)
            if share < 1.0 and rng.random() < 0.5:
                length *= share
            sticks = u[t] == 0.0 and abs(rate[t]) < ZERO
            u = u + length * rate
            rows.append(length * row)
            if sticks:
                u[t] = 0.0
            u[np.abs(u) < ZERO] = 0.0
            if u[n] == 0.0 or share < 1.0:
                break
    return np.array(rows)


def _frictions(A: FloatArray, mu: float, u: FloatArray, n: int, t: int) -> list[float]:
    """Return the friction per normal impulse with which a contact may go on alone."""
    if u[t] != 0.0:
        options = [-mu * float(np.sign(u[t]))]
    else:
        hold = -A[t, n] / A[t, t] if A[t, t] > 0.0 else 0.0
        options = [hold] if abs(hold) <= mu else []
        # Slip may start where friction against it does not stop it.
        options += [-mu * s for s in (-1.0, 1.0) if s * (A[t, n] - s * mu * A[t, t]) > 0.0]
    # A contact at rest acts only if it does not part at once.
    return [g for g in options if u[n] < 0.0 or A[n, n] + A[n, t] * g < 0.0]
