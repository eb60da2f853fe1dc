"""Sustained contact: the finite forces that go with a state, and every choice of modes that works.

A contact that touches and does not part has a normal acceleration a_n and a force lambda_n with
0 <= a_n, 0 <= lambda_n and a_n lambda_n = 0. Friction opposes the slip, or, where there is none,
the slip that begins. A choice of modes for all contacts turns these conditions into linear
equations, C dv/dt + bias = 0 with forces along G, and some inequalities, the *margins* of the
choice. Trying all choices finds all solutions: none is Painleve's paradox, several are
indeterminacy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.optimize import linprog

from carom.kernels import sustained as kernels
from carom.kernels.sustained import FREE, MINUS, PLUS, SMOOTH, STICKING
from carom.systems.system import Dynamics
from carom.typing import BoolArray, FloatArray, IntArray

__all__ = ["FREE", "MINUS", "PLUS", "SMOOTH", "STICKING", "ContactLaw", "Sustained", "solutions"]

NAMES = ("free", "sticking", "sliding +", "sliding -", "closed")

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


@dataclass(frozen=True, eq=False)
class Sustained:
    """What contacts do in one choice of modes.

    Attributes:
        modes: (m,) mode of every contact.
        force: (m, 2) contact forces, normal first [N].
        acceleration: (nv,) dv/dt.
        margin: By how much the tightest condition holds, free of units; >= 0 up to rounding.
    """

    modes: IntArray
    force: FloatArray
    acceleration: FloatArray
    margin: float

    @property
    def holds(self) -> bool:
        """Tell whether every condition holds, up to rounding."""
        return self.margin >= -HOLDS


@dataclass(frozen=True, eq=False)
class ContactLaw:
    """Forces and conditions of one choice of modes, at any state.

    Attributes:
        modes: (m,) mode of every contact.
        mu: (m,) friction coefficients.
        resting: (m,) which contacts, if they are free or slide, only begin to.
        inner: (m, 2) forces that cancel, to be added where contacts depend on each other; they
            turn the forces of least norm into ones that friction allows.
    """

    modes: IntArray
    mu: FloatArray
    resting: BoolArray
    inner: FloatArray | None = None

    def solve(self, here: Dynamics, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return contact forces (m, 2) and dv/dt (nv,).

        Where several forces lead to one acceleration, those of least norm are returned, plus what
        `inner` asks for.
        """
        force, acceleration = np.empty((len(self.modes), 2)), np.empty(len(v))
        J_t = here.J_t[:, 0]
        if kernels.solve(
            *(here.M, here.force, here.phi, here.J_n, J_t, here.bias, v),
            *(self.modes, self.mu, STABILIZATION, force, acceleration),
        ):
            return force, acceleration
        return self._solve_dependent(here, v)

    def _solve_dependent(self, here: Dynamics, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        closed = np.flatnonzero(self.modes != FREE)
        force = np.zeros((len(self.modes), 2))
        stick = np.flatnonzero(self.modes == STICKING)
        C, G = self._rows(here, closed, stick)
        a_G = np.linalg.solve(here.M, np.column_stack([G.T, here.force]))
        a_0, a_G = a_G[:, -1], a_G[:, :-1]
        speed = C @ v
        target = np.concatenate([here.bias[closed, 0], here.bias[stick, 1]]) + C @ a_0
        target += STABILIZATION * speed
        k = len(closed)
        target[:k] += STABILIZATION * (speed[:k] + STABILIZATION * here.phi[closed])
        x = -_least(C @ a_G, target)
        acceleration = a_0 + a_G @ x
        if self.inner is not None:
            wish = np.concatenate([self.inner[closed, 0], self.inner[stick, 1]])
            span = _span(G)
            x += wish - span @ (span.T @ wish)
        force[closed, 0] = x[:k]
        force[closed, 1] = -self._drag[closed] * x[:k]
        force[stick, 1] = x[k:]
        return force, acceleration

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

    def best_forces(
        self, here: Dynamics, acceleration: FloatArray, given: FloatArray
    ) -> FloatArray:
        """Return forces (m, 2) with the same acceleration that are deepest in their cones.

        Contacts that depend on each other leave a choice of forces; the motion goes on as long as
        there is one that friction allows.
        """
        closed = np.flatnonzero(self.modes != FREE)
        stick = np.flatnonzero(self.modes == STICKING)
        _, G = self._rows(here, closed, stick)
        k, n = len(closed), len(closed) + len(stick)
        edges = np.zeros((2 * len(stick), n + 1))
        for row, i in enumerate(stick):
            edges[2 * row : 2 * row + 2, np.flatnonzero(closed == i)[0]] = -self.mu[i]
            edges[2 * row : 2 * row + 2, k + row] = 1.0, -1.0
        normals = np.hstack([-np.eye(k, n), np.zeros((k, 1))])
        upper = np.vstack([normals, edges])
        units = _scales(here)[:, 1]
        upper[:, -1] = np.concatenate([units[closed], np.repeat(units[stick], 2)])
        x = np.concatenate([given[closed, 0], given[stick, 1]])
        # In the span of the forces alone, so that rounding leaves no equation without a solution.
        span = _span(G)
        equations = np.column_stack([span.T, np.zeros(span.shape[1])])
        result = linprog(
            np.append(np.zeros(n), -1.0),
            upper,
            np.zeros(len(upper)),
            equations,
            span.T @ x,
            bounds=[(None, None)] * n + [(None, 1.0)],
        )
        if not result.success or result.x is None:
            return given
        force = np.zeros_like(given)
        force[closed, 0] = result.x[:k]
        force[closed, 1] = -self._drag[closed] * result.x[:k]
        force[stick, 1] = result.x[k:n]
        return force

    def evaluate(self, here: Dynamics, v: FloatArray) -> Sustained:
        """Return forces, acceleration and the tightest margin, with the best of all forces."""
        force, acceleration = self.solve(here, v)
        margins = self.margins(here, force, acceleration)
        if margins.min(initial=1.0) < 0.0 and self.is_dependent(here):
            force = self.best_forces(here, acceleration, force)
            margins = self.margins(here, force, acceleration)
        if not self._is_kept(here, v, acceleration):
            return Sustained(self.modes, force, acceleration, -np.inf)
        return Sustained(self.modes, force, acceleration, float(margins.min(initial=1.0)))

    def settled(self, here: Dynamics, v: FloatArray) -> ContactLaw:
        """Return this law with the inner forces that friction likes best at a state."""
        if not self.is_dependent(here):
            return self
        plain = replace(self, inner=None)
        force, acceleration = plain.solve(here, v)
        return replace(self, inner=self.best_forces(here, acceleration, force) - force)

    def is_dependent(self, here: Dynamics) -> bool:
        """Tell whether several forces lead to one acceleration."""
        closed = np.flatnonzero(self.modes != FREE)
        stick = np.flatnonzero(self.modes == STICKING)
        if len(closed) == 0:
            return False
        _, G = self._rows(here, closed, stick)
        return int(np.linalg.matrix_rank(G, tol=DEPENDENT * np.abs(G).max())) < len(G)

    def project(self, here: Dynamics, v: FloatArray) -> FloatArray:
        """Return the velocity nearest to v, by energy, at which closed contacts are at rest."""
        closed = np.flatnonzero(self.modes != FREE)
        if len(closed) == 0:
            return v
        stick = np.flatnonzero(self.modes == STICKING)
        C, _ = self._rows(here, closed, stick)
        a_C = np.linalg.solve(here.M, C.T)
        return np.asarray(v - a_C @ _least(C @ a_C, C @ v))

    @property
    def _drag(self) -> FloatArray:
        return np.asarray(self.mu * SLIP[self.modes])

    def _rows(
        self, here: Dynamics, closed: IntArray, stick: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the rows C that stay at rest, and those along which forces act, G."""
        normal, tangent = here.J_n[closed], here.J_t[:, 0]
        drag = self._drag[closed, None] * tangent[closed]
        return np.vstack([normal, tangent[stick]]), np.vstack([normal - drag, tangent[stick]])

    def _is_kept(self, here: Dynamics, v: FloatArray, acceleration: FloatArray) -> bool:
        """Tell whether forces exist that keep closed contacts closed, and sticking ones still."""
        closed = self.modes != FREE
        stick = self.modes == STICKING
        a_n = here.J_n @ acceleration + here.bias[:, 0]
        a_t = here.J_t[:, 0] @ acceleration + here.bias[:, 1]
        drift = np.abs(here.J_n @ v) + np.abs(here.phi) + np.abs(here.J_t[:, 0] @ v) * stick
        slack = KEPT * _scales(here)[:, 0] + 4.0 * STABILIZATION**2 * drift
        return bool((np.abs(a_n) <= slack)[closed].all() and (np.abs(a_t) <= slack)[stick].all())


def solutions(
    here: Dynamics, v: FloatArray, mu: FloatArray, touching: IntArray, slip: FloatArray
) -> Iterator[tuple[ContactLaw, Sustained]]:
    """Yield every choice of modes whose conditions hold.

    Args:
        here: The system at the state.
        v: (nv,) velocity.
        mu: (m,) friction coefficients.
        touching: Contacts that touch and do not part.
        slip: (m,) sign of each contact's slip, 0 at rest.
    """
    resting = np.zeros(len(mu), dtype=np.bool_)
    resting[touching] = True
    for choice in product(*(_options(mu[i], slip[i]) for i in touching)):
        modes = np.zeros(len(mu), dtype=np.int64)
        modes[touching] = choice
        # A contact that slides already has no condition on how its slip goes on.
        begins = resting & ~((slip != 0.0) & (modes != FREE))
        law = ContactLaw(modes, mu, begins)
        found = law.evaluate(here, v)
        if found.holds:
            yield law, found


def _options(mu: float, slip: float) -> tuple[int, ...]:
    if mu == 0.0:
        return (SMOOTH, FREE)
    if slip != 0.0:
        return (PLUS if slip > 0.0 else MINUS, FREE)
    return (STICKING, PLUS, MINUS, FREE)


def _span(G: FloatArray) -> FloatArray:
    """Return an orthonormal basis (k, rank) of the weights of rows G that have an effect."""
    basis = np.linalg.svd(G, full_matrices=False)
    return np.asarray(basis.U[:, DEPENDENT * basis.S[0] < basis.S])


def _least(A: FloatArray, b: FloatArray) -> FloatArray:
    """Solve A x = b; if A is singular, for the x of least norm."""
    size = np.sqrt(np.abs(np.diagonal(A)))
    size[size == 0.0] = 1.0
    scaled = A / size[:, None] / size
    x = np.linalg.lstsq(scaled, b / size, rcond=DEPENDENT)[0]
    return np.asarray(x / size)


def _scales(here: Dynamics) -> FloatArray:
    """Return the acceleration [m/s^2] and force [N] that each contact has to cope with, (m, 2)."""
    out = np.ones((len(here.phi), 2))
    kernels.scales(here.M, here.force, here.J_n, here.J_t[:, 0], here.bias, out)
    return out
