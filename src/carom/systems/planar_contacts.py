"""Planar contacts: a disc on a static half-plane, and a disc on a disc.

A contact has a unit normal n and the tangent t = (n_y, -n_x): on a floor n = (0, 1), t = (1, 0).
Rows are those of the *material* contact points, so a disc that turns in place slides:
with its centre's Jacobian J_c, its turning rate's J_w and the contact point at -r n from the
centre, that point moves along t with (t · J_c + r J_w) v, and along n with n · J_c v.
"""

from dataclasses import dataclass

from carom.errors import InvalidProblem
from carom.systems.planar_bodies import Vector2, check_fields, direction, nonnegative, pair, share


@dataclass(frozen=True)
class Disc:
    """Fix a disc on a body.

    Attributes:
        body: Name of the body.
        center: Centre in the body's frame [m].
        radius: Radius [m]; 0 makes a point.

    Examples:
        >>> from carom.systems import Disc
        >>> Disc("leg", center=(0.0, -1.0), radius=0.05).center
        (0.0, -1.0)
    """

    body: str
    center: Vector2 = (0.0, 0.0)
    radius: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, f"the disc on body {self.body!r}", center=pair, radius=nonnegative)


@dataclass(frozen=True)
class HalfPlane:
    """Fix a static half-plane in the world.

    Attributes:
        point: Any point on its edge [m].
        normal: Direction out of the solid; scaled to unit length.

    Examples:
        >>> from carom.systems import HalfPlane
        >>> HalfPlane(point=(1.0, 0.0), normal=(-2.0, 0.0)).normal
        (-1.0, 0.0)
    """

    point: Vector2 = (0.0, 0.0)
    normal: Vector2 = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_fields(self, "a half-plane", point=pair, normal=direction)


FLOOR = HalfPlane()
"""The ground y = 0."""


@dataclass(frozen=True)
class PlaneContact:
    """Let a disc touch a half-plane; the normal is the half-plane's.

    The tangent is t = (n_y, -n_x), the normal n turned clockwise by 90°: along +x on a floor, up
    on a wall with n = (-1, 0), down on one with n = (1, 0). "Sliding +" is sliding along t.

    Attributes:
        name: Name of the contact.
        disc: The disc, on a moving body.
        plane: The half-plane.
        mu: Friction coefficient.
        restitution: Coefficient of restitution, from 0 to 1.

    Examples:
        >>> from carom.systems import FLOOR, Disc, PlaneContact
        >>> PlaneContact("foot", Disc("leg", (0.0, -1.0)), FLOOR, mu=0.8).bodies
        ('leg',)
    """

    name: str
    disc: Disc
    plane: HalfPlane
    mu: float
    restitution: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, f"contact {self.name!r}", mu=nonnegative, restitution=share)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Return the names of the bodies that it involves."""
        return (self.disc.body,)


@dataclass(frozen=True)
class DiscContact:
    """Let a disc touch another disc; the normal points from `other` to `disc`.

    Velocities are those of `disc` relative to `other`, so that J_n v > 0 separates, as if `other`
    were the half-plane of a `PlaneContact`. So the tangent is the normal turned clockwise by 90°
    here too, t = (n_y, -n_x), and turns with the normal as the discs move.

    Attributes:
        name: Name of the contact.
        disc: The disc that the normal points to.
        other: The disc that the normal points away from, on another body.
        mu: Friction coefficient.
        restitution: Coefficient of restitution, from 0 to 1.

    Examples:
        >>> from carom.systems import Disc, DiscContact
        >>> DiscContact("pair", Disc("top", radius=1.0), Disc("left", radius=1.0), mu=0.8).bodies
        ('top', 'left')
    """

    name: str
    disc: Disc
    other: Disc
    mu: float
    restitution: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, f"contact {self.name!r}", mu=nonnegative, restitution=share)
        if self.disc.body == self.other.body:
            raise InvalidProblem(
                f"contact {self.name!r} joins body {self.disc.body!r} to itself; "
                "name two different bodies"
            )

    @property
    def bodies(self) -> tuple[str, ...]:
        """Return the names of the bodies that it involves."""
        return (self.disc.body, self.other.body)


Contact = PlaneContact | DiscContact
