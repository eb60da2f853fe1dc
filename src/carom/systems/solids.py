"""Robots and bodies as solids that can be drawn in space, whatever engine they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from carom.typing import ArrayLike, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Solid:
    """A shape that moves with a robot.

    Attributes:
        name: Its name.
        kind: "sphere", "capsule", "cylinder", "ellipsoid", "box" or "mesh".
        size: (3,) radius; radius and half length; radius and half length; three radii; three half
            sides; unused for a mesh [m]. Capsules and cylinders lie along their z axis.
        vertices: (n, 3) of a mesh [m]; empty otherwise.
        faces: (k, 3) of a mesh; empty otherwise.
        color: Red, green and blue from 0 to 1.
    """

    name: str
    kind: str
    size: FloatArray
    vertices: FloatArray
    faces: IntArray
    color: tuple[float, float, float]


NO_VERTICES, NO_FACES = np.empty((0, 3)), np.empty((0, 3), dtype=np.int64)


class Drawable(Protocol):
    """A system whose robot can be drawn and moved a little."""

    def solids(self) -> list[Solid]:
        """Return the shapes of the robot."""

    def placements(self, q: ArrayLike) -> FloatArray:
        """Return the poses (n, 4, 4) of all solids."""

    def contact_places(self, q: ArrayLike) -> FloatArray:
        """Return where contacts are (m, 3) [m]; NaN for those that are far apart."""

    def contact_motions(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return the velocities (m, 3) of the robot's points in contact [m/s]; NaN if far apart."""

    def integrate(self, q: ArrayLike, v: ArrayLike, duration: float) -> FloatArray:
        """Return the configuration (nq,) that a constant velocity leads to."""


def pose(position: ArrayLike, rotation: ArrayLike) -> FloatArray:
    """Return a pose (4, 4) from a position (3,) and a rotation (3, 3)."""
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = rotation, position
    return made


def pose_along(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the pose (4, 4) in the middle between two points, with z along their line."""
    along = end - start
    length = float(np.linalg.norm(along))
    z = along / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    # Any axis that is not along z does.
    x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
    x /= np.linalg.norm(x)
    return pose(0.5 * (start + end), np.column_stack([x, np.cross(z, x), z]))
