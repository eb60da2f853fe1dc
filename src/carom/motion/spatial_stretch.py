"""Integrate smooth motion in space: slip that turns, that stops, or that only just begins.

Where slip vanishes its direction turns without bound. Most often a contact stops along a straight
line, and a step goes right through that moment, with friction continued as it was. Where it turns
instead of stopping, the step is made again, *carefully*: no further steps turn it by more than a
fraction of a radian, until it stops or has passed by.

Slip that begins gradually, as friction reaches its cone, is stiff: its direction follows that of
its acceleration at once. An implicit integrator takes it to where it is not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import Radau

from carom.errors import InvalidProblem
from carom.kernels.smooth import SLIP_ROUNDING
from carom.motion.events import Sight
from carom.motion.parts import Layout
from carom.motion.spatial_choice import slip_and_rest
from carom.motion.spatial_law import SpatialLaw
from carom.motion.stretch import STILL, Limits, Options, Stretch
from carom.motion.sustained import HOLDS
from carom.systems.system import System
from carom.typing import FloatArray

TURNS = 0.25
"""Slip that is followed carefully turns by no more than this in a step [rad]."""
STOPS = 1e-10
"""Slip against its aim that is no more than rounding of the moment when it ends [m/s]."""
STIFF, GRADUAL = 1e4, 30.0
"""Rate at which friction turns slip above which a stretch begins with an implicit integrator
[1/s], if slip turns this many times while it grows to twice its size."""
SLACK = 3.0
"""An explicit integrator goes on until slip turns this many times as fast as that, so that the two
do not take turns."""
PLACE = 1e-6
"""Change of a coordinate by which the derivative of slip is found."""
FAR = 1e3
"""What a gap counts that a system has not looked for [m]."""


class SpatialStretch(Stretch):
    """One segment of a system in space under way."""

    law: SpatialLaw

    def __init__(
        self, system: System, law: SpatialLaw, layout: Layout, t: float, y: FloatArray
    ) -> None:
        """Take over the state at the start: time t, and q, v and impulses in y."""
        self.is_careful, self.is_too_far, self.rest_speed = False, False, 0.0
        self.has_slid = ~law.resting[law.sliding]
        super().__init__(system, law, layout, t, y)

    def rates(self, t: float, y: FloatArray) -> FloatArray:
        """Return the derivative of q, v and impulses; not numbers where a step leads too far."""
        # A step that is tried may lead to quaternions far from unit length: it is made shorter.
        self.is_too_far = self.is_too_far and not np.isfinite(y).all()
        if not self.is_too_far:
            try:
                return super().rates(t, y)
            except InvalidProblem:
                self.is_too_far = True
        return np.full(len(y), np.nan)

    def see(self, t: float, y: FloatArray) -> Sight:
        q, v, _ = self.layout.unpack(y)
        here = self.system.dynamics(q, v, t)
        slip, least = slip_and_rest(here, v, self.rest_speed, STILL)
        slip, aims = slip[self.sliding], self.law.aims[self.sliding]
        conditions = [(slip * aims).sum(axis=1) + SLIP_ROUNDING]
        if self.is_careful:
            conditions[0] = np.minimum(conditions[0], np.hypot(*slip.T) - least[self.sliding])
        if len(self.closed):
            margins = self.law.judge(here, v).margins[self.closed]
            # Slip has a condition of its own, which does not end when it has begun.
            margins[np.isin(self.closed, self.sliding), 1] = 1.0
            conditions.append(margins.ravel() + HOLDS)
        gaps = here.phi[self.open]
        rates = here.J_n[self.open] @ v
        seen = Sight(np.concatenate(conditions) + self.slack, np.minimum(gaps, FAR), rates)
        return seen

    def solver(self, t: float, y: FloatArray, options: Options, limits: Limits) -> Any:
        self.rest_speed = options.rest_speed
        self._aim(y)
        if options.method == "DOP853" and self._is_stiff(t, y):
            tolerances = options.max_step, options.rtol, options.atol
            return Radau(self.rates, t, y, limits.end_time, *tolerances, self._slope)
        solver = super().solver(t, y, options, limits)
        self._limit(solver, options)
        return solver

    def repeats(self, event: float, y: FloatArray) -> bool:
        """Return whether slip turned where it seemed to stop: then it is followed carefully."""
        if self.is_careful or not len(self.sliding):
            return False
        q, v, _ = self.layout.unpack(y)
        slip, least = slip_and_rest(self.system.dynamics(q, v, event), v, self.rest_speed, STILL)
        slip, aims = slip[self.sliding], self.law.aims[self.sliding]
        ends = (slip * aims).sum(axis=1) <= STOPS
        self.is_careful = bool((ends & (np.hypot(*slip.T) > least[self.sliding])).any())
        return self.is_careful

    def go_on(
        self, solver: Any, y: FloatArray, options: Options, limits: Limits
    ) -> tuple[Any, FloatArray]:
        q, v, impulse = self.layout.unpack(y)
        # Quaternions keep their length, and loops stay closed, which a step changes in its last
        # digits.
        q = self.system.closed(self.system.integrate(q, v, 0.0))
        y = self.layout.pack(q, self.system.allowed_velocity(q, v), impulse)
        self._aim(y)
        if solver.status != "running":
            return solver, y
        self.is_over = self._rests(float(solver.t), y)
        is_implicit = isinstance(solver, Radau)
        share = 1.0 if is_implicit else SLACK
        if options.method == "DOP853" and self._is_stiff(float(solver.t), y, share) != is_implicit:
            return self.solver(float(solver.t), y, options, limits), y
        solver.y = y
        self._limit(solver, options)
        return solver, y

    def _rests(self, t: float, y: FloatArray) -> bool:
        """Return whether slip that gets less counts as rest, where its direction is rounding."""
        if not len(self.sliding):
            return False
        q, v, _ = self.layout.unpack(y)
        here = self.system.dynamics(q, v, t)
        _, least = slip_and_rest(here, v, self.rest_speed, STILL)
        size, _, growth, _ = self._slip(t, y)
        is_slow = size <= least[self.sliding]
        self.has_slid |= ~is_slow
        return bool((is_slow & self.has_slid & (growth < 0.0)).any())

    def _aim(self, y: FloatArray) -> None:
        """Let aims be the directions of slip at the start of a step."""
        if len(self.sliding):
            q, v, _ = self.layout.unpack(y)
            here = self.system.dynamics(q, v, self.t)
            aims = self.law.aims.copy()
            aims[self.sliding] = self.law.directions(here, v)[self.sliding]
            self.law = replace(self.law, aims=aims)

    def _limit(self, solver: Any, options: Options) -> None:
        """Limit the next step so that no slip turns far."""
        if self.is_careful:
            size, rate = self._slip(float(solver.t), solver.y)[:2]
            longest = float((TURNS * size / np.maximum(rate, 1e-300)).min())
            solver.max_step = min(options.max_step, longest)

    def _slip(self, t: float, y: FloatArray) -> tuple[FloatArray, ...]:
        """Return sizes of slip and of its rate, how it grows, and how fast friction turns it."""
        q, v, _ = self.layout.unpack(y)
        here, sliding = self.system.dynamics(q, v, t), self.sliding
        force, acceleration = self.law.solve(here, v)
        J = here.J_t[sliding]
        slip, rate = J @ v, J @ acceleration + here.bias[sliding, 1:]
        size = np.hypot(*slip.T)
        flat = J.reshape(-1, J.shape[2])
        mobility = (flat * np.linalg.solve(here.M, flat.T).T).sum(axis=1).reshape(-1, 2).sum(axis=1)
        turns = self.law.mu[sliding] * force[sliding, 0] * mobility / np.maximum(size, 1e-300)
        growth = (rate * self.law.directions(here, v)[sliding]).sum(axis=1)
        return size, np.hypot(*rate.T), growth, turns

    def _is_stiff(self, t: float, y: FloatArray, share: float = 1.0) -> bool:
        """Return whether slip turns many times faster than it grows, by so many times."""
        if not len(self.sliding) or self.is_careful:
            return False
        size, _, growth, turns = self._slip(t, y)
        return bool(((turns > STIFF) & (turns * size > share * GRADUAL * np.abs(growth))).any())

    def _slope(self, t: float, y: FloatArray) -> FloatArray:
        """Return that part of the derivative of the rates which is large: how slip turns."""
        layout, (q, v, _) = self.layout, self.layout.unpack(y)
        nq, nv = layout.nq, layout.nv
        here, law, sliding = self.system.dynamics(q, v, t), self.law, self.sliding
        force, _ = law.solve(here, v)
        rows, u = law.rows(here, v), law.directions(here, v)
        slope = np.zeros((layout.size, layout.size))
        slope[:nq, nq : nq + nv] = self.system.velocity_map(q)
        by_place = self._slip_by_place(q, v, t)
        for k, i in enumerate(sliding):
            size = max(float(np.hypot(*(here.J_t[i] @ v))), law.least_slip)
            across = np.array([-u[i, 1], u[i, 0]]) / size
            turns = np.concatenate([across @ by_place[k], across @ here.J_t[i]])
            friction = -law.mu[i] * force[i, 0] * size * across
            pull = np.linalg.solve(here.M, friction @ here.J_t[i])
            # What keeps closed contacts closed changes with it.
            change = np.asarray(np.linalg.lstsq(rows.A, -rows.C @ pull, rcond=1e-10)[0], np.float64)
            impulse = law.spread(change, u)
            impulse[i, 1:] += friction
            turned = np.concatenate([pull + rows.response @ change, impulse.ravel()])
            slope[nq:, : nq + nv] += np.outer(turned, turns)
        return slope

    def _slip_by_place(self, q: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """Return the derivative of slip by the configuration, (k, 2, nq)."""
        columns = []
        for step in PLACE * np.eye(len(q)):
            ends = [self.system.dynamics(q + sign * step, v, t).J_t for sign in (1.0, -1.0)]
            columns.append((ends[0] - ends[1])[self.sliding] @ v / (2.0 * PLACE))
        return np.stack(columns, axis=-1)
