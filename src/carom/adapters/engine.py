"""What the systems of all engines share: from the contacts found to an impact."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from carom.checks import between, positive, vector
from carom.errors import InvalidOption, InvalidProblem
from carom.problem import ImpactProblem
from carom.systems.system import Dynamics, OnePassSystem
from carom.typing import ArrayLike, FloatArray, IntArray

SAME = 1e-9
"""Rows of contacts that differ by less than this share of their size are the same."""
NUM_DIRECTIONS = 8

Restitution = float | Mapping[str, float]
"""Coefficient of restitution of all contacts, or of some, by their names."""


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
        names = tuple(self.contacts[i] for i in near)
        found = Touching(
            names, here.J_n[near], here.J_t[near], self.mu[near], self.restitution[near]
        )
        v_pre = vector("v", v, self.nv, InvalidProblem)
        problem = self._gather(here.M, found, v_pre, **options)
        self._warn(q)
        return problem

    def _checked(self, q: ArrayLike) -> FloatArray:
        return vector("q", q, self.nq, InvalidProblem)

    def _warn(self, q: ArrayLike) -> None:
        """Warn of what would act at a configuration, and is left out."""

    def _near(self, here: Dynamics, gap_tolerance: float) -> IntArray:
        return self._touching(here.phi, gap_tolerance)

    def _gather(
        self, M: FloatArray, found: Touching, v_pre: FloatArray, **options: Any
    ) -> ImpactProblem:
        """Make contacts that touch into an impact."""
        names, J_n, J_t, mu, restitution = found.in_plane().without_copies()
        return ImpactProblem(M, J_n, J_t, mu, v_pre, names, restitution=restitution, **options)


def coefficients(names: Sequence[str], given: Restitution) -> FloatArray:
    """Return the coefficient of restitution (m,) of each contact, 0 for those not given."""
    if not isinstance(given, Mapping):
        return np.full(len(names), between("restitution", given, 0.0, 1.0))
    for name in given:
        if name not in names:
            words = ", ".join(names[:40]) + (", ..." if len(names) > 40 else "")
            raise InvalidOption(f"restitution: no contact is named {name!r}; there are: {words}")
    own = {name: between(f"restitution of {name!r}", e, 0.0, 1.0) for name, e in given.items()}
    return np.array([own.get(name, 0.0) for name in names])


class Touching(NamedTuple):
    """Hold m contacts that touch: names, J_n (m, nv), J_t (m, d, nv), mu and restitution (m,)."""

    names: tuple[str, ...]
    J_n: FloatArray
    J_t: FloatArray
    mu: FloatArray
    restitution: FloatArray

    def in_plane(self) -> Touching:
        """Return planar contacts if every one of them can slide along one line only.

        A tangent along which nothing moves has no effect: friction along it does no work and
        changes no velocity.
        """
        if not np.count_nonzero(self.J_t[:, 1:]):
            # A planar model, in the usual plane.
            return self._replace(J_t=self.J_t[:, :1])
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
        """Return the contacts but for those whose rows and coefficients another one has too."""
        kept: list[int] = []
        small, normals = self._small, self.J_n.tolist()
        for i, own in enumerate(normals):
            # Most often some entry differs; Python is quick to find one.
            alike = [j for j in kept if not _differ(own, normals[j], small)]
            if not any(self._are_same(i, j, small) for j in alike):
                kept.append(i)
        if len(kept) == len(self.names):
            return self
        names = tuple(self.names[i] for i in kept)
        return Touching(names, *(each[kept] for each in self[1:]))

    @property
    def _small(self) -> float:
        # For a few contacts, Python is quicker than NumPy.
        entries = [*self.J_n.ravel().tolist(), *self.J_t.ravel().tolist()]
        return SAME * max(max(entries), -min(entries))

    def _are_same(self, i: int, j: int, small: float) -> bool:
        """Return whether no velocity tells apart two contacts with the same normal rows."""
        if max(abs(each[i] - each[j]) for each in (self.mu, self.restitution)) > SAME:
            return False
        # Tangents may be turned against each other: what they measure is the same if their
        # products are.
        one, other = (J.T @ J for J in (self.J_t[i], self.J_t[j]))
        return bool(np.abs(one - other).max() <= small * max(1.0, float(np.abs(one).max())))


def _differ(one: list[float], other: list[float], small: float) -> bool:
    """Return whether two rows differ by more than something small."""
    # A generator would take longer to begin than this takes to end.
    for a, b in zip(one, other, strict=True):  # noqa: SIM110
        if abs(a - b) > small:
            return True
    return False
