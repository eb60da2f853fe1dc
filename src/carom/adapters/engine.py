"""What the systems of all engines share: from the contacts found to an impact."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from carom.checks import positive, vector
from carom.errors import InvalidProblem
from carom.problem import ImpactProblem
from carom.systems.system import Dynamics, OnePassSystem
from carom.typing import ArrayLike, FloatArray, IntArray

SAME = 1e-9
"""Rows of contacts that differ by less than this share of their size are the same."""
NUM_DIRECTIONS = 8


class EngineSystem(OnePassSystem):
    """Describe a robot that an engine knows; a subclass finds everything in `_dynamics`.

    Quaternions in q have unit length. Where a gap is infinite, the rows of its contact are zero.
    """

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
        rates = np.zeros(self.nv) if v is None else vector("v", v, self.nv, InvalidProblem)
        return self._dynamics(self._checked(q), rates, t)

    def velocity_map(self, q: ArrayLike) -> FloatArray:
        return self._velocity_map(self._checked(q))

    def potential_energy(self, q: ArrayLike) -> float:
        """Return the potential energy [J]: of gravity, in MuJoCo and Drake of springs as well."""
        return self._potential_energy(self._checked(q))

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

        As that of a `System`, but copies of contacts are merged, the problem is planar if no
        contact can slide but along one line, and laws that need friction directions in space have
        `num_directions` of them.
        """
        here = self.dynamics(q)
        near = self._near(here, positive("gap_tolerance", gap_tolerance, or_zero=True))
        options = {"num_directions": num_directions, "without_collision": without_collision}
        problem = self._gather(here, near, v, **options)
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
        names, J_n, J_t, mu = found.in_plane().without_copies()
        v_pre = vector("v", v, self.nv, InvalidProblem)
        return ImpactProblem(here.M, J_n, J_t, mu, v_pre, names, **options)


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


class Touching(NamedTuple):
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
        return self._replace(J_t=J_t[:, None])

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
