"""Contacts between any two shapes, which an engine's own collision detection finds.

Each pair of shapes has a fixed number of contacts, its slots, whatever the robot does: one where
the two are nearest, or one for each corner of a shape over a half-space.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carom.adapters.frames import FrameMotion, cross_columns
from carom.systems.half_space import tangents
from carom.typing import FloatArray


class Slot(NamedTuple):
    """Name a contact between two shapes, and the frames that these are fixed to."""

    name: str
    frame: str
    other: str
    mu: float | None = None


class Nearest(NamedTuple):
    """Hold where n slots are: gaps (n,) [m], normals (n, 3) from the other shape, points (n, 3).

    Points are those of each shape that are nearest to the other one, in the world [m].
    """

    gap: FloatArray
    normal: FloatArray
    one: FloatArray
    other: FloatArray

    @classmethod
    def of(cls, rows: list[tuple[float, FloatArray, FloatArray, FloatArray]]) -> Nearest:
        """Return slots from (gap, normal, point, point) of each."""
        gaps = np.array([row[0] for row in rows])
        return cls(gaps, *(np.array([row[k] for row in rows]).reshape(-1, 3) for k in (1, 2, 3)))


def pair_rows(frames: FrameMotion, slots: list[tuple[int, int]], nearest: Nearest) -> FloatArray:
    """Return rows (n, 3, nv) of slots, normal first, given the numbers of their two frames.

    Gaps change as matter moves along the normal: that nearest points wander along surfaces does not
    matter, and neither does how the normal turns.
    """
    one, other = (list(ends) for ends in zip(*slots, strict=True))
    J = _rows_at(frames, one, nearest.one) - _rows_at(frames, other, nearest.other)
    axes = np.array([[normal, *tangents(normal)] for normal in nearest.normal])
    return np.einsum("nax,nxv->nav", axes.reshape(-1, 3, 3), J)


def _rows_at(frames: FrameMotion, index: list[int], places: FloatArray) -> FloatArray:
    """Return the Jacobian (n, 3, nv) of the matter of frames that is at places (n, 3)."""
    J_lin, J_turn = np.split(frames.J[index], 2, axis=1)
    return J_lin + cross_columns(J_turn, places - frames.position[index])
