"""Limits of joints as contacts without friction: gap q - low or high - q, in the joint's unit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from carom.typing import FloatArray, IntArray

UNLIMITED = 1e30
"""A limit beyond this is none; engines write infinity, or the largest number."""
LOW, HIGH = "low", "high"


class LimitState(NamedTuple):
    """Hold gaps (k,) [rad or m], their Jacobian (k, nv), and its bias dJ/dt v (k,), of limits."""

    gaps: FloatArray
    rows: FloatArray
    bias: FloatArray


class Range(NamedTuple):
    """Hold what one coordinate may be: its name, q[coordinate], v[velocity], ends and unit.

    `velocity` is the one that is the coordinate's rate.
    """

    name: str
    coordinate: int
    velocity: int
    low: float
    high: float
    unit: str


@dataclass(frozen=True, eq=False)
class Limits:
    """Hold k ends of ranges of coordinates.

    Attributes:
        units: "rad" or "m" of each, by their names, such as "knee (low)".
        coordinate: (k,) its coordinate.
        sign: (k,) 1 for a lower end, -1 for an upper one.
        bound: (k,) the end.
        rows: (k, nv) Jacobian of the gaps.
    """

    units: dict[str, str]
    coordinate: IntArray
    sign: FloatArray
    bound: FloatArray
    rows: FloatArray

    @classmethod
    def of(cls, ranges: Iterable[Range], nv: int) -> Limits:
        """Return the ends of ranges; one whose ends are not apart is none, as in engines."""
        found = []
        for each in ranges:
            if not each.low < each.high:
                continue
            ends = ((LOW, 1.0, each.low), (HIGH, -1.0, each.high))
            found += [(each, *end) for end in ends if abs(end[2]) < UNLIMITED]
        rows = np.zeros((len(found), nv))
        for row, (each, _, sign, _) in zip(rows, found, strict=True):
            row[each.velocity] = sign
        return cls(
            {f"{each.name} ({word})": each.unit for each, word, _, _ in found},
            np.array([each.coordinate for each, *_ in found], dtype=np.int64),
            np.array([sign for _, _, sign, _ in found]),
            np.array([bound for *_, bound in found]),
            rows,
        )

    @property
    def velocity(self) -> IntArray:
        """Return the velocity (k,) that is each coordinate's rate."""
        return np.abs(self.rows).argmax(axis=1)

    def gaps(self, q: FloatArray) -> FloatArray:
        """Return by how much each end is not reached, (k,) [rad or m]; < 0 beyond it."""
        return self.sign * (q[self.coordinate] - self.bound)

    def look(self, q: FloatArray) -> LimitState:
        """Return how far each end is, and how that changes."""
        return LimitState(self.gaps(q), self.rows, np.zeros(len(self.bound)))
