"""Planar frames that carry their Jacobians, and checks on planar input."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carom.errors import InvalidProblem

Vector2 = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Frame:
    """Locate a body at one configuration and say how each velocity moves it.

    Attributes:
        origin: Position of the frame's origin in the world, (2,) [m].
        angle: Rotation from the world, counter-clockwise [rad].
        origin_jacobian: d origin / d q, (2, nv).
        angle_jacobian: d angle / d q, (nv,).
    """

    origin: NDArray[np.float64]
    angle: float
    origin_jacobian: NDArray[np.float64]
    angle_jacobian: NDArray[np.float64]

    def rotate(self, vector: Vector2) -> NDArray[np.float64]:
        """Turn a vector given in this frame into world coordinates, (2,)."""
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        x, y = vector
        return np.array([cosine * x - sine * y, sine * x + cosine * y])

    def point(self, offset: Vector2) -> NDArray[np.float64]:
        """Return the world position of a point fixed in this frame, (2,) [m]."""
        return self.origin + self.rotate(offset)

    def point_jacobian(self, offset: Vector2) -> NDArray[np.float64]:
        """Return the Jacobian of a point fixed in this frame, (2, nv)."""
        x, y = self.rotate(offset)
        return self.origin_jacobian + np.outer([-y, x], self.angle_jacobian)

    def shifted(self, offset: Vector2) -> "Frame":
        """Return the parallel frame whose origin is the point at `offset`."""
        return Frame(
            self.point(offset), self.angle, self.point_jacobian(offset), self.angle_jacobian
        )


def world_frame(num_velocities: int) -> Frame:
    """Return the frame that no coordinate moves."""
    return Frame(np.zeros(2), 0.0, np.zeros((2, num_velocities)), np.zeros(num_velocities))


def checked_vector(value: Sequence[float], what: str) -> Vector2:
    """Return `value` as two finite floats, or refuse it."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape != (2,) or not np.isfinite(array).all():
        raise InvalidProblem(f"{what} must be two finite numbers, got {value!r}")
    return float(array[0]), float(array[1])


def checked_direction(value: Sequence[float], what: str) -> Vector2:
    """Return `value` scaled to unit length, or refuse it."""
    x, y = checked_vector(value, what)
    length = math.hypot(x, y)
    if length == 0.0:
        raise InvalidProblem(f"{what} must have a direction, got {value!r}")
    return x / length, y / length


def checked_nonnegative(value: float, what: str) -> float:
    """Return `value` as a finite float >= 0, or refuse it."""
    number = float(value)
    if not (math.isfinite(number) and number >= 0.0):
        raise InvalidProblem(f"{what} must be finite and >= 0, got {value!r}")
    return number


def checked_unique(names: Sequence[str], what: str) -> None:
    """Refuse a name that occurs twice."""
    for index, name in enumerate(names):
        if name in names[:index]:
            raise InvalidProblem(f"two {what} are named {name!r}; names must be unique")
