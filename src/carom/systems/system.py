"""What a mechanical system must answer so that carom can resolve its impacts and move it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from carom.errors import InvalidProblem
from carom.impact.problem import ImpactProblem
from carom.typing import ArrayLike, FloatArray


class Dynamics(NamedTuple):
    """A system's equations of motion at one state: M dv/dt = force + J^T contact forces.

    Attributes:
        M: (nv, nv) mass matrix.
        force: (nv,) smooth force.
        phi: (m,) gaps [m].
        J_n: (m, nv) normal Jacobian.
        J_t: (m, d, nv) tangential Jacobian.
        bias: (m, 1 + d) dJ/dt v, normal first [m/s^2].
    """

    M: FloatArray
    force: FloatArray
    phi: FloatArray
    J_n: FloatArray
    J_t: FloatArray
    bias: FloatArray


class System(ABC):
    """Describe a rigid multibody system with unilateral frictional contacts.

    Joining an engine means writing one subclass: it maps a configuration `q` to the inertia and
    the contact geometry there. Contacts keep one order everywhere: entry `i` of `contacts`, `mu`,
    `gap`, `normal_jacobian` and `tangent_jacobian` is the same contact.
    """

    @property
    @abstractmethod
    def nq(self) -> int:
        """Return the number of configuration coordinates."""

    @property
    @abstractmethod
    def nv(self) -> int:
        """Return the number of generalized velocities."""

    @property
    @abstractmethod
    def contacts(self) -> tuple[str, ...]:
        """Return the name of every contact that may close, touching or not."""

    @property
    @abstractmethod
    def mu(self) -> FloatArray:
        """Return the friction coefficients, (m,)."""

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

    def dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        """Return everything at one state and time; v is at rest if not given.

        A system that finds all of it in one pass does well to override this: `simulate` calls
        nothing else while it integrates.
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
            gap_tolerance: A contact touches if its gap is at most this [m].
            without_collision: Let contacts at rest act although nothing collides.

        Raises:
            InvalidProblem: If no contact touches.
        """
        here = self.dynamics(q)
        touching = np.flatnonzero(here.phi <= gap_tolerance)
        if touching.size == 0:
            raise InvalidProblem(self._nothing_touches(here.phi, gap_tolerance))
        return ImpactProblem(
            M=here.M,
            J_n=here.J_n[touching],
            J_t=here.J_t[touching],
            mu=self.mu[touching],
            v_pre=np.asarray(v, dtype=np.float64),
            contacts=tuple(self.contacts[i] for i in touching),
            without_collision=without_collision,
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
    """Return what a system answers as an array of floats in C order; -1 stands for any length.

    Raises:
        InvalidProblem: If it has another shape.
    """
    array = np.ascontiguousarray(value, dtype=np.float64)
    fits = array.ndim == len(shape) and all(
        expected in (-1, length) for expected, length in zip(shape, array.shape, strict=True)
    )
    if not fits:
        words = ", ".join("d" if length < 0 else str(length) for length in shape)
        raise InvalidProblem(f"{name}: expected an array ({words}), got shape {array.shape}")
    return array
