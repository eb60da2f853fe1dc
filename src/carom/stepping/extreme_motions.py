"""Find motions whose impulse goes as far as possible in given directions.

Rounds of random motions, and of searches that change the best of them, find out which contacts
should act when. In the plane, linear programs then find the best motion of each word of cells and
of neighbouring words; in space, successive ones improve all impulses together. Both go much
further. Every motion found is exact, and can be replayed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels.motions import FINISHED
from carom.stepping.climbs import Climbed, Climbs, best_by_contact
from carom.stepping.motions import (
    MotionSampler,
    Plans,
    Population,
    best_motions,
    distinct,
    round_seed,
)
from carom.stepping.parallel import Runs, available_cores, empty_results, in_parallel
from carom.stepping.replay import replay
from carom.stepping.successive import Ascent
from carom.stepping.symmetry import symmetries
from carom.stepping.word_search import improve
from carom.stepping.words import approaching, cells_of_path, polish
from carom.typing import FloatArray, IntArray

NUM_RANDOM = {2: 2**13, 3: 2**10}
"""Number of random motions of one round, if there is time: many in the plane, where linear programs
start from them, and few in space, so that every round starts from others."""

NUM_SEARCHED = {2: 2**11, 3: 2**8}
"""Number of motions of one search of a round, if there is time: in the plane for all contacts that
may push most together, in space for each."""

FEWEST = 16
"""The least number of both."""

TIMED = 32
"""Number of motions that are timed."""

LONGEST_TIMING = 0.02
"""Time after which no more motions are timed [s]."""

SHARE_OF_ROUND = 0.15
"""Share of the time left that the random motions of a round may take, and its searches likewise."""

NUM_POLISHED = 2
"""Number of motions whose words are tried, of each search by changes of plans."""

LONGEST_WORD = 80
"""Maximum number of cells of a word that is polished: longer ones take seconds each."""

MOST_PROGRAMS = 150
"""Number of programs that go to words around a new best one; they take some milliseconds each."""

GAIN = 1e-4
"""Share of the largest conceivable value that a round has to gain, or it was in vain."""

PATIENCE = {2: 6, 3: 12}
"""Number of rounds in vain after which the search ends, and half of all rounds; in space few rounds
find the best of many local maxima."""

EXACT = {2: 1e-10, 3: 1e-6}
"""Share of the largest conceivable value within which a limit is reached; in space, motions end
with a small error."""

SAME = 1e-9
"""Relative difference of objectives below which they are one."""

SMALL = 1e-12
"""Relative gain below which a motion is not better than another."""

ROUGH = 1e-7
"""Accuracy of motions in space while plans are compared; what is kept is run with `ACCURACY`. With
less, slip that has ended may start again by errors, without end."""

MOST_IN_SPACE = 1000
"""Maximum number of events of a motion in space; most have a hundred. Errors add up over thousands
of events, and the search would look for the motions with the most."""

LEGAL = 1e-9
"""Tolerance of the replay in the plane, where motions have no error but rounding."""

LEGAL_IN_SPACE = 1e-7
"""The same in space, where slip is integrated."""

_WARM: set[tuple[int, int]] = set()
"""Numbers of contacts, and of velocities of each, for which this process has compiled code."""


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
    limits: FloatArray | None = None  # (k,) that are known not to be exceeded
    seed: int = 0
    num_threads: int | None = None
    num_rounds: int = 0
    num_motions: int = 0
    best: list[Motion | None] = field(default_factory=list)
    seen: set[tuple[int, bytes]] = field(default_factory=set)  # words that were polished

    def __post_init__(self) -> None:
        self._known = Plans.none(self.space)
        self.best = [None] * len(self.objectives)

    def warm_up(self) -> None:
        """Compile what is needed, so that it does not count as time of the search.

        This runs motions, which may take tenths of a second, so once for each kind of problem.
        """
        kind = self.space.num_contacts, self.space.width
        if kind in _WARM:
            return
        # One event is enough to compile for; some motions have thousands.
        sampler = MotionSampler(self.space, self.start, self.seed, 1, 1, most_events=1)
        totals, statuses, _ = sampler.run(1, 1, None)
        q = self.objectives[0]
        runs, none = empty_results(1, len(self.start)), Population.none(self.space)
        sampler.call_search(0, q, best_motions(totals, statuses, q), runs, none)
        if self.space.width > 2:
            Ascent(self.space, self.start, q).warm_up()
        _WARM.add(kind)

    def run(self, deadline: float, max_rounds: int = 2**31) -> None:
        """Search until rounds are in vain or the time is up; random motions are tried anyway."""
        idle = 0
        scale = np.linalg.norm(self.objectives, axis=1)
        patience = PATIENCE[self.space.width]
        while idle < patience + self.num_rounds // 2 and self.num_rounds < max_rounds and self.open:
            before = self.values
            self._round(deadline)
            if self.space.width == 2:
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

    @property
    def open(self) -> list[int]:
        """Return the numbers of the objectives that may still be improved, equal ones once."""
        numbers = self._distinct
        if self.limits is not None:
            least = EXACT[self.space.width] * np.linalg.norm(self.objectives, axis=1)
            numbers = numbers[(self.values < self.limits - least)[numbers]]
        return [int(number) for number in numbers]

    @cached_property
    def _distinct(self) -> IntArray:
        """Return the numbers of the objectives that are no images of others before them."""
        found: list[int] = []
        images = np.empty((0, len(self.start)))
        for k in distinct(self.objectives):
            q = self.objectives[k]
            if not (np.abs(images - q).max(axis=1, initial=0.0) <= SAME * np.abs(q).max()).any():
                found.append(k)
                images = np.vstack([images, *(q @ matrix for matrix in self._symmetries)])
        return np.array(found)

    def _round(self, deadline: float) -> None:
        room = SHARE_OF_ROUND * (deadline - time.monotonic()) / self._seconds_per_motion
        num_random = _between(room, NUM_RANDOM[self.space.width])
        seed = round_seed(self.seed, self.num_rounds)
        exact = MotionSampler(self.space, self.start, seed, num_random)
        if self.space.width > 2:
            exact = replace(exact, most_events=MOST_IN_SPACE)
        sampler = replace(exact, accuracy=ROUGH)
        totals, statuses, events = sampler.run(num_random, self.num_threads, None)
        if self.space.width == 2:
            best = [each.impulses for each in self.best if each is not None]
            self._known = Plans.of_motions(self.space, self.start, best)
        if not self.num_rounds:
            # Only now: searches begin with these motions anyway, and shall vary their own plans.
            self._keep_random(exact, totals, statuses, events, deadline)
        numbers = self.open
        num_searched = _between(room / max(len(numbers), 1), NUM_SEARCHED[self.space.width])

        found: list[Climbed | None] = [None] * len(numbers)

        def search(place: int) -> int:
            if (now := time.monotonic()) > deadline:
                return place
            k = numbers[place]
            # Each search has its share of the time left, so that long words starve no other.
            threads = self.num_threads or available_cores()
            share = min(threads / (len(numbers) - place), 1.0)
            until = now + share * (deadline - now)
            given = sampler, (totals, statuses, events), num_searched, until
            if self.space.width == 2:
                found[place] = self._search(k, *given)
            else:
                found[place] = self._climbs.run(k, self.num_rounds, *given)
            return place

        for _ in in_parallel(search, range(len(numbers)), self.num_threads):
            pass
        # Only now, and in order: what one search knows must not depend on how far others are.
        self.num_motions += num_random
        for k, each in zip(numbers, found, strict=True):
            if each is not None:
                self.num_motions += each.num_motions
                for motion in each.motions:
                    self._keep(motion)
                if self.space.width > 2:
                    self._climbs.join(k, each)
        self.num_rounds += 1

    @cached_property
    def _climbs(self) -> Climbs:
        seconds = self._seconds_per_motion
        return Climbs(self.space, self.start, self.objectives, self.seed, seconds)

    def _keep_random(
        self,
        sampler: MotionSampler,
        totals: FloatArray,
        statuses: IntArray,
        events: IntArray,
        deadline: float,
    ) -> None:
        """Keep the best random motions, and one of each objective in any case."""
        for k, q in enumerate(self.objectives):
            for number in best_motions(totals, statuses, q):
                is_late = self.best[k] is not None and time.monotonic() > deadline
                if is_late or statuses[number] != FINISHED or totals[number] @ q <= self.values[k]:
                    break
                self._keep(sampler.record(int(number), int(events[number])))

    @cached_property
    def _seconds_per_motion(self) -> float:
        """Return how long a motion takes, on all threads."""
        threads = self.num_threads or available_cores()
        # Some motions have thousands of events: do not wait for many of them, nor longer than for
        # those of a round.
        for count in (1, 4, TIMED):
            sampler = MotionSampler(self.space, self.start, self.seed, count, accuracy=ROUGH)
            if self.space.width > 2:
                sampler = replace(sampler, most_events=MOST_IN_SPACE)
            begin = time.monotonic()
            sampler.run(count, 1, None)
            seconds = max(time.monotonic() - begin, 1e-6)
            if seconds > LONGEST_TIMING:
                break
        return seconds / count / threads

    def _search(
        self, k: int, sampler: MotionSampler, random: Runs, count: int, deadline: float
    ) -> Climbed:
        """Search in the plane, and improve the words of the best motions."""
        q, per_start = self.objectives[k], count // self.space.num_contacts
        # The rest is for words around the best one.
        halfway = 0.5 * (time.monotonic() + deadline)
        starts = [
            (image, matrix, elite)
            for image, matrix in self._images(q)
            for elite in best_by_contact(self.space, random, image)
        ]
        found = Climbed(per_start * len(starts), [], [], [])
        for place, (image, matrix, elite) in enumerate(starts):
            number = k + len(self.objectives) * place
            for motion in self._varied(number, image, sampler, elite, per_start):
                turned = motion @ matrix.T
                found.motions.extend([turned, *self._polished(k, turned, deadline)])
                if time.monotonic() > halfway:
                    break
        known = [] if (own := self.best[k]) is None else [own.impulses]
        values = [float(q @ each.sum(axis=0)) for each in (*known, *found.motions)]
        place = int(np.argmax(values)) if values else 0
        is_new = place >= len(known) or not self.num_rounds
        if values and is_new and time.monotonic() < deadline:
            best = (known + found.motions)[place]
            word = improve(self.space, self.start, best, q, deadline, MOST_PROGRAMS)
            found.motions.extend([] if word is None else [word.impulses])
        return found

    def _images(self, q: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return an objective and its images, with the symmetries that lead back.

        A search for an image begins with other random motions, and finds other local maxima.
        """
        found: list[tuple[FloatArray, FloatArray]] = []
        for matrix in self._symmetries:
            image = q @ matrix
            if all(np.abs(image - each).max() > SAME * np.abs(q).max() for each, _ in found):
                found.append((image, matrix))
        return found

    def _varied(
        self, number: int, q: FloatArray, sampler: MotionSampler, elite: IntArray, count: int
    ) -> Iterator[FloatArray]:
        """Change plans, and yield the best motions."""
        runs, none = empty_results(count, len(q)), Population.none(self.space)
        sampler.call_search(number, q, elite, runs, none, self._known)
        for place in _spread_out(np.where(runs[1] == FINISHED, runs[0] @ q, -np.inf)):
            log, again = np.empty((int(runs[2][place]), len(q))), empty_results(place + 1, len(q))
            none = Population.none(self.space)
            yield log[: sampler.call_search(number, q, elite, again, none, self._known, log)]

    def _polished(self, k: int, motion: FloatArray, deadline: float) -> list[FloatArray]:
        """Return the best motion of the word of a planar motion, unless it was found before."""
        if time.monotonic() > deadline:
            return []
        cells = cells_of_path(self.space, self.start, motion)
        cells = cells[approaching(cells)]
        if len(cells) > LONGEST_WORD or (k, cells.tobytes()) in self.seen:
            return []
        self.seen.add((k, cells.tobytes()))
        word = polish(self.space, self.start, cells, self.objectives[k], deadline)
        return [] if word is None else [word.impulses]

    def _exchange(self, deadline: float) -> None:
        """Try the words of the best motions for all objectives."""
        for motion in self.best:
            if motion is not None:
                for k in self.open:
                    for each in self._polished(k, motion.impulses, deadline):
                        self._keep(each)

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
                self.best[k] = Motion(float(values[k]), impulses @ matrix.T)

    @cached_property
    def _symmetries(self) -> list[FloatArray]:
        return symmetries(self.space, self.start)


def _between(number: float, most: int) -> int:
    return int(min(max(number, FEWEST), most))


def _spread_out(values: FloatArray) -> list[int]:
    """Return the numbers of the best motions whose values differ, the best first."""
    order = np.argsort(-values, kind="stable")
    order = order[np.isfinite(values[order])]
    found: list[int] = []
    for number in order[: 64 * NUM_POLISHED]:
        if not found or values[found[-1]] - values[number] > 1e-3 * abs(values[number]):
            found.append(int(number))
        if len(found) == NUM_POLISHED:
            break
    return found
