"""How frames of a robot, and points fixed to them, move: what engines are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from carom.systems.quaternions import cross
from carom.typing import FloatArray


class FrameMotion(NamedTuple):
    """Hold where f frames are and how they move, in the axes of the world, linear part first.

    That is the position of their origins (f, 3) [m], the rotation (f, 3, 3) with their axes as
    columns, the Jacobian J (f, 6, nv) of both velocities, and the bias dJ/dt v (f, 6).
    """

    position: FloatArray
    rotation: FloatArray
    J: FloatArray
    bias: FloatArray


class PointMotion(NamedTuple):
    """Hold where m points of frames are (m, 3) [m], and how they and their frames move.

    `J` (m, 3, nv) and `bias` (m, 3) are of the points, `J_turn` and `bias_turn` of the frames'
    angular velocities.
    """

    position: FloatArray
    J: FloatArray
    bias: FloatArray
    J_turn: FloatArray
    bias_turn: FloatArray


def point_motion(
    frames: FrameMotion, index: Sequence[int], offset: FloatArray, v: FloatArray
) -> PointMotion:
    """Return how points move that are fixed to some of the frames with offsets (m, 3) [m]."""
    own = list(index)
    arm = np.einsum("mij,mj->mi", frames.rotation[own], offset)
    J, bias = frames.J[own], frames.bias[own]
    J_lin, J_turn, a_lin, a_turn = J[:, :3], J[:, 3:], bias[:, :3], bias[:, 3:]
    # A point of a body moves with v + ω × arm, and accelerates by a + α × arm + ω × (ω × arm).
    turn = J_turn @ v
    return PointMotion(
        frames.position[own] + arm,
        J_lin + cross_columns(J_turn, arm),
        a_lin + cross(a_turn, arm) + cross(turn, cross(turn, arm)),
        J_turn,
        a_turn,
    )


def cross_columns(J: FloatArray, arm: FloatArray) -> FloatArray:
    """Return the columns of angular velocity J (m, 3, nv), each times its arm (m, 3)."""
    x, y, z = arm.T[:, :, None]
    a, b, c = J[:, 0], J[:, 1], J[:, 2]
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=1)
