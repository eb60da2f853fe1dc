"""Start an impact at contacts that rest, where nothing collides.

A sliding contact with J_n v = 0 may have no finite force that keeps it from being driven in, as in
Painlevé's paradox. An impact then happens without a collision: contacts at rest begin to act, some
are driven into the surface, and from there on it is an impact as any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, final

import numpy as np

from carom.contact_space import ContactSpace
from carom.errors import ImpactNotResolved
from carom.kernels import draws, paths
from carom.kernels.modes import read_modes
from carom.kernels.tolerances import COLLIDING, DISTINCT, MATCH, VANISHING
from carom.stepping.lcp import solve_often, step_lcp
from carom.stepping.parallel import Progress, Runs, empty_results
from carom.stepping.pieces import can_try_all_modes, distinct_rows, modes_and_impulses
from carom.stepping.sampler import Sampler
from carom.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem

FIRST_STEP = 1e-3
"""Largest dimensionless cap of the step that tells how contacts can begin to act. Small, because
friction of the step's end acts during all of it."""

SMALLEST_STEP = 1e-7  # smallest such cap: what the step does must be seen beside `COLLIDING`

SHARES = (0.125, 0.5, 1.0)
"""Lengths of the first step, as shares of how far the motion is straight. From a state that is
within a step of rest, samples could end where they began: steps mistake what is closer than their
size."""

MOST_SUBSETS = 5  # maximum number of contacts at rest of which every subset is tried

NUM_TRIALS = 64
"""Covering vectors of Lemke's algorithm, where contacts have too many modes to try them all."""

NUM_DRAWN = 2**32
"""Number of samples of one first step whose draws differ from those of every other."""


def nothing_acts(problem: ImpactProblem) -> ImpactNotResolved:
    """Return the error to raise where no contact at rest can act."""
    return ImpactNotResolved(
        "by this law no contact at rest can be driven into an impact here: leave out "
        "without_collision, and the velocity stays as it is",
        problem,
    )


def change_velocity(space: ContactSpace, impulses: FloatArray) -> BoolArray:
    """Return which dimensionless impulses (n, c) change the velocity.

    Contacts that depend on each other may press against each other and change nothing.
    """
    return np.asarray(np.abs(impulses @ space.A).max(axis=1, initial=0.0) > DISTINCT)


@dataclass(frozen=True, eq=False)
class FirstSteps:
    """The ways in which contacts at rest can begin to act, dimensionless."""

    v_c: FloatArray  # (n, c) contact velocities after the step
    impulses: FloatArray  # (n, c)
    caps: FloatArray  # (n, m) on its normal impulses; 0 where a contact is left out
    modes: IntArray  # (n, m) numbers of the contacts' modes

    def __len__(self) -> int:
        return len(self.v_c)

    @classmethod
    def find(cls, space: ContactSpace, v_c: FloatArray) -> FirstSteps:
        """Solve a small capped step for subsets of the contacts at rest, and follow it on."""
        # Magnified, so that tolerances see a small step as they see any other.
        scale = FIRST_STEP / _first_cap(space, v_c)
        impulses, caps = [np.empty((0, len(v_c)))], [np.empty((0, space.num_contacts))]
        rest = np.flatnonzero(v_c[:: space.width] == 0.0)
        sizes = range(1, len(rest) + 1) if len(rest) <= MOST_SUBSETS else (1, len(rest))
        for subset in chain.from_iterable(combinations(rest, size) for size in sizes):
            acting = np.isin(np.arange(space.num_contacts), subset)
            own = np.repeat(acting, space.width)
            # A contact with the cap 0 cannot act, and is as if it were not there.
            limits = np.full(len(subset), FIRST_STEP)
            solutions = _solutions(space.part(subset), scale * v_c[own], limits)
            spread = np.zeros((len(solutions), len(v_c)))
            spread[:, own] = solutions
            impulses.append(spread)
            caps.append(np.tile(FIRST_STEP * acting, (len(solutions), 1)))
        found = np.concatenate(impulses)
        moving = np.flatnonzero(change_velocity(space, found))
        kept = moving[distinct_rows(found[moving] @ space.A, DISTINCT)]
        return cls._follow(space, v_c, found[kept] / scale, np.concatenate(caps)[kept] / scale)

    @classmethod
    def _follow(
        cls, space: ContactSpace, v_c: FloatArray, impulses: FloatArray, caps: FloatArray
    ) -> FirstSteps:
        """Go on straight from small steps, for some shares of how far that leads."""
        before = np.concatenate([v_c, np.zeros(space.num_contacts)])
        rows: list[tuple[FloatArray, FloatArray, FloatArray, IntArray]] = []
        for impulse, own_caps in zip(impulses, caps, strict=True):
            modes = np.zeros(space.num_contacts, np.int64)
            read_modes(space.A, space.directions, before, impulse, modes)
            length = _straight(space, v_c, impulse)
            for share in np.unique(np.maximum(1.0, length * np.array(SHARES))):
                after = v_c + share * (space.A @ impulse)
                after = np.where(np.abs(after) < COLLIDING, 0.0, after)
                rows.append((after, share * impulse, share * own_caps, modes))
        if not rows:
            return cls(impulses, impulses, caps, caps.astype(np.int64))
        return cls(*(np.array(column) for column in zip(*rows, strict=True)))


def _solutions(space: ContactSpace, v_c: FloatArray, caps: FloatArray) -> FloatArray:
    """Return the impulses (n, c) of all solutions of a capped step, or of those that are found."""
    if can_try_all_modes(space, capped=True):
        return modes_and_impulses(space, v_c, caps)[1]
    blocks = v_c.reshape(space.num_contacts, space.width)
    lcp = step_lcp(space.A, space.mu, space.directions, blocks, caps)
    coverings = np.random.default_rng(0).uniform(0.1, 1.1, (NUM_TRIALS, len(lcp.w)))
    return solve_often(lcp, coverings)[0]


def _first_cap(space: ContactSpace, v_c: FloatArray) -> float:
    """Return a cap so small that no contact stops to slide within a step, if that can be."""
    blocks = v_c.reshape(space.num_contacts, space.width)
    slip = np.linalg.norm(blocks[:, 1:], axis=1)
    size = np.abs(space.A).reshape(*blocks.shape, *blocks.shape)[:, 1:]
    change = (size[..., 0] + space.mu * size[..., 1:].sum(axis=-1)).sum(axis=(1, 2))
    slides = (blocks[:, 0] == 0.0) & (slip > 0.0) & (change > 0.0)
    shortest = float((0.5 * slip[slides] / change[slides]).min(initial=FIRST_STEP))
    return max(shortest, SMALLEST_STEP)


def _straight(space: ContactSpace, v_c: FloatArray, impulse: FloatArray) -> float:
    """Return how many times a step can be repeated until friction turns at a contact that acts.

    Normal velocities start from zero and keep their signs meanwhile. Energy falls all the way, so
    that it does not go on for ever. If friction turns within the step, that is done once.
    """
    after = v_c + space.A @ impulse
    length = np.inf
    for first in range(0, len(v_c), space.width):
        tangent = slice(first + 1, first + space.width)
        if impulse[first] <= MATCH or np.abs([v_c[tangent], after[tangent]]).max() < COLLIDING:
            continue
        along = space.directions @ after[tangent]
        # By how much friction opposes slip better than it would along each other direction.
        lead = space.directions @ v_c[tangent]
        lead = lead - lead[along.argmin()]
        loss = lead - (along - along.min())
        if lead.min() < -COLLIDING or np.abs(after[tangent]).max() < COLLIDING:
            return 1.0
        turning = loss > VANISHING
        length = min(length, float((lead[turning] / loss[turning]).min(initial=np.inf)))
    return length if np.isfinite(length) else 1.0


@final
@dataclass(frozen=True, eq=False)
class StartedSampler:
    """Samples that begin with one of the first steps, and go on as any others.

    Sample i begins with first step (i + shift) mod n, whatever the number of samples.
    """

    steps: FirstSteps
    samplers: tuple[Sampler, ...]
    shift: int

    @classmethod
    def prepare(cls, problem: ImpactProblem, rule: paths.Rule, num_samples: int) -> StartedSampler:
        """Find the first steps, and prepare the kernels to go on from each."""
        space = problem.space
        steps = FirstSteps.find(space, rule.v_c)
        if not len(steps):
            raise nothing_acts(problem)
        colliding = (steps.v_c[:, :: space.width] < -COLLIDING).any(axis=1)
        # One table serves all; what it holds must have been met in an impact under way.
        typical = rule._replace(v_c=steps.v_c[int(colliding.argmax())])
        table = Sampler.prepare(space, typical, num_samples)
        shift = rule.seed % len(steps)
        samplers = []
        for k, v_c in enumerate(steps.v_c):
            points = np.ascontiguousarray(rule.points[(k - shift) % len(steps) :: len(steps)])
            own = rule._replace(v_c=v_c, points=points)
            number = 0 if rule.draw == draws.POINTS else k * NUM_DRAWN
            samplers.append(Sampler(space, own, table.table, table.singles, number))
        return cls(steps, tuple(samplers), shift)

    def run(self, num_samples: int, num_threads: int | None, progress: Progress | None) -> Runs:
        """Run samples."""
        totals, statuses, steps = empty_results(num_samples, self.steps.v_c.shape[1])
        done = 0
        for k, sampler in enumerate(self.samplers):
            own = slice((k - self.shift) % len(self.steps), num_samples, len(self.steps))
            count = len(statuses[own])
            if count:
                totals[own], statuses[own], steps[own] = sampler.run(count, num_threads, None)
                totals[own] += self.steps.impulses[k]
            done += count
            if progress is not None:
                progress(done, num_samples)
        return totals, statuses, steps + 1

    def draw(self) -> tuple[Runs, FloatArray]:
        """Run the first sample, and return what its first steps did as well."""
        (totals, statuses, steps), rest = self.samplers[self.shift].draw()
        totals += self.steps.impulses[self.shift]
        return (totals, statuses, steps + 1), np.vstack([self._first(self.shift), rest])

    def record(self, sample: int, num_steps: int) -> FloatArray:
        """Run one sample again and return what each step did; see `carom.kernels.paths`."""
        k = (sample + self.shift) % len(self.steps)
        rest = self.samplers[k].record(sample // len(self.steps), num_steps - 1)
        return np.vstack([self._first(k), rest])

    def _first(self, k: int) -> FloatArray:
        """Return what first step k does."""
        steps = self.steps
        row = (steps.v_c[k], steps.impulses[k], steps.caps[k], steps.modes[k], [-1.0])
        return np.concatenate(row)


def prepare_sampler(
    problem: ImpactProblem, rule: paths.Rule, num_samples: int
) -> Sampler | StartedSampler:
    """Prepare to sample an impact, whether it starts by a collision or at contacts at rest."""
    if problem.starts_at_rest:
        return StartedSampler.prepare(problem, rule, num_samples)
    return Sampler.prepare(problem.space, rule, num_samples)
