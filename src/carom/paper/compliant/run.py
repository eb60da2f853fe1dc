"""One compliant impact: its differential equation, its end and its record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from scipy.integrate import BDF, DenseOutput, OdeSolver, Radau

from carom import checks
from carom.errors import ImpactNotResolved
from carom.outcomes.finite import FiniteSet
from carom.paper.compliant.springs import Springs
from carom.problem import ImpactProblem
from carom.systems.system import Dynamics, System
from carom.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from carom.paper.compliant.law import Compliant

# LSODA errs by 0.3 % in the friction of two sticking corners, and gives up where one is 1e5 times
# as stiff. Radau agrees with BDF to 8 digits, and takes three times as long.
METHODS: dict[str, Callable[..., OdeSolver]] = {"BDF": BDF, "Radau": Radau}

OVER, GAINED = "over", "energy rises"
MOST_GAINED = 1e-3
"""Share of the kinetic energy that may be gained: a step that misses how friction turns over can
gain many times what there is."""
REST = 1e-3
"""A contact is at rest if it closes no faster than this times mass / stiffness [m/s^3]."""
PERIODS = 3
"""Longest impact with restitution, in periods of the mass on the softest contact."""
HALVINGS = 50
"""Halvings of a step that find the moment of an event, to rounding."""


@final
@dataclass(frozen=True, eq=False)
class CompliantImpact:
    """Hold the motion through an impact, over its short but finite time.

    Attributes:
        system: What hits.
        stiffness: (m,) stiffness of its contacts [N/m].
        t: (n,) time since the start [s].
        q: (n, nq) configurations.
        v: (n, nv) velocities.
        impulse: (n, m, 2) contact impulses accrued since the start, normal first [N s].
        restitution: (m,) coefficients e; contacts with e > 0 are springs without a damper.
        force: (n, m) forces of these springs, 0 for the others [N].
        touched_at: (m,) time when each contact first touched, nan if it never did [s].
        status: "over", "time limit", "step limit", "stalled": the integrator cannot go on, or
            "energy rises", which the model does not let it do: the integrator was too coarse.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> law = carom.Compliant(stiffness=[1e7, 1e6], rtol=1e-8)
        >>> impact = law.run(block.system, block.q, block.v)
        >>> impact.status, bool(impact.v_post[2] < 0.0), impact.outcome().labels
        ('over', True, ('stiffness 1e+07, 1e+06 N/m',))
    """

    system: System
    stiffness: FloatArray
    t: FloatArray
    q: FloatArray
    v: FloatArray
    impulse: FloatArray
    restitution: FloatArray
    force: FloatArray
    touched_at: FloatArray
    status: str

    @property
    def v_post(self) -> FloatArray:
        """Return the velocity after the impact, (nv,)."""
        return self.v[-1]

    @cached_property
    def energy(self) -> FloatArray:
        """Return kinetic and potential energy, with what springs can return, (n,) [J]."""
        depth = np.array([np.minimum(self.system.gap(q), 0.0) for q in self.q])
        depth[:, self.restitution > 0.0] = 0.0
        rigid = [self.system.energy(q, v) for q, v in zip(self.q, self.v, strict=True)]
        returned = (self.restitution * self.force) ** 2 @ (1.0 / self.stiffness)
        return np.asarray(rigid + 0.5 * (depth**2 @ self.stiffness + returned))

    def outcome(self) -> FiniteSet:
        """Return the velocity after the impact as a set of one, with the impulses that led to it.

        The problem is posed where the impact ends. Its v_pre is the velocity from which the contact
        impulses alone lead to `v_post`: it differs from the true one by what gravity and turning
        add while the impact lasts.

        Raises:
            ImpactNotResolved: The impact did not end.
        """
        if self.status == GAINED:
            raise ImpactNotResolved(
                "kinetic energy rises in the impact, so that the integrator was too coarse: lower "
                "rtol"
            )
        if self.status != OVER:
            raise ImpactNotResolved(
                f"the impact did not end ({self.status}): allow more with max_duration or max_steps"
            )
        own = np.flatnonzero(np.isfinite(self.touched_at))
        own = own if len(own) else np.array([int(np.argmin(self.system.gap(self.q[-1])))])
        here = self.system.dynamics(self.q[-1])
        steps = np.diff(self.impulse[:, own], axis=0).reshape(-1, 2 * len(own))
        J = np.stack([here.J_n[own], here.J_t[own, 0]], axis=1).reshape(2 * len(own), -1)
        v_pre = self.v_post - np.linalg.solve(here.M, J.T @ steps.sum(axis=0))
        names = tuple(self.system.contacts[i] for i in own)
        problem = ImpactProblem(
            here.M,
            here.J_n[own],
            here.J_t[own],
            self.system.mu[own],
            v_pre,
            contacts=names,
            restitution=self.restitution[own],
        )
        label = f"stiffness {', '.join(f'{k:g}' for k in self.stiffness)} N/m"
        note = (
            f"gravity and turning change v by {np.abs(v_pre - self.v[0]).max():.2g} within the "
            f"{self.t[-1]:.2g} s of the impact; this is part of v_pre"
        )
        return FiniteSet(problem, "Compliant", (steps,), True, (label,), (note,))

    def share_before(self, contact: str, other: str) -> float:
        """Return the share of a contact's normal impulse that came before another one touched.

        It is 1 if the other never touched, and nan if the contact itself had no impulse.
        """
        names = self.system.contacts
        for name in (contact, other):
            checks.choice("contact", name, names)
        normal = self.impulse[:, names.index(contact), 0]
        moment = self.touched_at[names.index(other)]
        if normal[-1] == 0.0:
            return float("nan")
        if np.isnan(moment):
            return 1.0
        return float(normal[np.searchsorted(self.t, moment)] / normal[-1])


class _State(NamedTuple):
    """What a moment is judged by: geometry, velocities and forces (m,) of the contacts."""

    t: float
    y: FloatArray
    here: Dynamics
    v_n: FloatArray
    v_t: FloatArray
    f_n: FloatArray
    f_t: FloatArray

    @property
    def touching(self) -> BoolArray:
        """Return what touches: one that still pushes does, whatever rounding makes of its gap."""
        return (self.here.phi <= 0.0) | (self.f_n > 0.0)


class Run:
    """One impact: its differential equation in y = (q - q(0), v, impulses, forces), and its record.

    Only contacts with restitution have a force among y. Displacements and not configurations are
    integrated, so that a relative accuracy is one of the depth of a contact, which may be 1e-7 of a
    coordinate.
    """

    def __init__(
        self, law: Compliant, system: System, q: FloatArray, v: FloatArray, stiffness: FloatArray
    ) -> None:
        self.law, self.system, self.q, self.k = law, system, q, stiffness
        self.springs = Springs(stiffness, np.broadcast_to(law.restitution, stiffness.shape))
        bounces = self.springs.bounces
        self.c = 2.0 * law.damping_ratio * np.sqrt(stiffness * law.mass) * ~bounces
        self.mu = system.mu
        m, mass, softest = len(stiffness), law.mass, float(stiffness.min())
        self.nq, self.end_v = len(q), len(q) + len(v)
        self.end_impulse = self.end_v + 2 * m
        period = 2.0 * np.pi * float(np.sqrt(mass / softest)) * (PERIODS if bounces.any() else 1)
        self.end = period if law.max_duration is None else law.max_duration
        self.rest = REST * mass / softest
        here = system.dynamics(q, v)
        speed = max(float(-(here.J_n @ v).min()), 0.0)
        self.least_impulse = law.least_share * mass * speed
        depth = speed * float((mass / (self.c + np.sqrt(stiffness * mass))).min())
        # A slip far below eps makes a difference: it is how friction sticks.
        accuracy = (law.rtol * depth, 1e-3 * law.friction_speed, law.rtol * mass * speed)
        forces = law.rtol * speed * np.sqrt(stiffness[bounces] * mass)
        self.atol = np.append(np.repeat(accuracy, (len(q), len(v), 2 * m)), forces)
        at_rest = np.zeros(2 * m + len(forces))
        self.origin = 0.0
        self.t, self.y = [0.0], [np.concatenate([np.zeros(len(q)), v, at_rest])]
        self.touched_at = np.full(m, np.nan)
        self._touch(here.phi <= 0.0)
        self.springs.turn(self.touching, here.J_n @ v, np.zeros(m), self.rest)

    def to_the_end(self) -> CompliantImpact:
        """Integrate until the impact is over."""
        status = OVER if self._is_over(self._state(0.0, self.y[0])) else None
        while status is None:
            status = self._integrate()
        t, y = np.array(self.t), np.array(self.y)
        q, v, impulse, _ = np.split(y, (self.nq, self.end_v, self.end_impulse), axis=1)
        motion = t, self.q + q, v, impulse.reshape(len(y), len(self.k), 2)
        e, force = self.springs.restitution, np.array([self._forces(own) for own in y])
        if status == OVER and self._gains(self.q + q[-1], v[-1]):
            status = GAINED
        return CompliantImpact(self.system, self.k, *motion, e, force, self.touched_at, status)

    def _gains(self, q: FloatArray, v: FloatArray) -> bool:
        """Return whether the impact ends with more energy than rounding and inputs explain."""
        start = self.y[0][self.nq : self.end_v]
        kinetic = 0.5 * start @ self.system.mass_matrix(self.q) @ start
        gained = self.system.energy(q, v) - self.system.energy(self.q, start)
        return bool(gained > MOST_GAINED * kinetic)

    def _integrate(self) -> str | None:
        """Integrate until the impact ends, and return its status, or until a contact turns."""
        # There a force begins with a jump; when a contact parts its force is zero already.
        if self.t[-1] >= self.end:
            return "time limit"
        # After a turn, sticking friction settles within less than what time is rounded to: with
        # restitution, time is counted from there.
        self.origin = self.t[-1] if self.springs.bounces.any() else 0.0
        accuracy = {"rtol": self.law.rtol, "atol": self.atol}
        times = self.t[-1] - self.origin, self.end - self.origin
        method = METHODS[self.law.method]
        solver = method(self._rates, times[0], self.y[-1], times[1], **accuracy, jac=self._jacobian)
        while solver.status == "running":
            if len(self.t) > self.law.max_steps:
                return "step limit"
            if solver.step() is not None:
                return "stalled"
            end = float(solver.t)
            state = self._state(end, solver.y)
            closes = self._turns(state)
            if closes:
                state = self._first(solver.dense_output(), end, self._turns)
                end = state.t - self.origin
            is_over = self._is_over(state)
            if is_over:
                state = self._first(solver.dense_output(), end, self._is_over)
            self.t.append(state.t)
            self.y.append(state.y)
            self._touch(state.touching)
            if is_over:
                return OVER
            if closes:
                self._turn(state)
                return None
        return "time limit"

    def _touch(self, touching: BoolArray) -> None:
        self.touching = touching
        self.touched_at[touching & np.isnan(self.touched_at)] = self.t[-1]

    def _forces(self, y: FloatArray) -> FloatArray:
        """Return the forces (m,) of springs that bounce, 0 for other contacts."""
        forces = np.zeros(len(self.k))
        forces[self.springs.bounces] = y[self.end_impulse :]
        return forces

    def _turns(self, state: _State) -> bool:
        """Return whether a contact touches that did not before, or a spring turns."""
        closes = (state.here.phi <= 0.0) & ~self.touching
        turns = self.springs.turns(self.touching, state.v_n, self._forces(state.y), self.rest)
        return bool((closes | turns).any())

    def _turn(self, state: _State) -> None:
        """Let springs go on in another phase."""
        self.springs.turn(self.touching, state.v_n, self._forces(state.y), self.rest)
        # A spring that has parted starts from zero when it is touched again.
        y = state.y.copy()
        y[self.end_impulse :] *= self.springs.acts[self.springs.bounces]
        self.y[-1] = y

    def _is_over(self, state: _State) -> bool:
        """Return whether all that touches is at rest or parts, and nothing is waited for."""
        phi, touching = state.here.phi, state.touching
        if (state.v_n[touching] < -self.rest).any() or self.springs.acts.any():
            return False
        comes = ~touching & (phi + state.v_n * (self.end - state.t) <= 0.0)
        return not (comes & (state.y[self.end_v : self.end_impulse : 2] < self.least_impulse)).any()

    def _first(self, dense: DenseOutput, end: float, happens: Callable[[_State], bool]) -> _State:
        """Return when something begins that happens at the end, in a step."""
        low, high = float(dense.t_old), end
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            begun = happens(self._state(middle, dense(middle)))
            low, high = (low, middle) if begun else (middle, high)
        return self._state(high, dense(high))

    def _state(self, t: float, y: FloatArray) -> _State:
        t += self.origin
        v = y[self.nq : self.end_v]
        here = self.system.dynamics(self.q + y[: self.nq], v, t)
        v_n, v_t = here.J_n @ v, here.J_t[:, 0] @ v
        # What touched at the last step keeps its formula, so that no force jumps within a step.
        push = np.maximum(0.0, -self.k * here.phi - self.c * v_n)
        f_n = np.where(self.touching, push, 0.0)
        if self.springs.bounces.any():
            own = self.springs.acts * np.maximum(0.0, self._forces(y))
            f_n = np.where(self.springs.bounces, own, f_n)
        f_t = -self.mu * f_n * v_t / np.maximum(np.abs(v_t), self.law.friction_speed)
        return _State(t, y, here, v_n, v_t, f_n, f_t)

    def _rates(self, t: float, y: FloatArray) -> FloatArray:
        """Return dy/dt."""
        _, _, here, v_n, _, f_n, f_t = self._state(t, y)
        out = np.empty_like(y)
        out[: self.nq] = self.system.velocity_map(self.q + y[: self.nq]) @ y[self.nq : self.end_v]
        force = here.force + f_n @ here.J_n + f_t @ here.J_t[:, 0]
        out[self.nq : self.end_v] = np.linalg.solve(here.M, force)
        out[self.end_v : self.end_impulse : 2] = f_n
        out[self.end_v + 1 : self.end_impulse : 2] = f_t
        out[self.end_impulse :] = (-self.springs.rates * v_n)[self.springs.bounces]
        return out

    def _jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Return d rates / dy, but for what comes from turning, which is small beside k and c."""
        # Differences would not do: friction turns over within eps, far below their step.
        _, _, here, _, v_t, f_n, _ = self._state(t, y)
        nq, end, eps = self.nq, self.end_v, self.law.friction_speed
        J_n, J_t = here.J_n, here.J_t[:, 0]
        to_q = self.system.velocity_map(self.q + y[:nq])
        by_q, by_v = self.k[:, None] * (J_n @ np.linalg.pinv(to_q)), self.c[:, None] * J_n
        normal = np.zeros((len(f_n), len(y)))
        normal[:, :end] = -np.hstack([by_q, by_v])
        bounces = self.springs.bounces
        normal[bounces] = 0.0
        normal[bounces, self.end_impulse :] = np.eye(int(bounces.sum()))
        normal[f_n <= 0.0] = 0.0
        tangent = -(self.mu * v_t / np.maximum(np.abs(v_t), eps))[:, None] * normal
        tangent[:, nq:end] -= ((np.abs(v_t) < eps) * self.mu * f_n / eps)[:, None] * J_t
        out = np.zeros((len(y), len(y)))
        out[:nq, nq:end] = to_q
        out[nq:end] = np.linalg.solve(here.M, J_n.T @ normal + J_t.T @ tangent)
        out[end : self.end_impulse : 2] = normal
        out[end + 1 : self.end_impulse : 2] = tangent
        out[self.end_impulse :, nq:end] = -(self.springs.rates[:, None] * J_n)[bounces]
        return out
