"""A motion under way: what happens next, and what then.

Between events the motion is smooth: contacts are apart, stick or slide, and their finite forces
follow from the state. An event ends such a segment: a gap closes, a force vanishes, friction
gives way, slip comes to rest. Then either contacts collide, and an impact law is asked; or the
modes are chosen anew; or no modes work, which is an impact without collision.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from carom.errors import CaromError, ImpactNotResolved
from carom.kernels.crossings import GAP_ROUNDING
from carom.kernels.jit import interpreted
from carom.kernels.random import stream
from carom.kernels.segment import DEGREE
from carom.kernels.sustained_calls import rest_and_slip
from carom.laws.law import ImpactLaw
from carom.motion.choice import Moment, choose
from carom.motion.parts import MODES, Impact, Layout, Segment
from carom.motion.spatial_law import SpatialLaw
from carom.motion.spatial_stretch import SpatialStretch
from carom.motion.stretch import (
    LEAST_HOP,
    STILL,
    Ended,
    Limits,
    Options,
    Start,
    Stretch,
    compiled_tree,
    integrate,
    integrate_onward,
)
from carom.motion.sustained import FREE, SMOOTH, ContactLaw, settle
from carom.motion.zeno import WINDOW, accumulation, come_to_rest
from carom.systems.planar import PlanarSystem
from carom.systems.system import Dynamics, System
from carom.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from carom.outcomes.path import ImpactPath
    from carom.problem import ImpactProblem

SLOW = 1e-6
"""Share of its terms below which a contact velocity counts as rest where slip would be a paradox
that no impact resolves; elsewhere it is `STILL`."""
MOST_STALLS = 20
"""Number of segments in a row without any length that ends a motion."""
MOST_SHORT, SHORT = 100, 10.0
"""Number of segments in a row, without an impact, that ends a motion if they last no longer than
`SHORT` times `zeno_time` on average."""

draw_key = interpreted(stream)


@dataclass(eq=False)
class Motion:
    """A motion under way."""

    system: System
    law: ImpactLaw
    options: Options
    seed: int
    t: float
    end_time: float
    q: FloatArray
    v: FloatArray
    layout: Layout
    parts: list[Segment | Impact] = field(default_factory=list)
    num_steps: int = 0
    num_draws: int = 0
    num_impacts: int = 0
    stalls: int = 0

    def __post_init__(self) -> None:
        self.mu = self.system.mu
        self.tree = compiled_tree(self.system, self.options)
        self.impulse = np.zeros((len(self.mu), self.layout.width))
        self.recent: deque[tuple[float, FloatArray, tuple[str, ...]]] = deque(maxlen=WINDOW + 1)
        self.begun: deque[float] = deque(maxlen=MOST_SHORT)

    def still(self) -> Segment:
        """Return a segment without length, for a motion that ends as it begins."""
        coefficients = np.zeros((1, DEGREE + 1, self.layout.size))
        coefficients[0, 0] = self.layout.pack(self.q, self.v, self.impulse)
        modes = (MODES[FREE],) * len(self.mu)
        return Segment(np.array([self.t, self.t]), coefficients, modes)

    def run(self) -> tuple[str, str]:
        """Go on until the end; return a status and a sentence."""
        while True:
            try:
                ended = self._go_on() or self._limit()
            except ImpactNotResolved as error:
                what = f"at t = {self.t:g} s: {error}; or give a time_step, which goes on"
                return "impact not resolved", what
            except (FloatingPointError, np.linalg.LinAlgError) as error:
                return "diverged", f"at t = {self.t:g} s: {error}"
            if ended is not None:
                return ended

    def _go_on(self) -> tuple[str, str] | None:
        """Let one thing happen; return a status and a sentence if it is the end."""
        if self.system.constraints:
            # What integration leaves of loops is rounding, which is not to add up.
            self.q = self.system.closed(self.q)
            self.v = self.system.allowed_velocity(self.q, self.v)
        here = self.system.dynamics(self.q, self.v, self.t)
        if (problem := self._collision(here)) is not None:
            self._hit("collision", problem)
        elif self._accumulates(here):
            pass
        elif self.t >= self.end_time:
            return "finished", f"the motion lasts to t = {self.t:g} s as asked"
        elif self._move_on() or (found := self._choose(here) or self._jam(here)) is None:
            pass
        elif (trouble := self._move(*found, here)) is not None:
            return self._unbounded(found[0], trouble)
        return None

    def _limit(self) -> tuple[str, str] | None:
        """Return how a motion ends that makes no real progress, or has come to a limit."""
        options = self.options
        span = self.t - self.begun[0] if len(self.begun) == MOST_SHORT else math.inf
        if self.stalls >= MOST_STALLS or span <= MOST_SHORT * SHORT * options.zeno_time:
            return "stalled", (
                f"the motion gets no further than t = {self.t:g} s: the modes of the contacts "
                f"change without end; loosen rest_speed or gap_tolerance, lower zeno_time if "
                f"segments are to be this short, or give a time_step"
            )
        if self.num_impacts >= options.max_impacts:
            what = f"{options.max_impacts} impacts came before t = {self.t:g} s"
            return "impact limit", f"{what}; raise max_impacts, or give a time_step"
        if self.num_steps >= options.max_steps:
            return "step limit", (
                f"{options.max_steps} steps were made up to t = {self.t:g} s; raise max_steps, "
                f"loosen rtol, use method='Radau' for stiff forces, or give a time_step"
            )
        return None

    def _unbounded(self, law: ContactLaw, trouble: str) -> tuple[str, str]:
        """Return how a motion ends whose forces grow without bound."""
        what, why = "the forces grow", ""
        if (law.modes != FREE).any():
            what, why = "contact forces grow", ", as at a singular point of Painleve's paradox"
        message = f"{what} without bound towards t = {self.t:g} s{why}: {trouble}"
        return "forces without bound", message

    def _collision(self, here: Dynamics) -> ImpactProblem | None:
        """Pose the impact at this state, if contacts collide."""
        approaching = here.J_n @ self.v < -self.options.rest_speed
        if not (approaching & (here.phi <= self.options.gap_tolerance)).any():
            return None
        problem = self._problem(here)
        return problem if problem.is_colliding(self.v) else None

    def _problem(self, here: Dynamics, *, without_collision: bool = False) -> ImpactProblem:
        """Pose the impact at this state."""
        # A motion is known less well than contacts touch: rounding that penetrates does not end it.
        near = max(self.options.gap_tolerance, -float(here.phi.min()))
        options = {"without_collision": without_collision}
        if isinstance(self.system, PlanarSystem) or self.layout.num_tangents == 2:
            return self.system.impact_at(here, self.v, near, **options)
        return self.system.impact_problem(self.q, self.v, near, **options)

    def _draw_seed(self) -> int:
        self.num_draws += 1
        # The numbers wrap around by design.
        with np.errstate(over="ignore"):
            return int(draw_key(self.seed, self.num_draws)) >> 11

    def _hit(self, kind: str, problem: ImpactProblem) -> None:
        """Resolve an impact and take one of its outcomes."""
        path = self._draw(problem)
        if path.num_steps == 0:
            if kind == "without collision":
                raise ImpactNotResolved("the law lets no contact act, and none can rest", problem)
            # Too slow an approach for the law: it is rest.
            self._stop_approach(problem.contacts)
            self.stalls += 1
            return
        which = [self.system.contacts.index(name) for name in problem.contacts]
        impulse = np.repeat(self.impulse[None], path.num_steps + 1, axis=0)
        both = np.concatenate([path.lambda_n[:, :, None], path.lambda_t], axis=2)
        impulse[1:, which] += np.cumsum(both, axis=0)
        contacts = problem.contacts
        ends = path.v[[0, -1]]
        kinetic = 0.5 * ((ends @ problem.M) * ends).sum(axis=1)
        energy = self.system.potential_energy(self.q) + kinetic
        states = {"q": np.array([self.q, self.q]), "v": path.v, "impulse": impulse}
        self.parts.append(
            Impact(kind, self.t, 0.0, contacts, energy=energy, modes=path.modes, **states)
        )
        self.impulse = impulse[-1]
        self.v = np.array(path.v[-1])
        self.num_impacts += 1
        self.begun.clear()
        self.recent.append((self.t, self.impulse, contacts))

    def _draw(self, problem: ImpactProblem) -> ImpactPath:
        """Draw one way in which an impact goes."""
        try:
            return self.law.draw_path(problem, self._draw_seed())
        except CaromError as error:
            # A law that refuses the very first impact does not suit the system; one that refuses a
            # later one, perhaps for its number of contacts, must not lose the motion so far.
            if not self.parts or isinstance(error, ImpactNotResolved):
                raise
            raise ImpactNotResolved(str(error), problem) from error

    def _stop_approach(self, names: tuple[str, ...]) -> None:
        """Take the approach out of the velocity by the smallest change, measured by energy."""
        here = self.system.dynamics(self.q, self.v, self.t)
        touching = np.array([name in names for name in self.system.contacts])
        self._rest(here, touching & (here.J_n @ self.v < 0.0))

    def _rest(self, here: Dynamics, contacts: BoolArray) -> None:
        """Set normal velocities of some contacts to zero."""
        law = ContactLaw(np.where(contacts, SMOOTH, FREE), self.mu, np.zeros_like(contacts))
        self.v = law.project(here, self.v)

    def _accumulates(self, here: Dynamics) -> bool:
        """Go to the limit of impacts that come ever faster, if they do."""
        if len(self.recent) <= WINDOW:
            return False
        times, impulses = [t for t, _, _ in self.recent], [x for _, x, _ in self.recent]
        found = accumulation(times, impulses)
        if found is None or not self._is_short(found.duration, here):
            return False
        duration = min(found.duration, self.end_time - self.t)
        names = {name for _, _, contacts in list(self.recent)[-3:] for name in contacts}
        took_turns = np.array([name in names for name in self.system.contacts])
        law, v = come_to_rest(here, self.v, self.mu, took_turns)
        # What slides on goes on meanwhile.
        _, acceleration = law.solve(here, v)
        middle = v + 0.5 * duration * acceleration
        v = v + duration * acceleration
        q = self.q + duration * self.system.velocity_map(self.q) @ middle
        share = duration / found.duration
        impulse = np.array([self.impulse, self.impulse + share * found.impulse])
        modes = (tuple(each for each, took in zip(law.words, took_turns, strict=True) if took),)
        contacts = tuple(name for name in self.system.contacts if name in names)
        energy = np.array([self.system.energy(self.q, self.v), self.system.energy(q, v)])
        states = {"q": np.array([self.q, q]), "v": np.array([self.v, v]), "impulse": impulse}
        self.parts.append(
            Impact("accumulation", self.t, duration, contacts, energy=energy, modes=modes, **states)
        )
        self.impulse = impulse[-1]
        here = self.system.dynamics(q, v, self.t)
        (self.q, _), self.v = settle(self.system, here, q, v, self.t, law.modes), v
        self.t += duration
        self.begun.clear()
        self.recent.clear()
        return True

    def _rounding(self) -> float:
        """Return how far rounding of positions may change a gap [m]."""
        return GAP_ROUNDING * max(1.0, *map(abs, self.q.tolist()))

    def _is_short(self, duration: float, here: Dynamics) -> bool:
        """Return whether impacts that come ever faster have too little time left to tell apart."""
        if duration <= self.options.zeno_time:
            return True
        # Hops that are over in less than 30 sqrt(rounding / pull) are not much higher than rounding
        # of positions. M dv/dt = force bounds the pull from below, which mostly settles it.
        least_pull = 900.0 * self._rounding() / duration**2
        if np.abs(here.force).max() > len(here.M) * np.abs(here.M).max() * least_pull:
            return False
        pull = float(np.abs(np.linalg.solve(here.M, here.force)).max())
        return 0.0 < pull <= least_pull

    def _jam(self, here: Dynamics) -> tuple[ContactLaw, int] | None:
        """Resolve an impact without collision; or, where there is none, return modes that work."""
        try:
            self._hit("without collision", self._problem(here, without_collision=True))
        except ImpactNotResolved:
            # Slip too slow for the law to see is taken for rest.
            if (found := self._choose(here, SLOW)) is not None:
                return found
            if not self._come_to_rest(here):
                raise
            self.stalls += 1
        return None

    def _come_to_rest(self, here: Dynamics) -> bool:
        """Close contacts that part too slowly to count as parting; return whether any did.

        They must rest for a law as well, which knows no scale. What is left of their gaps, as after
        bounces, would have to be closed by forces, and where hardly any act that takes pulling.
        """
        near = here.phi <= self.options.gap_tolerance
        tangent = np.ascontiguousarray(here.J_t[:, 0])
        resting, speed, _ = rest_and_slip(
            *(here.J_n, tangent, self.v, near, self.options.rest_speed, STILL)
        )
        part = max(abs(speed[resting]).max(initial=0.0), abs(here.phi[resting]).max(initial=0.0))
        if part <= self._rounding():
            return False
        closed = np.isin(np.arange(len(self.mu)), resting)
        modes = np.where(closed, SMOOTH, FREE)
        self.q, here = settle(self.system, here, self.q, self.v, self.t, modes)
        self._rest(here, closed)
        return True

    def _choose(self, here: Dynamics, still: float = STILL) -> tuple[ContactLaw, int] | None:
        return choose(
            Moment(self.system, self.t, self.q, self.v, here),
            here.phi <= self.options.gap_tolerance,
            rest_speed=self.options.rest_speed,
            still=still,
            least_hop=LEAST_HOP * self._rounding(),
            draw=lambda n: int(np.random.default_rng(self._draw_seed()).integers(n)),
        )

    def _move_on(self) -> bool:
        """Integrate in compiled code until something happens, if modes are beyond doubt."""
        if self.tree is None:
            return False
        y = self.layout.pack(self.q, self.v, self.impulse)
        found = integrate_onward(self.tree, self.mu, self.t, y, self.options, self._limits())
        if found is None:
            return False
        ended, modes = found
        self._record(ended, tuple(MODES[i] for i in modes.tolist()))
        return True

    def _move(self, law: ContactLaw, num_solutions: int, here: Dynamics) -> str | None:
        """Integrate until something happens; return why the integrator gave up, if it did."""
        if (law.modes != FREE).any():
            self.q, here = settle(self.system, here, self.q, self.v, self.t, law.modes)
            self.v = law.project(here, self.v)
            here = self.system.dynamics(self.q, self.v, self.t)
        modes = law.words
        # Where the same modes go on, forces that are not unique have left their cones: only then
        # is it worth while to look for those in the middle.
        law = law.settled(here, self.v, centered=self._last(modes) is not None)
        y = self.layout.pack(self.q, self.v, self.impulse)
        start = Start(self.system, law, self.layout, self.t, y)
        kind = SpatialStretch if isinstance(law, SpatialLaw) else Stretch
        ended = integrate(start, self.options, self._limits(), kind)
        self._record(ended, modes, num_solutions)
        return ended.trouble

    def _last(self, modes: tuple[str, ...]) -> Segment | None:
        """Return the last part, if it is a segment with these modes."""
        last = self.parts[-1] if self.parts else None
        return last if isinstance(last, Segment) and last.modes == modes else None

    def _limits(self) -> Limits:
        steps = self.options.max_steps - self.num_steps
        return Limits(self.end_time, steps, self._rounding())

    def _record(self, ended: Ended, modes: tuple[str, ...], num_solutions: int = 1) -> None:
        """Keep the record of a segment, and go where it ends."""
        self.num_steps += ended.num_steps
        self.begun.append(self.t)
        if len(ended.coefficients) == 0:
            self.stalls += 1
            return
        self.stalls = 0
        knots, coefficients = ended.knots, ended.coefficients
        last = self._last(modes)
        if last and last.end == self.t and last.num_solutions == num_solutions == 1:
            knots = np.concatenate([last.knots, knots[1:]])
            coefficients = np.concatenate([last.coefficients, coefficients])
            self.parts[-1] = replace(last, knots=knots, coefficients=coefficients)
        else:
            self.parts.append(Segment(knots, coefficients, modes, num_solutions))
        self.t = float(knots[-1])
        self.q, self.v, self.impulse = (np.array(x) for x in self.layout.unpack(ended.y))
