"""Sample exact motions, at random and in search of extremes."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import config

from carom.contact_space import ContactSpace
from carom.kernels import abreast, motions, plans
from carom.kernels.abreast_step import make_lanes
from carom.kernels.slip import ACCURACY
from carom.kernels.stretches import MOST_EVENTS, make_room
from carom.problem import ImpactProblem
from carom.stepping.parallel import (
    Progress,
    Runs,
    empty_results,
    in_parallel,
    rows_of,
    run_chunks,
)
from carom.typing import FloatArray, IntArray

FIRST_NUMBER = 2**44
"""Number of the first motion of the first search; random motions have smaller ones."""

NUM_PER_SEARCH = 2**32

POPULATION = 16
"""Number of plans that a search keeps."""

FEWEST = 8
"""Number of motions below which a search is not worth it, and all motions are random."""

RANKED = 2**17
"""Maximum number of random motions among which a search looks for the best to begin with."""

VECTORS = 16
"""Number of velocities that a loop in vector registers takes at once."""

RECORDED = 2**10
"""Number of straight pieces of a drawn motion for which there is room at once."""

MOST_ROUNDS = 1_000_003
"""Seeds of searches are so many rounds apart."""


class Plans(NamedTuple):
    """Plans of motions; see `carom.kernels.motions`."""

    rows: FloatArray  # (p, stretches, m + 2)
    lengths: IntArray  # (p,)

    @classmethod
    def none(cls, space: ContactSpace) -> Plans:
        """Return no plans."""
        shape = 0, plans.LONGEST, space.num_contacts + motions.EXTRA
        return cls(np.empty(shape), np.empty(0, np.int64))

    @classmethod
    def joined(cls, *parts: Plans) -> Plans:
        """Return the plans of several parts, without empty ones."""
        rows = np.concatenate([each.rows for each in parts])
        lengths = np.concatenate([each.lengths for each in parts])
        return cls(rows[lengths > 0], lengths[lengths > 0])

    @classmethod
    def of_motions(cls, space: ContactSpace, start: FloatArray, given: list[FloatArray]) -> Plans:
        """Return plans that lead along motions, given by the impulses (n, c) of their stretches."""
        m, width = space.num_contacts, space.width
        rows = np.zeros((len(given), plans.LONGEST, m + motions.EXTRA))
        lengths = np.zeros(len(given), np.int64)
        for k, impulses in enumerate(given):
            own = impulses[impulses[:, ::width].max(axis=1) > 0.0][: plans.LONGEST]
            changes = own @ space.A
            before = start + np.cumsum(changes, axis=0) - changes
            rates = own[:, ::width]
            n, dn = before[:, ::width], changes[:, ::width]
            # How many times as far the first contact that acts would stop.
            stops = (rates > 0.0) & (n < 0.0) & (dn > 0.0)
            times = np.where(stops, -n / np.where(stops, dn, 1.0), np.inf).min(axis=1)
            size = np.abs(before).max(axis=1) / np.abs(changes).max(axis=1)
            times = np.where(np.isfinite(times), times, size)
            rows[k, : len(own), :m] = rates / rates.max(axis=1, keepdims=True)
            rows[k, : len(own), m] = np.minimum(1.0 / np.maximum(times, 1e-12), 1.0)
            lengths[k] = len(own)
        return cls(rows, lengths)


class Population(NamedTuple):
    """The best plans of a search, the best first; a length of 0 where there is none yet."""

    rows: FloatArray  # (size, stretches, m + 2)
    lengths: IntArray  # (size,)
    values: FloatArray  # (size,) q . impulse

    @classmethod
    def none(cls, space: ContactSpace, size: int = POPULATION) -> Population:
        """Return no plans, and room for some."""
        shape = size, plans.LONGEST, space.num_contacts + motions.EXTRA
        return cls(np.zeros(shape), np.zeros(size, np.int64), np.full(size, -np.inf))


@dataclass(frozen=True, eq=False)
class MotionSampler:
    """One impact, ready to be run by exact motions.

    Motions are numbered: random ones from 0 to `num_random` - 1, and from there on those of the
    searches, each of which has `num_per_search`. If that is 0, all motions are random, however
    many are run. Motion i of a seed is the same bits whatever is run. In space, motions
    are integrated with an accuracy, as a share of the impact's speed. Motions with more than
    `most_events` events are unfinished. `restitution` (m,) is None for inelastic impacts, whose
    code knows nothing of stored energy.
    """

    space: ContactSpace
    start: FloatArray
    seed: int
    num_random: int
    num_per_search: int = 0
    first: int = 0
    accuracy: float = ACCURACY
    most_events: int = MOST_EVENTS
    restitution: FloatArray | None = None

    @cached_property
    def _padded(self) -> FloatArray:
        """Return A; in the plane with columns of zeros, for loops without remainder."""
        A = self.space.A
        if self.space.width != 2:
            return A
        padded = np.zeros((len(A), -(-len(A) // VECTORS) * VECTORS))
        padded[:, : len(A)] = A
        return padded

    @property
    def _num_logged(self) -> int:
        """Return the number of columns of a log: impulses, and energies after a piece if any."""
        return len(self.start) + (0 if self.restitution is None else len(self.restitution))

    @property
    def objectives(self) -> FloatArray:
        """Return what searches look for (k, c): large contact velocities, tangential ones twice.

        Normal velocities are at least zero, which random motions find by themselves.
        """
        A, width = self.space.A, self.space.width
        normal = np.arange(len(A)) % width == 0
        every = np.vstack([A, -A[~normal]])
        return every[distinct(every)]

    def run(self, num_samples: int, num_threads: int | None, progress: Progress | None) -> Runs:
        """Run motions from number `first` on: random ones, and then those of the searches."""
        results = empty_results(num_samples, len(self.start))
        count = min(self.num_random, num_samples) if self.num_per_search else num_samples
        self._run_random(rows_of(results, slice(count)), num_threads, progress)
        if count < num_samples:
            self._search(results, num_threads)
            if progress is not None:
                progress(num_samples, num_samples)
        return results

    def draw(self) -> tuple[Runs, FloatArray]:
        """Run random motion 0, and return the impulses of its straight pieces as well."""
        return self._record_random(self.first, RECORDED)

    def draw_end(self) -> Runs:
        """Run random motion 0."""
        results = empty_results(1, len(self.start))
        self._call_random(self.first, *results)
        return results

    def record(self, number: int, num_events: int) -> FloatArray:
        """Run one motion again and return the impulses (pieces, c) of its straight pieces."""
        if not self.num_per_search or number < self.num_random:
            return self._record_random(self.first + number, num_events)[1]
        search, own = divmod(number - self.num_random, self.num_per_search)
        ranked = min(self.num_random, RANKED)
        totals, statuses, _ = results = empty_results(ranked, len(self.start))
        self._run_random(results, None, None)
        q = self.objectives[search]
        log = np.empty((num_events, self._num_logged))
        runs = empty_results(own + 1, len(self.start))
        elite, population = best_motions(totals, statuses, q), Population.none(self.space)
        return log[: self.call_search(search, q, elite, runs, population, log=log)]

    def follow(self, plan: FloatArray, length: int, rows: int = RECORDED) -> FloatArray:
        """Run the motion of a plan, and return the impulses (pieces, c) of its straight pieces."""
        log, none = np.empty((rows, self._num_logged)), Population.none(self.space)
        known = Plans(plan[None], np.array([length]))
        runs, elite = empty_results(0, len(self.start)), np.empty(0, np.int64)
        logged = self.call_search(0, self.objectives[0], elite, runs, none, known, log)
        return log[:logged] if logged < rows else self.follow(plan, length, 2 * rows)

    def _run_random(self, results: Runs, threads: int | None, progress: Progress | None) -> None:
        def run(part: slice) -> None:
            self._call_random(self.first + part.start, *rows_of(results, part))

        run_chunks(run, len(results[0]), threads, progress)

    def _search(self, results: Runs, num_threads: int | None) -> None:
        """Fill the results behind the random motions with those of all searches."""
        totals, statuses, _ = rows_of(results, slice(min(self.num_random, RANKED)))
        objectives, per = self.objectives, self.num_per_search

        def run_search(k: int) -> int:
            part = slice(self.num_random + k * per, self.num_random + (k + 1) * per)
            own = rows_of(results, part)
            elite = best_motions(totals, statuses, objectives[k])
            self.call_search(k, objectives[k], elite, own, Population.none(self.space))
            return k

        for _ in in_parallel(run_search, range(len(objectives)), num_threads):
            pass

    def _record_random(self, number: int, rows: int) -> tuple[Runs, FloatArray]:
        log = np.empty((rows, self._num_logged))
        results = empty_results(1, len(self.start))
        logged = self._call_random(number, *results, log)
        events = int(results[2][0])
        if events > rows:
            return self._record_random(number, events)
        return results, log[:logged]

    def _call_random(
        self,
        first: int,
        totals: FloatArray,
        statuses: IntArray,
        events: IntArray,
        log: FloatArray | None = None,
    ) -> int:
        """Run random motions, numbered from `first` on; return the number of pieces in the log."""
        nobody, known, none = _no_search(self.space.num_contacts)
        return self._run(first, self.start, nobody, none, known, (totals, statuses, events), log)

    def call_search(
        self,
        number: int,
        q: FloatArray,
        elite: IntArray,
        runs: Runs,
        population: Population,
        known: Plans | None = None,
        log: FloatArray | None = None,
    ) -> int:
        """Search for the largest q . impulse, from the random motions `elite` and known plans on.

        Returns the number of straight pieces of the last motion, whose impulses fill the log.
        """
        return self._run(
            FIRST_NUMBER + number * NUM_PER_SEARCH, q, elite, population, known, runs, log
        )

    def _run(
        self,
        first: int,
        q: FloatArray,
        elite: IntArray,
        population: Population,
        known: Plans | None,
        runs: Runs,
        log: FloatArray | None,
    ) -> int:
        logged = np.zeros(1, np.int64)
        m, width, c = self.space.num_contacts, self.space.width, len(self.start)
        rows = np.empty((0, self._num_logged)) if log is None else log
        bounces = self.restitution is not None
        size, columns = len(population.lengths), 2 * c + 2 + bounces * m
        order, states = _unknown_states(columns) if size == 0 else _states(size, columns)
        # Motions of two planar contacts are run side by side.
        is_pair = (m, width) == (2, 2) and not bounces
        room = make_room(m, width, self.accuracy, self.most_events, self.restitution)
        if is_pair:
            given: tuple[Any, ...] = room, make_lanes()
        else:
            plan = np.empty((plans.LONGEST, m + motions.EXTRA))
            given = plan, np.empty((plans.LONGEST, columns)), room
        run = abreast.run if is_pair else plans.run
        # The random numbers wrap around by design; interpreted, NumPy would warn of it.
        is_compiled = not config.DISABLE_JIT  # type: ignore[attr-defined]
        with nullcontext() if is_compiled else np.errstate(all="ignore"):
            run(
                *(self._padded, self.space.mu, self.start, self.seed, first, q, elite),
                *(known or Plans.none(self.space)),
                *population,
                *(order, states, *runs, log is not None, rows, logged),
                *given,
            )
        if size:
            population.rows[:] = population.rows[order]
        return int(logged[0])


def _states(size: int, columns: int) -> tuple[IntArray, FloatArray]:
    """Return the order of a population, and where its motions were, which is not known."""
    return np.arange(size), np.full((size, plans.LONGEST, columns), -1.0)


@cache
def _unknown_states(columns: int) -> tuple[IntArray, FloatArray]:
    """Return those of no population, the same ones every time: a single draw is that short."""
    return _states(0, columns)


@cache
def _no_search(m: int) -> tuple[IntArray, Plans, Population]:
    """Return the empty arrays of random motions of m contacts."""
    shape = 0, plans.LONGEST, m + motions.EXTRA
    none = np.empty(0, np.int64)
    return none, Plans(np.empty(shape), none), Population(np.empty(shape), none, np.empty(0))


def round_seed(seed: int, number: int) -> int:
    """Return the seed of a round of a search: no two rounds, of any searches, have the same."""
    return (seed * MOST_ROUNDS + number) % 2**53


def distinct(rows: FloatArray) -> IntArray:
    """Return the numbers of rows that differ: contacts of one body may have common velocities."""
    size = np.abs(rows).max(axis=1, keepdims=True, initial=1e-300)
    found = np.unique(np.round(rows / size, 9) + 0.0, axis=0, return_index=True)[1]
    return np.sort(found)


def best_motions(totals: FloatArray, statuses: IntArray, q: FloatArray) -> IntArray:
    """Return the numbers of the motions that end with the largest q . impulse, the best first."""
    numbers, values = np.empty(POPULATION, np.int64), np.empty(POPULATION)
    return numbers[: plans.find_best(totals, statuses, q, numbers, values)]


def prepare_motions(
    problem: ImpactProblem, seed: int, num_samples: int, extremes: float
) -> MotionSampler:
    """Prepare to run exact motions, a share of which search for extremes."""
    sampler = MotionSampler(problem.space, problem.start, seed, num_samples)
    if problem.bounces:
        sampler = replace(sampler, restitution=problem.restitution)
    searched = int(extremes * num_samples)
    if searched < FEWEST:
        # One draw has no time to look for what a search would aim at.
        return sampler
    searches = len(sampler.objectives)
    count = searched // searches
    if count < FEWEST:
        return sampler
    return replace(sampler, num_random=num_samples - count * searches, num_per_search=count)
