"""What the systems of all engines share: from the contacts found to an impact."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from carom.adapters.limits import LimitState
from carom.checks import between, positive, vector
from carom.errors import InvalidOption, InvalidProblem
from carom.problem import ImpactProblem
from carom.systems.constraints import Constraints, constrained
from carom.systems.control import PD, ControlledSystem
from carom.systems.one_pass import OnePassSystem
from carom.systems.system import Dynamics
from carom.typing import ArrayLike, FloatArray, IntArray

SAME = 1e-9
"""Rows of contacts that differ by less than this share of their size are the same."""
NUM_DIRECTIONS = 8

Restitution = float | Mapping[str, float]
"""Coefficient of restitution of all contacts, or of some, by their names."""


class EngineSystem(OnePassSystem):
    """Describe a robot that an engine knows; a subclass finds everything in `_look`.

    Contacts of bodies come first, then limits of joints, which are contacts without friction whose
    gaps are in the unit of the joint. Quaternions in q have unit length. Where a gap is infinite,
    the rows of its contact are zero.
    """

    # A fact rather than a question.
    constraints: tuple[str, ...] = ()

    def __init__(
        self,
        sizes: tuple[int, int],
        contacts: Sequence[str],
        mu: Sequence[float],
        restitution: ArrayLike,
        limits: Mapping[str, str],
    ) -> None:
        """Take over nq and nv, contacts of bodies with friction, units of limits by their names.

        Restitution is that of all contacts and then of all limits.
        """
        self._units, self.num_body_contacts = dict(limits), len(contacts)
        bounces = np.asarray(restitution, dtype=np.float64)
        super().__init__(*sizes, [*contacts, *limits], [*mu, *(0.0 for _ in limits)], bounces)

    @abstractmethod
    def _look(self, q: FloatArray, v: FloatArray, t: float) -> tuple[Dynamics, Constraints]:
        """Return everything at a checked state without constraints, and the constraints.

        Limits are no part of it. A gap beyond what is looked at is infinite.
        """

    @abstractmethod
    def _look_at_limits(self, q: FloatArray, v: FloatArray) -> LimitState:
        """Return gaps, rows and bias of limits, where `_look` has been."""

    @abstractmethod
    def _velocity_map(self, q: FloatArray) -> FloatArray:
        """Return Γ(q), (nq, nv), of a checked configuration."""

    @abstractmethod
    def _potential_energy(self, q: FloatArray) -> float:
        """Return the potential energy [J] of a checked configuration."""

    @property
    @abstractmethod
    def joints(self) -> dict[str, tuple[int, int]]:
        """Return the numbers of coordinate and velocity of joints of one, by the joints' names."""

    def holding(
        self, q: ArrayLike, *, stiffness: float, damping: float, limit: float = np.inf
    ) -> ControlledSystem:
        """Return this robot with a `PD` controller that holds its joints at a configuration.

        Args:
            q: Configuration, (nq,).
            stiffness: Gain of every joint [N m/rad, or N/m if it slides].
            damping: Gain of every joint [N m s/rad, or N s/m].
            limit: Largest torque or force of a joint [N m or N].
        """
        at = self._checked(q)
        own = list(self.joints.values())
        gains: Any = {"stiffness": stiffness, "damping": damping, "limit": limit}
        coordinates, velocities = ([pair[k] for pair in own] for k in (0, 1))
        return ControlledSystem(self, PD(coordinates, velocities, at[coordinates], **gains))

    @property
    def limits(self) -> tuple[str, ...]:
        """Return the names of the contacts that are limits of joints or tendons."""
        return self.contacts[self.num_body_contacts :]

    def dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        rates = self._rates(v)
        here, constraints = self._look_round(q, rates, t)
        return constrained(here, constraints, rates) if self.constraints else here

    def open_dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        return self._look_round(q, self._rates(v), t)[0]

    def constraint_state(self, q: ArrayLike, v: ArrayLike | None = None) -> Constraints:
        return self._look_round(q, self._rates(v), 0.0)[1]

    def _look_round(self, q: ArrayLike, v: FloatArray, t: float) -> tuple[Dynamics, Constraints]:
        """Return everything at a state, limits included, and the constraints."""
        at = self._checked(q)
        here, constraints = self._look(at, v, t)
        gaps, rows, bias = self._look_at_limits(at, v)
        if not len(gaps):
            return here, constraints
        none = np.zeros((len(gaps), here.J_t.shape[1], self.nv))
        longer = here._replace(
            phi=np.concatenate([here.phi, gaps]),
            J_n=np.concatenate([here.J_n, rows]),
            J_t=np.concatenate([here.J_t, none]),
            bias=np.concatenate([here.bias, np.column_stack([bias, none[:, :, 0]])]),
        )
        return longer, constraints

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
        `num_directions` of them. The gap tolerance is one number for gaps of bodies [m] and limits
        of joints [rad, or m if they slide].
        """
        here = self.dynamics(q)
        near = self._near(here, positive("gap_tolerance", gap_tolerance, or_zero=True))
        options = {"num_directions": num_directions, "without_collision": without_collision}
        names = tuple(self.contacts[i] for i in near)
        found = Touching(
            names, here.J_n[near], here.J_t[near], self.mu[near], self.restitution[near]
        )
        v_pre = self._held(q, self._rates(v), gap_tolerance)
        return self._gather(here.M, found, v_pre, **options)

    def _checked(self, q: ArrayLike) -> FloatArray:
        return vector("q", q, self.nq, InvalidProblem)

    def _rates(self, v: ArrayLike | None) -> FloatArray:
        return np.zeros(self.nv) if v is None else vector("v", v, self.nv, InvalidProblem)

    def _near(self, here: Dynamics, gap_tolerance: float) -> IntArray:
        """Return the contacts that touch, but for those that no motion opens."""
        found = np.flatnonzero(here.phi <= gap_tolerance)
        phi = here.phi.copy()
        phi[np.setdiff1d(found, self._opening(here, found))] = np.inf
        return self._touching(phi, gap_tolerance)

    def _opening(self, here: Dynamics, near: IntArray) -> IntArray:
        """Return those of some contacts, by their numbers (m,), that some motion opens.

        A planar robot may touch a wall beside it for all time, an arm its own base, and a loop may
        hold what touches.
        """
        rows = np.abs(here.J_n[near]).max(axis=1, initial=0.0)
        return near[rows > SAME * np.abs(here.J_t[near]).max(initial=rows.max(initial=0.0))]

    def gap_unit(self, contact: str) -> str:
        return self._units.get(contact, "m")

    def _penetrates(self, contact: int, depth: float, gap_tolerance: float) -> str:
        if contact < self.num_body_contacts:
            return super()._penetrates(contact, depth, gap_tolerance)
        unit = self.gap_unit(self.contacts[contact])
        return (
            f"limit {self.contacts[contact]!r} is exceeded by {depth:.3g} {unit}, above "
            f"gap_tolerance = {gap_tolerance:g} {unit}; move the joint back, raise the tolerance, "
            f"or leave limits out with limits=False"
        )

    def _nothing_touches(self, phi: FloatArray, gap_tolerance: float) -> str:
        # Radians do not compare with metres.
        return super()._nothing_touches(phi[: self.num_body_contacts], gap_tolerance)

    def _gather(
        self, M: FloatArray, found: Touching, v_pre: FloatArray, **options: Any
    ) -> ImpactProblem:
        """Make contacts that touch into an impact."""
        names, J_n, J_t, mu, restitution = found.in_plane().without_copies()
        return ImpactProblem(M, J_n, J_t, mu, v_pre, names, restitution=restitution, **options)

    def _open_rows(self, q: ArrayLike, problem: ImpactProblem) -> FloatArray:
        J = super()._open_rows(q, problem)
        if problem.num_tangents == J.shape[1] - 1:
            return J
        # A planar impact slides along one line of the two tangents.
        which = [self.contacts.index(name) for name in problem.contacts]
        here = self.dynamics(q)
        lines = slip_lines(here.J_t[which])
        return np.concatenate([J[:, :1], np.einsum("ml,mlv->mv", lines, J[:, 1:])[:, None]], axis=1)


def coefficients(
    contacts: Sequence[str], given: Restitution, limits: Sequence[str] = ()
) -> FloatArray:
    """Return the coefficient of restitution of each contact, then of each limit of a joint.

    It is 0 for those not given; a number for all is one for all contacts of bodies.
    """
    names = [*contacts, *limits]
    if not isinstance(given, Mapping):
        common = between("restitution", given, 0.0, 1.0)
        return np.array([common] * len(contacts) + [0.0] * len(limits))
    for name in given:
        if name not in names:
            words = ", ".join(names[:40]) + (", ..." if len(names) > 40 else "")
            raise InvalidOption(f"restitution: no contact is named {name!r}; there are: {words}")
    own = {name: between(f"restitution of {name!r}", e, 0.0, 1.0) for name, e in given.items()}
    return np.array([own.get(name, 0.0) for name in names])


def slip_lines(J_t: FloatArray) -> FloatArray:
    """Return the unit vectors (m, 2) along which contacts slide that slide along one line only."""
    if not np.count_nonzero(J_t[:, 1:]):
        return np.tile([1.0, 0.0], (len(J_t), 1))
    lines = np.linalg.svd(J_t, full_matrices=False)[0][:, :, 0]
    # The largest entry is positive, so that a direction does not jump about.
    largest = np.abs(lines).argmax(axis=1)[:, None]
    return np.asarray(lines * np.sign(np.take_along_axis(lines, largest, axis=1)))


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
        if (np.linalg.svd(self.J_t, compute_uv=False)[:, 1:] > self._small).any():
            return self
        J_t = np.einsum("ml,mlv->mv", slip_lines(self.J_t), self.J_t)
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
