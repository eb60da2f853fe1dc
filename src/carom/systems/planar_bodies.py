"""Planar bodies, the joints that carry them, the shapes that people draw, and their frames.

Angles count counter-clockwise. A link of length l is drawn hanging down at angle zero: its far end
is at (0, -l) in its frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from carom import checks
from carom.errors import InvalidProblem
from carom.typing import ArrayLike

Vector2 = tuple[float, float]


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


def share(name: str, value: object) -> float:
    """Return a number from 0 to 1, or refuse what came."""
    number = nonnegative(name, value)
    if number > 1.0:
        raise InvalidProblem(f"{name}: expected a number from 0 to 1, got {value!r}")
    return number


def check_fields(thing: object, what: str, **check: Callable[[str, Any], object]) -> None:
    """Check fields of a frozen dataclass, and let each be what its check returns."""
    for name, checked in check.items():
        object.__setattr__(thing, name, checked(f"{name} of {what}", getattr(thing, name)))


@dataclass(frozen=True)
class Frame:
    """Locate a body: its frame's origin in the world [m], and its angle from there [rad]."""

    origin: Vector2
    angle: float

    def point(self, offset: Vector2) -> Vector2:
        """Return the world position of a point (x, y) that is fixed in this frame [m]."""
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        x, y = offset
        return self.origin[0] + cosine * x - sine * y, self.origin[1] + sine * x + cosine * y


@dataclass(frozen=True)
class Prismatic:
    """Slide along an axis of the frame reached so far [m].

    Attributes:
        axis: Direction; scaled to unit length.

    Examples:
        >>> from carom.systems import Prismatic
        >>> Prismatic((0.0, 2.0)).axis
        (0.0, 1.0)
    """

    axis: Vector2

    def __post_init__(self) -> None:
        check_fields(self, "a prismatic joint", axis=direction)


@dataclass(frozen=True)
class Revolute:
    """Turn about the origin of the frame reached so far [rad].

    Examples:
        A rod of 1 m and 1 kg that swings about its end has the inertia l^2 / 3.

        >>> from carom.systems import Body, PlanarSystem, Revolute
        >>> pendulum = PlanarSystem([Body.rod("rod", 1.0, 1.0, joints=(Revolute(),))], [])
        >>> pendulum.mass_matrix([0.0]).round(6).tolist()
        [[0.333333]]
    """


Joint = Prismatic | Revolute

FLOATING: tuple[Joint, ...] = (Prismatic((1.0, 0.0)), Prismatic((0.0, 1.0)), Revolute())
"""Joints of a body that moves freely: x, y and angle."""


@dataclass(frozen=True)
class Polygon:
    """Outline a body by a closed polygon in its frame [m]; two points make a line.

    Attributes:
        points: Its corners in order, (x, y) each [m].

    Examples:
        >>> from carom.systems import Body, Polygon
        >>> roof = Polygon(((-1.0, 0.0), (1.0, 0.0), (0.0, 1.0)))
        >>> body = Body("roof", mass=1.0, inertia=0.2, outline=(roof,))
    """

    points: tuple[Vector2, ...]


@dataclass(frozen=True)
class Circle:
    """Outline a body by a circle in its frame [m].

    Attributes:
        center: Its centre (x, y) [m].
        radius: Its radius [m].

    Examples:
        >>> from carom.systems import Body, Circle
        >>> disc = Body("disc", mass=1.0, inertia=0.5, outline=(Circle(radius=1.0),))
    """

    center: Vector2 = (0.0, 0.0)
    radius: float = 1.0


class Carried(TypedDict, total=False):
    """How a body is carried: fields of `Body`."""

    parent: str | None
    placement: Vector2
    joints: tuple[Joint, ...]


@dataclass(frozen=True)
class Body:
    """Describe one rigid body and the joints that carry it.

    `Body.box`, `Body.disc`, `Body.rod` and `Body.point` make uniform ones. They take the fields
    `parent`, `placement` and `joints` as well; a body floats by default.

    Attributes:
        name: Name, unique in a system.
        mass: Mass [kg]; 0 for a body that only carries others.
        inertia: Moment of inertia about the centre of mass [kg m^2].
        parent: Name of the body that carries it, listed before it; None is the world.
        placement: Offset of its first joint in the parent's frame [m].
        joints: One-dof joints, applied in order; each adds one coordinate.
        com: Centre of mass in the body's frame [m].
        outline: Shapes to draw; physics ignores them.

    Examples:
        >>> from carom.systems import Body
        >>> Body.box("box", width=3.0, height=1.0, mass=6.0).inertia
        5.0
        >>> Body.rod("rod", length=2.0, mass=3.0).com, len(Body.point("bob", mass=1.0).joints)
        ((0.0, -1.0), 2)
    """

    name: str
    mass: float
    inertia: float
    parent: str | None = None
    placement: Vector2 = (0.0, 0.0)
    joints: tuple[Joint, ...] = FLOATING
    com: Vector2 = (0.0, 0.0)
    outline: tuple[Polygon | Circle, ...] = ()

    def __post_init__(self) -> None:
        what = f"body {self.name!r}"
        check_fields(self, what, mass=nonnegative, inertia=nonnegative, placement=pair, com=pair)

    @classmethod
    def box(
        cls, name: str, width: float, height: float, mass: float, **carried: Unpack[Carried]
    ) -> Body:
        """Make a uniform box of some width [m], height [m] and mass [kg], its frame in its centre.

        Its corners, which contacts need, are the points of its outline: bottom left, bottom
        right, top right, top left.
        """
        x, y = nonnegative("width", width) / 2, nonnegative("height", height) / 2
        outline = (Polygon(((-x, -y), (x, -y), (x, y), (-x, y))),)
        inertia = mass * (width**2 + height**2) / 12
        return cls(name, mass, inertia, outline=outline, **carried)

    @classmethod
    def disc(cls, name: str, radius: float, mass: float, **carried: Unpack[Carried]) -> Body:
        """Make a uniform disc of some radius [m] and mass [kg], its frame in its centre."""
        outline = (Circle(radius=nonnegative("radius", radius)),)
        return cls(name, mass, mass * radius**2 / 2, outline=outline, **carried)

    @classmethod
    def rod(cls, name: str, length: float, mass: float, **carried: Unpack[Carried]) -> Body:
        """Make a uniform thin rod of some length [m] and mass [kg] that hangs from its frame.

        It goes from (0, 0) to (0, -length), with its centre of mass half way.
        """
        outline = (Polygon(((0.0, 0.0), (0.0, -nonnegative("length", length)))),)
        com, inertia = (0.0, -length / 2), mass * length**2 / 12
        return cls(name, mass, inertia, com=com, outline=outline, **carried)

    @classmethod
    def point(cls, name: str, mass: float, **carried: Unpack[Carried]) -> Body:
        """Make a point mass [kg], which floats without turning by default."""
        carried.setdefault("joints", FLOATING[:2])
        return cls(name, mass, 0.0, **carried)
