"""A motion under way: what happens next, and what then.

Between events the motion is smooth: contacts are apart, stick or slide, and their finite forces
follow from the state. An event ends such a segment: a gap closes, a force vanishes, friction
gives way, slip comes to rest. Then either contacts collide, and an impact law is asked; or the
modes are chosen anew; or no modes work, which is an impact without collision.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from carom.errors import ImpactNotResolved
from carom.laws.law import ImpactLaw
from carom.motion.choice import Moment, ways_on
from carom.motion.events import GAP_ROUNDING
from carom.motion.options import Options, check_start, checked_vector
from carom.motion.parts import DEGREE, Impact, Layout, Segment
from carom.motion.stretch import Stretch
from carom.motion.sustained import FREE, NAMES, SMOOTH, ContactLaw
from carom.motion.zeno import accumulation, come_to_rest
from carom.systems.system import Dynamics, System
from carom.typing import ArrayLike, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from carom.outcomes.path import ImpactPath
    from carom.problem import ImpactProblem

STILL = 1e-8
"""Contact velocities below this share of the terms that they are the sum of count as rest."""

SLOW = 1e-6
"""The same where slip would be a paradox that no impact resolves."""

LEAST_HOP = 5.0
"""A contact that parts stays at rest if it would come back from no higher than so many roundings
of its gap."""

MOST_STALLS = 20
"""So many segments in a row without any progress end a motion."""


@dataclass(eq=False)
class Motion:
    """A motion under way."""

    system: System
    law: ImpactLaw
    options: Options
    seed: int
    t: float
    duration: float
    parts: list[Segment | Impact] = field(default_factory=list)
    num_steps: int = 0
    num_draws: int = 0
    num_impacts: int = 0
    stalls: int = 0

    def start(self, q: ArrayLike, v: ArrayLike) -> None:
        """Check the state and take it over."""
        system = self.system
        self.q = checked_vector("q", q, system.nq)
        self.v = checked_vector("v", v, system.nv)
        self.end_time = self.t + self.duration
        self.mu = system.mu
        m = len(system.contacts)
        self.layout = Layout(system.nq, system.nv, m)
        self.impulse = np.zeros((m, 2))
        self.recent: list[tuple[float, FloatArray, tuple[str, ...]]] = []
        here = system.dynamics(self.q, self.v, self.t)
        check_start(here, system.contacts, self.options.gap_tolerance)

    def still(self) -> Segment:
        """Return a segment without length, for a motion that ends as it begins."""
        modes = (NAMES[FREE],) * len(self.mu)
        y = self.layout.pack(self.q, self.v, self.impulse)
        coefficients = np.zeros((1, DEGREE + 1, len(y)))
        coefficients[0, 0] = y
        return Segment(np.array([self.t, self.t]), coefficients, modes)

    def run(self) -> tuple[str, str]:
        """Go on until the end, and tell how it came: a status and a sentence."""
        options = self.options
        while True:
            here = self.system.dynamics(self.q, self.v, self.t)
            try:
                if self._collides(here):
                    self._hit("collision", here)
                elif self._accumulates():
                    pass
                elif self.t >= self.end_time:
                    return "finished", f"the motion lasts to t = {self.t:g} s as asked"
                elif (found := self._choose(here) or self._jam(here)) is None:
                    pass
                elif (trouble := self._move(*found)) is not None:
                    return self._unbounded(found[0], trouble)
                if self.stalls >= MOST_STALLS:
                    return "stalled", (
                        f"nothing moved on at t = {self.t:g} s: the modes of the contacts change "
                        f"without end; loosen rest_speed or gap_tolerance"
                    )
            except ImpactNotResolved as error:
                return "impact not resolved", f"at t = {self.t:g} s: {error}"
            except (FloatingPointError, np.linalg.LinAlgError) as error:
                return "diverged", f"at t = {self.t:g} s: {error}"
            if self.num_impacts >= options.max_impacts:
                return "impact limit", (
                    f"{options.max_impacts} impacts came before t = {self.t:g} s; raise max_impacts"
                )
            if self.num_steps >= options.max_steps:
                return "step limit", (
                    f"{options.max_steps} steps were made up to t = {self.t:g} s; raise max_steps, "
                    f"loosen rtol, or use method='Radau' for stiff forces"
                )

    def _unbounded(self, law: ContactLaw, trouble: str) -> tuple[str, str]:
        """Tell that forces grow without bound, and which ones."""
        what, why = "the forces grow", ""
        if (law.modes != FREE).any():
            what, why = "contact forces grow", ", as at a singular point of Painleve's paradox"
        return "forces without bound", (
            f"{what} without bound towards t = {self.t:g} s{why}: {trouble}"
        )

    def _touching(self, here: Dynamics) -> BoolArray:
        return here.phi <= self.options.gap_tolerance

    def _collides(self, here: Dynamics) -> bool:
        approaching = here.J_n @ self.v < -self.options.rest_speed
        if not (approaching & self._touching(here)).any():
            return False
        return bool(self._problem(here).is_colliding(self.v))

    def _problem(self, here: Dynamics, *, without_collision: bool = False) -> ImpactProblem:
        """Pose the impact at this state.

        A motion may be known less well than contacts touch: what seems to penetrate by rounding is
        no reason to end it.
        """
        tolerance = max(self.options.gap_tolerance, -float(here.phi.min()))
        return self.system.impact_problem(
            self.q, self.v, tolerance, without_collision=without_collision
        )

    def _draw_seed(self) -> int:
        self.num_draws += 1
        return int(np.random.default_rng([self.seed, self.num_draws]).integers(2**53))

    def _hit(self, kind: str, here: Dynamics) -> None:
        """Resolve an impact and take one of its outcomes."""
        problem = self._problem(here, without_collision=kind == "without collision")
        path = self.law.draw_path(problem, self._draw_seed())
        if path.num_steps == 0:
            if kind == "without collision":
                raise ImpactNotResolved("the law lets no contact act, and none can rest", problem)
            # Too slow an approach for the law: it is rest.
            self._stop_approach(problem.contacts)
            self.stalls += 1
            return
        which = [self.system.contacts.index(name) for name in problem.contacts]
        impulse = np.repeat(self.impulse[None], path.num_steps + 1, axis=0)
        impulse[1:, which] += np.cumsum(_impulses(path), axis=0)
        q = np.array([self.q, self.q])
        self._record(kind, 0.0, problem.contacts, q, path.v, impulse, path.modes)
        self.v = np.array(path.v[-1])
        self.num_impacts += 1
        self.recent.append((self.t, self.impulse, problem.contacts))

    def _append(self, segment: Segment) -> None:
        """Add a segment, to the one before if that has the same modes."""
        last = self.parts[-1] if self.parts else None
        if (
            isinstance(last, Segment)
            and last.modes == segment.modes
            and last.end == segment.start
            and last.num_solutions == segment.num_solutions == 1
        ):
            self.parts[-1] = replace(
                last,
                knots=np.concatenate([last.knots, segment.knots[1:]]),
                coefficients=np.concatenate([last.coefficients, segment.coefficients]),
            )
        else:
            self.parts.append(segment)

    def _stop_approach(self, names: tuple[str, ...]) -> None:
        """Take the approach out of the velocity by the smallest change, measured by energy."""
        here = self.system.dynamics(self.q, self.v, self.t)
        touching = np.array([name in names for name in self.system.contacts])
        modes = np.where(touching & (here.J_n @ self.v < 0.0), SMOOTH, FREE)
        law = ContactLaw(modes, self.mu, np.zeros(len(modes), np.bool_))
        self.v = law.project(here, self.v)

    def _accumulates(self) -> bool:
        """Go to the limit of impacts that come ever faster, if they do."""
        times = [t for t, _, _ in self.recent]
        found = accumulation(times, [x for _, x, _ in self.recent], self._zeno_time())
        if found is None:
            return False
        duration = min(found.duration, self.end_time - self.t)
        names = {name for _, _, contacts in self.recent[-3:] for name in contacts}
        took_turns = np.array([name in names for name in self.system.contacts])
        here = self.system.dynamics(self.q, self.v, self.t)
        law, v = come_to_rest(here, self.v, self.mu, took_turns)
        # What slides on goes on meanwhile.
        _, acceleration = law.solve(here, v)
        middle = v + 0.5 * duration * acceleration
        v = v + duration * acceleration
        q = self.q + duration * self.system.velocity_map(self.q) @ middle
        share = duration / found.duration
        impulse = np.array([self.impulse, self.impulse + share * found.impulse])
        modes = (tuple(NAMES[i] for i in law.modes[took_turns]),)
        contacts = tuple(name for name in self.system.contacts if name in names)
        q_both, v_both = np.array([self.q, q]), np.array([self.v, v])
        self._record("accumulation", duration, contacts, q_both, v_both, impulse, modes)
        self.q, self.v = self._settled(q, law.modes), v
        self.t += duration
        self.recent.clear()
        return True

    def _record(
        self,
        kind: str,
        duration: float,
        contacts: tuple[str, ...],
        q: FloatArray,
        v: FloatArray,
        impulse: FloatArray,
        modes: tuple[tuple[str, ...], ...],
    ) -> None:
        """Add an impact to the record, and take over its impulses."""
        energy = np.array([self.system.energy(q[0], v[0]), self.system.energy(q[1], v[-1])])
        self.parts.append(Impact(kind, self.t, duration, contacts, q, v, impulse, energy, modes))
        self.impulse = impulse[-1]

    def _rounding(self) -> float:
        """Return how far rounding of positions may change a gap [m]."""
        return GAP_ROUNDING * max(1.0, float(np.abs(self.q).max()))

    def _zeno_time(self) -> float:
        """Return the time that may be left for impacts that come ever faster [s].

        Hops that are over in less are not much higher than the rounding of positions.
        """
        here = self.system.dynamics(self.q, self.v, self.t)
        pull = float(np.abs(np.linalg.solve(here.M, here.force)).max())
        least = 30.0 * np.sqrt(self._rounding() / pull) if pull > 0.0 else 0.0
        return max(self.options.zeno_time, float(least))

    def _settled(self, q: FloatArray, modes: IntArray) -> FloatArray:
        """Return the configuration nearest to q in which closed contacts have no gap."""
        closed = np.flatnonzero(modes != FREE)
        for _ in range(3):
            here = self.system.dynamics(q, self.v, self.t)
            gaps = here.phi[closed]
            if len(closed) == 0 or np.abs(gaps).max() <= 1e-15:
                break
            step = np.linalg.solve(here.M, here.J_n[closed].T)
            change = step @ np.linalg.lstsq(here.J_n[closed] @ step, gaps, rcond=1e-10)[0]
            q = q - self.system.velocity_map(q) @ change
        return q

    def _jam(self, here: Dynamics) -> tuple[ContactLaw, int] | None:
        """Resolve an impact without collision; or, where there is none, return modes that work.

        Slip too slow for the law to see is then taken for rest.
        """
        try:
            self._hit("without collision", here)
        except ImpactNotResolved:
            found = self._choose(here, SLOW)
            if found is None:
                raise
            return found
        return None

    def _choose(self, here: Dynamics, still: float = STILL) -> tuple[ContactLaw, int] | None:
        """Return the modes to go on with and how many ways there were, or None if none works.

        Contact velocities below a share `still` of their terms are rest.
        """
        v, rest = self.v, self.options.rest_speed
        # What a contact velocity is summed up from; other bodies do not count.
        normal, tangent = np.abs(here.J_n) @ np.abs(v), np.abs(here.J_t[:, 0]) @ np.abs(v)
        parting = here.J_n @ v > np.maximum(rest, still * normal)
        touching = np.flatnonzero(self._touching(here) & ~parting)
        slide = here.J_t[:, 0] @ v
        slip = np.where(np.abs(slide) > np.maximum(rest, still * tangent), np.sign(slide), 0.0)
        chosen = None
        while True:
            ways = ways_on(Moment(self.system, self.t, self.q, v, touching, slip))
            if not ways:
                # Where contacts that hop could not rest, they hop.
                return chosen
            index = 0
            if len(ways) > 1:
                index = int(np.random.default_rng(self._draw_seed()).integers(len(ways)))
            chosen = ways[index], len(ways)
            hopping = self._hopping(here, ways[index], touching)
            if len(hopping) == 0:
                return chosen
            touching = np.union1d(touching, hopping)

    def _hopping(self, here: Dynamics, law: ContactLaw, touching: IntArray) -> IntArray:
        """Return contacts that part, but come back before their gap has a digit: they rest."""
        _, acceleration = law.solve(here, self.v)
        speed = here.J_n @ self.v
        pull = -(here.J_n @ acceleration + here.bias[:, 0])
        hops = (
            self._touching(here)
            & (speed > 0.0)
            & (speed**2 < 2.0 * pull * LEAST_HOP * self._rounding())
        )
        return np.setdiff1d(np.flatnonzero(hops), touching)

    def _move(self, law: ContactLaw, num_solutions: int) -> str | None:
        """Integrate until something happens; tell why the integrator gave up, if it did."""
        self.q = self._settled(self.q, law.modes)
        self.v = law.project(self.system.dynamics(self.q, self.v, self.t), self.v)
        y = self.layout.pack(self.q, self.v, self.impulse)
        stretch = Stretch(self.system, law, self.layout, self.t, y)
        left = self.options.max_steps - self.num_steps
        segment, y = stretch.run(self.end_time, self.options.integrator, left, self._rounding())
        self.num_steps += stretch.num_steps
        if segment is None:
            self.stalls += 1
            return stretch.trouble
        self.stalls = 0
        self._append(replace(segment, num_solutions=num_solutions))
        self.t = segment.end
        self.q, self.v, self.impulse = (np.array(x) for x in self.layout.unpack(y))
        return stretch.trouble


def _impulses(path: ImpactPath) -> FloatArray:
    return np.concatenate([path.lambda_n[:, :, None], path.lambda_t], axis=2)
