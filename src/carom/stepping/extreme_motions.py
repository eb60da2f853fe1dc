"""Find motions whose impulse goes as far as possible in given directions.

Rounds of random motions, and of searches that change the best of them, give motions with good
words of cells. In the plane, linear programs then find the best motion of each word and of
neighbouring words, which goes much further. Every motion found is exact, and can be replayed.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels.motions import FINISHED
from carom.stepping.motions import MotionSampler, Plans, best_motions
from carom.stepping.parallel import available_cores, empty_results, in_parallel
from carom.stepping.replay import replay
from carom.stepping.symmetry import symmetries
from carom.stepping.word_search import improve
from carom.stepping.words import approaching, cells_of_path, polish
from carom.typing import FloatArray, IntArray

NUM_RANDOM = 2**13
"""Number of random motions of one round, if there is time."""

NUM_SEARCHED = 2**11
"""Number of motions of one search, in the first round; later ones have up to 4 times as many."""

MOST_DOUBLINGS = 2

FEWEST = 16
"""The least number of both."""

TIMED = 32
"""Number of motions that are timed."""

LONGEST_TIMING = 0.02
"""Time after which no more motions are timed [s]."""

SHARE_OF_ROUND = 0.15
"""Share of the time left that the random motions of a round may take, and its searches likewise."""

NUM_POLISHED = 6
"""Number of motions of each search whose words are tried."""

LONGEST_WORD = 80
"""Maximum number of cells of a word that is polished: longer ones take seconds each."""

LONGEST_CLIMB = 0.5
"""Time that goes to words around a new best one [s]."""

GAIN = 1e-3
"""Share of the largest conceivable value that a round has to gain, or it was in vain."""

PATIENCE = 3
"""Number of rounds in vain after which the search ends."""

SMALL = 1e-12
"""Relative gain below which a motion is not better than another."""

LEGAL = 1e-9
"""Tolerance of the replay in the plane, where motions have no error but rounding."""

LEGAL_IN_SPACE = 1e-6
"""The same in space, where slip is integrated."""


@dataclass(frozen=True, eq=False)
class Motion:
    """A legal motion, and its value."""

    value: float  # q . impulse
    impulses: FloatArray  # (n, c) dimensionless, of straight stretches


@dataclass(eq=False)
class ExtremeSearch:
    """The best motions so far, one per objective."""

    space: ContactSpace
    start: FloatArray
    objectives: FloatArray  # (k, c): maximize q . impulse
    seed: int = 0
    num_threads: int | None = None
    num_rounds: int = 0
    num_motions: int = 0
    best: list[Motion | None] = field(default_factory=list)
    seen: set[tuple[int, bytes]] = field(default_factory=set)  # words that were polished

    def __post_init__(self) -> None:
        self._known = Plans.none(self.space)
        self._lock = threading.Lock()
        self.best = [None] * len(self.objectives)

    def warm_up(self) -> None:
        """Compile what is needed, so that it does not count as time of the search."""
        sampler = MotionSampler(self.space, self.start, self.seed, 1, 1)
        totals, statuses, _ = sampler.run(1, 1, None)
        q = self.objectives[0]
        runs = empty_results(1, len(self.start))
        sampler.call_search(0, q, best_motions(totals, statuses, q), runs)

    def run(self, deadline: float, max_rounds: int = 2**31) -> None:
        """Search until rounds are in vain or the time is up; random motions are tried anyway."""
        idle = 0
        scale = np.linalg.norm(self.objectives, axis=1)
        while idle < PATIENCE and self.num_rounds < max_rounds:
            before = self.values
            self._round(deadline)
            self._exchange(deadline)
            idle = 0 if (self.values > before + GAIN * scale).any() else idle + 1
            if time.monotonic() > deadline:
                return

    @property
    def motions(self) -> list[Motion] | None:
        """Return the best motions, or None if none was found that ends."""
        found = [each for each in self.best if each is not None]
        return found if len(found) == len(self.best) else None

    @property
    def values(self) -> FloatArray:
        """Return the best values (k,) so far."""
        return np.array([-np.inf if each is None else each.value for each in self.best])

    def _round(self, deadline: float) -> None:
        count = NUM_SEARCHED * 2 ** min(self.num_rounds, MOST_DOUBLINGS)
        room = SHARE_OF_ROUND * (deadline - time.monotonic()) / self._seconds_per_motion
        num_random = _between(room, NUM_RANDOM)
        num_searched = _between(room / len(self.objectives), count)
        # Random motions differ from round to round by their seed.
        seed = self.seed + self.num_rounds
        sampler = MotionSampler(self.space, self.start, seed, num_random, num_searched)
        totals, statuses, events = sampler.run(num_random, self.num_threads, None)
        best = [each.impulses for each in self.best if each is not None]
        # In space a motion has hundreds of short pieces, which make no plan.
        self._known = Plans.of_motions(
            self.space, self.start, best if self.space.width == 2 else []
        )
        if not self.num_rounds:
            # Only now: searches begin with these motions anyway, and shall vary their own plans.
            self._keep_random(sampler, totals, statuses, events)

        def search(k: int) -> int:
            if time.monotonic() > deadline:
                return k
            elite = best_motions(totals, statuses, self.objectives[k])
            # Each search has its share of the time left, so that long words starve no other.
            threads = self.num_threads or available_cores()
            left = deadline - (now := time.monotonic())
            share = min(threads / (len(self.objectives) - k), 1.0)
            self._search(k, sampler, elite, now + share * left)
            return k

        for _ in in_parallel(search, range(len(self.objectives)), self.num_threads):
            pass
        self.num_motions += num_random + num_searched * len(self.objectives)
        self.num_rounds += 1

    def _keep_random(
        self, sampler: MotionSampler, totals: FloatArray, statuses: IntArray, events: IntArray
    ) -> None:
        """Keep the best random motion of each objective, so that there is one in any case."""
        for k, q in enumerate(self.objectives):
            before = self.best[k]
            for number in best_motions(totals, statuses, q):
                if statuses[number] == FINISHED and self.best[k] is before:
                    self._keep(sampler.record(int(number), int(events[number])))

    @cached_property
    def _seconds_per_motion(self) -> float:
        """Return how long a motion takes, on all threads."""
        threads = self.num_threads or available_cores()
        # Some motions have thousands of events: do not wait for many of them.
        for count in (4, TIMED):
            sampler = MotionSampler(self.space, self.start, self.seed, count)
            begin = time.monotonic()
            sampler.run(count, 1, None)
            seconds = max(time.monotonic() - begin, 1e-6)
            if seconds > LONGEST_TIMING:
                break
        return seconds / count / threads

    def _search(self, k: int, sampler: MotionSampler, elite: IntArray, deadline: float) -> None:
        """Run one search, and polish the words of its best motions."""
        q, c = self.objectives[k], len(self.start)
        before = self.values[k]
        # The rest is for words around the best one.
        halfway = 0.5 * (time.monotonic() + deadline)
        runs = empty_results(sampler.num_per_search, c)
        sampler.call_search(k, q, elite, runs, plans_known=self._known)
        values = np.where(runs[1] == FINISHED, runs[0] @ q, -np.inf)
        for number in _distinct(values, NUM_POLISHED if self.space.width == 2 else 1):
            log = np.empty((int(runs[2][number]), c))
            again = empty_results(number + 1, c)
            motion = log[: sampler.call_search(k, q, elite, again, log, self._known)]
            self._keep(motion)
            self._polish(k, motion, deadline)
            if time.monotonic() > halfway:
                break
        best = self.best[k]
        now = time.monotonic()
        is_new = best is not None and (best.value > before or not self.num_rounds)
        if self.space.width == 2 and best is not None and is_new and now < deadline:
            end = min(deadline, now + LONGEST_CLIMB)
            word = improve(self.space, self.start, best.impulses, q, end)
            if word is not None:
                self._keep(word.impulses)

    def _polish(self, k: int, motion: FloatArray, deadline: float) -> None:
        """Find the best motion of the word of a planar motion, unless that is done already."""
        if self.space.width != 2 or time.monotonic() > deadline:
            return
        cells = cells_of_path(self.space, self.start, motion)
        cells = cells[approaching(cells)]
        if len(cells) > LONGEST_WORD or (k, cells.tobytes()) in self.seen:
            return
        self.seen.add((k, cells.tobytes()))
        word = polish(self.space, self.start, cells, self.objectives[k], deadline)
        if word is not None:
            self._keep(word.impulses)

    def _exchange(self, deadline: float) -> None:
        """Try the words of the best motions for all objectives."""
        for motion in self.best:
            for k in range(len(self.objectives)):
                if motion is None:
                    break
                self._polish(k, motion.impulses, deadline)

    def _keep(self, impulses: FloatArray) -> None:
        """Keep a motion, and its images under symmetries, wherever it is the best."""
        is_legal: bool | None = None
        for matrix in self._symmetries:
            values = self.objectives @ (matrix @ impulses.sum(axis=0))
            for k in np.flatnonzero(values > self.values + SMALL * np.abs(values)):
                if is_legal is None:
                    tolerance = LEGAL if self.space.width == 2 else LEGAL_IN_SPACE
                    is_legal = not replay(self.space, self.start, impulses, tolerance)
                if not is_legal:
                    return
                motion = Motion(float(values[k]), impulses @ matrix.T)
                with self._lock:
                    best = self.best[k]
                    self.best[k] = motion if best is None or best.value < motion.value else best

    @cached_property
    def _symmetries(self) -> list[FloatArray]:
        return symmetries(self.space, self.start)


def _between(number: float, most: int) -> int:
    return int(min(max(number, FEWEST), most))


def _distinct(values: FloatArray, count: int) -> list[int]:
    """Return the numbers of the best motions whose values differ, the best first."""
    order = np.argsort(-values, kind="stable")
    order = order[np.isfinite(values[order])]
    found: list[int] = []
    for number in order[: 64 * count]:
        if not found or values[found[-1]] - values[number] > 1e-3 * abs(values[number]):
            found.append(int(number))
        if len(found) == count:
            break
    return found
