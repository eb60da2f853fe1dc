"""A half-space, such as flat ground, and the points and spheres of a robot that may touch it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from carom.adapters.engine import tangents
from carom.errors import InvalidProblem
from carom.typing import ArrayLike, FloatArray


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """Hold a half-space that robots touch from outside: ground, or a wall.

    Args:
        point: (3,) a point of its surface [m].
        normal: (3,) direction out of it, of any length.

    Attributes:
        point: (3,) as given.
        normal: (3,) unit vector.

    Raises:
        InvalidProblem: A vector has not three finite numbers, or the normal is zero.

    Examples:
        >>> from carom.adapters.half_space import HalfSpace
        >>> HalfSpace().normal.tolist(), (HalfSpace().tangents + 0.0).tolist()
        ([0.0, 0.0, 1.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        >>> wall = HalfSpace(point=(2.0, 0.0, 0.0), normal=(-1.0, 0.0, 0.0))
        >>> (wall.tangents + 0.0).tolist()
        [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """

    point: FloatArray
    normal: FloatArray

    def __init__(
        self, point: ArrayLike = (0.0, 0.0, 0.0), normal: ArrayLike = (0.0, 0.0, 1.0)
    ) -> None:
        direction = vector("normal", normal, 3)
        if not direction.any():
            raise InvalidProblem("normal: expected a direction, got zero")
        # Scaled first: the square of a tiny number is zero.
        direction /= np.abs(direction).max()
        object.__setattr__(self, "point", vector("point", point, 3))
        object.__setattr__(self, "normal", direction / np.linalg.norm(direction))

    @property
    def tangents(self) -> FloatArray:
        """Return two unit vectors (2, 3) along the surface; with the normal they are a frame."""
        return tangents(self.normal)


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """Name a point of a robot, or a sphere about it, that may touch the half-space.

    Args:
        frame: Name of the frame that it is fixed to.
        offset: (3,) where it is in that frame [m].
        radius: Of a sphere about it [m]; 0 for a point.
        name: Of the contact; the frame's if not given.
        mu: Friction coefficient; that of the system if not given.

    Raises:
        InvalidProblem: A field is wrong.

    Examples:
        Heel and toe of a foot, whose frame is below its ankle.

        >>> from carom.adapters.half_space import ContactPoint
        >>> heel = ContactPoint("sole", (-0.1, 0.0, 0.0), name="heel")
        >>> toe = ContactPoint("sole", (0.1, 0.0, 0.0), name="toe", mu=0.8)
        >>> heel.name, heel.radius, toe.mu, ContactPoint("sole").name
        ('heel', 0.0, 0.8, 'sole')
    """

    frame: str
    offset: FloatArray
    radius: float
    name: str
    mu: float | None

    def __init__(
        self,
        frame: str,
        offset: ArrayLike = (0.0, 0.0, 0.0),
        radius: float = 0.0,
        name: str | None = None,
        mu: float | None = None,
    ) -> None:
        if not isinstance(frame, str) or not frame:
            raise InvalidProblem(f"frame: expected the name of a frame, got {frame!r}")
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "offset", vector("offset", offset, 3))
        object.__setattr__(self, "radius", not_negative("radius", radius))
        object.__setattr__(self, "name", frame if name is None else name)
        object.__setattr__(self, "mu", None if mu is None else not_negative("mu", mu))


def box_corners(
    frame: str,
    name: str,
    rotation: FloatArray,
    center: FloatArray,
    half: ArrayLike,
    mu: float | None = None,
) -> list[ContactPoint]:
    """Return the eight corners of a box that is fixed to a frame.

    Args:
        frame: Name of the frame.
        name: Of the box; a corner adds its signs along the box's axes.
        rotation: (3, 3) axes of the box in the frame, as columns.
        center: (3,) of the box in the frame [m].
        half: (3,) half of its sides [m].
        mu: Friction coefficient; that of the system if not given.

    Examples:
        >>> import numpy as np
        >>> from carom.adapters.half_space import box_corners
        >>> corners = box_corners("foot", "sole", np.eye(3), np.zeros(3), [0.1, 0.05, 0.01])
        >>> len(corners), corners[0].name, corners[0].offset.tolist()
        (8, 'sole+++', [0.1, 0.05, 0.01])
    """
    sides = np.asarray(half, dtype=np.float64)
    corners = []
    for signs in product((1.0, -1.0), repeat=3):
        letters = "".join("+" if sign > 0.0 else "-" for sign in signs)
        offset = center + rotation @ (sides * signs)
        corners.append(ContactPoint(frame, offset, 0.0, f"{name}{letters}", mu))
    return corners


def capsule_ends(
    frame: str,
    name: str,
    rotation: FloatArray,
    center: FloatArray,
    half_length: float,
    radius: float,
    mu: float | None = None,
) -> list[ContactPoint]:
    """Return the spheres at both ends of a capsule that is fixed to a frame.

    Args:
        frame: Name of the frame.
        name: Of the capsule; an end adds its sign along the capsule's axis z.
        rotation: (3, 3) axes of the capsule in the frame, as columns.
        center: (3,) of the capsule in the frame [m].
        half_length: Half of the distance between its ends' centres [m].
        radius: Of the capsule [m].
        mu: Friction coefficient; that of the system if not given.

    Examples:
        >>> import numpy as np
        >>> from carom.adapters.half_space import capsule_ends
        >>> ends = capsule_ends("shin", "shin", np.eye(3), np.zeros(3), 0.2, 0.05)
        >>> [(end.name, end.offset.tolist(), end.radius) for end in ends]
        [('shin+', [0.0, 0.0, 0.2], 0.05), ('shin-', [0.0, 0.0, -0.2], 0.05)]
    """
    along = rotation[:, 2] * half_length
    return [
        ContactPoint(frame, center + sign * along, radius, f"{name}{letter}", mu)
        for sign, letter in ((1.0, "+"), (-1.0, "-"))
    ]


def unknown(kind: str, name: object, names: Iterable[str]) -> str:
    """Say that there is no such thing, and which there are.

    Args:
        kind: What it should be, e.g. "frame".
        name: What was asked for.
        names: All that there are.
    """
    known = [each for each in names if each]
    words = ", ".join(known[:40]) + (", ..." if len(known) > 40 else "")
    return f"no {kind} is named {name!r}; there are: {words}"


def vector(field: str, value: ArrayLike, size: int) -> FloatArray:
    """Return a copy of a vector that has this size and finite numbers."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{field}: expected {size} numbers ({error})") from error
    if array.shape != (size,):
        raise InvalidProblem(
            f"{field}: expected {size} numbers, got an array of shape {array.shape}"
        )
    if not np.isfinite(array).all():
        where = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InvalidProblem(f"{field}: expected finite numbers, got {array[where]} at [{where}]")
    return array


def not_negative(field: str, value: float) -> float:
    """Return a number that is finite and not negative."""
    good = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (good and 0.0 <= value < np.inf):
        raise InvalidProblem(f"{field}: expected a finite number >= 0, got {value!r}")
    return float(value)
