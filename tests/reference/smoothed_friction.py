"""Contacts that act at fixed rates, by a stiff integrator that knows neither stick nor slip.

Friction -mu w t / |t| is smoothed to -mu w t / sqrt(|t|^2 + e^2). The motion is then the gradient
flow of a convex function that differs from the true one by no more than mu w e in value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

FloatArray = NDArray[np.float64]

SMOOTHING = 1e-8
"""Slip that counts as rest, in units of the impact's speed."""

LONGEST = 1e4
"""Normal impulse after which nothing more is expected."""


def smoothed_stretch(
    A: FloatArray, mu: FloatArray, u: FloatArray, rates: FloatArray, length: float = LONGEST
) -> FloatArray:
    """Return the impulse (c,) until all contacts with rates have stopped, or of a given length.

    Args:
        A: (c, c) Delassus matrix of contacts in space, normal first.
        mu: (m,) friction coefficients.
        u: (c,) contact velocities at the start.
        rates: (m,) rates of the normal impulses.
        length: Most impulse, for rates that sum up to one.
    """
    weight = np.where((rates > 0.0) & (u[::3] <= 0.0), rates, 0.0)
    weight = weight / weight.sum()
    impulse, position = np.zeros_like(u), 0.0
    while weight.any() and position < length * (1.0 - 1e-14):
        impulse, moved = _until_one_stops(A, mu, u, weight, impulse, length - position)
        position += moved
        normals = (u + A @ impulse)[::3]
        weight = np.where(normals > -1e-9, 0.0, weight)
    return impulse


def _until_one_stops(
    A: FloatArray,
    mu: FloatArray,
    u: FloatArray,
    weight: FloatArray,
    impulse: FloatArray,
    length: float,
) -> tuple[FloatArray, float]:
    limit = mu * weight
    m = len(mu)

    def force(_: float, state: FloatArray) -> FloatArray:
        t = (u + A @ state).reshape(m, 3)[:, 1:]
        size = np.sqrt((t**2).sum(axis=1) + SMOOTHING**2)
        return np.column_stack([weight, -(limit / size)[:, None] * t]).ravel()

    def slope(_: float, state: FloatArray) -> FloatArray:
        t = (u + A @ state).reshape(m, 3)[:, 1:]
        size = np.sqrt((t**2).sum(axis=1) + SMOOTHING**2)
        D = np.zeros((3 * m, 3 * m))
        for i in range(m):
            block = np.eye(2) - np.outer(t[i], t[i]) / size[i] ** 2
            D[3 * i + 1 : 3 * i + 3, 3 * i + 1 : 3 * i + 3] = -limit[i] / size[i] * block
        return D @ A

    def stops(i: int):
        def event(_: float, state: FloatArray) -> float:
            return float(u[3 * i] + A[3 * i] @ state)

        event.terminal, event.direction = True, 1.0
        return event

    found = solve_ivp(
        force,
        (0.0, length),
        impulse,
        method="Radau",
        jac=slope,
        events=[stops(i) for i in np.flatnonzero(weight)],
        rtol=1e-9,
        atol=1e-10,
    )
    assert found.success, found.message
    return found.y[:, -1], float(found.t[-1])
