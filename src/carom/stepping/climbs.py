"""Search in space for motions whose impulse goes far, in rounds that learn from each other.

Changes of plans find out who acts when; linear programs find the impulses, all of them together;
insertions of pushes find out what neither does. A round starts from random motions, or from what
earlier ones ended with, whatever they were looking for.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels.motions import UNFINISHED
from carom.kernels.slip import ACCURACY
from carom.stepping.motions import MotionSampler, Plans, Population, best_motions
from carom.stepping.parallel import Runs, empty_results
from carom.stepping.successive import Ascent
from carom.typing import FloatArray, IntArray

NUM_COMPETING = 8
"""Number of plans that a search keeps; there are many searches."""

WORTH = 1e-3
"""Gain, as a share of the value, below which a turn was in vain, and a search ends. Ends that
differ by less are one."""

MIXING = 3
"""In one of so many rounds, searches begin with what others ended with; else, with random motions,
because good plans soon crowd out new ones."""

NUM_EXPLORED = 2
"""Number of times that insertions are tried in what is one end: they are drawn, in part."""

FEWEST = 16
"""The least number of motions of a turn."""


class End(NamedTuple):
    """What a search ended with."""

    objective: int
    total: FloatArray  # (c,) impulse
    plan: Plans


class Climbed(NamedTuple):
    """What a search found."""

    num_motions: int
    motions: list[FloatArray]  # impulses (n, c)
    ends: list[End]
    explored: list[float]  # values at which pushes were inserted


@dataclass(eq=False)
class _Task:
    """One search."""

    k: int
    ascent: Ascent
    sampler: MotionSampler
    until: float
    turn: int = 0
    found: Climbed = field(default_factory=lambda: Climbed(0, [], [], []))
    ends: list[FloatArray] = field(default_factory=list)  # impulses (n, c)


@dataclass(eq=False)
class Climbs:
    """Searches in space, one per objective and round."""

    space: ContactSpace
    start: FloatArray
    objectives: FloatArray  # (k, c): maximize q . impulse
    seed: int
    seconds_per_motion: float
    ends: list[End] = field(default_factory=list)
    explored: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))

    def join(self, k: int, found: Climbed) -> None:
        """Let later rounds learn from what a search found."""
        self.ends += found.ends
        self.explored[k] += found.explored

    def run(
        self, k: int, number: int, sampler: MotionSampler, random: Runs, count: int, until: float
    ) -> Climbed:
        """Search for one objective, in round `number`, until its time is up.

        Args:
            k: Number of the objective.
            number: Number of the round.
            sampler: That of the round's random motions, with a rough accuracy.
            random: These motions.
            count: Number of motions of one turn.
            until: Time of `time.monotonic`.
        """
        task = _Task(k, Ascent(self.space, self.start, self.objectives[k]), sampler, until)
        if number % MIXING == MIXING - 1 and self.ends:
            population = Population.none(self.space)
            self._climb(task, 2 * count, population, self._mixed(k, number), _nobody())
        else:
            for elite in best_by_contact(self.space, random, task.ascent.q):
                population = Population.none(self.space, NUM_COMPETING)
                if len(elite):
                    none = Plans.none(self.space)
                    self._climb(task, count, population, none, elite[:NUM_COMPETING])
        self._explore(task, number)
        return task.found

    def _climb(
        self, task: _Task, count: int, population: Population, known: Plans, elite: IntArray
    ) -> None:
        """Change plans and solve programs, in turns, as long as that helps."""
        q, ascent, sampler = task.ascent.q, task.ascent, task.sampler
        exact = replace(sampler, accuracy=ACCURACY)
        best, value, is_first = None, -np.inf, not task.found.num_motions
        while is_first or time.monotonic() < task.until:
            most = max(task.until - time.monotonic(), 0.0) / self.seconds_per_motion
            runs = empty_results(int(min(max(most, FEWEST), count)), len(q))
            search = task.k + len(self.objectives) * task.turn
            sampler.call_search(search, q, elite, runs, population, known)
            task.turn, elite, is_first = task.turn + 1, elite[:0], False
            task.found = task.found._replace(num_motions=task.found.num_motions + len(runs[0]))
            # What changes of plans have not improved is not worth programs again.
            if population.lengths[0] == 0 or _is_in_vain(float(population.values[0]), value):
                break
            motion = exact.follow(population.rows[0], int(population.lengths[0]))
            higher = ascent.climb(motion, task.until)
            task.found.motions.extend([motion, higher])
            after, known = float(q @ higher.sum(axis=0)), ascent.plan(higher)
            is_in_vain = _is_in_vain(after, value)
            if after > value:
                best, value = higher, after
            if is_in_vain:
                break
        if best is not None:
            task.ends.append(best)
            task.found.ends.append(End(task.k, best.sum(axis=0), ascent.plan(best)))

    def _explore(self, task: _Task, number: int) -> None:
        """Insert pushes into the best end of a search into which none were inserted before."""
        q, ascent, found = task.ascent.q, task.ascent, task.found
        for best in sorted(task.ends, key=lambda each: -float(q @ each.sum(axis=0))):
            value = float(q @ best.sum(axis=0))
            before = [x for x in self.explored[task.k] if abs(x - value) <= WORTH * abs(value)]
            if len(before) >= NUM_EXPLORED:
                continue
            rng = np.random.default_rng([self.seed, number, task.k])
            higher = ascent.explore(best, rng, task.until)
            found.explored.append(value)
            found.motions.append(higher)
            if not _is_in_vain(float(q @ higher.sum(axis=0)), value):
                found.ends.append(End(task.k, higher.sum(axis=0), ascent.plan(higher)))
            return

    def _mixed(self, k: int, number: int) -> Plans:
        """Return plans with which searches ended: some of this objective, and the best of all."""
        own = [j for j, end in enumerate(self.ends) if end.objective == k]
        rng = np.random.default_rng([self.seed, number, k])
        drawn = rng.permutation(np.array(own, np.int64))[:NUM_COMPETING]
        values = np.array([end.total for end in self.ends]) @ self.objectives[k]
        best = np.argsort(-values, kind="stable")[:NUM_COMPETING]
        numbers = {*map(int, drawn), *map(int, best)}
        return Plans.joined(*(self.ends[j].plan for j in sorted(numbers)))


def best_by_contact(space: ContactSpace, random: Runs, q: FloatArray) -> list[IntArray]:
    """Return the numbers of the best random motions, one list per contact that pushes most in them.

    A search from the best of all would follow the kind that does well at first, and hide others.
    """
    totals, statuses, _ = random
    most = totals[:, :: space.width].argmax(axis=1)
    return [
        best_motions(totals, np.where(most == i, statuses, UNFINISHED), q)
        for i in range(space.num_contacts)
    ]


def _nobody() -> IntArray:
    return np.empty(0, np.int64)


def _is_in_vain(after: float, before: float) -> bool:
    return after <= before + WORTH * abs(after)
