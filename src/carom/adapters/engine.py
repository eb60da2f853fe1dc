"""What the systems of all engines share: from the contacts found to an impact."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from carom.checks import positive, vector
from carom.errors import InvalidProblem
from carom.problem import ImpactProblem
from carom.systems.system import Dynamics, System
from carom.typing import ArrayLike, FloatArray, IntArray

SAME = 1e-9
"""Rows of contacts that differ by less than this share of their size are the same."""
NUM_DIRECTIONS = 8


class EngineSystem(System):
    """Describe a robot that an engine knows.

    A subclass finds everything at a state in one pass, in `_dynamics`; nearly all other questions
    of a `System` are answered from it.
    """

    # Facts rather than questions: a subclass hands them to `__init__`.
    nq: int = 0
    nv: int = 0
    contacts: tuple[str, ...] = ()
    mu: FloatArray = np.empty(0)

    def __init__(self, nq: int, nv: int, contacts: Iterable[str], mu: Iterable[float]) -> None:
        self.nq, self.nv, self.contacts = int(nq), int(nv), tuple(contacts)
        self.mu = np.array(list(mu), dtype=np.float64)
        self.mu.flags.writeable = False

    @abstractmethod
    def _dynamics(self, q: FloatArray, v: FloatArray, t: float) -> Dynamics:
        """Return everything at a checked state; a gap beyond what is looked at is infinite."""

    @abstractmethod
    def _velocity_map(self, q: FloatArray) -> FloatArray:
        """Return Γ(q), (nq, nv), of a checked configuration."""

    @abstractmethod
    def _potential_energy(self, q: FloatArray) -> float:
        """Return the potential energy [J] of a checked configuration."""

    def dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        """Return everything at one state and time.

        Args:
            q: Configuration, (nq,), with unit quaternions.
            v: Velocity, (nv,); at rest if not given.
            t: Time [s].

        Raises:
            InvalidProblem: A vector has a wrong size or a number that is not finite, or the robot
                cannot be in this state.
        """
        rates = np.zeros(self.nv) if v is None else vector("v", v, self.nv, InvalidProblem)
        return self._dynamics(self._checked(q), rates, t)

    def velocity_map(self, q: ArrayLike) -> FloatArray:
        """Return Γ(q), (nq, nv), so that dq/dt = Γ v."""
        return self._velocity_map(self._checked(q))

    def potential_energy(self, q: ArrayLike) -> float:
        """Return the potential energy [J]: of gravity, in MuJoCo and Drake of springs as well."""
        return self._potential_energy(self._checked(q))

    def mass_matrix(self, q: ArrayLike) -> FloatArray:
        """Return M(q), (nv, nv)."""
        return self.dynamics(q).M

    def smooth_force(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> FloatArray:
        """Return F_s(q, v, t), (nv,): all that accelerates without contact."""
        return self.dynamics(q, v, t).force

    def gap(self, q: ArrayLike) -> FloatArray:
        """Return φ(q), (m,) [m]."""
        return self.dynamics(q).phi

    def normal_jacobian(self, q: ArrayLike) -> FloatArray:
        """Return J_n(q), (m, nv); zero where the gap is infinite."""
        return self.dynamics(q).J_n

    def tangent_jacobian(self, q: ArrayLike) -> FloatArray:
        """Return J_t(q), (m, 2, nv); zero where the gap is infinite."""
        return self.dynamics(q).J_t

    def contact_bias(self, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return dJ/dt v of each contact, normal first, (m, 3) [m/s^2]."""
        return self.dynamics(q, v).bias

    def impact_problem(
        self,
        q: ArrayLike,
        v: ArrayLike,
        gap_tolerance: float = 1e-6,
        *,
        without_collision: bool = False,
        num_directions: int = NUM_DIRECTIONS,
    ) -> ImpactProblem:
        """Gather the touching contacts at `q` into the impact that starts with velocity `v`.

        Copies of contacts are merged, and the problem is planar if no contact can slide but along
        one line.

        Args:
            q: Configuration, (nq,).
            v: Velocity before the impact, (nv,).
            gap_tolerance: Largest gap of a contact that touches [m].
            without_collision: Let contacts at rest act although nothing collides.
            num_directions: Number of friction directions of a contact in space, at least 3.

        Raises:
            InvalidProblem: No contact touches, or one penetrates by more than the tolerance.
            InvalidOption: The tolerance is negative, or above what the system looks at.
        """
        here = self.dynamics(q)
        near = self._near(here, positive("gap_tolerance", gap_tolerance, or_zero=True))
        problem = self._gather(
            here, near, v, num_directions=num_directions, without_collision=without_collision
        )
        self._warn(q)
        return problem

    def _checked(self, q: ArrayLike) -> FloatArray:
        return vector("q", q, self.nq, InvalidProblem)

    def _warn(self, q: ArrayLike) -> None:
        """Warn of what would act at a configuration, and is left out."""

    def _near(self, here: Dynamics, gap_tolerance: float) -> IntArray:
        return self._touching(here.phi, gap_tolerance)

    def _gather(
        self, here: Dynamics, near: IntArray, v: ArrayLike, **options: Any
    ) -> ImpactProblem:
        """Make some contacts of a state, by their numbers (m,), into an impact."""
        names = tuple(self.contacts[i] for i in near)
        found = Touching(names, here.J_n[near], here.J_t[near], self.mu[near])
        found = found.in_plane().without_copies()
        return ImpactProblem(
            M=here.M,
            J_n=found.J_n,
            J_t=found.J_t,
            mu=found.mu,
            v_pre=vector("v", v, self.nv, InvalidProblem),
            contacts=found.names,
            **{"num_directions": NUM_DIRECTIONS, **options},
        )


def tangents(normal: FloatArray) -> FloatArray:
    """Return two unit vectors, (2, 3), that make a right-handed frame with a unit normal (3,).

    They are the axes x and y, turned by the shortest turn that takes z to the normal. So they are
    the same in every engine, and change smoothly with the normal but where it points down.
    """
    x, y, z = normal
    across = x * x + y * y
    if z < 0.0 and across < SAME**2:
        return np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    # Both are 1 / (1 + z); the other one keeps its digits where the normal points down.
    a = (1.0 - z) / across if z < 0.0 else 1.0 / (1.0 + z)
    return np.array([[1.0 - a * x * x, -a * x * y, -x], [-a * x * y, 1.0 - a * y * y, -y]])


@dataclass(frozen=True, eq=False)
class Touching:
    """Hold m contacts that touch: names, J_n (m, nv), J_t (m, d, nv) and friction mu (m,)."""

    names: tuple[str, ...]
    J_n: FloatArray
    J_t: FloatArray
    mu: FloatArray

    def in_plane(self) -> Touching:
        """Return planar contacts if every one of them can slide along one line only.

        A tangent along which nothing moves has no effect: friction along it does no work and
        changes no velocity.
        """
        u, sizes, _ = np.linalg.svd(self.J_t, full_matrices=False)
        if (sizes[:, 1:] > self._small).any():
            return self
        lines = u[:, :, 0]
        # The largest entry is positive, so that a direction does not jump about.
        largest = np.abs(lines).argmax(axis=1)[:, None]
        lines = lines * np.sign(np.take_along_axis(lines, largest, axis=1))
        J_t = np.einsum("ml,mlv->mv", lines, self.J_t)
        return Touching(self.names, self.J_n, J_t[:, None], self.mu)

    def without_copies(self) -> Touching:
        """Return the contacts but for those whose rows and friction another one has as well."""
        kept: list[int] = []
        small = self._small
        for i in range(len(self.names)):
            if not any(self._are_same(i, j, small) for j in kept):
                kept.append(i)
        names = tuple(self.names[i] for i in kept)
        return Touching(names, self.J_n[kept], self.J_t[kept], self.mu[kept])

    @property
    def _small(self) -> float:
        return SAME * max(float(np.abs(self.J_n).max()), float(np.abs(self.J_t).max()))

    def _are_same(self, i: int, j: int, small: float) -> bool:
        """Return whether no velocity tells two contacts apart."""
        if abs(self.mu[i] - self.mu[j]) > SAME or np.abs(self.J_n[i] - self.J_n[j]).max() > small:
            return False
        # Tangents may be turned against each other: what they measure is the same if their
        # products are.
        one, other = (J.T @ J for J in (self.J_t[i], self.J_t[j]))
        return bool(np.abs(one - other).max() <= small * max(1.0, float(np.abs(one).max())))
