"""Sustained contact: the finite forces of a choice of modes, and whether its conditions hold.

A contact that touches and does not part has a normal acceleration a_n and a force lambda_n with
0 <= a_n, 0 <= lambda_n and a_n lambda_n = 0. Friction opposes the slip, or, where there is none,
the slip that begins. A choice of modes for all contacts turns these conditions into linear
equations, C dv/dt + bias = 0 with forces along G, and some inequalities, the *margins* of the
choice. `choice.solutions` tries all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from carom.kernels import sustained_calls as kernels
from carom.kernels.least_norm import DEPENDENT
from carom.kernels.onward import CLOSED, ROUNDS
from carom.kernels.sustained import FREE, HOLDS, MINUS, PLUS, SMOOTH, STICKING
from carom.motion.inner_forces import Conditions, span
from carom.motion.parts import MODES
from carom.systems.system import Dynamics, System
from carom.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "FREE",
    "HOLDS",
    "MINUS",
    "PLUS",
    "SMOOTH",
    "STICKING",
    "ContactLaw",
    "Sustained",
    "settle",
]

SLIP = np.array([0.0, 0.0, 1.0, -1.0, 0.0])
"""Direction of each mode's slip."""


class Sustained(NamedTuple):
    """Contact forces (m, 2) and dv/dt (nv,) whose conditions hold by a margin."""

    force: FloatArray
    acceleration: FloatArray
    margin: float

    @property
    def holds(self) -> bool:
        """Return whether every condition holds, up to rounding."""
        return self.margin >= -HOLDS


class Judged(NamedTuple):
    """Contact forces (m, 2), dv/dt (nv,) and margins (m, 2) of one choice of modes.

    It is kept if forces exist that keep closed contacts closed, and sticking ones still. What fails
    is mendable if other forces with the same acceleration might do, which dependent contacts have.
    """

    force: FloatArray
    acceleration: FloatArray
    margins: FloatArray
    is_kept: bool
    is_mendable: bool
    is_dependent: bool


@dataclass(frozen=True, eq=False)
class ContactLaw:
    """Forces and conditions of one choice of modes (m,), at any state.

    Contacts that are `resting`, if they are free or slide, only begin to. Where contacts depend on
    each other, `inner` forces (m, 2) that cancel turn those of least norm into ones that friction
    allows.
    """

    modes: IntArray
    mu: FloatArray
    resting: BoolArray
    inner: FloatArray | None = None

    def solve(self, here: Dynamics, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return contact forces (m, 2), of least norm plus `inner` ones, and dv/dt (nv,)."""
        found = self.judge(here, v)
        return found.force, found.acceleration

    def judge(self, here: Dynamics, v: FloatArray) -> Judged:
        """Return forces, dv/dt and margins.

        Margins tell by how much each condition holds, free of units, >= 0 if it does. Every contact
        has two: its normal force, or acceleration if it is free; and how far its friction is from
        the edge of the cone, or whether its slip begins as its mode says. Where a contact has no
        such condition, the margin is 1.
        """
        found = Judged(
            *kernels.judge(
                *(here.M, here.force, here.phi, here.J_n, here.J_t[:, 0], here.bias, v),
                *(self.modes, self.mu, self.resting, self.inner_forces),
            )
        )
        require_inertia(found.acceleration)
        return found

    def best_forces(self, here: Dynamics, given: FloatArray, centered: bool = False) -> FloatArray:
        """Return forces (m, 2) with the same acceleration that are deepest in their cones.

        If `centered`, not only the least margin is made as large as it can be but the next one too,
        and so on: forces at an edge without need would leave their cone as soon as loads change.
        """
        closed, stick = self._closed, self._stick
        k, n = len(closed), len(closed) + len(stick)
        # Rows of all conditions, row @ x <= 0: normal forces, and both edges of each cone.
        edges = np.zeros((2 * len(stick), n))
        for row, i in enumerate(stick):
            edges[2 * row : 2 * row + 2, np.flatnonzero(closed == i)[0]] = -self.mu[i]
            edges[2 * row : 2 * row + 2, k + row] = 1.0, -1.0
        units = self._units(here)[:, 1]
        conditions = Conditions(
            np.vstack([-np.eye(k, n), edges]),
            np.concatenate([units[closed], np.repeat(units[stick], 2)]),
            span(self._rows(here)),
        )
        return self._forces(conditions.deepest(self._flat(given), centered))

    def evaluate(
        self,
        here: Dynamics,
        v: FloatArray,
        is_beaten: Callable[[IntArray, FloatArray], bool] = lambda *_: False,
    ) -> Sustained:
        """Return the best forces, acceleration and the tightest margin; what is beaten fails."""
        found = self.judge(here, v)
        if not found.is_kept or is_beaten(self.modes, found.acceleration):
            return Sustained(found.force, found.acceleration, -np.inf)
        if found.is_mendable and found.is_dependent and self.is_dependent(here):
            found = self._mended(here, v, found)
        margin = float(found.margins.min(initial=1.0))
        return Sustained(found.force, found.acceleration, margin)

    def _mended(self, here: Dynamics, v: FloatArray, found: Judged) -> Judged:
        """Return what was judged with the best forces that have the same acceleration."""
        force = self.best_forces(here, found.force)
        margins = kernels.judge_forces(
            *(here.J_n, here.J_t[:, 0], here.bias, self.modes, self.mu, self.resting),
            *(force, found.acceleration, self._units(here)),
        )
        return found._replace(force=force, margins=margins)

    def settled(self, here: Dynamics, v: FloatArray, *, centered: bool) -> ContactLaw:
        """Return this law, which has no inner forces, with those that friction likes best."""
        found = self.judge(here, v)
        if not found.is_dependent or not self.is_dependent(here):
            return self
        inner = self.best_forces(here, found.force, centered) - found.force
        return replace(self, inner=inner)

    def is_dependent(self, here: Dynamics) -> bool:
        """Return whether several forces lead to one acceleration."""
        rows = self._rows(here)
        return int(np.linalg.matrix_rank(rows, tol=DEPENDENT * np.abs(rows).max())) < len(rows)

    def project(self, here: Dynamics, v: FloatArray) -> FloatArray:
        """Return the velocity nearest to v, by energy, at which closed contacts are at rest."""
        return v + _change(here, self.modes, np.column_stack([here.J_n @ v, here.J_t[:, 0] @ v]))

    def _units(self, here: Dynamics) -> FloatArray:
        """Return the acceleration [m/s^2] and force [N] that contacts have to cope with, (m, 2)."""
        rows = here.J_n, here.J_t[:, 0], here.bias
        return np.asarray(kernels.units(here.M, here.force, *rows, self.mu))

    @property
    def words(self) -> tuple[str, ...]:
        """Return what each contact does, in words."""
        return tuple(MODES[i] for i in self.modes.tolist())

    @cached_property
    def inner_forces(self) -> FloatArray:
        """Return the inner forces, zero where none are given, (m, 2)."""
        return np.zeros((len(self.modes), 2)) if self.inner is None else self.inner

    @cached_property
    def _closed(self) -> IntArray:
        return np.flatnonzero(self.modes != FREE)

    @cached_property
    def _stick(self) -> IntArray:
        return np.flatnonzero(self.modes == STICKING)

    @cached_property
    def _drag(self) -> FloatArray:
        return np.asarray(self.mu * SLIP[self.modes])

    def _rows(self, here: Dynamics) -> FloatArray:
        """Return the rows along which forces act: closed normals, then tangents that stick."""
        normal, tangent = here.J_n[self._closed], here.J_t[:, 0]
        drag = self._drag[self._closed, None] * tangent[self._closed]
        return np.vstack([normal - drag, tangent[self._stick]])

    def _flat(self, both: FloatArray) -> FloatArray:
        """Return the entries of an array (m, 2) that belong to `_rows`."""
        return np.concatenate([both[self._closed, 0], both[self._stick, 1]])

    def _forces(self, x: FloatArray) -> FloatArray:
        """Return the forces (m, 2) whose weights along `_rows` are x."""
        force, k = np.zeros((len(self.modes), 2)), len(self._closed)
        force[self._closed, 0] = x[:k]
        force[self._closed, 1] = -self._drag[self._closed] * x[:k]
        force[self._stick, 1] = x[k:]
        return force


def settle(
    system: System, here: Dynamics, q: FloatArray, v: FloatArray, t: float, modes: IntArray
) -> tuple[FloatArray, Dynamics]:
    """Return the configuration nearest to q in which closed contacts have no gap, and all there.

    `here` is the system at q.
    """
    closed = modes != FREE
    normals = np.where(closed, SMOOTH, FREE)
    for _ in range(ROUNDS):
        gaps = np.where(closed, here.phi, 0.0)
        if np.abs(gaps).max(initial=0.0) <= CLOSED:
            break
        change = _change(here, normals, np.column_stack([gaps, np.zeros(len(gaps))]))
        q = system.closed(system.integrate(q, change, 1.0))
        here = system.dynamics(q, v, t)
    return q, here


def _change(here: Dynamics, modes: IntArray, error: FloatArray) -> FloatArray:
    """Return the smallest change, by energy, that undoes an error (m, 2) of closed contacts."""
    # In space only normals are meant, and the first tangents stand for both.
    tangent = np.ascontiguousarray(here.J_t[:, 0])
    change = kernels.project(np.ascontiguousarray(here.M), here.J_n, tangent, modes, error)
    require_inertia(change)
    return np.asarray(change)


def require_inertia(motion: FloatArray) -> None:
    # Kernels say by the first entry that there is none.
    if math.isnan(motion[0]):
        raise np.linalg.LinAlgError("the mass matrix is singular")
