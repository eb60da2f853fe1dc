"""Find motions of impacts with restitution whose impulse goes as far as possible.

Rounds of random motions, and of searches that change the plans of the best of them. Where contacts
return energy there are no words of cells, and stretches are no linear programs.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels.motions import FINISHED
from carom.kernels.slip import ACCURACY
from carom.stepping.extreme_motions import (
    EXACT,
    GAIN,
    LEGAL,
    LEGAL_IN_SPACE,
    LONGEST_TIMING,
    MOST_IN_SPACE,
    PATIENCE,
    ROUGH,
    SMALL,
    TIMED,
)
from carom.stepping.motions import (
    MotionSampler,
    Plans,
    Population,
    best_motions,
    distinct,
    round_seed,
)
from carom.stepping.parallel import available_cores, empty_results, in_parallel
from carom.stepping.replay import replay
from carom.typing import FloatArray

NUM_RANDOM = 2**11
"""Number of random motions of one round, if there is time."""

NUM_SEARCHED, MOST_SEARCHED = 2**11, 2**15
"""Number of motions of one search of a round, if there is time, and what it grows to by doubling
after rounds in vain: longer searches come closer to the tops that they climb."""

FEWEST = 16
"""The least number of both."""

SHARE_OF_ROUND = 0.1
"""Share of the time left that the random motions of a round may take, and its searches likewise."""

MIXING = 2
"""In one of so many rounds, searches begin with the plans with which earlier ones ended."""


@dataclass(frozen=True, eq=False)
class Bounced:
    """A legal motion, and its value."""

    value: float  # q . impulse
    impulses: FloatArray  # (n, c) dimensionless, of its stretches
    energies: FloatArray  # (n, m) dimensionless, that contacts can return after each


@dataclass(eq=False)
class BouncingSearch:
    """The best motions so far, one per objective."""

    space: ContactSpace
    start: FloatArray
    restitution: FloatArray
    objectives: FloatArray  # (k, c): maximize q . impulse
    limits: FloatArray  # (k,) that are known not to be exceeded
    seed: int = 0
    num_threads: int | None = None
    num_rounds: int = 0
    num_searched: int = NUM_SEARCHED
    best: list[Bounced | None] = field(default_factory=list)
    _ends: dict[int, Plans] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.best = [None] * len(self.objectives)

    def warm_up(self) -> None:
        """Compile what is needed, so that it does not count as time of the search."""
        sampler = replace(self._sampler(1), most_events=1)
        runs = sampler.run(1, 1, None)
        population = Population.none(self.space)
        elite = best_motions(*runs[:2], self.objectives[0])
        sampler.call_search(
            0, self.objectives[0], elite, empty_results(1, len(self.start)), population
        )

    def run(self, deadline: float) -> None:
        """Search until rounds are in vain or the time is up; random motions are tried anyway."""
        idle, scale = 0, np.linalg.norm(self.objectives, axis=1)
        seconds = self._seconds_per_motion()
        while idle < PATIENCE[self.space.width] + self.num_rounds // 2 and self.open:
            before = self.values
            self._round(deadline, seconds)
            idle = 0 if (self.values > before + GAIN * scale).any() else idle + 1
            if idle:
                self.num_searched = min(2 * self.num_searched, MOST_SEARCHED)
            if time.monotonic() > deadline:
                return

    @property
    def motions(self) -> list[Bounced] | None:
        """Return the best motions, or None if none was found that ends."""
        found = [each for each in self.best if each is not None]
        return found if len(found) == len(self.best) else None

    @property
    def values(self) -> FloatArray:
        """Return the best values (k,) so far."""
        return np.array([-np.inf if each is None else each.value for each in self.best])

    @property
    def open(self) -> list[int]:
        """Return the numbers of the objectives that may still be improved, equal ones once."""
        least = EXACT[self.space.width] * np.linalg.norm(self.objectives, axis=1)
        is_open = self.values < self.limits - least
        return [int(k) for k in distinct(self.objectives) if is_open[k]]

    def _sampler(self, num_random: int) -> MotionSampler:
        seed = round_seed(self.seed, self.num_rounds)
        sampler = MotionSampler(self.space, self.start, seed, num_random)
        sampler = replace(sampler, restitution=self.restitution)
        return replace(sampler, most_events=MOST_IN_SPACE) if self.space.width > 2 else sampler

    def _round(self, deadline: float, seconds: float) -> None:
        room = SHARE_OF_ROUND * (deadline - time.monotonic()) / seconds
        num_random = _between(room, NUM_RANDOM)
        exact = self._sampler(num_random)
        sampler = replace(exact, accuracy=ROUGH)
        totals, statuses, events = sampler.run(num_random, self.num_threads, None)
        for k, q in enumerate(self.objectives):
            for number in best_motions(totals, statuses, q):
                is_late = self.best[k] is not None and time.monotonic() > deadline
                if is_late or statuses[number] != FINISHED or totals[number] @ q <= self.values[k]:
                    break
                self._keep(exact.record(int(number), int(events[number])))
        numbers = self.open
        count = _between(room / max(len(numbers), 1), self.num_searched)
        found: dict[int, Population] = {}

        def search(k: int) -> int:
            if time.monotonic() <= deadline:
                known = Plans.none(self.space)
                if self.num_rounds % MIXING == MIXING - 1:
                    known = self._ends.get(k, known)
                elite = best_motions(totals, statuses, self.objectives[k])
                runs, population = (
                    empty_results(count, len(self.start)),
                    Population.none(self.space),
                )
                sampler.call_search(k, self.objectives[k], elite, runs, population, known)
                found[k] = population
            return k

        for _ in in_parallel(search, numbers, self.num_threads):
            pass
        # Only now, and in order: what one search knows must not depend on how far others are.
        accurate = replace(exact, accuracy=ACCURACY)
        for k in sorted(found):
            rows, lengths, _ = found[k]
            if lengths[0]:
                self._keep(accurate.follow(rows[0], int(lengths[0])))
            self._ends[k] = Plans(rows[lengths > 0], lengths[lengths > 0])
        self.num_rounds += 1

    def _seconds_per_motion(self) -> float:
        """Return how long a motion takes, on all threads."""
        for count in (1, 4, TIMED):
            sampler = replace(self._sampler(count), accuracy=ROUGH)
            begin = time.monotonic()
            sampler.run(count, 1, None)
            seconds = max(time.monotonic() - begin, 1e-6)
            if seconds > LONGEST_TIMING:
                break
        return seconds / count / (self.num_threads or available_cores())

    def _keep(self, log: FloatArray) -> None:
        """Keep a motion wherever it is the best."""
        impulses, energies = log[:, : len(self.start)], log[:, len(self.start) :]
        values = self.objectives @ impulses.sum(axis=0)
        better = np.flatnonzero(values > self.values + SMALL * np.abs(values))
        tolerance = LEGAL if self.space.width == 2 else LEGAL_IN_SPACE
        if not len(better) or replay(self.space, self.start, impulses, tolerance, self.restitution):
            return
        for k in better:
            self.best[k] = Bounced(float(values[k]), impulses, energies)


def _between(number: float, most: int) -> int:
    return int(min(max(number, FEWEST), most))
