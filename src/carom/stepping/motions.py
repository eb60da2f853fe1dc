"""Sample exact motions, at random and in search of extremes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels import motions, plans
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

MOST_WRITTEN_OUT = 3
"""Number of planar contacts up to which kernels are compiled for just this number, which is faster.
For more contacts, and in space, one compilation serves all."""

POPULATION = 16
"""Number of plans that a search keeps."""

FEWEST = 8
"""Number of motions below which a search is not worth it, and all motions are random."""

RECORDED = 2**10
"""Number of straight pieces of a drawn motion for which there is room at once."""


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


@dataclass(frozen=True, eq=False)
class MotionSampler:
    """One impact, ready to be run by exact motions.

    Motions are numbered: random ones from 0 to `num_random` - 1, and from there on those of the
    searches, each of which has `num_per_search`. If that is 0, all motions are random, however
    many are run. Motion i of a seed is the same bits whatever is run.
    """

    space: ContactSpace
    start: FloatArray
    seed: int
    num_random: int
    num_per_search: int = 0
    first: int = 0

    @property
    def objectives(self) -> FloatArray:
        """Return what searches look for (k, c): large contact velocities, tangential ones twice.

        Normal velocities are at least zero, which random motions find by themselves.
        """
        A, width = self.space.A, self.space.width
        normal = np.arange(len(A)) % width == 0
        return np.vstack([A, -A[~normal]])

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

    def record(self, number: int, num_events: int) -> FloatArray:
        """Run one motion again and return the impulses (pieces, c) of its straight pieces."""
        if not self.num_per_search or number < self.num_random:
            return self._record_random(self.first + number, num_events)[1]
        search, own = divmod(number - self.num_random, self.num_per_search)
        totals, statuses, _ = results = empty_results(self.num_random, len(self.start))
        self._run_random(results, None, None)
        q = self.objectives[search]
        log = np.empty((num_events, len(self.start)))
        runs = empty_results(own + 1, len(self.start))
        logged = self.call_search(search, q, best_motions(totals, statuses, q), runs, log)
        return log[:logged]

    def _run_random(self, results: Runs, threads: int | None, progress: Progress | None) -> None:
        def run(part: slice) -> None:
            self._call_random(self.first + part.start, *rows_of(results, part))

        run_chunks(run, len(results[0]), threads, progress)

    def _search(self, results: Runs, num_threads: int | None) -> None:
        """Fill the results behind the random motions with those of all searches."""
        totals, statuses, _ = rows_of(results, slice(self.num_random))
        objectives, per = self.objectives, self.num_per_search

        def run_search(k: int) -> int:
            part = slice(self.num_random + k * per, self.num_random + (k + 1) * per)
            own = rows_of(results, part)
            elite = best_motions(totals, statuses, objectives[k])
            self.call_search(k, objectives[k], elite, own)
            return k

        for _ in in_parallel(run_search, range(len(objectives)), num_threads):
            pass

    def _record_random(self, number: int, rows: int) -> tuple[Runs, FloatArray]:
        log = np.empty((rows, len(self.start)))
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
        logged = np.zeros(1, np.int64)
        log = np.empty((0, len(self.start))) if log is None else log
        known = self.space.A, self.space.mu, self.start, self.seed, first
        # The random numbers wrap around by design; interpreted, NumPy would warn of it.
        with np.errstate(over="ignore"):
            motions.run_random(*known, totals, statuses, events, log, logged, *sizes(self.space))
        return int(logged[0])

    def call_search(
        self,
        number: int,
        q: FloatArray,
        elite: IntArray,
        runs: Runs,
        log: FloatArray | None = None,
        plans_known: Plans | None = None,
    ) -> int:
        """Search for the largest q . impulse, from the random motions `elite` and known plans on.

        Returns the number of straight pieces of the last motion, whose impulses fill the log.
        """
        logged = np.zeros(1, np.int64)
        known = self.space.A, self.space.mu, self.start, self.seed, number, q, elite
        rows, lengths = plans_known or Plans.none(self.space)
        own = np.empty((0, len(self.start))) if log is None else log
        with np.errstate(over="ignore"):
            plans.search(
                *known,
                *(rows, lengths, POPULATION),
                *runs,
                *(log is not None, own, logged),
                *sizes(self.space),
            )
        return int(logged[0])


def best_motions(totals: FloatArray, statuses: IntArray, q: FloatArray) -> IntArray:
    """Return the numbers of the motions with the largest q . impulse, the best first."""
    values = np.where(statuses == motions.FINISHED, totals @ q, -np.inf)
    count = min(POPULATION, len(values))
    found = np.argpartition(-values, count - 1)[:count]
    # By number where values are equal, so that the order is the same everywhere.
    return found[np.lexsort((found, -values[found]))]


def sizes(space: ContactSpace) -> tuple[tuple[int, ...], tuple[int, ...] | IntArray]:
    """Return the width of a contact and the number of contacts, as kernels expect them."""
    m, width = space.num_contacts, (0,) * space.width
    is_small = space.width == 2 and m <= MOST_WRITTEN_OUT
    return width, (0,) * m if is_small else np.zeros(m, np.int8)


def prepare_motions(
    problem: ImpactProblem, seed: int, num_samples: int, extremes: float
) -> MotionSampler:
    """Prepare to run exact motions, a share of which search for extremes."""
    sampler = MotionSampler(problem.space, problem.start, seed, num_samples)
    searches = len(sampler.objectives)
    count = int(extremes * num_samples) // searches
    if count < FEWEST:
        return sampler
    return replace(sampler, num_random=num_samples - count * searches, num_per_search=count)
