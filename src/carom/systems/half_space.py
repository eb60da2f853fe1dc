"""Half-spaces that bodies touch from outside: ground, walls, inclines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carom.checks import vector
from carom.errors import InvalidOption
from carom.kernels import point_jacobians
from carom.kernels.jit import plain
from carom.typing import ArrayLike, FloatArray


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """Hold a half-space that robots and bodies touch from outside: ground, or a wall.

    Attributes:
        point: (3,) a point of its surface [m].
        normal: (3,) direction out of it; scaled to unit length.

    Examples:
        An incline of 20 degrees that falls along x.

        >>> import math
        >>> from carom.systems import HalfSpace
        >>> angle = math.radians(20)
        >>> incline = HalfSpace(normal=(math.sin(angle), 0.0, math.cos(angle)))
        >>> incline.tangents[0].round(3).tolist()
        [0.94, -0.0, -0.342]
    """

    point: FloatArray
    normal: FloatArray

    def __init__(
        self, point: ArrayLike = (0.0, 0.0, 0.0), normal: ArrayLike = (0.0, 0.0, 1.0)
    ) -> None:
        direction = vector("normal", normal, 3)
        if not direction.any():
            raise InvalidOption("normal: expected a direction, got zero")
        # Scaled first: the square of a tiny number is zero.
        direction /= np.abs(direction).max()
        object.__setattr__(self, "point", vector("point", point, 3))
        object.__setattr__(self, "normal", direction / np.linalg.norm(direction))

    @property
    def tangents(self) -> FloatArray:
        """Return two unit vectors (2, 3) along the surface; with the normal they are a frame."""
        return tangents(self.normal)


GROUND = HalfSpace()
"""Flat ground, z <= 0."""


def tangents(normal: FloatArray) -> FloatArray:
    """Return two unit vectors, (2, 3), that make a right-handed frame with a unit normal (3,).

    They are the axes x and y, turned by the shortest turn that takes z to the normal. So they are
    the same in every engine, and change smoothly with the normal but where it points down.
    """
    return np.array(plain(point_jacobians.tangents)(*normal)).reshape(2, 3)
