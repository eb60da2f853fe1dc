"""Equality constraints between frames and joints of a robot, for engines that tell little of them.

Each is described by the names that the engine uses. A constraint between frames acts at points that
are fixed to them with offsets; the world is a frame like any other one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple, final

import numpy as np

from carom.adapters.frames import FrameMotion, PointMotion, point_motion
from carom.checks import floats, positive, vector
from carom.errors import InvalidOption
from carom.systems.constraints import Constraints
from carom.typing import ArrayLike, FloatArray

TURNED = 1e-6
"""Largest deviation of a rotation from one."""


Coordinates = tuple[tuple[int, int], tuple[int, int]]
"""Numbers in q and in v of two joints."""


class Ends(NamedTuple):
    """Hold how the two points of a constraint move: that of its frame, and that of the other."""

    one: PointMotion
    other: PointMotion


class FrameConstraint(ABC):
    """Constrain a point of a frame by one of another frame.

    Attributes:
        frame: Name of the frame.
        other: Name of the other frame.
        offset: (3,) the point in the frame [m].
        other_offset: (3,) the point in the other frame [m].
        name: Name of the constraint, "frame-other" if not given.
    """

    def __init__(
        self,
        frame: str,
        other: str,
        offset: ArrayLike = (0.0, 0.0, 0.0),
        other_offset: ArrayLike = (0.0, 0.0, 0.0),
        *,
        name: str | None = None,
    ) -> None:
        for each in (frame, other):
            if not isinstance(each, str) or not each:
                raise InvalidOption(f"frame: expected the name of a frame, got {each!r}")
        self.frame, self.other = frame, other
        self.offset, self.other_offset = (
            vector("offset", offset, 3),
            vector("offset", other_offset, 3),
        )
        self.name = f"{frame}-{other}" if name is None else name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.frame!r}, {self.other!r}, name={self.name!r})"

    @property
    @abstractmethod
    def rows(self) -> tuple[str, ...]:
        """Return the names of its rows."""

    @abstractmethod
    def _state(self, ends: Ends, rotations: FloatArray, v: FloatArray) -> Constraints:
        """Return its rows, given the rotations (2, 3, 3) of the frames."""

    def state(self, frames: FrameMotion, index: tuple[int, int], v: FloatArray) -> Constraints:
        """Return its rows, given the numbers of its frames."""
        offsets = (self.offset, self.other_offset)
        one, other = (
            point_motion(frames, [i], offset[None], v)
            for i, offset in zip(index, offsets, strict=True)
        )
        return self._state(Ends(one, other), frames.rotation[list(index)], v)


@final
class BallConstraint(FrameConstraint):
    """Keep two points together, as a ball joint does: three rows [m].

    Examples:
        >>> from carom.adapters.loops import BallConstraint
        >>> BallConstraint("rod", "heel", offset=(0.5, 0.0, 0.0), name="joint").rows
        ('joint (x)', 'joint (y)', 'joint (z)')
    """

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(f"{self.name} ({axis})" for axis in "xyz")

    def _state(self, ends: Ends, rotations: FloatArray, v: FloatArray) -> Constraints:
        return _together(ends)


@final
class WeldConstraint(FrameConstraint):
    """Keep two frames together, with all of their axes: six rows [m and rad].

    Attributes:
        rotation: (3, 3) axes of the frame, as columns, in the other frame; the same axes if not
            given.

    Examples:
        >>> from carom.adapters.loops import WeldConstraint
        >>> len(WeldConstraint("hand", "tool").rows)
        6
    """

    def __init__(
        self,
        frame: str,
        other: str,
        offset: ArrayLike = (0.0, 0.0, 0.0),
        other_offset: ArrayLike = (0.0, 0.0, 0.0),
        *,
        rotation: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(frame, other, offset, other_offset, name=name)
        turned = floats("rotation", np.eye(3) if rotation is None else rotation)
        if turned.shape != (3, 3) or np.abs(turned @ turned.T - np.eye(3)).max() > TURNED:
            raise InvalidOption(f"rotation: expected a rotation (3, 3), got {turned.tolist()}")
        self.rotation = turned

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(
            f"{self.name} ({axis})" for axis in ("x", "y", "z", "turn x", "turn y", "turn z")
        )

    def _state(self, ends: Ends, rotations: FloatArray, v: FloatArray) -> Constraints:
        place = _together(ends)
        axes, others = rotations[0].T, (rotations[1] @ self.rotation).T
        # Half the sum of the axes' products turns with the difference of angular velocities where
        # the axes agree, and that is where it is zero.
        turned = 0.5 * np.cross(others, axes).sum(axis=0)
        one, other = ends
        return Constraints(
            np.concatenate([place.residual, turned]),
            np.concatenate([place.G, one.J_turn[0] - other.J_turn[0]]),
            np.concatenate([place.bias, one.bias_turn[0] - other.bias_turn[0]]),
        )


@final
class DistanceConstraint(FrameConstraint):
    """Keep the distance of two points, as a rod between ball joints does: one row [m].

    Attributes:
        distance: Their distance [m].

    Examples:
        >>> from carom.adapters.loops import DistanceConstraint
        >>> DistanceConstraint("crank", "foot", distance=0.3).rows
        ('crank-foot',)
    """

    def __init__(
        self,
        frame: str,
        other: str,
        offset: ArrayLike = (0.0, 0.0, 0.0),
        other_offset: ArrayLike = (0.0, 0.0, 0.0),
        *,
        distance: float,
        name: str | None = None,
    ) -> None:
        super().__init__(frame, other, offset, other_offset, name=name)
        self.distance = positive("distance", distance)

    @property
    def rows(self) -> tuple[str, ...]:
        return (self.name,)

    def _state(self, ends: Ends, rotations: FloatArray, v: FloatArray) -> Constraints:
        apart = _together(ends)
        length = float(np.linalg.norm(apart.residual))
        if length == 0.0:
            raise InvalidOption(f"constraint {self.name!r}: the points of a distance coincide")
        along, rate = apart.residual / length, apart.G @ v
        across = rate @ rate - (along @ rate) ** 2
        return Constraints(
            np.array([length - self.distance]),
            (along @ apart.G)[None],
            np.array([along @ apart.bias + across / length]),
        )


@final
class CouplerConstraint:
    """Couple two joints of one coordinate each: q of `joint` is ratio · q of `other` + offset.

    Attributes:
        joint: Name of the joint that follows.
        other: Name of the joint that it follows.
        ratio: How many times as far it goes.
        offset: Where it is when the other one is at zero [rad or m].
        name: Name of the constraint, "joint-other" if not given.

    Examples:
        >>> from carom.adapters.loops import CouplerConstraint
        >>> CouplerConstraint("right finger", "left finger", ratio=-1.0).rows
        ('right finger-left finger',)
    """

    def __init__(
        self, joint: str, other: str, ratio: float, offset: float = 0.0, *, name: str | None = None
    ) -> None:
        numbers = vector("ratio, offset", (ratio, offset), 2)
        self.joint, self.other = joint, other
        self.ratio, self.offset = float(numbers[0]), float(numbers[1])
        self.name = f"{joint}-{other}" if name is None else name

    def __repr__(self) -> str:
        return f"CouplerConstraint({self.joint!r}, {self.other!r}, {self.ratio:g}, {self.offset:g})"

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the name of its row."""
        return (self.name,)

    def state(self, q: FloatArray, nv: int, coordinates: Coordinates) -> Constraints:
        """Return its row, given the numbers of the joints' coordinates and velocities."""
        (i, row), (j, column) = coordinates
        G = np.zeros((1, nv))
        G[0, row], G[0, column] = 1.0, -self.ratio
        return Constraints(np.array([q[i] - self.ratio * q[j] - self.offset]), G, np.zeros(1))


LoopConstraint = FrameConstraint | CouplerConstraint


def row_names(constraints: Iterable[LoopConstraint]) -> tuple[str, ...]:
    """Return the names of all rows, or refuse those that are given twice."""
    names: list[str] = []
    for each in constraints:
        if not isinstance(each, LoopConstraint):
            raise InvalidOption(
                f"constraints: expected constraints of carom.adapters.loops, got {each!r}"
            )
        if set(names) & set(each.rows):
            raise InvalidOption(
                f"constraints: expected different names, got {each.name!r} repeatedly; give each a "
                f"name"
            )
        names += each.rows
    return tuple(names)


def joined(parts: Iterable[Constraints]) -> Constraints:
    """Return the rows of several constraints, one after another."""
    residuals, rows, biases = zip(*parts, strict=True)
    return Constraints(np.concatenate(residuals), np.concatenate(rows), np.concatenate(biases))


def _together(ends: Ends) -> Constraints:
    """Return the rows that keep two points together."""
    one, other = ends
    return Constraints(
        one.position[0] - other.position[0], one.J[0] - other.J[0], one.bias[0] - other.bias[0]
    )
