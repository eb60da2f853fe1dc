"""Planar frames, and checks on planar input."""

import math
from dataclasses import dataclass

from carom import checks
from carom.errors import InvalidProblem
from carom.typing import ArrayLike

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


def pair(name: str, value: ArrayLike) -> Vector2:
    """Return two finite floats, or refuse what came."""
    x, y = checks.vector(name, value, 2, InvalidProblem).tolist()
    return x, y


def direction(name: str, value: ArrayLike) -> Vector2:
    """Return two numbers scaled to unit length, or refuse what came."""
    x, y = pair(name, value)
    length = math.hypot(x, y)
    if length == 0.0:
        raise InvalidProblem(f"{name}: expected a direction, got {value!r}")
    return x / length, y / length


def nonnegative(name: str, value: object) -> float:
    """Return a finite number >= 0, or refuse what came."""
    return checks.positive(name, value, or_zero=True, error=InvalidProblem)
