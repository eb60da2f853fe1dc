"""Planar frames, and checks on planar input."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carom.errors import InvalidProblem

Vector2 = tuple[float, float]


@dataclass(frozen=True)
class Frame:
    """Locate a body at one configuration.

    Attributes:
        origin: Position of the frame's origin in the world [m].
        angle: Rotation from the world, counter-clockwise [rad].

    Examples:
        >>> import math
        >>> from carom.systems.planar_frame import Frame
        >>> x, y = Frame(origin=(1.0, 0.0), angle=math.pi / 2).point((2.0, 0.0))
        >>> round(x, 9), round(y, 9)
        (1.0, 2.0)
    """

    origin: Vector2
    angle: float

    def point(self, offset: Vector2) -> Vector2:
        """Return the world position of a point fixed in this frame [m].

        Args:
            offset: The point in this frame, (x, y) [m].
        """
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        x, y = offset
        return (
            self.origin[0] + cosine * x - sine * y,
            self.origin[1] + sine * x + cosine * y,
        )


def checked_vector(value: Sequence[float], what: str) -> Vector2:
    """Return `value` as two finite floats, or refuse it."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (2,) or not np.isfinite(array).all():
        raise InvalidProblem(f"{what}: expected two finite numbers, got {value!r}")
    return float(array[0]), float(array[1])


def checked_direction(value: Sequence[float], what: str) -> Vector2:
    """Return `value` scaled to unit length, or refuse it."""
    x, y = checked_vector(value, what)
    length = math.hypot(x, y)
    if length == 0.0:
        raise InvalidProblem(f"{what}: expected a direction, got {value!r}")
    return x / length, y / length


def checked_nonnegative(value: float, what: str) -> float:
    """Return `value` as a finite float >= 0, or refuse it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number >= 0.0):
        raise InvalidProblem(f"{what}: expected a finite number >= 0, got {value!r}")
    return number


def checked_unique(names: Sequence[str], what: str) -> None:
    """Refuse a name that occurs twice."""
    for index, name in enumerate(names):
        if name in names[:index]:
            raise InvalidProblem(f"two {what} are named {name!r}; names must be unique")
