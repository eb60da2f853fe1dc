"""What a mechanical system must answer so that carom can resolve its impacts and move it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from carom.errors import InvalidOption, InvalidProblem, warn_user
from carom.problem import ImpactProblem
from carom.systems.constraints import (
    Closure,
    ConstraintBroken,
    Constraints,
    close,
    closure_at,
    constrained,
    no_constraints,
)
from carom.typing import ArrayLike, FloatArray, IntArray

MOST_SHOWN = 6
"""Number of contacts that a system's repr names."""
OFF = 1e-6
"""Share of a velocity's energy norm that constraints may take away without a word."""


class Dynamics(NamedTuple):
    """Hold a system's equations of motion at one state: M dv/dt = force + J^T contact forces.

    Attributes:
        M: (nv, nv) mass matrix.
        force: (nv,) smooth force.
        phi: (m,) gaps [m].
        J_n: (m, nv) normal Jacobian.
        J_t: (m, d, nv) tangential Jacobian.
        bias: (m, 1 + d) dJ/dt v, normal first [m/s^2].

    Examples:
        A disc of 2 kg and radius 0.5 m rests on a floor.

        >>> from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact
        >>> contact = PlaneContact("floor", Disc("disc", radius=0.5), FLOOR, mu=0.3)
        >>> here = PlanarSystem([Body.disc("disc", 0.5, 2.0)], [contact]).dynamics([0.0, 0.5, 0.0])
        >>> here.phi.tolist(), here.J_n.tolist(), here.J_t.tolist()
        ([0.0], [[0.0, 1.0, 0.0]], [[[1.0, 0.0, 0.5]]])
    """

    M: FloatArray
    force: FloatArray
    phi: FloatArray
    J_n: FloatArray
    J_t: FloatArray
    bias: FloatArray


class Input(NamedTuple):
    """Hold the part of a system's smooth force that may do work on it.

    Attributes:
        force: (nv,) generalized force.
        stiffness: (nv, nv) how it falls with the way along each velocity, such as the gains of a
            position controller; None together with the damping.
        damping: (nv, nv) how it falls with velocities. Time steps take both implicitly, so that
            large gains need no small step.

    Examples:
        A motor that holds a velocity of 2 rad/s with a gain of 0.5 N m s/rad, at 1.6 rad/s.

        >>> import numpy as np
        >>> from carom.systems import Input
        >>> gain = np.array([[0.5]])
        >>> Input(gain @ (np.array([2.0]) - 1.6), np.zeros((1, 1)), gain).force.round(9).tolist()
        [0.2]
    """

    force: FloatArray
    stiffness: FloatArray | None = None
    damping: FloatArray | None = None


class System(ABC):
    """Describe a rigid multibody system with unilateral frictional contacts.

    Joining an engine means writing one subclass: it maps a configuration `q` to the inertia and
    the contact geometry there. Contacts keep one order everywhere: entry `i` of `contacts`, `mu`,
    `restitution`, `gap`, `normal_jacobian` and `tangent_jacobian` is the same contact.
    Configurations `q` are (nq,), velocities `v` (nv,), times `t` in seconds.

    A system may have equality constraints, such as a closed loop, by `constraints` and
    `constraint_state` (docs/loops.md). Then its single methods answer for the mechanism with its
    constraints taken off, and `dynamics`, `impact_problem` and `simulate` for the closed one.

    Examples:
        A ball of 2 kg that moves along a vertical line over a floor.

        >>> import numpy as np
        >>> import carom
        >>> class Ball(carom.System):
        ...     nq, nv, contacts, mu = 1, 1, ("floor",), np.array([0.5])
        ...     def mass_matrix(self, q): return np.array([[2.0]])
        ...     def velocity_map(self, q): return np.eye(1)
        ...     def smooth_force(self, q, v, t=0.0): return np.array([-2.0 * 9.81])
        ...     def potential_energy(self, q): return 2.0 * 9.81 * float(q[0])
        ...     def gap(self, q): return np.array([q[0]])
        ...     def normal_jacobian(self, q): return np.array([[1.0]])
        ...     def tangent_jacobian(self, q): return np.zeros((1, 1, 1))
        ...     def contact_bias(self, q, v): return np.zeros((1, 2))

        It falls from 1 m and hits after sqrt(2 / g):

        >>> motion = carom.simulate(Ball(), [1.0], [0.0], 1.0, carom.RouthSingle())
        >>> round(motion.impacts[0].t, 6)
        0.451524
    """

    def __repr__(self) -> str:
        shown = ", ".join(self.contacts[:MOST_SHOWN]) or "none"
        more = ", …" if len(self.contacts) > MOST_SHOWN else ""
        return f"{type(self).__name__}(nq = {self.nq}, nv = {self.nv}, contacts {shown}{more})"

    @property
    @abstractmethod
    def nq(self) -> int:
        """Return the number nq of configuration coordinates."""

    @property
    @abstractmethod
    def nv(self) -> int:
        """Return the number nv of generalized velocities."""

    @property
    @abstractmethod
    def contacts(self) -> tuple[str, ...]:
        """Return the name of every contact that may close, touching or not."""

    @property
    @abstractmethod
    def mu(self) -> FloatArray:
        """Return the friction coefficients, (m,)."""

    @property
    def restitution(self) -> FloatArray:
        """Return the coefficients of restitution, (m,): zero unless a system says otherwise."""
        return np.zeros(len(self.contacts))

    @abstractmethod
    def mass_matrix(self, q: ArrayLike) -> FloatArray:
        """Return M(q), (nv, nv), so that the kinetic energy is v·M v / 2 [J]."""

    @abstractmethod
    def velocity_map(self, q: ArrayLike) -> FloatArray:
        """Return Γ(q), (nq, nv), so that dq/dt = Γ v."""

    @abstractmethod
    def smooth_force(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> FloatArray:
        """Return F_s(q, v, t), (nv,): all that accelerates without contact.

        That is gravity, the forces of inertia (Coriolis and centrifugal) and inputs, so that
        M dv/dt = F_s while nothing touches.
        """

    @abstractmethod
    def potential_energy(self, q: ArrayLike) -> float:
        """Return the potential energy of the forces that have one, such as gravity [J]."""

    @abstractmethod
    def gap(self, q: ArrayLike) -> FloatArray:
        """Return φ(q), (m,) [m]: > 0 apart, < 0 penetrating."""

    @abstractmethod
    def normal_jacobian(self, q: ArrayLike) -> FloatArray:
        """Return J_n(q), (m, nv), so that dφ/dt = J_n v [m/s]."""

    @abstractmethod
    def tangent_jacobian(self, q: ArrayLike) -> FloatArray:
        """Return J_t(q), (m, d, nv): J_t v is the sliding velocity of the material points [m/s]."""

    @abstractmethod
    def contact_bias(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return dJ/dt v of each contact, normal first, (m, 1 + d) [m/s^2].

        A contact accelerates by J dv/dt + bias.
        """

    @property
    def constraints(self) -> tuple[str, ...]:
        """Return the name of each equality constraint, one per row; none unless overridden."""
        return ()

    def constraint_state(self, q: ArrayLike, v: ArrayLike | None = None) -> Constraints:
        """Return residuals, Jacobian and bias of the equality constraints; at rest without `v`."""
        return no_constraints(self.nv)

    def dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        """Return everything at one state and time, with constraints closed.

        That is M dv/dt = force + J^T contact forces for velocities that the constraints allow.
        """
        here = self.open_dynamics(q, v, t)
        if not self.constraints:
            return here
        rates = np.zeros(self.nv) if v is None else np.asarray(v, dtype=np.float64)
        return constrained(here, self.constraint_state(q, rates), rates)

    def open_dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        """Return everything at one state and time of the mechanism without its constraints.

        A system that finds all of it in one pass does well to override this: `simulate` calls
        nothing else while it integrates. At rest if `v` is not given.
        """
        rates = np.zeros(self.nv) if v is None else v
        m, nv = len(self.contacts), self.nv
        return Dynamics(
            _shaped("mass_matrix", self.mass_matrix(q), (nv, nv)),
            _shaped("smooth_force", self.smooth_force(q, rates, t), (nv,)),
            _shaped("gap", self.gap(q), (m,)),
            _shaped("normal_jacobian", self.normal_jacobian(q), (m, nv)),
            _shaped("tangent_jacobian", self.tangent_jacobian(q), (m, -1, nv)),
            _shaped("contact_bias", self.contact_bias(q, rates), (m, -1)),
        )

    def integrate(self, q: ArrayLike, v: ArrayLike, duration: float) -> FloatArray:
        """Return the configuration (nq,) that a constant velocity leads to in a duration [s].

        That is q + duration Γ(q) v, unless a system overrides it: where q holds a quaternion or
        another point of a curved space, this has to end in that space, and turn as far as the
        velocity says.
        """
        at = np.asarray(q, dtype=np.float64)
        return at + duration * (self.velocity_map(at) @ np.asarray(v, dtype=np.float64))

    def input_at(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Input | None:
        """Return the part of the smooth force that may do work, such as that of motors.

        All else must be inertia, what `potential_energy` has, or damping. None, unless overridden,
        is not known. Where it is known, time steps never let energy rise by more than its work.
        """
        return None

    def energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Return kinetic plus potential energy [J]."""
        rates = np.asarray(v, dtype=np.float64)
        return float(0.5 * rates @ self.mass_matrix(q) @ rates) + self.potential_energy(q)

    def impact_problem(
        self,
        q: ArrayLike,
        v: ArrayLike,
        gap_tolerance: float = 1e-6,
        *,
        without_collision: bool = False,
    ) -> ImpactProblem:
        """Gather the touching contacts at `q` into the impact that starts with velocity `v`.

        Args:
            q: Configuration, (nq,).
            v: Velocity before the impact, (nv,).
            gap_tolerance: A contact touches if its gap is at most this, either way [m].
            without_collision: Let contacts at rest act although nothing collides.

        Warns:
            ConstraintBroken: Equality constraints do not hold at `q`, or `v` is none that they
                allow; then what they allow of it is taken, as an impact of theirs would leave it.
        """
        v_pre = self._held(q, v, gap_tolerance)
        return self.impact_at(
            self.dynamics(q), v_pre, gap_tolerance, without_collision=without_collision
        )

    def closed(self, q: ArrayLike) -> FloatArray:
        """Return a configuration (nq,) near `q` in which all equality constraints hold.

        By Newton's method with steps that are the least by energy; residuals end below 1e-13 of
        the largest coordinate, and of 1. What no motion can change of them does not count, as
        where hinges of a planar loop in space are a little out of true.
        """
        at = np.asarray(q, dtype=np.float64)
        return close(self, at) if self.constraints else at

    def allowed_velocity(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return the velocity (nv,) nearest to `v` by energy that all equality constraints allow.

        A mechanism that moves with `v` when its loops are closed goes on with this one.
        """
        rates = np.asarray(v, dtype=np.float64)
        return closure_at(self, q).allowed(rates) if self.constraints else rates

    def constraint_impulses(
        self, q: ArrayLike, problem: ImpactProblem, impulses: ArrayLike
    ) -> FloatArray:
        """Return the impulses (..., c) that the equality constraints transmit in an impact.

        They are -(G M^-1 G^T)^+ G M^-1 J^T impulses, with J of the mechanism without constraints
        [N s, or N m s for angles]; of constraints that depend on each other, the least ones.

        Args:
            q: Configuration of the impact, (nq,).
            problem: The impact, from `impact_problem`.
            impulses: (..., m, 1 + d) contact impulses in the order of `problem.contacts`, normal
                first, such as `(path.lambda_n, path.lambda_t)` of a path joined [N s].
        """
        given = np.asarray(impulses, dtype=np.float64)
        J = self._open_rows(q, problem)
        if given.shape[-2:] != J.shape[:2]:
            raise InvalidOption(
                f"impulses: expected (..., {J.shape[0]}, {J.shape[1]}), one per contact with its "
                f"normal first, got {given.shape}"
            )
        return closure_at(self, q).impulses(np.einsum("...mx,mxv->...v", given, J))

    def _open_rows(self, q: ArrayLike, problem: ImpactProblem) -> FloatArray:
        """Return the rows (m, 1 + d, nv) of an impact's contacts without constraints."""
        here = self.open_dynamics(q)
        which = [self.contacts.index(name) for name in problem.contacts]
        return np.concatenate([here.J_n[:, None], here.J_t], axis=1)[which]

    def _held(self, q: ArrayLike, v: ArrayLike, tolerance: float) -> FloatArray:
        """Return what constraints allow of a velocity, and warn where it is not all of it."""
        rates = np.asarray(v, dtype=np.float64)
        if not self.constraints:
            return rates
        found, M = self.constraint_state(q), self.open_dynamics(q).M
        closure = Closure.of(M, found.G)
        off = np.abs(closure.closable(found))
        if off.max() > tolerance:
            warn_user(
                f"q: constraint {self.constraints[int(off.argmax())]!r} is off by {off.max():.3g} "
                f"m (or rad), above {tolerance:g}; close it with q = system.closed(q)",
                ConstraintBroken,
            )
        allowed = closure.allowed(rates)
        lost = rates - allowed
        if lost @ M @ lost > OFF**2 * (rates @ M @ rates):
            worst = int(np.abs(found.G @ rates).argmax())
            warn_user(
                f"v: expected a velocity that the constraints allow, got one that opens "
                f"{self.constraints[worst]!r} with {(found.G @ rates)[worst]:.3g} m/s (or rad/s); "
                f"taken is system.allowed_velocity(q, v)",
                ConstraintBroken,
            )
        return allowed

    def impact_at(
        self, here: Dynamics, v: ArrayLike, gap_tolerance: float, *, without_collision: bool = False
    ) -> ImpactProblem:
        """Gather the touching contacts into an impact, as `impact_problem`, from known dynamics."""
        touching = self._touching(here.phi, gap_tolerance)
        if self.constraints:
            # What a loop holds takes no part.
            touching = touching[here.J_n[touching].any(axis=1)]
        return ImpactProblem(
            M=here.M,
            J_n=here.J_n[touching],
            J_t=here.J_t[touching],
            mu=self.mu[touching],
            v_pre=np.asarray(v, dtype=np.float64),
            contacts=tuple(self.contacts[i] for i in touching),
            restitution=self.restitution[touching],
            without_collision=without_collision,
        )

    def _touching(self, phi: FloatArray, gap_tolerance: float) -> IntArray:
        """Return the numbers of the contacts that touch, by their gaps (m,)."""
        near = np.flatnonzero(phi <= gap_tolerance)
        if near.size == 0:
            raise InvalidProblem(self._nothing_touches(phi, gap_tolerance))
        deepest = int(np.argmin(phi))
        if phi[deepest] < -gap_tolerance:
            raise InvalidProblem(self._penetrates(deepest, -float(phi[deepest]), gap_tolerance))
        return near

    def gap_unit(self, contact: str) -> str:
        """Return the unit of a contact's gap: "m", or "rad" for a limit of a joint that turns."""
        return "m"

    def _penetrates(self, contact: int, depth: float, gap_tolerance: float) -> str:
        return (
            f"contact {self.contacts[contact]!r} penetrates by {depth:.3g} m at the start, above "
            f"gap_tolerance = {gap_tolerance:g} m; move the bodies apart, or raise the tolerance"
        )

    def _nothing_touches(self, phi: FloatArray, gap_tolerance: float) -> str:
        if phi.size == 0:
            return "no contact touches: the system has no contacts"
        nearest = int(np.argmin(phi))
        return (
            f"no contact touches: the nearest is {self.contacts[nearest]!r} with a gap of "
            f"{phi[nearest]:.3g} m, above gap_tolerance = {gap_tolerance:g} m"
        )


def _shaped(name: str, value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return what a system answers as an array of floats in C order; -1 stands for any length."""
    array = np.ascontiguousarray(value, dtype=np.float64)
    fits = array.ndim == len(shape) and all(
        expected in (-1, length) for expected, length in zip(shape, array.shape, strict=True)
    )
    if not fits:
        words = ", ".join("d" if length < 0 else str(length) for length in shape)
        raise InvalidProblem(f"{name}: expected an array ({words}), got shape {array.shape}")
    return array
