"""Shapes of a body in space, and with which of their points they touch a plane first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from carom import checks
from carom.typing import ArrayLike, FloatArray

UPRIGHT = 1e-12
"""Share of a normal that a cylinder's cross-section has to see to know its lowest point."""


class Lowest(NamedTuple):
    """Points of a shape that may touch a plane first, in the axes of the body.

    Attributes:
        points: (c, 3) points of the surface [m].
        rates: (c, 3) how fast they wander along the surface [m/s].
    """

    points: FloatArray
    rates: FloatArray


@dataclass(frozen=True)
class Sphere:
    """A ball about the centre of mass.

    Attributes:
        radius: Radius [m].

    Examples:
        >>> from carom.systems import Sphere
        >>> Sphere(0.5).inertia(mass=10.0).tolist()
        [1.0, 1.0, 1.0]
    """

    radius: float

    def __post_init__(self) -> None:
        checks.positive("radius", self.radius)

    @property
    def drawn(self) -> tuple[str, tuple[float, float, float]]:
        """Return the kind and size of a `Solid`."""
        return "sphere", (self.radius, 0.0, 0.0)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return what each contact with a plane is called."""
        return ("",)

    def inertia(self, mass: float) -> FloatArray:
        """Return the moments of inertia of a solid one, (3,) [kg m^2]."""
        return np.full(3, 0.4 * mass * self.radius**2)

    def lowest(self, normal: FloatArray, turning: FloatArray) -> Lowest:
        """Return the lowest point above a plane of some normal (3,), which turns at some rate."""
        return Lowest(-self.radius * normal[None], -self.radius * turning[None])


@dataclass(frozen=True, eq=False)
class Box:
    """A box about the centre of mass, which touches with its corners.

    Attributes:
        size: (3,) lengths of its sides [m].

    Examples:
        >>> from carom.systems import Box
        >>> Box([0.4, 0.25, 0.3]).corners[:2].tolist()
        [[-0.2, -0.125, -0.15], [0.2, -0.125, -0.15]]
    """

    size: FloatArray

    def __init__(self, size: ArrayLike) -> None:
        sides = checks.vector("size", size, 3)
        for side in sides:
            checks.positive("size", side)
        object.__setattr__(self, "size", sides)

    @property
    def drawn(self) -> tuple[str, tuple[float, float, float]]:
        """Return the kind and size of a `Solid`."""
        a, b, c = (0.5 * self.size).tolist()
        return "box", (a, b, c)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return what each contact with a plane is called: signs of a corner along the axes."""
        return tuple(f" ({x}{y}{z})" for z, y, x in product("-+", repeat=3))

    @property
    def corners(self) -> FloatArray:
        """Return the corners, (8, 3) [m]."""
        signs = np.array([(x, y, z) for z, y, x in product((-0.5, 0.5), repeat=3)])
        return signs * self.size

    def inertia(self, mass: float) -> FloatArray:
        """Return the moments of inertia of a solid one, (3,) [kg m^2]."""
        square = self.size**2
        return np.asarray(mass / 12.0 * (square.sum() - square))

    def lowest(self, normal: FloatArray, turning: FloatArray) -> Lowest:
        """Return the corners, whichever is lowest."""
        return Lowest(self.corners, np.zeros((8, 3)))


@dataclass(frozen=True)
class Cylinder:
    """A cylinder about the centre of mass, its axis along z, such as a coin, a wheel or a can.

    It touches with the lowest point of each of its two rims, and with points that are fixed to
    them: give three or more if it lands or lies flat on an end, where a rim has no lowest point.

    Attributes:
        radius: Radius [m].
        height: Length along its axis [m].
        num_fixed: Number of points fixed to each rim, evenly spaced from the x axis on.

    Examples:
        A coin that may land on its faces.

        >>> from carom.systems import Cylinder, SpatialBody
        >>> coin = SpatialBody(Cylinder(0.012, 0.002, num_fixed=3), mass=0.007, mu=0.2)
        >>> coin.contacts[:4]
        ('floor (-)', 'floor (-1)', 'floor (-2)', 'floor (-3)')
    """

    radius: float
    height: float
    num_fixed: int = 0

    def __post_init__(self) -> None:
        checks.positive("radius", self.radius)
        checks.positive("height", self.height)
        checks.integer("num_fixed", self.num_fixed, 0)

    @property
    def drawn(self) -> tuple[str, tuple[float, float, float]]:
        """Return the kind and size of a `Solid`."""
        return "cylinder", (self.radius, 0.5 * self.height, 0.0)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return what each contact with a plane is called, by the end of the axis it is on."""
        return tuple(
            f" ({end})" if i == 0 else f" ({end}{i})" for end in "-+" for i in range(self._count)
        )

    @property
    def _count(self) -> int:
        return 1 + self.num_fixed

    def inertia(self, mass: float) -> FloatArray:
        """Return the moments of inertia of a solid one, (3,) [kg m^2]."""
        across = mass / 12.0 * (3.0 * self.radius**2 + self.height**2)
        return np.array([across, across, 0.5 * mass * self.radius**2])

    def lowest(self, normal: FloatArray, turning: FloatArray) -> Lowest:
        """Return the lowest point of each rim, and those that are fixed to it."""
        across, rate = np.array([1.0, 0.0]), np.zeros(2)
        size = float(np.hypot(normal[0], normal[1]))
        if size > UPRIGHT:
            across = normal[:2] / size
            rate = (turning[:2] - across * (across @ turning[:2])) / size
        angles = 2.0 * np.pi * np.arange(self.num_fixed) / max(1, self.num_fixed)
        ring = np.column_stack([np.cos(angles), np.sin(angles)])
        points, rates = np.zeros((2 * self._count, 3)), np.zeros((2 * self._count, 3))
        for k, height in enumerate((-0.5 * self.height, 0.5 * self.height)):
            own = slice(k * self._count, (k + 1) * self._count)
            points[own, :2] = self.radius * np.vstack([-across, ring])
            points[own, 2] = height
            rates[k * self._count, :2] = -self.radius * rate
        return Lowest(points, rates)
