"""Planar bodies, the joints that carry them, and the shapes that people draw.

Angles count counter-clockwise. A link of length l is drawn hanging down at angle zero: its far end
is at (0, -l) in its frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict, Unpack

from carom.systems.planar_frame import Vector2, direction, nonnegative, pair


@dataclass(frozen=True)
class Prismatic:
    """Slide along an axis of the frame reached so far [m].

    Attributes:
        axis: Direction; scaled to unit length.

    Raises:
        InvalidProblem: The axis is not two finite numbers, or has no direction.

    Examples:
        >>> from carom.systems import Prismatic
        >>> Prismatic((0.0, 2.0)).axis
        (0.0, 1.0)
    """

    axis: Vector2

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", direction("axis of a prismatic joint", self.axis))


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
        >>> square = Polygon(((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)))
        >>> Body("box", mass=1.0, inertia=1 / 6, outline=(square,)).outline[0].points[0]
        (-0.5, -0.5)
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
        >>> Body("disc", mass=1.0, inertia=0.5, outline=(Circle(radius=1.0),)).outline[0].radius
        1.0
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

    `Body.box`, `Body.disc`, `Body.rod` and `Body.point` make uniform ones.

    Attributes:
        name: Name, unique in a system.
        mass: Mass [kg]; 0 for a body that only carries others.
        inertia: Moment of inertia about the centre of mass [kg m^2].
        parent: Name of the body that carries it, listed before it; None is the world.
        placement: Offset of its first joint in the parent's frame [m].
        joints: One-dof joints, applied in order; each adds one coordinate.
        com: Centre of mass in the body's frame [m].
        outline: Shapes to draw; physics ignores them.

    Raises:
        InvalidProblem: A number is not finite, or a mass or inertia is negative.

    Examples:
        >>> from carom.systems import Body
        >>> Body.box("box", width=3.0, height=1.0, mass=6.0).inertia
        5.0
        >>> Body.disc("disc", radius=2.0, mass=1.0).inertia
        2.0
        >>> Body.rod("rod", length=2.0, mass=3.0).inertia, Body.rod("rod", 2.0, 3.0).com
        (1.0, (0.0, -1.0))
        >>> len(Body.point("bob", mass=1.0).joints)
        2
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
        of = f"of body {self.name!r}"
        object.__setattr__(self, "mass", nonnegative(f"mass {of}", self.mass))
        object.__setattr__(self, "inertia", nonnegative(f"inertia {of}", self.inertia))
        object.__setattr__(self, "placement", pair(f"placement {of}", self.placement))
        object.__setattr__(self, "com", pair(f"com {of}", self.com))

    @classmethod
    def box(
        cls,
        name: str,
        width: float,
        height: float,
        mass: float,
        **carried: Unpack[Carried],
    ) -> Body:
        """Make a uniform box with its frame in its centre.

        Its corners, which contacts need, are the points of its outline: bottom left, bottom
        right, top right, top left.

        Args:
            name: Name, unique in a system.
            width: Width [m].
            height: Height [m].
            mass: Mass [kg].
            **carried: Fields `parent`, `placement` and `joints`; it floats by default.

        Raises:
            InvalidProblem: A number is negative or not finite.
        """
        x, y = nonnegative("width", width) / 2, nonnegative("height", height) / 2
        outline = (Polygon(((-x, -y), (x, -y), (x, y), (-x, y))),)
        inertia = mass * (width**2 + height**2) / 12
        return cls(name, mass, inertia, outline=outline, **carried)

    @classmethod
    def disc(
        cls,
        name: str,
        radius: float,
        mass: float,
        **carried: Unpack[Carried],
    ) -> Body:
        """Make a uniform disc with its frame in its centre.

        Args:
            name: Name, unique in a system.
            radius: Radius [m].
            mass: Mass [kg].
            **carried: Fields `parent`, `placement` and `joints`; it floats by default.

        Raises:
            InvalidProblem: A number is negative or not finite.
        """
        outline = (Circle(radius=nonnegative("radius", radius)),)
        inertia = mass * radius**2 / 2
        return cls(name, mass, inertia, outline=outline, **carried)

    @classmethod
    def rod(
        cls,
        name: str,
        length: float,
        mass: float,
        **carried: Unpack[Carried],
    ) -> Body:
        """Make a uniform thin rod that hangs down from the origin of its frame.

        It goes from (0, 0) to (0, -length), with its centre of mass half way.

        Args:
            name: Name, unique in a system.
            length: Length [m].
            mass: Mass [kg].
            **carried: Fields `parent`, `placement` and `joints`; it floats by default.

        Raises:
            InvalidProblem: A number is negative or not finite.
        """
        end = (0.0, -nonnegative("length", length))
        com = (0.0, -length / 2)
        outline = (Polygon(((0.0, 0.0), end)),)
        inertia = mass * length**2 / 12
        return cls(name, mass, inertia, com=com, outline=outline, **carried)

    @classmethod
    def point(
        cls,
        name: str,
        mass: float,
        **carried: Unpack[Carried],
    ) -> Body:
        """Make a point mass, which floats without turning by default.

        Args:
            name: Name, unique in a system.
            mass: Mass [kg].
            **carried: Fields `parent`, `placement` and `joints`.

        Raises:
            InvalidProblem: The mass is negative, or a number is not finite.
        """
        carried.setdefault("joints", FLOATING[:2])
        return cls(name, mass, 0.0, **carried)
