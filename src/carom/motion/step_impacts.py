"""Impacts within a time step: when contacts close, and what a law is asked and answers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from carom.problem import ImpactProblem
from carom.systems.planar import PlanarSystem
from carom.systems.system import Dynamics, System
from carom.typing import FloatArray

LANDED = 1e-9
"""Largest gap at the moment that counts as that of a collision [m]."""
MOST_TRIES = 60
"""Number of looks for the moment of a collision."""


def closing_time(gap: Callable[[float], float], h: float) -> float:
    """Return when a gap, which is open at 0 and closed at h, is zero, up to `LANDED` [m].

    A gap may be infinite, where it is not seen yet.
    """
    low, high, above, below = 0.0, h, math.inf, gap(h)
    tau, side = h, 0
    # Regula falsi, with the weight of an end that stays halved (Illinois).
    for _ in range(MOST_TRIES):
        tau = 0.5 * (low + high)
        if above < math.inf:
            tau = low + (high - low) * above / (above - below)
        value = gap(tau)
        if abs(value) <= LANDED or high - low <= 1e-14 * h:
            break
        if value > 0.0:
            low, above = tau, value
            below, side = (0.5 * below, 1) if side == 1 else (below, 1)
        else:
            high, below = tau, value
            above, side = (0.5 * above, -1) if side == -1 else (above, -1)
    return tau


def pose_impact(
    system: System, here: Dynamics, q: FloatArray, v: FloatArray, near: float
) -> ImpactProblem:
    """Return the impact of the contacts that touch, with gaps up to some size [m]."""
    if isinstance(system, PlanarSystem):
        return system.impact_at(here, v, near)
    return system.impact_problem(q, v, near)


def of_contacts(
    problem: ImpactProblem, impulse: FloatArray, contacts: tuple[str, ...], here: Dynamics
) -> FloatArray:
    """Return the impulses (m, 1 + d) of all contacts of a system, along its own tangents."""
    every = np.zeros((len(contacts), 1 + here.J_t.shape[1]))
    for k, name in enumerate(problem.contacts):
        i = contacts.index(name)
        every[i, 0] = impulse[k, 0]
        if impulse.shape[1] == every.shape[1]:
            every[i, 1:] = impulse[k, 1:]
        else:
            # A planar impact of a system in space: its one tangent is a line across two.
            pull = problem.J_t[k].T @ impulse[k, 1:]
            every[i, 1:] = np.linalg.lstsq(here.J_t[i].T, pull, rcond=1e-9)[0]
    return every
