"""Sustained contact: the finite forces of a choice of modes, and whether its conditions hold.

A contact that touches and does not part has a normal acceleration a_n and a force lambda_n with
0 <= a_n, 0 <= lambda_n and a_n lambda_n = 0. Friction opposes the slip, or, where there is none,
the slip that begins. A choice of modes for all contacts turns these conditions into linear
equations, C dv/dt + bias = 0 with forces along G, and some inequalities, the *margins* of the
choice. `choice.solutions` tries all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from carom.kernels import sustained as kernels
from carom.kernels.sustained import FREE, MINUS, PLUS, SMOOTH, STICKING
from carom.systems.system import Dynamics, System
from carom.typing import BoolArray, FloatArray, IntArray

__all__ = ["FREE", "MINUS", "PLUS", "SMOOTH", "STICKING", "ContactLaw", "Sustained", "settle"]

SLIP = np.array([0.0, 0.0, 1.0, -1.0, 0.0])
"""Direction of each mode's slip."""
STABILIZATION = 20.0
"""Rate at which rounding errors of a closed contact's gap and velocity are let die out [1/s]."""
DEPENDENT = 1e-10
"""Singular values of the scaled equations below this share of the largest count as zero."""
KEPT = 1e-7
"""A closed contact stays closed if it accelerates by no more than this share of its unit."""
HOLDS = 1e-9
"""A margin may fall short by this share of the forces or accelerations at hand."""


class Sustained(NamedTuple):
    """Contact forces (m, 2) and dv/dt (nv,) whose conditions hold by a margin."""

    force: FloatArray
    acceleration: FloatArray
    margin: float

    @property
    def holds(self) -> bool:
        """Return whether every condition holds, up to rounding."""
        return self.margin >= -HOLDS


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
        force, acceleration = np.empty((len(self.modes), 2)), np.empty(len(v))
        if kernels.solve(
            *(here.M, here.force, here.phi, here.J_n, here.J_t[:, 0], here.bias, v),
            *(self.modes, self.mu, STABILIZATION, force, acceleration),
        ):
            return force, acceleration
        return self._solve_dependent(here, v)

    def _solve_dependent(self, here: Dynamics, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        C, G = self._rows(here)
        a_G = np.linalg.solve(here.M, np.column_stack([G.T, here.force]))
        a_0, a_G = a_G[:, -1], a_G[:, :-1]
        speed = C @ v
        target = self._flat(here.bias) + C @ a_0
        target += STABILIZATION * speed
        k = len(self._closed)
        target[:k] += STABILIZATION * (speed[:k] + STABILIZATION * here.phi[self._closed])
        x = -_least(C @ a_G, target)
        acceleration = a_0 + a_G @ x
        if self.inner is not None:
            wish, span = self._flat(self.inner), _span(G)
            x += wish - span @ (span.T @ wish)
        return self._forces(x), acceleration

    def margins(self, here: Dynamics, force: FloatArray, acceleration: FloatArray) -> FloatArray:
        """Return by how much each condition holds, free of units, >= 0 if it does.

        Every contact has two: its normal force, or acceleration if it is free; and how far its
        friction is from the edge of the cone, or whether its slip begins as its mode says.
        Where a contact has no such condition, the margin is 1.
        """
        out = np.empty((len(self.modes), 2))
        kernels.margins(
            *(here.J_n, here.J_t[:, 0], here.bias, self.modes, self.mu, self.resting),
            *(force, acceleration, _scales(here), out),
        )
        return out

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
        units = _scales(here)[:, 1]
        conditions = _Conditions(
            np.vstack([-np.eye(k, n), edges]),
            np.concatenate([units[closed], np.repeat(units[stick], 2)]),
            _span(self._rows(here)[1]),
        )
        return self._forces(conditions.deepest(self._flat(given), centered))

    def evaluate(
        self,
        here: Dynamics,
        v: FloatArray,
        is_beaten: Callable[[IntArray, FloatArray], bool] = lambda *_: False,
    ) -> Sustained:
        """Return the best forces, acceleration and the tightest margin; what is beaten fails."""
        force, acceleration = self.solve(here, v)
        if is_beaten(self.modes, acceleration) or not self._is_kept(here, v, acceleration):
            return Sustained(force, acceleration, -np.inf)
        margins = self.margins(here, force, acceleration)
        # Other forces change no acceleration, so they cannot mend its conditions.
        fixed = np.concatenate([margins[self.modes == FREE, 0], margins[self._drag != 0.0, 1]])
        mendable = fixed.min(initial=1.0) >= -HOLDS
        if mendable and margins.min(initial=1.0) < 0.0 and self.is_dependent(here):
            force = self.best_forces(here, force)
            margins = self.margins(here, force, acceleration)
        return Sustained(force, acceleration, float(margins.min(initial=1.0)))

    def settled(self, here: Dynamics, v: FloatArray, *, centered: bool) -> ContactLaw:
        """Return this law with the inner forces that friction likes best at a state."""
        if not self.is_dependent(here):
            return self
        force, _ = replace(self, inner=None).solve(here, v)
        return replace(self, inner=self.best_forces(here, force, centered) - force)

    def is_dependent(self, here: Dynamics) -> bool:
        """Return whether several forces lead to one acceleration."""
        if len(self._closed) == 0:
            return False
        _, G = self._rows(here)
        return int(np.linalg.matrix_rank(G, tol=DEPENDENT * np.abs(G).max())) < len(G)

    def project(self, here: Dynamics, v: FloatArray) -> FloatArray:
        """Return the velocity nearest to v, by energy, at which closed contacts are at rest."""
        if len(self._closed) == 0:
            return v
        C, _ = self._rows(here)
        a_C = np.linalg.solve(here.M, C.T)
        return np.asarray(v - a_C @ _least(C @ a_C, C @ v))

    @cached_property
    def _closed(self) -> IntArray:
        return np.flatnonzero(self.modes != FREE)

    @cached_property
    def _stick(self) -> IntArray:
        return np.flatnonzero(self.modes == STICKING)

    @cached_property
    def _drag(self) -> FloatArray:
        return np.asarray(self.mu * SLIP[self.modes])

    def _rows(self, here: Dynamics) -> tuple[FloatArray, FloatArray]:
        """Return the rows C that stay at rest, and those along which forces act, G."""
        normal, tangent = here.J_n[self._closed], here.J_t[:, 0]
        drag = self._drag[self._closed, None] * tangent[self._closed]
        stick = tangent[self._stick]
        return np.vstack([normal, stick]), np.vstack([normal - drag, stick])

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

    def _is_kept(self, here: Dynamics, v: FloatArray, acceleration: FloatArray) -> bool:
        """Return whether forces exist that keep closed contacts closed, and sticking ones still."""
        closed, stick = self.modes != FREE, self.modes == STICKING
        a_n = here.J_n @ acceleration + here.bias[:, 0]
        a_t = here.J_t[:, 0] @ acceleration + here.bias[:, 1]
        drift = np.abs(here.J_n @ v) + np.abs(here.phi) + np.abs(here.J_t[:, 0] @ v) * stick
        slack = KEPT * _scales(here)[:, 0] + 4.0 * STABILIZATION**2 * drift
        return bool((np.abs(a_n) <= slack)[closed].all() and (np.abs(a_t) <= slack)[stick].all())


@dataclass(frozen=True, eq=False)
class _Conditions:
    """What friction asks of forces x: rows @ x <= 0, with margins in `units` (r,) [N].

    The acceleration is kept: `span` (n, rank) is a basis of the forces that have an effect.
    """

    rows: FloatArray
    units: FloatArray
    span: FloatArray

    def deepest(self, x: FloatArray, centered: bool) -> FloatArray:
        """Return the forces whose least margin is largest, or x where there are none better."""
        effect = self.span.T @ x
        levels = np.zeros(len(self.rows))
        active = np.ones(len(self.rows), np.bool_)
        if centered:
            # A margin that no inner force changes would hide all others.
            moved = self.rows - self.rows @ self.span @ self.span.T
            active = np.linalg.norm(moved, axis=1) > DEPENDENT * np.linalg.norm(self.rows, axis=1)
            levels[~active] = self.rows[~active] @ x / -self.units[~active]
        while active.any():
            found = self._raise(effect, levels, active)
            if found is None:
                break
            x, level, binding = found
            if not centered or level >= 1.0 or not binding.any():
                break
            # Relaxed by rounding, so that the next search has a solution.
            levels[binding] = level - DEPENDENT
            active &= ~binding
        return x

    def _raise(
        self, effect: FloatArray, levels: FloatArray, active: BoolArray
    ) -> tuple[FloatArray, float, BoolArray] | None:
        """Raise the least of the active margins; return forces, that margin, and what binds it."""
        n = self.rows.shape[1]
        # In the span of the forces alone, so that rounding leaves no equation without a solution.
        result = linprog(
            np.append(np.zeros(n), -1.0),
            np.column_stack([self.rows, np.where(active, self.units, 0.0)]),
            np.where(active, 0.0, -levels * self.units),
            np.column_stack([self.span.T, np.zeros(self.span.shape[1])]),
            effect,
            bounds=[(None, None)] * n + [(None, 1.0)],
        )
        if not result.success or result.x is None:
            return None
        binding = active & (np.asarray(result.ineqlin.marginals) < -DEPENDENT)
        return np.asarray(result.x[:n]), float(result.x[n]), binding


def settle(system: System, q: FloatArray, v: FloatArray, t: float, modes: IntArray) -> FloatArray:
    """Return the configuration nearest to q in which closed contacts have no gap."""
    closed = np.flatnonzero(modes != FREE)
    for _ in range(3):
        here = system.dynamics(q, v, t)
        gaps = here.phi[closed]
        if len(closed) == 0 or np.abs(gaps).max() <= 1e-15:
            break
        step = np.linalg.solve(here.M, here.J_n[closed].T)
        change = step @ np.linalg.lstsq(here.J_n[closed] @ step, gaps, rcond=1e-10)[0]
        q = q - system.velocity_map(q) @ change
    return q


def _span(G: FloatArray) -> FloatArray:
    """Return an orthonormal basis (k, rank) of the weights of rows G that have an effect."""
    basis = np.linalg.svd(G, full_matrices=False)
    return np.asarray(basis.U[:, DEPENDENT * basis.S[0] < basis.S])


def _least(A: FloatArray, b: FloatArray) -> FloatArray:
    """Solve A x = b; if A is singular, for the x of least norm."""
    size = np.sqrt(np.abs(np.diagonal(A)))
    size[size == 0.0] = 1.0
    x = np.linalg.lstsq(A / size[:, None] / size, b / size, rcond=DEPENDENT)[0]
    return np.asarray(x / size)


def _scales(here: Dynamics) -> FloatArray:
    """Return the acceleration [m/s^2] and force [N] that each contact has to cope with, (m, 2)."""
    out = np.ones((len(here.phi), 2))
    kernels.scales(here.M, here.force, here.J_n, here.J_t[:, 0], here.bias, out)
    return out
