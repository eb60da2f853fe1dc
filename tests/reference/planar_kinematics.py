"""Forward kinematics of planar trees, and what follows from it by differentiation alone.

Only the drawing is taken from a system: bodies, joints, contacts. Every formula is analytic, so
that an imaginary part of q carries a derivative: f(q + ihv) = f(q) + ih df/dq v, exact to rounding
for a tiny h. What needs derivatives of that takes central differences of fourth order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from carom.systems import (
    Body,
    Disc,
    DiscContact,
    HalfPlane,
    PlanarSystem,
    PlaneContact,
    Prismatic,
    Revolute,
)

FloatArray = NDArray[np.float64]
Array = NDArray[Any]

TINY = 1e-40
"""Step of a derivative that is carried by an imaginary part."""

STEP = 2e-3
"""Step of a central difference of fourth order: it errs by about STEP^4 and 1e-16 / STEP."""


class Pose(NamedTuple):
    """Where a body's frame is: its origin (2,) and its rotation matrix (2, 2)."""

    origin: Array
    turn: Array

    def point(self, offset: Any) -> Array:
        """Return a point of the frame in the world."""
        return self.origin + self.turn @ np.asarray(offset)

    def offset(self, point: Array) -> Array:
        """Return a point of the world in the frame."""
        return self.turn.T @ (point - self.origin)


def rotation(angle: Any) -> Array:
    """Return the matrix that turns vectors counter-clockwise."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, -sine], [sine, cosine]])


def poses(system: PlanarSystem, q: Array) -> dict[str | None, Pose]:
    """Return every body's frame, by name."""
    found: dict[str | None, Pose] = {None: Pose(np.zeros(2), np.eye(2))}
    coordinates = iter(q)
    for body in system.bodies:
        parent = found[body.parent]
        origin, turn = parent.point(body.placement), parent.turn
        for joint in body.joints:
            value = next(coordinates)
            if isinstance(joint, Prismatic):
                origin = origin + value * (turn @ np.array(joint.axis))
            else:
                turn = turn @ rotation(value)
        found[body.name] = Pose(origin, turn)
    return found


def center(disc: Disc, found: dict[str | None, Pose]) -> Array:
    """Return where a disc's centre is."""
    return found[disc.body].point(disc.center)


def distance(one: Array, other: Array) -> Any:
    """Return a distance; not by `abs`, which would lose an imaginary part."""
    return np.sqrt(((one - other) ** 2).sum())


def normal(pair: PlaneContact | DiscContact, found: dict[str | None, Pose]) -> Array:
    """Return the normal of a contact."""
    if isinstance(pair, PlaneContact):
        return np.array(pair.plane.normal)
    one, other = center(pair.disc, found), center(pair.other, found)
    return (one - other) / distance(one, other)


def gap(pair: PlaneContact | DiscContact, found: dict[str | None, Pose]) -> Any:
    """Return the distance between the surfaces of a contact."""
    here = center(pair.disc, found)
    if isinstance(pair, PlaneContact):
        return np.array(pair.plane.normal) @ (here - pair.plane.point) - pair.disc.radius
    return distance(here, center(pair.other, found)) - pair.disc.radius - pair.other.radius


def gaps(system: PlanarSystem, q: Array) -> Array:
    """Return the gaps of all contacts, (m,)."""
    found = poses(system, q)
    return np.array([gap(pair, found) for pair in system.contact_pairs])


def contact_velocities(system: PlanarSystem, q: FloatArray, v: FloatArray) -> FloatArray:
    """Return the velocities of the material contact points, normal first, (m, 2).

    The points are those which touch at q, if the gap were closed, and move with their bodies.
    """
    here, moving = poses(system, q), poses(system, q + 1j * TINY * v)
    rows = []
    for pair in system.contact_pairs:
        n = normal(pair, here)
        marks = [(pair.disc.body, center(pair.disc, here) - pair.disc.radius * n, 1.0)]
        if isinstance(pair, DiscContact):
            marks.append((pair.other.body, center(pair.other, here) + pair.other.radius * n, -1.0))
        velocity = np.zeros(2)
        for body, point, sign in marks:
            velocity += sign * moving[body].point(here[body].offset(point)).imag / TINY
        rows.append([n @ velocity, n[1] * velocity[0] - n[0] * velocity[1]])
    return np.array(rows).reshape(-1, 2)


def kinetic_energy(system: PlanarSystem, q: FloatArray, v: FloatArray) -> float:
    """Return the kinetic energy of the moving bodies."""
    here, moving = poses(system, q), poses(system, q + 1j * TINY * v)
    energy = 0.0
    for body in system.bodies:
        velocity = moving[body.name].point(body.com).imag / TINY
        spin = (here[body.name].turn.T @ moving[body.name].turn)[1, 0].imag / TINY
        energy += 0.5 * (body.mass * velocity @ velocity + body.inertia * spin**2)
    return energy


def potential_energy(system: PlanarSystem, q: Array) -> Any:
    """Return the potential energy of gravity."""
    found = poses(system, q)
    gravity = np.array(system.gravity)
    return -sum(body.mass * gravity @ found[body.name].point(body.com) for body in system.bodies)


def derivative(function: Any, step: float = STEP) -> Any:
    """Return df/dt at 0 of a function of t, to fourth order."""
    one = function(step) - function(-step)
    two = function(2 * step) - function(-2 * step)
    return (8.0 * one - two) / (12.0 * step)


def momentum(system: PlanarSystem, q: FloatArray, v: FloatArray) -> FloatArray:
    """Return dT/dv, (nv,): the energy is quadratic in v, so that plain differences are exact."""
    units = np.eye(system.nv)
    return np.array(
        [(kinetic_energy(system, q, v + e) - kinetic_energy(system, q, v - e)) / 2.0 for e in units]
    )


def lagrange_force(system: PlanarSystem, q: FloatArray, v: FloatArray) -> FloatArray:
    """Return the force of gravity and of inertia by Lagrange, (nv,).

    M dv/dt = d(T - V)/dq - d(dT/dv)/dq v.
    """
    units = np.eye(system.nq)
    pull = [
        derivative(lambda h, e=e: kinetic_energy(system, q + h * e, v)) for e in units
    ] - potential_gradient(system, q)
    return np.asarray(pull - derivative(lambda h: momentum(system, q + h * v, v)))


def potential_gradient(system: PlanarSystem, q: FloatArray) -> FloatArray:
    """Return dV/dq, (nq,)."""
    units = np.eye(system.nq)
    return np.array([potential_energy(system, q + 1j * TINY * e).imag / TINY for e in units])


def crooked_system() -> tuple[PlanarSystem, FloatArray]:
    """Return a tree in which no axis, offset or normal is convenient, and a configuration."""
    cart = Body("cart", 2.0, 0.3, joints=(Prismatic((3.0, 4.0)), Revolute()), com=(0.1, -0.2))
    arm = Body(
        "arm",
        0.7,
        0.05,
        parent="cart",
        placement=(0.4, -0.3),
        joints=(Revolute(), Prismatic((1.0, -2.0)), Revolute()),
        com=(0.2, 0.5),
    )
    ball = Body("ball", 1.3, 0.2, placement=(1.0, 1.0), joints=(Revolute(), Prismatic((1.0, 0.0))))
    plate = Body("plate", 0.4, 0.1, parent="ball", placement=(0.2, 0.1), joints=())
    slope = HalfPlane((0.5, -0.2), (-1.0, 3.0))
    contacts = [
        PlaneContact("arm on slope", Disc("arm", (0.3, -0.6), 0.25), slope, 0.4),
        PlaneContact("plate on wall", Disc("plate", (0.1, 0.2)), HalfPlane((4, 0), (-1, 0)), 0.0),
        DiscContact("arm on ball", Disc("arm", (0.3, -0.6), 0.25), Disc("ball", (2, 1), 0.5), 1.0),
        DiscContact("ball on cart", Disc("ball", (2, 1), 0.5), Disc("cart", (-1, 0), 0.1), 0.2),
    ]
    system = PlanarSystem([cart, arm, ball, plate], contacts, gravity=(1.3, -7.1))
    return system, np.array([0.3, 0.7, -1.1, 0.4, 2.0, 0.6, 1.2])
