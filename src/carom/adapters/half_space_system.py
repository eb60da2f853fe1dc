"""Robots that touch one half-space at points and spheres fixed to them.

Engines differ in how they tell where a frame is and how it moves. All that follows from it is
the same, and is here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from carom.adapters.engine import EngineSystem
from carom.adapters.half_space import ContactPoint, HalfSpace, not_negative, unknown, vector
from carom.errors import InvalidProblem
from carom.systems.system import Dynamics
from carom.typing import ArrayLike, FloatArray

UNIT = 1e-3
"""Quaternions may differ from unit length by this: integrators drift."""
TOUCHING = 1e-12
"""`stand` ends when all gaps are smaller than this [m]."""
MOST_STEPS = 50


class FrameMotion(NamedTuple):
    """Tell where frames are and how they move, in the axes of the world, linear part first.

    Attributes:
        position: (f, 3) of their origins [m].
        rotation: (f, 3, 3) their axes, as columns.
        J: (f, 6, nv) velocity of their origins, and angular velocity, for a unit of each velocity.
        bias: (f, 6) acceleration of their origins, and angular acceleration, while velocities
            stay as they are [m/s^2, rad/s^2].
    """

    position: FloatArray
    rotation: FloatArray
    J: FloatArray
    bias: FloatArray


class HalfSpaceSystem(EngineSystem):
    """Describe a robot that an engine knows and that touches one half-space.

    Contacts between parts of the robot are not looked at.

    Args:
        contacts: Points and spheres; the name of a frame stands for its origin.
        ground: The half-space.
        mu: Friction coefficient of contacts that have none of their own.
    """

    def __init__(
        self,
        contacts: Iterable[str | ContactPoint],
        ground: HalfSpace | None,
        mu: float | None,
    ) -> None:
        self.points = _points(contacts)
        self.ground = HalfSpace() if ground is None else ground
        common = None if mu is None else not_negative("mu", mu)
        self._mu = np.array([_friction(point, common) for point in self.points])
        self._mu.flags.writeable = False
        # Corners of one foot share its frame.
        self._frame_names = tuple(dict.fromkeys(point.frame for point in self.points))
        self._frame_of = [self._frame_names.index(point.frame) for point in self.points]

    @property
    def contacts(self) -> tuple[str, ...]:
        """Return the names of all contacts, touching or not."""
        return tuple(point.name for point in self.points)

    @property
    def mu(self) -> FloatArray:
        """Return the friction coefficients, (m,)."""
        return self._mu

    @property
    @abstractmethod
    def base_velocities(self) -> slice:
        """Return which velocities are those of the floating base; none if it is fixed."""

    @abstractmethod
    def _normalized(self, q: FloatArray) -> FloatArray:
        """Return a configuration with unit quaternions; not numbers where one is zero."""

    @abstractmethod
    def _motion(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FrameMotion]:
        """Return the mass matrix, the smooth force, and how the frames of the contacts move."""

    def dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        """Return everything at one state.

        Args:
            q: Configuration, (nq,), with unit quaternions.
            v: Velocity, (nv,); at rest if not given.
            t: Time [s], on which nothing depends.

        Raises:
            InvalidProblem: A vector has a wrong size, a number that is not finite, or a
                quaternion that is not of unit length.
        """
        at = self._checked(q)
        rates = np.zeros(self.nv) if v is None else vector("v", v, self.nv)
        M, force, frames = self._motion(at, rates)
        index = self._frame_of
        offset = np.array([point.offset for point in self.points])
        radius = np.array([point.radius for point in self.points])
        arm = np.einsum("mij,mj->mi", frames.rotation[index], offset)
        J_lin, J_ang = frames.J[index, :3], frames.J[index, 3:]
        a_lin, a_ang = frames.bias[index, :3], frames.bias[index, 3:]
        # A point of a body moves with v + ω × arm, and accelerates by a + α × arm + ω × (ω × arm).
        turn = J_ang @ rates
        J_point = J_lin + _cross_columns(J_ang, arm)
        a_point = a_lin + np.cross(a_ang, arm) + np.cross(turn, np.cross(turn, arm))
        normal, tangents = self.ground.normal, self.ground.tangents
        # The lowest point of a sphere is always below its centre, whichever matter is there: what
        # slides is that matter, and how fast it does changes as the normal does not turn.
        below = -radius[:, None] * normal
        J_matter = J_point + _cross_columns(J_ang, below)
        a_matter = a_point + np.cross(a_ang, below)
        bias = np.column_stack([a_point @ normal, a_matter @ tangents.T])
        phi = (frames.position[index] + arm - self.ground.point) @ normal - radius
        J_t = np.einsum("tx,mxv->mtv", tangents, J_matter)
        return Dynamics(M, force, phi, np.einsum("x,mxv->mv", normal, J_point), J_t, bias)

    def stand(
        self, q: ArrayLike, contacts: Sequence[str] | None = None, *, joints: bool = False
    ) -> FloatArray:
        """Return a configuration near `q` in which contacts touch: all gaps are zero.

        Newton's method with the smallest steps. Limits of joints are not heeded.

        Args:
            q: Configuration to start from, (nq,).
            contacts: Names of those that shall touch; all if not given.
            joints: Whether joints move as well, and not the floating base alone.

        Returns:
            Configuration, (nq,).

        Raises:
            InvalidProblem: There is no such contact, the base is fixed, or not all of them can
                touch.
        """
        at = self._checked(q)
        chosen = self._chosen(contacts)
        free = slice(0, self.nv) if joints else self.base_velocities
        if free.start == free.stop:
            raise InvalidProblem("stand: the base is fixed; let joints move: stand(q, joints=True)")
        for _ in range(MOST_STEPS):
            here = self.dynamics(at)
            phi = here.phi[chosen]
            if np.abs(phi).max() <= TOUCHING:
                return at
            step = np.zeros(self.nv)
            step[free] = np.linalg.lstsq(here.J_n[chosen][:, free], -phi, rcond=1e-9)[0]
            at = self._normalized(at + self.velocity_map(at) @ step)
        worst = int(np.argmax(np.abs(phi)))
        raise InvalidProblem(
            f"stand: not all of these contacts can touch at once: {self.contacts[chosen[worst]]!r} "
            f"stays {phi[worst]:.3g} m away; choose fewer"
            + ("" if joints else ", or let joints move: stand(q, joints=True)")
        )

    def _checked(self, q: ArrayLike) -> FloatArray:
        if self.nv == 0:
            raise InvalidProblem(
                "the robot cannot move: its base is fixed and it has no joints; let the base float"
            )
        at = vector("q", q, self.nq)
        unit = self._normalized(at)
        worst = int(np.argmax(np.abs(unit - at)))
        if not abs(unit[worst] - at[worst]) <= UNIT:
            raise InvalidProblem(
                f"q: expected quaternions of unit length, got {at.tolist()}; divide each by its "
                f"length"
            )
        return unit

    def _chosen(self, contacts: Sequence[str] | None) -> list[int]:
        names = self.contacts
        if contacts is None:
            return list(range(len(names)))
        wanted = [contacts] if isinstance(contacts, str) else list(contacts)
        for name in wanted:
            if name not in names:
                raise InvalidProblem(unknown("contact", name, names))
        if not wanted:
            raise InvalidProblem("stand: expected at least one contact, got none")
        return [names.index(name) for name in wanted]


def _points(contacts: Iterable[str | ContactPoint]) -> tuple[ContactPoint, ...]:
    given = [contacts] if isinstance(contacts, str | ContactPoint) else list(contacts)
    points = tuple(ContactPoint(each) if isinstance(each, str) else each for each in given)
    if not points:
        raise InvalidProblem("contacts: expected at least one frame or ContactPoint, got none")
    for point in points:
        if not isinstance(point, ContactPoint):
            raise InvalidProblem(
                f"contacts: expected names of frames or ContactPoints, got {point!r}"
            )
    names = [point.name for point in points]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InvalidProblem(
            f"contacts: expected different names, got {repeated[0]!r} repeatedly; "
            f"give each ContactPoint a name"
        )
    return points


def _friction(point: ContactPoint, common: float | None) -> float:
    if point.mu is None and common is None:
        raise InvalidProblem(f"mu: contact {point.name!r} has no friction coefficient; give mu=...")
    return float(common if point.mu is None else point.mu)  # type: ignore[arg-type]


def _cross_columns(J: FloatArray, arm: FloatArray) -> FloatArray:
    """Return the columns of angular velocity J (m, 3, nv), each times its arm (m, 3)."""
    return np.cross(J, arm[:, :, None], axis=1)
