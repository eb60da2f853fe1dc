"""Planar systems: a tree of bodies in one-dof joints, with disc and half-plane contacts.

Angles count counter-clockwise. A link of length l is drawn hanging down at angle zero: its far end
is at (0, -l) in its frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carom.errors import InvalidProblem
from carom.systems.planar_contacts import (
    FLOOR,
    Contact,
    ContactState,
    Disc,
    DiscContact,
    HalfPlane,
    PlaneContact,
)
from carom.systems.planar_frame import (
    Frame,
    Vector2,
    checked_direction,
    checked_nonnegative,
    checked_unique,
    checked_vector,
    world_frame,
)
from carom.systems.system import System

__all__ = [
    "FLOATING",
    "FLOOR",
    "Body",
    "Circle",
    "Disc",
    "DiscContact",
    "HalfPlane",
    "PlanarSystem",
    "PlaneContact",
    "Polygon",
    "Prismatic",
    "Revolute",
]


@dataclass(frozen=True)
class Prismatic:
    """Slide along an axis of the frame reached so far [m].

    Attributes:
        axis: Direction; scaled to unit length.
    """

    axis: Vector2

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", checked_direction(self.axis, "axis of a prismatic joint"))

    def advance(self, frame: Frame, coordinate: float, index: int) -> Frame:
        """Return `frame` after this joint, driven by velocity number `index`."""
        x, y = self.axis
        moved = frame.shifted((coordinate * x, coordinate * y))
        jacobian = moved.origin_jacobian.copy()
        jacobian[:, index] += frame.rotate(self.axis)
        return replace(moved, origin_jacobian=jacobian)


@dataclass(frozen=True)
class Revolute:
    """Turn about the origin of the frame reached so far [rad]."""

    def advance(self, frame: Frame, coordinate: float, index: int) -> Frame:
        """Return `frame` after this joint, driven by velocity number `index`."""
        jacobian = frame.angle_jacobian.copy()
        jacobian[index] += 1.0
        return replace(frame, angle=frame.angle + coordinate, angle_jacobian=jacobian)


Joint = Prismatic | Revolute

FLOATING: tuple[Joint, ...] = (Prismatic((1.0, 0.0)), Prismatic((0.0, 1.0)), Revolute())


@dataclass(frozen=True)
class Polygon:
    """Outline a body by a closed polygon in its frame [m]; two points make a line."""

    points: tuple[Vector2, ...]


@dataclass(frozen=True)
class Circle:
    """Outline a body by a circle in its frame [m]."""

    center: Vector2 = (0.0, 0.0)
    radius: float = 1.0


@dataclass(frozen=True)
class Body:
    """Describe one rigid body and the joints that carry it.

    Attributes:
        name: Name, unique in a system.
        mass: Mass [kg]; 0 for a body that only carries others.
        inertia: Moment of inertia about the centre of mass [kg m^2].
        parent: Name of the body that carries it, listed before it; None is the world.
        placement: Offset of its first joint in the parent's frame [m].
        joints: One-dof joints, applied in order; each adds one coordinate.
        com: Centre of mass in the body's frame [m].
        outline: Shapes to draw; physics ignores them.
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
        object.__setattr__(self, "mass", checked_nonnegative(self.mass, f"mass {of}"))
        object.__setattr__(self, "inertia", checked_nonnegative(self.inertia, f"inertia {of}"))
        object.__setattr__(self, "placement", checked_vector(self.placement, f"placement {of}"))
        object.__setattr__(self, "com", checked_vector(self.com, f"com {of}"))


@final
class PlanarSystem(System):
    """Join planar bodies into a tree and let them touch.

    Coordinates are the joints of the bodies, in the order given; velocities are their rates, so
    that nq = nv and Γ is the identity.

    Attributes:
        bodies: The bodies, parents first.
        contact_pairs: What touches what, in the order of `contacts`.
    """

    def __init__(self, bodies: Sequence[Body], contacts: Sequence[Contact]) -> None:
        """Check the tree and the contacts.

        Raises:
            InvalidProblem: If a name is unknown or used twice, or nothing can move.
        """
        self.bodies = tuple(bodies)
        self.contact_pairs = tuple(contacts)
        _check_tree(self.bodies)
        _check_contacts(self.bodies, self.contact_pairs)
        self._num_coordinates = sum(len(body.joints) for body in self.bodies)
        if self._num_coordinates == 0:
            raise InvalidProblem("nothing can move: give at least one body a joint")

    @property
    def nq(self) -> int:
        """Return the number of coordinates."""
        return self._num_coordinates

    @property
    def nv(self) -> int:
        """Return the number of velocities, the same as `nq`."""
        return self._num_coordinates

    @property
    def contacts(self) -> tuple[str, ...]:
        """Return the names of the contacts."""
        return tuple(pair.name for pair in self.contact_pairs)

    @property
    def mu(self) -> NDArray[np.float64]:
        """Return the friction coefficients, (m,)."""
        return np.array([pair.mu for pair in self.contact_pairs], dtype=np.float64)

    def mass_matrix(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return M = Σ m J_c^T J_c + I J_w^T J_w over the bodies, (nv, nv)."""
        frames = self.frames(q)
        mass_matrix = np.zeros((self.nv, self.nv))
        for body in self.bodies:
            com = frames[body.name].point_jacobian(body.com)
            turn = frames[body.name].angle_jacobian
            mass_matrix += body.mass * (com.T @ com) + body.inertia * np.outer(turn, turn)
        return mass_matrix

    def velocity_map(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return the identity, (nq, nv)."""
        return np.eye(self.nv)

    def gap(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return the distance between the surfaces of each contact, (m,) [m]."""
        return np.array([state.gap for state in self._contact_states(q)], dtype=np.float64)

    def normal_jacobian(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return d gap / d q, (m, nv)."""
        rows = [state.normal_row for state in self._contact_states(q)]
        return np.array(rows, dtype=np.float64).reshape(-1, self.nv)

    def tangent_jacobian(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return the rows of the material contact points along the tangent, (m, 1, nv)."""
        rows = [state.tangent_row for state in self._contact_states(q)]
        return np.array(rows, dtype=np.float64).reshape(-1, 1, self.nv)

    def body_poses(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return (x [m], y [m], angle [rad]) of every body's frame, (bodies, 3)."""
        frames = self.frames(q)
        return np.array(
            [(*frames[body.name].origin, frames[body.name].angle) for body in self.bodies]
        )

    def frames(self, q: ArrayLike) -> dict[str, Frame]:
        """Return every body's frame and its Jacobians at `q`, by name."""
        coordinates = self._checked_configuration(q)
        world = world_frame(self.nv)
        frames: dict[str, Frame] = {}
        index = 0
        for body in self.bodies:
            parent = world if body.parent is None else frames[body.parent]
            frame = parent.shifted(body.placement)
            for joint in body.joints:
                frame = joint.advance(frame, float(coordinates[index]), index)
                index += 1
            frames[body.name] = frame
        return frames

    def _contact_states(self, q: ArrayLike) -> list[ContactState]:
        frames = self.frames(q)
        return [pair.state(frames) for pair in self.contact_pairs]

    def _checked_configuration(self, q: ArrayLike) -> NDArray[np.float64]:
        coordinates = np.asarray(q, dtype=np.float64)
        if coordinates.shape != (self.nq,) or not np.isfinite(coordinates).all():
            raise InvalidProblem(
                f"q must be {self.nq} finite numbers, got {coordinates} of shape "
                f"{coordinates.shape}"
            )
        return coordinates


def _check_tree(bodies: tuple[Body, ...]) -> None:
    names = [body.name for body in bodies]
    checked_unique(names, "bodies")
    for index, body in enumerate(bodies):
        if body.parent is not None and body.parent not in names[:index]:
            raise InvalidProblem(
                f"parent {body.parent!r} of body {body.name!r} is not a body listed before it; "
                f"those are {names[:index]}"
            )


def _check_contacts(bodies: tuple[Body, ...], contacts: tuple[Contact, ...]) -> None:
    checked_unique([contact.name for contact in contacts], "contacts")
    names = [body.name for body in bodies]
    for contact in contacts:
        for body in contact.bodies:
            if body not in names:
                raise InvalidProblem(
                    f"contact {contact.name!r} is on unknown body {body!r}; bodies are {names}"
                )
