"""Points and spheres of a robot that may touch a half-space, by names of the frames they are on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.spatial import ConvexHull

from carom.adapters.pairs import Slot
from carom.checks import between, positive, vector
from carom.errors import InvalidOption, InvalidProblem
from carom.typing import ArrayLike, FloatArray

MOST_CORNERS = 64
"""Number of corners of a mesh that are contacts; more make laws slow, and are round rather."""


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """Name a point of a robot, or a sphere about it, that may touch the half-space.

    Attributes:
        frame: Name of the frame that it is fixed to.
        offset: (3,) position in that frame [m].
        radius: Radius of a sphere about it [m]; 0 for a point.
        name: Name of the contact; the frame's if not given.
        mu: Friction coefficient; that of the system if not given.
        restitution: Coefficient of restitution; that of the system if not given.
    """

    frame: str
    offset: FloatArray
    radius: float
    name: str
    mu: float | None
    restitution: float | None

    def __init__(
        self,
        frame: str,
        offset: ArrayLike = (0.0, 0.0, 0.0),
        radius: float = 0.0,
        name: str | None = None,
        mu: float | None = None,
        restitution: float | None = None,
    ) -> None:
        if not isinstance(frame, str) or not frame:
            raise InvalidOption(f"frame: expected the name of a frame, got {frame!r}")
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "offset", vector("offset", offset, 3))
        object.__setattr__(self, "radius", positive("radius", radius, or_zero=True))
        object.__setattr__(self, "name", frame if name is None else name)
        object.__setattr__(self, "mu", None if mu is None else positive("mu", mu, or_zero=True))
        own = None if restitution is None else between("restitution", restitution, 0.0, 1.0)
        object.__setattr__(self, "restitution", own)


Contacts = str | ContactPoint | Iterable[str | ContactPoint]


def shape_points(owner: ContactPoint, rotation: FloatArray, half: ArrayLike) -> list[ContactPoint]:
    """Return the corners of a box (3,) of half sides about a point, of its radius and surface.

    A capsule is a box with one side and a radius, a sphere one without sides: against a half-space
    nothing else of them can touch first. A corner adds its signs along the box's axes to the name.
    """
    sides = np.asarray(half, dtype=np.float64)
    corners = []
    for signs in product(*((1.0, -1.0) if side else (0.0,) for side in sides)):
        letters = "".join("+" if sign > 0.0 else "-" for sign in signs if sign)
        name = f"{owner.name} ({letters})" if letters else owner.name
        offset = owner.offset + rotation @ (sides * signs)
        own = owner.radius, name, owner.mu, owner.restitution
        corners.append(ContactPoint(owner.frame, offset, *own))
    return corners


def hull_points(
    owner: ContactPoint, rotation: FloatArray, vertices: FloatArray
) -> list[ContactPoint]:
    """Return the corners of the convex hull of vertices (n, 3), about a point and of its surface.

    Against a half-space nothing else of a mesh can touch first. Names have numbers.
    """
    hull = np.sort(ConvexHull(vertices).vertices)
    if len(hull) > MOST_CORNERS:
        raise InvalidProblem(
            f"geometry {owner.name!r} is a mesh whose convex hull has {len(hull)} corners, and at "
            f"most {MOST_CORNERS} are supported; use a simpler shape, or ContactPoints"
        )
    own = owner.radius, owner.mu, owner.restitution
    return [
        ContactPoint(
            owner.frame, owner.offset + rotation @ at, own[0], f"{owner.name} ({k + 1})", *own[1:]
        )
        for k, at in enumerate(vertices[hull])
    ]


def names_of(kind: str, wanted: str | Iterable[str], known: Iterable[str]) -> list[str]:
    """Return names as a list, or refuse those that nothing has."""
    known = [each for each in known if each]
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        if name not in known:
            words = ", ".join(known[:40]) + (", ..." if len(known) > 40 else "")
            raise InvalidOption(f"no {kind} is named {name!r}; there are: {words}")
    return names


def contact_points(contacts: Contacts, may_be_none: bool) -> tuple[ContactPoint, ...]:
    """Return contacts as points, or refuse what is none, or has no name of its own."""
    given = [contacts] if isinstance(contacts, str | ContactPoint) else list(contacts)
    points: dict[str, ContactPoint] = {}
    for each in given:
        point = ContactPoint(each) if isinstance(each, str) else each
        if not isinstance(point, ContactPoint):
            raise InvalidOption(
                f"contacts: expected names of frames or ContactPoints, got {point!r}"
            )
        if point.name in points:
            raise InvalidOption(
                f"contacts: expected different names, got {point.name!r} repeatedly; give each "
                f"ContactPoint a name"
            )
        points[point.name] = point
    if not points and not may_be_none:
        raise InvalidOption("contacts: expected at least one frame or ContactPoint, got none")
    return tuple(points.values())


def friction_of(point: ContactPoint | Slot, common: float | None) -> float:
    """Return the friction coefficient of a contact, the common one if it has none of its own."""
    found = common if point.mu is None else point.mu
    if found is None:
        raise InvalidOption(f"mu: contact {point.name!r} has no friction coefficient; give mu=...")
    return found
