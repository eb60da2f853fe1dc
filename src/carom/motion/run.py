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

from carom.errors import ImpactNotResolved, InvalidProblem
from carom.impact.law import ImpactLaw, check_integer
from carom.motion.choice import Moment, ways_on
from carom.motion.events import GAP_ROUNDING, accumulation
from carom.motion.parts import DEGREE, Impact, Layout, Segment
from carom.motion.stretch import METHODS, Integrator, Stretch
from carom.motion.sustained import FREE, NAMES, SMOOTH, STICKING, ContactLaw
from carom.systems.system import Dynamics, System
from carom.typing import ArrayLike, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from carom.outcomes.path import ImpactPath

STILL = 1e-8
"""Contact velocities below this share of the terms that they are the sum of count as rest."""

SLOW = 1e-6
"""The same where slip would be a paradox that no impact resolves."""

LEAST_HOP = 5.0
"""A contact that parts stays at rest if it would come back from no higher than so many roundings
of its gap."""

MOST_STALLS = 20
"""So many segments in a row without any progress end a motion."""


@dataclass(frozen=True)
class Options:
    """Settings of `simulate`, checked."""

    method: str
    rtol: float
    atol: float
    gap_tolerance: float
    rest_speed: float
    zeno_time: float
    max_impacts: int
    max_steps: int
    max_step: float

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InvalidProblem(
                f"method: expected one of {', '.join(METHODS)}, got {self.method!r}"
            )
        if not self.max_step > 0.0:
            raise InvalidProblem(f"max_step: expected a number > 0, got {self.max_step!r}")
        for name in ("rtol", "atol", "gap_tolerance", "rest_speed", "zeno_time"):
            value = getattr(self, name)
            if not (is_number(value) and value > 0.0):
                raise InvalidProblem(f"{name}: expected a number > 0, got {value!r}")
        check_integer("max_impacts", self.max_impacts, 1)
        check_integer("max_steps", self.max_steps, 1)

    @property
    def integrator(self) -> Integrator:
        """Return what a stretch of smooth motion needs."""
        return Integrator(self.method, self.rtol, self.atol, self.max_step)


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
        self.q = _vector("q", q, system.nq)
        self.v = _vector("v", v, system.nv)
        self.end_time = self.t + self.duration
        self.mu = system.mu
        m = len(system.contacts)
        self.layout = Layout(system.nq, system.nv, m)
        self.impulse = np.zeros((m, 2))
        self.recent: list[tuple[float, FloatArray, tuple[str, ...]]] = []
        here = system.dynamics(self.q, self.v, self.t)
        _check_inertia(here.M)
        if here.J_t.shape[1] != 1:
            raise InvalidProblem(
                f"system: expected planar contacts, got {here.J_t.shape[1]} tangents each; "
                f"simulate moves planar systems, impacts in space are resolved by a law alone"
            )
        deepest = int(np.argmin(here.phi)) if m else 0
        if m and here.phi[deepest] < -self.options.gap_tolerance:
            raise InvalidProblem(
                f"q: expected no penetration, got contact {system.contacts[deepest]!r} with a gap "
                f"of {here.phi[deepest]:.3g} m; move it apart"
            )

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
                    self._hit("collision")
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
        problem = self.system.impact_problem(self.q, self.v, self.options.gap_tolerance)
        return bool(problem.is_colliding(self.v))

    def _draw_seed(self) -> int:
        self.num_draws += 1
        return int(np.random.default_rng([self.seed, self.num_draws]).integers(2**53))

    def _hit(self, kind: str) -> None:
        """Resolve an impact and take one of its outcomes."""
        problem = self.system.impact_problem(
            self.q,
            self.v,
            self.options.gap_tolerance,
            without_collision=kind == "without collision",
        )
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
        energy = [self.system.energy(self.q, v) for v in (self.v, path.v[-1])]
        self.parts.append(
            Impact(
                kind,
                self.t,
                0.0,
                problem.contacts,
                np.array([self.q, self.q]),
                path.v,
                impulse,
                np.array(energy),
                path.modes,
            )
        )
        self.v = np.array(path.v[-1])
        self.impulse = impulse[-1]
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
        modes = np.array([int(name in names) for name in self.system.contacts])
        here = self.system.dynamics(self.q, self.v, self.t)
        # Those that took turns come to rest together; slip as slow as what is lost ends too.
        law = ContactLaw(np.where(modes, SMOOTH, FREE), self.mu, np.zeros(len(modes), np.bool_))
        v = law.project(here, self.v)
        lost = 10.0 * np.abs(here.J_n @ (v - self.v)).max()
        sticks = (modes > 0) & (np.abs(here.J_t[:, 0] @ v) <= lost) & (self.mu > 0.0)
        law = ContactLaw(np.where(sticks, STICKING, law.modes), self.mu, law.resting)
        v = law.project(here, self.v)
        # Slip goes on meanwhile.
        _, acceleration = law.solve(here, v)
        v = v + duration * acceleration
        q = self.q + duration * self.system.velocity_map(self.q) @ (
            v - 0.5 * duration * acceleration
        )
        share = duration / found.duration
        impulse = np.array([self.impulse, self.impulse + share * found.impulse])
        energy = [self.system.energy(self.q, self.v), self.system.energy(q, v)]
        self.parts.append(
            Impact(
                "accumulation",
                self.t,
                duration,
                tuple(name for name in self.system.contacts if name in names),
                np.array([self.q, q]),
                np.array([self.v, v]),
                impulse,
                np.array(energy),
                (tuple(NAMES[i] for i in law.modes[modes > 0]),),
            )
        )
        self.q, self.v, self.impulse = self._settled(q, law.modes), v, impulse[-1]
        self.t += duration
        self.recent.clear()
        return True

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
            self._hit("without collision")
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


def _check_inertia(M: FloatArray) -> None:
    """Refuse a system in which a motion has no inertia."""
    size = np.sqrt(np.maximum(np.diag(M), 0.0))
    if not size.all():
        which = int(np.flatnonzero(size == 0.0)[0])
        raise InvalidProblem(
            f"system: expected inertia in every velocity, got none in number {which}"
        )
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    if values[0] < 1e-13:
        which = int(np.abs(vectors[:, 0]).argmax())
        raise InvalidProblem(
            f"system: expected a positive definite mass matrix, got one that is singular, most of "
            f"all in velocity number {which}; give bodies mass, or leave out a joint"
        )


def is_number(value: object) -> bool:
    """Tell whether a value is one finite number."""
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def _vector(name: str, value: ArrayLike, size: int) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{name}: expected {size} finite numbers ({error})") from error
    if array.shape != (size,) or not np.isfinite(array).all():
        raise InvalidProblem(f"{name}: expected {size} finite numbers, got shape {array.shape}")
    return array
