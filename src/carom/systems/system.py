"""What a mechanical system must answer so that carom can resolve its impacts."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carom.errors import InvalidProblem
from carom.impact.problem import ImpactProblem


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
    def mu(self) -> NDArray[np.float64]:
        """Return the friction coefficients, (m,)."""

    @abstractmethod
    def mass_matrix(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return M(q), (nv, nv), so that the kinetic energy is v·M v / 2 [J]."""

    @abstractmethod
    def velocity_map(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return Γ(q), (nq, nv), so that dq/dt = Γ v."""

    @abstractmethod
    def gap(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return φ(q), (m,) [m]: > 0 apart, < 0 penetrating."""

    @abstractmethod
    def normal_jacobian(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return J_n(q), (m, nv), so that dφ/dt = J_n v [m/s]."""

    @abstractmethod
    def tangent_jacobian(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return J_t(q), (m, d, nv): J_t v is the sliding velocity of the material points [m/s]."""

    def impact_problem(
        self, q: ArrayLike, v: ArrayLike, gap_tolerance: float = 1e-6
    ) -> ImpactProblem:
        """Gather the touching contacts at `q` into the impact that starts with velocity `v`.

        Args:
            q: Configuration, (nq,).
            v: Velocity before the impact, (nv,).
            gap_tolerance: A contact touches if its gap is at most this [m].

        Raises:
            InvalidProblem: If no contact touches.
        """
        phi = self.gap(q)
        touching = np.flatnonzero(phi <= gap_tolerance)
        if touching.size == 0:
            raise InvalidProblem(self._nothing_touches(phi, gap_tolerance))
        return ImpactProblem(
            M=self.mass_matrix(q),
            J_n=self.normal_jacobian(q)[touching],
            J_t=self.tangent_jacobian(q)[touching],
            mu=self.mu[touching],
            v_pre=np.asarray(v, dtype=np.float64),
            contacts=tuple(self.contacts[i] for i in touching),
        )

    def _nothing_touches(self, phi: NDArray[np.float64], gap_tolerance: float) -> str:
        if phi.size == 0:
            return "no contact touches: the system has no contacts"
        nearest = int(np.argmin(phi))
        return (
            f"no contact touches: the nearest is {self.contacts[nearest]!r} with a gap of "
            f"{phi[nearest]:.3g} m, above gap_tolerance = {gap_tolerance:g} m"
        )
