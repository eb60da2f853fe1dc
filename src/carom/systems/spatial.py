"""A rigid body that moves freely in space and touches half-spaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import final

import numpy as np

from carom import checks
from carom.errors import InvalidProblem
from carom.systems.half_space import GROUND, HalfSpace
from carom.systems.one_pass import OnePassSystem
from carom.systems.quaternions import cross, rotation, turned
from carom.systems.shapes import Box, Cylinder, Sphere
from carom.systems.solids import NO_FACES, NO_VERTICES, Solid, pose
from carom.systems.system import Dynamics, Input
from carom.typing import ArrayLike, FloatArray

Inputs = Callable[[float, FloatArray, FloatArray], ArrayLike]
"""Generalized forces (nv,) as a function of t, q and v."""

GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of gravity where nothing else is said [m/s^2]."""
COLOR = (0.55, 0.62, 0.7)
"""Red, green and blue of a body that is drawn, from 0 to 1."""
UNIT = 1e-3
"""Largest deviation of a quaternion from unit length: integrators drift."""


@final
class SpatialBody(OnePassSystem):
    """Describe a rigid body that moves freely in space and touches half-spaces.

    q is the position of the centre of mass and a unit quaternion (w, x, y, z), (7,); v is the
    velocity of the centre of mass in the world's axes and the angular velocity in those of the
    body, (6,). MuJoCo's free joint has the same coordinates.

    Args:
        shape: `Sphere`, `Box` or `Cylinder`, solid, about the centre of mass.
        mass: Mass [kg].
        mu: Friction coefficient of all contacts.
        planes: Half-spaces that it may touch, by their names; flat ground, "floor", if not given.
        restitution: Coefficient of restitution of all contacts.
        inertia: (3,) moments of inertia about the axes of the body; those of a solid if not given
            [kg m^2].
        gravity: (3,) acceleration of gravity [m/s^2].
        inputs: Forces (6,) on the velocities, as a function of t, q and v; None for no forces.

    Examples:
        A box stands on the ground on four of its corners.

        >>> from carom.systems import Box, SpatialBody
        >>> box = SpatialBody(Box([0.4, 0.25, 0.3]), mass=10.0, mu=0.6)
        >>> q = [0.0, 0.0, 0.15, 1.0, 0.0, 0.0, 0.0]
        >>> box.contacts[:2], box.gap(q).round(9).tolist()
        (('floor (---)', 'floor (+--)'), [0.0, 0.0, 0.0, 0.0, 0.3, 0.3, 0.3, 0.3])
        >>> box.impact_problem(q, [0.3, 0.1, -1.0, 0.0, 0.0, 0.0]).num_contacts
        4
    """

    def __init__(
        self,
        shape: Sphere | Box | Cylinder,
        mass: float,
        *,
        mu: float,
        planes: Mapping[str, HalfSpace] | None = None,
        restitution: float = 0.0,
        inertia: ArrayLike | None = None,
        gravity: ArrayLike = GRAVITY,
        inputs: Inputs | None = None,
    ) -> None:
        if not isinstance(shape, Sphere | Box | Cylinder):
            raise InvalidProblem(f"shape: expected a Sphere, Box or Cylinder, got {shape!r}")
        self.shape, self.mass = shape, checks.positive("mass", mass, error=InvalidProblem)
        self.planes = {"floor": GROUND} if planes is None else dict(planes)
        self.gravity = checks.vector("gravity", gravity, 3)
        self.inputs = inputs
        own = shape.inertia(self.mass) if inertia is None else checks.vector("inertia", inertia, 3)
        if not (own > 0.0).all():
            raise InvalidProblem(f"inertia: expected three positive moments, got {own.tolist()}")
        self.inertia = own
        names = [f"{plane}{label}" for plane in self.planes for label in shape.labels]
        friction = checks.positive("mu", mu, or_zero=True)
        bounce = checks.between("restitution", restitution, 0.0, 1.0)
        super().__init__(7, 6, names, [friction] * len(names), [bounce] * len(names))

    def mass_matrix(self, q: ArrayLike) -> FloatArray:
        """Return the same matrix for every `q`, (6, 6)."""
        return np.diag([self.mass] * 3 + self.inertia.tolist())

    def velocity_map(self, q: ArrayLike) -> FloatArray:
        """Return Γ(q), (7, 6), so that dq/dt = Γ v."""
        w, x, y, z = self._checked(q)[3:]
        gamma = np.zeros((7, 6))
        gamma[:3, :3] = np.eye(3)
        gamma[3:, 3:] = 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
        return gamma

    def integrate(self, q: ArrayLike, v: ArrayLike, duration: float) -> FloatArray:
        """Return the configuration (7,) that a constant velocity leads to in a duration [s]."""
        at, step = self._checked(q), duration * np.asarray(v, dtype=np.float64)
        return np.concatenate([at[:3] + step[:3], turned(at[3:], step[3:], in_body=True)])

    def potential_energy(self, q: ArrayLike) -> float:
        """Return -m g·x of gravity [J]."""
        return -self.mass * float(self.gravity @ self._checked(q)[:3])

    def open_dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        at = self._checked(q)
        rates = np.zeros(6) if v is None else checks.vector("v", v, 6, InvalidProblem)
        spin = rates[3:]
        force = np.concatenate([self.mass * self.gravity, -cross(spin, self.inertia * spin)])
        if self.inputs is not None:
            force += checks.vector("inputs", self.inputs(t, at, rates), 6, InvalidProblem)
        # Columns are the axes of the body.
        axes = rotation(at[3:])
        phi, J, bias = (
            np.concatenate(parts)
            for parts in zip(
                *(self._touch(plane, at[:3], axes, spin) for plane in self.planes.values()),
                strict=True,
            )
        )
        return Dynamics(self.mass_matrix(at), force, phi, J[:, 0], J[:, 1:], bias)

    def solids(self) -> list[Solid]:
        """Return the shape of the body, for drawing."""
        kind, size = self.shape.drawn
        own = Solid("body", kind, np.array(size), NO_VERTICES, NO_FACES, COLOR)
        return [own]

    def placements(self, q: ArrayLike) -> FloatArray:
        """Return the pose of the body, (1, 4, 4)."""
        at = self._checked(q)
        return pose(at[:3], rotation(at[3:]))[None]

    def input_at(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Input:
        """Return the force of the inputs."""
        if self.inputs is None:
            return Input(np.zeros(6))
        given = self.inputs(t, self._checked(q), checks.vector("v", v, 6, InvalidProblem))
        return Input(checks.vector("inputs", given, 6, InvalidProblem))

    def _touch(
        self, plane: HalfSpace, at: FloatArray, axes: FloatArray, spin: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return gaps (c,), rows (c, 3, 6) and their bias (c, 3) of the contacts with a plane."""
        frame = np.vstack([plane.normal[None], plane.tangents])
        own = frame @ axes
        # Seen from the body, the plane turns the other way round.
        turning = cross(own, spin)
        found = self.shape.lowest(own[0], turning[0])
        phi = plane.normal @ (at - plane.point) + found.points @ own[0]
        arms = cross(found.points[:, None], own[None])
        # How arms change: points wander along the surface, and the plane turns.
        change = cross(found.rates[:, None], own) + cross(found.points[:, None], turning)
        J = np.concatenate([np.broadcast_to(frame, arms.shape), arms], axis=2)
        return phi, J, change @ spin

    def _checked(self, q: ArrayLike) -> FloatArray:
        at = checks.vector("q", q, 7, InvalidProblem)
        length = float(np.sqrt(at[3:] @ at[3:]))
        if not abs(length - 1.0) <= UNIT:
            raise InvalidProblem(
                f"q: expected a quaternion of unit length, got {at[3:].tolist()}; divide it by its "
                f"length"
            )
        at[3:] /= length
        return at
