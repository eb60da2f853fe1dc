"""Sustained contact in space: finite forces of a choice of modes, with the round friction cone.

A contact that sticks has three equations. One that slides has friction -mu lambda_n u against its
slip, whose direction u follows from the velocity and turns as the motion goes on. Where slip only
begins, its direction is a part of the choice of modes, the *aim*.

For one direction of each slip this is a planar problem: contact i slides along u_i, and a contact
that sticks has its second tangent as one more row that is kept at rest. So the forces come from the
same compiled code as those of planar contacts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from carom.kernels import sustained_calls as kernels
from carom.kernels.least_norm import DEPENDENT
from carom.kernels.sustained import KEPT, STABILIZATION
from carom.motion.cone_forces import Cones
from carom.motion.inner_forces import span
from carom.motion.parts import MODES
from carom.motion.sustained import (
    FREE,
    HOLDS,
    PLUS,
    SMOOTH,
    STICKING,
    ContactLaw,
    Judged,
    require_inertia,
)
from carom.systems.system import Dynamics
from carom.typing import BoolArray, FloatArray, IntArray

SLIDING = PLUS
"""The number of the mode of a contact that slides, in whichever direction."""
LEAST_SLIP = 1e-9
"""Slip with which a contact begins to slide, so that it has a direction [m/s]."""


class Image(NamedTuple):
    """Hold the planar problem of one choice: m contacts, and one more for each that sticks.

    `directions` (m, 2) are those of the planar tangents.
    """

    phi: FloatArray
    J_n: FloatArray
    J_t: FloatArray
    bias: FloatArray
    modes: IntArray
    mu: FloatArray
    resting: BoolArray
    directions: FloatArray


class Rows(NamedTuple):
    """Hold what closed contacts keep at rest, C (k, nv), and along what forces act, G (k, nv).

    Normals come first, then both tangents of each contact that sticks. `response` is M^-1 G^T.
    """

    C: FloatArray
    G: FloatArray
    response: FloatArray

    @property
    def A(self) -> FloatArray:
        """Return how forces move what is kept at rest, (k, k)."""
        return np.asarray(self.C @ self.response)


@dataclass(frozen=True, eq=False)
class SpatialLaw(ContactLaw):
    """Forces and conditions of one choice of modes (m,), at any state, of contacts in space.

    `aims` (m, 2) are directions of slip: that in which it begins, and, of one that has begun, that
    at the start of a step. Slip below `least_slip` [m/s] has the direction of its aim, as all slip
    while modes are chosen, and slip that has gone through zero against the aim is continued as if
    it had not, which a step may do before the moment is known. Where contacts depend on each other,
    forces have least norm, plus `inner` ones (m, 3) that leave all accelerations of closed contacts
    as they are.
    """

    aims: FloatArray = field(default_factory=lambda: np.empty((0, 2)))
    least_slip: float = math.inf

    def directions(self, here: Dynamics, v: FloatArray) -> FloatArray:
        """Return the directions of slip (m, 2), and of the first tangent where there is none."""
        u = np.zeros((len(self.modes), 2))
        u[:, 0] = 1.0
        sliding = self.sliding
        if len(sliding):
            aim, slip = self.aims[sliding], here.J_t[sliding] @ v
            speed = np.hypot(slip[:, 0], slip[:, 1])
            is_seen = speed > self.least_slip
            turn = np.where((slip * aim).sum(axis=1) < 0.0, -1.0, 1.0)
            scale = turn / np.where(is_seen, speed, 1.0)
            u[sliding] = np.where(is_seen[:, None], scale[:, None] * slip, aim)
        return u

    def judge(self, here: Dynamics, v: FloatArray) -> Judged:
        image = self._image(here, v)
        m, stick = len(self.modes), self._stick
        judged, unit = kernels.judge_in_units(
            *(np.ascontiguousarray(here.M), here.force, image.phi, image.J_n, image.J_t),
            *(image.bias, v, image.modes, image.mu, image.resting, np.zeros((len(image.phi), 2))),
        )
        planar, acceleration, *_, is_dependent = judged
        require_inertia(acceleration)
        force = np.column_stack([planar[:m, 0], planar[:m, 1, None] * image.directions])
        force[stick, 2] = planar[m:, 0]
        # A second tangent by itself may have nothing to cope with.
        unit[stick, 0] = np.maximum(unit[stick, 0], unit[m:, 0])
        if self.inner is not None and is_dependent:
            force, acceleration = self._with_inner(here, v, force, acceleration)
        margins = self._margins(here, image.directions, force, acceleration, unit[:m])
        fails, slides = margins < -HOLDS, self.modes == SLIDING
        by_force = self.modes != FREE
        is_mendable = fails.any() and by_force[fails[:, 0]].all() and not fails[slides, 1].any()
        is_kept = self._is_kept(here, v, acceleration, unit[:m, 0])
        return Judged(force, acceleration, margins, is_kept, bool(is_mendable), is_dependent)

    def _is_kept(
        self, here: Dynamics, v: FloatArray, acceleration: FloatArray, unit: FloatArray
    ) -> bool:
        """Return whether closed contacts stay closed, and sticking ones still."""
        closed, sticks = self._closed, (self.modes == STICKING)[self._closed]
        J, bias = here.J_t[closed], here.bias[closed]
        a_n, a_t = here.J_n[closed] @ acceleration + bias[:, 0], J @ acceleration + bias[:, 1:]
        off = np.maximum(np.abs(a_n), np.where(sticks, np.hypot(*a_t.T), 0.0))
        drift = np.abs(here.J_n[closed] @ v) + np.abs(here.phi[closed])
        drift += np.where(sticks, np.hypot(*(J @ v).T), 0.0)
        return bool((off <= KEPT * unit[closed] + 4.0 * STABILIZATION**2 * drift).all())

    def is_dependent(self, here: Dynamics) -> bool:
        # Closed contacts that depend on each other may leave even the acceleration open: a box that
        # spins on four corners is braked by how they share its weight.
        return True

    def settled(self, here: Dynamics, v: FloatArray, *, centered: bool) -> ContactLaw:
        found = self.judge(here, v)
        is_needed = centered or (found.margins[self._closed] < 0.0).any()
        law = self._deepened(here, v, found) if found.is_dependent and is_needed else self
        return replace(law, least_slip=0.5 * LEAST_SLIP)

    def project(self, here: Dynamics, v: FloatArray) -> FloatArray:
        """Return the velocity nearest to v, by energy, at which closed contacts are at rest.

        Those of which slip begins have about `LEAST_SLIP` along their aims, as far as that moves no
        others.
        """
        image = self._image(here, v)
        error = np.column_stack([image.J_n @ v, image.J_t @ v])
        change = kernels.project(
            np.ascontiguousarray(here.M), image.J_n, image.J_t, image.modes, error
        )
        require_inertia(change)
        v = v + change
        begins = self.begins
        if not len(begins):
            return v
        C = self.rows(here, v).C
        size = np.linalg.svd(C)
        free = size.Vh[int((DEPENDENT * size.S[0] < size.S).sum()) :].T
        J = here.J_t[begins].reshape(-1, len(v))
        missing = (LEAST_SLIP * self.aims[begins]).ravel() - J @ v
        return v + free @ np.asarray(np.linalg.lstsq(J @ free, missing, rcond=DEPENDENT)[0])

    def rows(self, here: Dynamics, v: FloatArray) -> Rows:
        """Return the rows of closed contacts."""
        closed, n = self._closed, here.M.shape[0]
        drag = np.where(self.modes == SLIDING, self.mu, 0.0)[closed]
        u = self.directions(here, v)[closed]
        slid = np.einsum("mt,mtn->mn", drag[:, None] * u, here.J_t[closed])
        tangents = here.J_t[self._stick].reshape(-1, n)
        G = np.concatenate([here.J_n[closed] - slid, tangents])
        C = np.concatenate([here.J_n[closed], tangents])
        return Rows(C, G, np.linalg.solve(here.M, G.T))

    @property
    def words(self) -> tuple[str, ...]:
        return tuple("sliding" if i == SLIDING else MODES[i] for i in self.modes.tolist())

    @cached_property
    def sliding(self) -> IntArray:
        """Return the numbers of the contacts that slide."""
        return np.flatnonzero(self.modes == SLIDING)

    @cached_property
    def begins(self) -> IntArray:
        """Return the numbers of those whose slip begins."""
        return np.flatnonzero((self.modes == SLIDING) & self.resting)

    def _image(self, here: Dynamics, v: FloatArray) -> Image:
        u, stick = self.directions(here, v), self._stick
        extra, none = len(stick), np.zeros((len(stick), here.M.shape[0]))
        tangents = np.concatenate([here.bias[:, :1], (here.bias[:, 1:] * u).sum(1)[:, None]], 1)
        second = np.column_stack([here.bias[stick, 2], np.zeros(extra)])
        mu = np.concatenate([self.mu, np.zeros(extra)])
        # Read-only, as a system's are: else the kernel would be compiled once more.
        mu.flags.writeable = False
        return Image(
            phi=np.concatenate([here.phi, np.zeros(extra)]),
            J_n=np.concatenate([here.J_n, here.J_t[stick, 1]]),
            J_t=np.concatenate([np.einsum("mt,mtn->mn", u, here.J_t), none]),
            bias=np.concatenate([tangents, second]),
            modes=np.concatenate([self.modes, np.full(extra, SMOOTH)]),
            mu=mu,
            resting=np.concatenate([self.resting, np.zeros(extra, np.bool_)]),
            directions=u,
        )

    def _margins(
        self,
        here: Dynamics,
        u: FloatArray,
        force: FloatArray,
        acceleration: FloatArray,
        unit: FloatArray,
    ) -> FloatArray:
        """Return by how much each condition holds, free of units, (m, 2), as planar ones."""
        margins = np.ones((len(self.modes), 2))
        closed, stick, begins = self._closed, self._stick, self.begins
        free = np.flatnonzero((self.modes == FREE) & self.resting)
        a_n = here.J_n[free] @ acceleration + here.bias[free, 0]
        margins[free, 0] = a_n / unit[free, 0]
        margins[closed, 0] = force[closed, 0] / unit[closed, 1]
        friction = np.hypot(force[stick, 1], force[stick, 2])
        margins[stick, 1] = (self.mu[stick] * force[stick, 0] - friction) / unit[stick, 1]
        a_t = here.J_t[begins] @ acceleration + here.bias[begins, 1:]
        margins[begins, 1] = (u[begins] * a_t).sum(axis=1) / unit[begins, 0]
        return margins

    def _mended(self, here: Dynamics, v: FloatArray, found: Judged) -> Judged:
        return self._deepened(here, v, found).judge(here, v)

    def _deepened(self, here: Dynamics, v: FloatArray, found: Judged) -> SpatialLaw:
        """Return the law with forces deep in their cones, by inner ones."""
        stick, tangent = self._stick, np.ascontiguousarray(here.J_t[:, 0])
        unit = np.asarray(
            kernels.units(
                *(np.ascontiguousarray(here.M), here.force, here.J_n, tangent),
                *(here.bias[:, :2].copy(), self.mu),
            )
        )[self._closed, 1]
        cones = Cones(np.searchsorted(self._closed, stick), self.mu[stick], unit)
        given = self._pick(found.force)
        change = cones.deepest(given, span(self.rows(here, v).A.T)) - given
        inner = self.spread(change, self.directions(here, v))
        return replace(self, inner=inner if self.inner is None else inner + self.inner)

    def _with_inner(
        self, here: Dynamics, v: FloatArray, force: FloatArray, acceleration: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Add what of the inner forces keeps closed contacts as they are; return dv/dt as well."""
        assert self.inner is not None
        rows, wish = self.rows(here, v), self._pick(self.inner)
        kept = span(rows.A.T)
        change = wish - kept @ (kept.T @ wish)
        spread = self.spread(change, self.directions(here, v))
        return force + spread, acceleration + rows.response @ change

    def _pick(self, force: FloatArray) -> FloatArray:
        """Return the entries of forces (m, 3) that belong to rows."""
        return np.concatenate([force[self._closed, 0], force[self._stick, 1:].ravel()])

    def spread(self, x: FloatArray, u: FloatArray) -> FloatArray:
        """Return the forces (m, 3) whose weights along rows are x."""
        force, closed = np.zeros((len(self.modes), 3)), self._closed
        force[closed, 0] = x[: len(closed)]
        drag = np.where(self.modes == SLIDING, self.mu, 0.0)
        force[:, 1:] = -(drag * force[:, 0])[:, None] * u
        force[self._stick, 1:] = x[len(closed) :].reshape(-1, 2)
        return force
