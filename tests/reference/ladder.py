"""A ladder that hits a wall and a floor at once, a planar problem with two different contacts."""

from __future__ import annotations

import numpy as np

import carom

LENGTH = 3.0
MASS = 10.0


def ladder(
    degrees: float = 60.0,
    mu: tuple[float, float] = (0.2, 0.3),
    v_pre: tuple[float, float, float] = (-0.5, -1.0, 0.3),
) -> carom.ImpactProblem:
    """Return the impact of a uniform rod that leans to the left, against a wall.

    Args:
        degrees: Angle between the ladder and the floor.
        mu: Friction of the top against the wall, and of the foot against the floor.
        v_pre: Velocity of the centre [m/s], and the turn [rad/s].
    """
    angle = np.radians(degrees)
    top = 0.5 * LENGTH * np.array([-np.cos(angle), np.sin(angle)])
    of_top, of_foot = ([[1, 0, -y], [0, 1, x]] for x, y in (top, -top))
    return carom.ImpactProblem(
        M=np.diag([MASS, MASS, MASS * LENGTH**2 / 12]),
        J_n=[of_top[0], of_foot[1]],
        J_t=[-np.array(of_top[1]), of_foot[0]],
        mu=mu,
        v_pre=v_pre,
        contacts=("top", "foot"),
    )
