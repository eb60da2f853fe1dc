"""Find motions whose impulse goes as far as possible in given directions.

Rounds of random motions, and of searches that change the best of them, give motions with good
words of cells. In the plane, linear programs then find the best motion of each word and of
neighbouring words, which goes much further. Every motion found is exact, and can be replayed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels.motions import FINISHED
from carom.stepping.motions import MotionSampler, best_motions
from carom.stepping.parallel import empty_results, in_parallel
from carom.stepping.replay import replay
from carom.stepping.word_search import improve
from carom.stepping.words import approaching, cells_of_path, polish
from carom.typing import FloatArray, IntArray

NUM_RANDOM = 2**13
"""Number of random motions of one round."""

NUM_SEARCHED = 2**11
"""Number of motions of one search, in the first round; later ones have up to 16 times as many."""

MOST_DOUBLINGS = 2

NUM_POLISHED = 4
"""Number of motions of each search whose words are tried."""

LONGEST_CLIMB = 0.5
"""Time that goes to words around a new best one [s]."""

GAIN = 1e-3
"""Share of the largest conceivable value that a round has to gain, or it was in vain."""

PATIENCE = 3
"""Number of rounds in vain after which the search ends."""

LEGAL = 1e-9
"""Tolerance of the replay in the plane, where motions have no error but rounding."""

LEGAL_IN_SPACE = 1e-3
"""The same in space, where slip turns along a stretch that replay takes to be straight."""


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
        self.best = [None] * len(self.objectives)

    def run(self, deadline: float, max_rounds: int = 2**31) -> None:
        """Search until rounds are in vain or the time is up, with one round at least."""
        idle = 0
        scale = np.linalg.norm(self.objectives, axis=1)
        while idle < PATIENCE and self.num_rounds < max_rounds:
            before = self.values
            self._round(deadline)
            self._exchange(deadline)
            gained = self.values - before
            idle = 0 if (gained > GAIN * scale).any() else idle + 1
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
        # Random motions differ from round to round by their seed.
        sampler = MotionSampler(
            self.space, self.start, self.seed + self.num_rounds, NUM_RANDOM, count
        )
        totals, statuses, _ = sampler.run(NUM_RANDOM, self.num_threads, None)

        def search(k: int) -> int:
            if self.num_rounds and time.monotonic() > deadline:
                return k
            elite = best_motions(totals, statuses, self.objectives[k])
            self._search(k, sampler, elite, deadline)
            return k

        for _ in in_parallel(search, range(len(self.objectives)), self.num_threads):
            pass
        self.num_motions += NUM_RANDOM + count * len(self.objectives)
        self.num_rounds += 1

    def _search(self, k: int, sampler: MotionSampler, elite: IntArray, deadline: float) -> None:
        """Run one search, and polish the words of its best motions."""
        q, c = self.objectives[k], len(self.start)
        before = self.values[k]
        runs = empty_results(sampler.num_per_search, c)
        sampler.call_search(k, q, elite, runs)
        values = np.where(runs[1] == FINISHED, runs[0] @ q, -np.inf)
        for number in _distinct(values, NUM_POLISHED if self.space.width == 2 else 1):
            log = np.empty((int(runs[2][number]), c))
            again = empty_results(number + 1, c)
            motion = log[: sampler.call_search(k, q, elite, again, log)]
            self._keep(k, motion)
            self._polish(k, motion)
            if time.monotonic() > deadline:
                return
        best = self.best[k]
        if self.space.width == 2 and best is not None and best.value > before:
            end = min(deadline, time.monotonic() + LONGEST_CLIMB)
            word = improve(self.space, self.start, best.impulses, q, end)
            if word is not None:
                self._keep(k, word.impulses)

    def _polish(self, k: int, motion: FloatArray) -> None:
        """Find the best motion of the word of a planar motion, unless that is done already."""
        if self.space.width != 2:
            return
        cells = cells_of_path(self.space, self.start, motion)
        cells = cells[approaching(cells)]
        if (k, cells.tobytes()) in self.seen:
            return
        self.seen.add((k, cells.tobytes()))
        word = polish(self.space, self.start, cells, self.objectives[k])
        if word is not None:
            self._keep(k, word.impulses)

    def _exchange(self, deadline: float) -> None:
        """Try the words of the best motions for all objectives."""
        for motion in self.best:
            for k in range(len(self.objectives)):
                if motion is None or time.monotonic() > deadline:
                    return
                self._polish(k, motion.impulses)

    def _keep(self, k: int, impulses: FloatArray) -> None:
        """Keep a motion if it is legal and the best."""
        value = float(self.objectives[k] @ impulses.sum(axis=0))
        best = self.best[k]
        if best is not None and value <= best.value:
            return
        tolerance = LEGAL if self.space.width == 2 else LEGAL_IN_SPACE
        if not replay(self.space, self.start, impulses, tolerance):
            self.best[k] = Motion(value, impulses)


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
