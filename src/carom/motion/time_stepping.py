"""Move a system by time steps that never stop: collisions by the law, the rest by one problem.

Within a step contacts that touch, or close slowly, solve Coulomb's law with the round cone for the
velocities at the end of the step. A contact that closes fast ends the step at that moment, and the
impact law is asked. docs/motion-in-space.md derives it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from carom.errors import CaromError
from carom.kernels.jit import interpreted
from carom.kernels.random import stream
from carom.laws.law import ImpactLaw
from carom.motion.parts import Impact, Layout
from carom.motion.step_impacts import LANDED, closing_time, of_contacts, pose_impact
from carom.motion.step_record import StepRecord
from carom.motion.stretch import Options
from carom.motion.time_step import Before, Trial, push_apart, solve_step
from carom.systems.system import Dynamics, System
from carom.typing import BoolArray, FloatArray, IntArray

MOST_HITS = 8
"""Number of impacts within one step, after which contacts close without the law: Zeno's points."""
DEEP = 1e-7
"""Depth from which on bodies are pushed apart [m]."""
CLOSE = 1e-4
"""Gap up to which contacts are looked after while others are pushed apart [m]."""
MOST_PUSHES = 4
"""Number of Newton steps that push bodies apart."""
HIDDEN = 1e-9
"""Way within a step below which a contact at rest may approach [m]."""
ROUNDING = 1e-14
"""Share of the energy at hand that is rounding."""
SLIPS = 1e-9
"""Slip as a share of the largest velocity from which on a contact slides."""

draw_key = interpreted(stream)


class End(NamedTuple):
    """The end of a step: time, configuration, velocity, all there, its energy [J].

    `pushed` is by how much bodies were pushed apart there, (nv,).
    """

    t: float
    q: FloatArray
    v: FloatArray
    here: Dynamics
    energy: float
    pushed: FloatArray


class Stepping:
    """A motion in time steps under way."""

    def __init__(
        self,
        system: System,
        law: ImpactLaw,
        seed: int,
        options: Options,
    ) -> None:
        """Take over what does not change."""
        self.system, self.law, self.seed, self.mu = system, law, seed, np.array(system.mu)
        self.gap_tolerance, self.rest_speed = options.gap_tolerance, options.rest_speed
        self.max_impacts, self.max_steps = options.max_impacts, options.max_steps
        self.num_draws = self.num_impacts = self.num_closed = self.num_relaxed = 0

    def run(
        self, q: FloatArray, v: FloatArray, start: float, duration: float, time_step: float
    ) -> tuple[str, str]:
        """Move for a duration; return a status and a sentence."""
        here = self.system.dynamics(q, v, start)
        m, d = here.J_t.shape[:2]
        self.layout = Layout(self.system.nq, self.system.nv, m, d)
        self.record = StepRecord(self.layout)
        self.t, self.q, self.v, self.here = start, q, v, here
        self.energy = self._energy(q, v, here)
        self.impulse, self.force = np.zeros((m, 1 + d)), np.zeros((m, 3))
        self._forget()
        count = max(0, math.ceil(duration / time_step - 1e-9))
        if count == 0:
            self._accept_short(start + duration)
        for k in range(count):
            last = k == count - 1
            try:
                self._go_to(start + duration if last else start + (k + 1) * time_step)
            except (FloatingPointError, np.linalg.LinAlgError) as error:
                return "diverged", f"at t = {self.t:g} s: {error}; take a smaller time_step"
            if self.num_impacts >= self.max_impacts:
                what = f"{self.num_impacts} impacts came before t = {self.t:g} s"
                return "impact limit", f"{what}; raise max_impacts"
            if k + 1 >= self.max_steps and not last:
                what = f"{self.max_steps} steps were made up to t = {self.t:g} s"
                return "step limit", f"{what}; raise max_steps, or give a longer time_step"
        message = f"the motion lasts to t = {self.t:g} s as asked"
        if self.num_closed:
            message += f"; {self.num_closed} collisions, which the law left open, closed without it"
        if self.num_relaxed:
            message += f"; in {self.num_relaxed} steps contacts had no solution but a convex one"
        return "finished", message

    def _forget(self) -> None:
        """Let nothing be extrapolated over a jump."""
        self.last_acceleration, self.last_step = np.zeros(self.system.nv), math.inf

    def _go_to(self, target: float) -> None:
        """Move to a time of the grid, through impacts."""
        hits = 0
        length = target - self.t
        while self.t < target:
            may_hit = hits < MOST_HITS
            if may_hit and self._touching_hits(target - self.t).any():
                # Also where the law finds none: then the step closes the contacts.
                hits = hits + 1 if self._hit() else MOST_HITS
                continue
            if target - self.t <= 1e-9 * length:
                # Less than rounding may tell of what follows.
                self._accept_short(target)
                return
            if self._step(target, may_hit=may_hit):
                hits = hits + 1 if self._hit() else MOST_HITS

    def _accept_short(self, target: float) -> None:
        """Let a moment pass in which nothing changes."""
        y = self.layout.pack(self.q, self.v, self.impulse)
        self.record.add_step(self.t, target, self._free_modes(), y, y, y)
        self.t = target

    def _touching_hits(self, h: float) -> BoolArray:
        """Return which contacts touch and approach faster than forces make them in two steps."""
        here = self.here
        approach = -here.J_n @ self.v
        hits = (here.phi <= self.gap_tolerance) & (approach > self.rest_speed)
        if hits.any():
            pull = here.J_n @ np.linalg.solve(here.M, here.force) + here.bias[:, 0]
            hits &= approach > -2.0 * h * pull
        return hits

    def _step(self, target: float, *, may_hit: bool) -> bool:
        """Take a step; return whether it ends with a collision before its time."""
        h = target - self.t
        which = self._near(h)
        self.drive = self.system.input_at(self.q, self.v, self.t)
        before = Before(
            *(self.here, self.v, self.mu, self.drive, self.force),
            *(self.last_acceleration, self.last_step),
        )
        for _ in range(len(self.mu) + 1):
            trial = solve_step(before, h, which)
            end, theta = self._drift(trial, target)
            crossed = end.here.phi < -LANDED
            crossed[which] = False
            if not crossed.any():
                break
            fast = crossed & self._is_fast(end) if may_hit else np.zeros_like(crossed)
            slow = crossed & ~fast & np.isfinite(self.here.phi)
            if slow.any():
                # First of all: they might have closed before the others collide.
                which = np.union1d(which, np.flatnonzero(slow))
            elif fast.any():
                self._land(trial, theta, h, np.flatnonzero(fast))
                return True
            else:
                break
        self._accept(trial, end, h, h, theta)
        return False

    def _near(self, h: float) -> IntArray:
        """Return the contacts that may act in a step: those that touch, or close slowly.

        Those that approach at more than half the speed with which they would close are left to the
        law: their hop has lasted for longer than two steps.
        """
        here = self.here
        before = here.J_n @ self.v
        change = h * (here.J_n @ self.last_acceleration + here.bias[:, 0])
        near = here.phi <= self.gap_tolerance
        closes = np.isfinite(here.phi) & (here.phi + h * (before + 0.5 * change) < 0.0)
        fast = 2.0 * before < before + change
        return np.flatnonzero(near | (closes & ~(fast & (before + change < -self.rest_speed))))

    def _is_fast(self, end: End) -> BoolArray:
        """Return which contacts approach at the end, and did so at more than half that speed."""
        after, before = -end.here.J_n @ end.v, -end.here.J_n @ self.v
        seen = np.isfinite(self.here.phi)
        return (after > self.rest_speed) & ((2.0 * before > after) | ~seen)

    def _drift(self, trial: Trial, target: float) -> tuple[End, float]:
        """Return the end of a step, and which share of the way is made at its last velocity.

        Half, as velocities that change evenly have it; but all of it where a contact is caught in
        the step, or energy would rise, so that what stops does not go on for half a step.
        """
        h = target - self.t
        caught = (trial.P[:, 0] > 0.0) & (h * (self.here.J_n[trial.which] @ self.v) < -HIDDEN)
        if not caught.any():
            end = self._end(trial, 0.5, h)
            if not len(trial.which) or self._excess(trial, end, 0.5, h) <= 0.0:
                return end, 0.5
        return self._end(trial, 1.0, h), 1.0

    def _way(self, trial: Trial, theta: float, h: float, tau: float) -> FloatArray:
        """Return the constant velocity that leads as far as a step up to a time tau of it."""
        share = tau / h if theta == 0.5 else 2.0
        return np.asarray(self.v + 0.5 * share * (trial.v - self.v))

    def _end(self, trial: Trial, theta: float, h: float, tau: float | None = None) -> End:
        """Return the end of a step, or its state at a time tau of it, with nothing penetrating."""
        passed = h if tau is None else tau
        t = self.t + passed
        q = self.system.integrate(self.q, self._way(trial, theta, h, passed), passed)
        v = trial.v if tau is None else self.v + tau / h * (trial.v - self.v)
        if self.system.constraints:
            q = self.system.closed(q)
            v = self.system.allowed_velocity(q, v)
        here = self.system.dynamics(q, v, t)
        pushed = np.zeros_like(v)
        for _ in range(MOST_PUSHES):
            if not (here.phi[trial.which] < -DEEP).any():
                break
            # Others that are near must not be pushed in; those that have crossed are not in place.
            near = (here.phi < CLOSE) & (here.phi > -LANDED)
            push = push_apart(here, np.union1d(trial.which, np.flatnonzero(near)))
            q, pushed = self.system.integrate(q, push, 1.0), pushed + push
            if self.system.constraints:
                q = self.system.closed(q)
                v = self.system.allowed_velocity(q, v)
            here = self.system.dynamics(q, v, t)
        return End(t, q, v, here, self._energy(q, v, here), pushed)

    def _energy(self, q: FloatArray, v: FloatArray, here: Dynamics) -> float:
        return 0.5 * float(v @ here.M @ v) + self.system.potential_energy(q)

    def _excess(self, trial: Trial, end: End, theta: float, h: float) -> float:
        """Return by how much energy rises beyond the work of inputs, or 0 if they are not known."""
        passed = end.t - self.t
        if self.drive is None:
            return 0.0
        work = 0.0
        if len(trial.pull):
            way = passed * self._way(trial, theta, h, passed) + end.pushed
            work = float(trial.pull @ way) / h
        rise = end.energy - self.energy - work
        return rise if rise > ROUNDING * (abs(end.energy) + abs(self.energy)) else 0.0

    def _accept(self, trial: Trial, end: End, h: float, passed: float, theta: float) -> None:
        """Go to the end of a step, without energy that came from nothing, and record it."""
        share = passed / h
        excess = self._excess(trial, end, theta, h)
        if excess > 0.0:
            end = self._without(end, excess)
        before = self.layout.pack(self.q, self.v, self.impulse)
        half = self.system.integrate(self.q, self._way(trial, theta, h, 0.5 * passed), 0.5 * passed)
        if end.pushed.any():
            half = self.system.integrate(half, 0.5 * end.pushed, 1.0)
        self.force[:] = 0.0
        self.force[trial.which] = trial.P / h
        added = share * trial.P[:, : self.layout.width]
        middle = self.impulse.copy()
        middle[trial.which] += 0.5 * added
        self.impulse = self.impulse.copy()
        self.impulse[trial.which] += added
        states = (
            self.layout.pack(half, 0.5 * (self.v + end.v), middle),
            self.layout.pack(end.q, end.v, self.impulse),
        )
        self.record.add_step(self.t, end.t, self._modes(trial), before, *states)
        self.last_acceleration, self.last_step = trial.acceleration, h
        self.num_relaxed += trial.is_relaxed
        self.t, self.q, self.v, self.here, self.energy, _ = end

    def _without(self, end: End, excess: float) -> End:
        """Return the end of a step without some energy, taken from all velocities alike."""
        kinetic = 0.5 * float(end.v @ end.here.M @ end.v)
        v = math.sqrt(max(0.0, 1.0 - excess / kinetic)) * end.v if kinetic > 0.0 else end.v
        here = self.system.dynamics(end.q, v, end.t)
        return End(end.t, end.q, v, here, self._energy(end.q, v, here), end.pushed)

    def _land(self, trial: Trial, theta: float, h: float, which: IntArray) -> None:
        """Go to the moment in which the first of some contacts closes."""
        tau = closing_time(lambda tau: self._lowest(trial, theta, h, tau, which), h)
        end = self._end(trial, theta, h, tau)
        self._accept(trial, end, h, tau, theta)

    def _lowest(self, trial: Trial, theta: float, h: float, tau: float, which: IntArray) -> float:
        """Return the least gap of some contacts at a time of a step."""
        q = self.system.integrate(self.q, self._way(trial, theta, h, tau), tau)
        return float(self.system.gap(q)[which].min())

    def _hit(self) -> bool:
        """Let the law resolve the impact at this state; return whether it did."""
        near = max(self.gap_tolerance, -float(self.here.phi.min()))
        try:
            problem = pose_impact(self.system, self.here, self.q, self.v, near)
            if problem.stays:
                return False
            v, impulse = self.law.draw_end(problem, self._draw_seed())
        except CaromError:
            # The motion goes on: the step closes the contacts.
            self.num_closed += 1
            return False
        before, self.num_impacts = self.impulse, self.num_impacts + 1
        self.impulse = before + of_contacts(problem, impulse, self.system.contacts, self.here)
        kinetic = 0.5 * float(v @ self.here.M @ v)
        potential = self.system.potential_energy(self.q)
        states = {
            "q": np.array([self.q, self.q]),
            "v": np.array([self.v, v]),
            "impulse": np.array([before, self.impulse]),
            "energy": np.array([self.energy, potential + kinetic]),
        }
        acts = tuple("acts" if p[0] > 0.0 else "idle" for p in impulse)
        self.record.add_impact(
            Impact("collision", self.t, 0.0, problem.contacts, modes=(acts,), **states)
        )
        self.v, self.here = v, self.system.dynamics(self.q, v, self.t)
        self.energy = potential + kinetic
        self._forget()
        return True

    def _draw_seed(self) -> int:
        self.num_draws += 1
        # The numbers wrap around by design.
        with np.errstate(over="ignore"):
            return int(draw_key(self.seed, self.num_draws)) >> 11

    def _free_modes(self) -> tuple[str, ...]:
        return ("free",) * len(self.mu)

    def _modes(self, trial: Trial) -> tuple[str, ...]:
        """Return what contacts do in a step."""
        modes = list(self._free_modes())
        small = SLIPS * trial.scale
        for k, i in enumerate(trial.which.tolist()):
            normal, x, y = trial.u[k].tolist()
            # Where several contacts share a load, some may have no part in it, and stay.
            if trial.P[k, 0] <= 0.0 and (normal > small or self.here.phi[i] > self.gap_tolerance):
                continue
            if self.mu[i] == 0.0:
                modes[i] = "closed"
            elif math.hypot(x, y) <= small:
                modes[i] = "sticking"
            elif self.layout.num_tangents == 2:
                modes[i] = "sliding"
            else:
                modes[i] = "sliding +" if x > 0.0 else "sliding -"
        return tuple(modes)
