"""Robots that touch one half-space, such as flat ground, at points and spheres fixed to them.

Engines differ in where they say a frame is and how it moves. All that follows from it is the same
for Pinocchio and Drake, and is here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from carom.adapters.contact_points import (
    ContactPoint,
    Contacts,
    contact_points,
    friction_of,
    names_of,
)
from carom.adapters.engine import EngineSystem, Restitution, coefficients
from carom.adapters.frames import FrameMotion, cross_columns, point_motion
from carom.adapters.limits import Limits, LimitState
from carom.adapters.loops import (
    CouplerConstraint,
    FrameConstraint,
    LoopConstraint,
    joined,
    row_names,
)
from carom.adapters.pairs import Nearest, Slot, pair_rows
from carom.checks import positive
from carom.errors import InvalidOption, InvalidProblem
from carom.systems.constraints import Constraints, no_constraints
from carom.systems.half_space import GROUND, HalfSpace
from carom.systems.quaternions import cross
from carom.systems.system import Dynamics, Input
from carom.typing import ArrayLike, FloatArray

__all__ = ["GROUND", "UNIT", "ContactPoint", "HalfSpace", "HalfSpaceSystem"]

UNIT = 1e-3
"""Largest deviation of a quaternion's entries from those of unit length: integrators drift."""
TOUCHING = 1e-12
"""Largest gap at which `stand` ends [m]."""
MOST_STEPS = 50


class HalfSpaceSystem(EngineSystem):
    """Describe a robot that an engine knows and that touches one half-space, and perhaps itself.

    Its points touch the half-space; pairs of shapes, if it has any, touch each other. The arguments
    are those of its subclasses `PinocchioSystem` and `DrakeSystem`.
    """

    # How far, as the length of a change of v, the robot is moved to see how rows of pairs change:
    # nearest points that are found by iteration are not known better than that.
    _pair_step = 1e-5

    def __init__(
        self,
        sizes: tuple[int, int],
        contacts: Contacts,
        ground: HalfSpace,
        mu: float | None,
        restitution: Restitution,
        limits: Limits,
        constraints: Sequence[LoopConstraint],
        slots: Sequence[Slot] = (),
    ) -> None:
        self.points, self.ground = contact_points(contacts, bool(limits.units or slots)), ground
        common = None if mu is None else positive("mu", mu, or_zero=True)
        touching: list[ContactPoint | Slot] = [*self.points, *slots]
        frictions = [friction_of(each, common) for each in touching]
        names = tuple(each.name for each in touching)
        bounces = coefficients(names, restitution, [*limits.units])
        for i, point in enumerate(self.points):
            bounces[i] = bounces[i] if point.restitution is None else point.restitution
        super().__init__(sizes, names, frictions, bounces, limits.units)
        self._last_checked = np.empty(0), np.empty(0)
        self._offset = np.array([point.offset for point in self.points]).reshape(-1, 3)
        self._radius = np.array([point.radius for point in self.points])
        self._tangents = ground.tangents
        self._limits = limits
        self.loops = tuple(constraints)
        self.constraints = row_names(self.loops)
        # Corners of one foot share its frame.
        ends = [x for each in self.loops for x in _frames_of(each)]
        ends += [x for each in slots for x in (each.frame, each.other)]
        frames = [*(point.frame for point in self.points), *ends]
        self._frame_names = tuple(dict.fromkeys(frames))
        self._frame_of = [self._frame_names.index(point.frame) for point in self.points]
        self._slots = [
            (self._frame_names.index(each.frame), self._frame_names.index(each.other))
            for each in slots
        ]
        known, self._coordinates = self.joints, {}
        for each in self.loops:
            if isinstance(each, CouplerConstraint):
                one, other = names_of("joint of one coordinate", (each.joint, each.other), known)
                self._coordinates[each.name] = known[one], known[other]

    def input_at(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Input:
        """Return no force: what moves the robot are gravity and springs, or a controller's."""
        return Input(np.zeros(self.nv))

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

    def _nearest(self, q: FloatArray) -> Nearest:
        """Return where the slots of pairs of shapes are; asked for only if there are any."""
        raise NotImplementedError

    def _look(self, q: FloatArray, v: FloatArray, t: float) -> tuple[Dynamics, Constraints]:
        M, force, frames = self._motion(q, v)
        parts = [self._constraint(each, frames, q, v) for each in self.loops]
        constraints = joined(parts) if parts else no_constraints(self.nv)
        here = self._contacts(M, force, frames, v)
        return (self._with_pairs(here, frames, q, v) if self._slots else here), constraints

    def _with_pairs(
        self, here: Dynamics, frames: FrameMotion, q: FloatArray, v: FloatArray
    ) -> Dynamics:
        """Return the equations of motion with the contacts of pairs of shapes as well."""
        nearest = self._nearest(q)
        rows, bias = pair_rows(frames, self._slots, nearest), np.zeros((len(nearest.gap), 3))
        if speed := float(np.abs(v).max(initial=0.0)):
            # dJ/dt v by rows a little before and after: it has how normals turn, and points wander.
            sides = []
            for sign in (1.0, -1.0):
                there = self.integrate(q, v, sign * self._pair_step / speed)
                moved, nearer = self._motion(there, v)[2], self._nearest(there)
                sides.append(pair_rows(moved, self._slots, nearer) @ v)
            bias = (sides[0] - sides[1]) * (0.5 * speed / self._pair_step)
        return here._replace(
            phi=np.concatenate([here.phi, nearest.gap]),
            J_n=np.concatenate([here.J_n, rows[:, 0]]),
            J_t=np.concatenate([here.J_t, rows[:, 1:]]),
            bias=np.concatenate([here.bias, bias]),
        )

    def _look_at_limits(self, q: FloatArray, v: FloatArray) -> LimitState:
        return self._limits.look(q)

    def _constraint(
        self, each: LoopConstraint, frames: FrameMotion, q: FloatArray, v: FloatArray
    ) -> Constraints:
        if isinstance(each, CouplerConstraint):
            return each.state(q, self.nv, self._coordinates[each.name])
        one, other = (self._frame_names.index(name) for name in _frames_of(each))
        return each.state(frames, (one, other), v)

    def _contacts(
        self, M: FloatArray, force: FloatArray, frames: FrameMotion, v: FloatArray
    ) -> Dynamics:
        """Return the equations of motion with the contacts of all points."""
        radius, normal, tangents = self._radius, self.ground.normal, self._tangents
        moving = point_motion(frames, self._frame_of, self._offset, v)
        # The lowest point of a sphere is always below its centre, whichever matter is there: what
        # slides is that matter, and how fast it does changes as the normal does not turn.
        below = -radius[:, None] * normal
        J_matter = moving.J + cross_columns(moving.J_turn, below)
        a_matter = moving.bias + cross(moving.bias_turn, below)
        bias = np.column_stack([moving.bias @ normal, a_matter @ tangents.T])
        phi = (moving.position - self.ground.point) @ normal - radius
        return Dynamics(M, force, phi, normal @ moving.J, tangents @ J_matter, bias)

    def stand(
        self, q: ArrayLike, contacts: Sequence[str] | None = None, *, joints: bool = False
    ) -> FloatArray:
        """Return a configuration (nq,) near `q` in which contacts touch: all gaps are zero.

        Newton's method with steps of least norm. Limits of joints are not heeded, unless they are
        among the contacts that shall touch; constraints stay closed where joints move.

        Args:
            q: Configuration to start from, (nq,).
            contacts: Names of those that shall touch; all with the ground if not given.
            joints: Whether joints move as well, and not the floating base alone.
        """
        at, names = self._checked(q), self.contacts
        bodies = names[: len(self.points)]
        wanted = bodies if contacts is None else names_of("contact", contacts, names)
        if not wanted:
            raise InvalidOption("contacts: expected at least one contact, got none")
        chosen = [names.index(name) for name in wanted]
        free = slice(0, self.nv) if joints else self.base_velocities
        if free.start == free.stop:
            raise InvalidProblem("stand: the base is fixed; let joints move: stand(q, joints=True)")
        for _ in range(MOST_STEPS):
            here = self.dynamics(at) if joints else self.open_dynamics(at)
            phi = here.phi[chosen]
            if np.abs(phi).max() <= TOUCHING:
                return at
            step = np.zeros(self.nv)
            step[free] = np.linalg.lstsq(here.J_n[chosen][:, free], -phi, rcond=1e-9)[0]
            if joints:
                # It opens gaps as far as the step as a whole, since J Π Π = J Π.
                step = self.allowed_velocity(at, step)
            at = (
                self.closed(self.integrate(at, step, 1.0))
                if joints
                else self.integrate(at, step, 1.0)
            )
        worst = int(np.argmax(np.abs(phi)))
        raise InvalidProblem(
            f"stand: not all of these contacts can touch at once: {wanted[worst]!r} stays "
            f"{phi[worst]:.3g} m away; choose fewer"
            + ("" if joints else ", or let joints move: stand(q, joints=True)")
        )

    def _checked(self, q: ArrayLike) -> FloatArray:
        if self.nv == 0:
            raise InvalidProblem(
                "the robot cannot move: its base is fixed and it has no joints; let the base float"
            )
        # A step asks several questions at one configuration.
        given, known = self._last_checked
        if np.array_equal(given, q):
            return known.copy()
        at = super()._checked(q)
        unit = self._normalized(at)
        # Also where the difference is not a number: a quaternion of zeros has no direction.
        if not np.abs(unit - at).max() <= UNIT:
            raise InvalidProblem(
                f"q: expected quaternions of unit length, got {at.tolist()}; divide each by its "
                f"length"
            )
        self._last_checked = at, unit.copy()
        return unit

    def _nothing_touches(self, phi: FloatArray, gap_tolerance: float) -> str:
        found = super()._nothing_touches(phi, gap_tolerance)
        return f"{found}; move the robot with q = system.stand(q), or raise the tolerance"


def _frames_of(constraint: LoopConstraint) -> tuple[str, ...]:
    """Return the names of the two frames of a constraint; none of one between joints."""
    return (constraint.frame, constraint.other) if isinstance(constraint, FrameConstraint) else ()
