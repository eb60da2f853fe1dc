"""Random impacts with restitution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import carom
from tests.reference.impact_problems import random_problem


def bouncing_problem(number: int, d: int = 1, most: int = 5) -> carom.ImpactProblem:
    """Return problem `number` of a fixed series: 1 to 5 contacts, e from 0 to 1, mu from 0 to 2.

    Some contacts have e = 0, some e = 1, and some no friction.
    """
    rng = np.random.default_rng([20261118, d, number])
    m = 1 + number % most
    mu, e = rng.uniform(0.0, 2.0, m), rng.uniform(0.0, 1.0, m)
    mu[rng.random(m) < 0.2] = 0.0
    e[rng.random(m) < 0.2] = 0.0
    e[rng.random(m) < 0.2] = 1.0
    if not e.any():
        e[0] = 0.5
    return replace(random_problem(rng, m, d, mu=mu), restitution=e)


def three_balls(e: float = 1.0) -> carom.ImpactProblem:
    """Return three equal balls in a row without friction, of which the first hits the others."""
    normals = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]
    return carom.ImpactProblem(
        np.eye(3), normals, np.zeros((2, 1, 3)), 0.0, [1.0, 0.0, 0.0], restitution=e
    )


def falling_ball(e: float, mu: float, v_pre: tuple[float, float]) -> carom.ImpactProblem:
    """Return a unit point mass above the floor, with velocities along it and upwards."""
    return carom.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], mu, v_pre, restitution=e)
