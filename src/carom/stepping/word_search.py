"""Improve a planar motion by a search over words of cells, one linear program per word.

Cells that contain a velocity between two stretches can be inserted there without loss: the motion
so far passes through them in no time. So words only grow better, and what turns out to be unused is
dropped again.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from carom.contact_space import ContactSpace
from carom.stepping import words
from carom.stepping.words import SignArray, Vertices, Word
from carom.typing import FloatArray

GAIN = 1e-12
"""Smallest gain that counts as one, relative to the size of the objective."""

PATIENCE = 2
"""Number of words that are expanded in succession without a gain before the search ends."""

PENALTIES = np.array([3.0, 30.0, 300.0])
"""Costs of approaching at the end, relative to the objective: rising, to stay close to the best."""

ENDED = 1e-9
"""Sum of the approaching velocities below which a word is tried as one that ends."""

NEAR = 1e-9
"""Velocities below this are zero where cells are inserted."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A word without unused cells, and the velocities between its stretches."""

    cells: SignArray  # (K, 2 m)
    points: FloatArray  # (K + 1, 2 m) contact velocities, from the start to the end
    prices: FloatArray  # (K + 1, 2 m) gains per change of these velocities
    approach: float  # sum of the velocities at which contacts approach at the end
    value: float


@dataclass(eq=False)
class Search:
    """The best word so far."""

    space: ContactSpace
    start: FloatArray
    q: FloatArray
    deadline: float
    most_programs: float = np.inf
    num_programs: int = 0

    def __post_init__(self) -> None:
        self.vertices = Vertices.of(self.space)

    @property
    def is_over(self) -> bool:
        """Return whether no program may be started any more."""
        return self.num_programs >= self.most_programs or time.monotonic() > self.deadline

    def trial(self, cells: SignArray, *, penalty: float = np.inf) -> Trial | None:
        """Solve the program of a word; None if there is no motion or no time."""
        if self.is_over:
            return None
        self.num_programs += 1
        options = {"penalty": penalty, "deadline": self.deadline}
        found = words.solve(self.space, self.start, cells, self.q, **options)
        if found is None:
            return None
        _, solution = found
        used = solution.used
        if not len(used):
            return None
        # The last of equal cells in succession knows where they end.
        own = cells[used]
        last = np.append((own[1:] != own[:-1]).any(axis=1), True)
        points = np.vstack([self.start, solution.after[used[last]]])
        prices = np.vstack([solution.prices[:1], solution.prices[used[last]]])
        return Trial(own[last], points, prices, solution.approach, solution.value)

    def run(self, cells: SignArray) -> Trial | None:
        """Return the best trial from a word on; None if no motion ends."""
        best = self.ascended(self.trial(cells) or self.finished(cells))
        # Motions of another kind from the start on.
        for cell in around(np.sign(self.start[None]).astype(np.int8), 0, self.start, 2):
            other = self.ascended(self.finished(cell[None]))
            if other is not None and (best is None or other.value > best.value + self.least):
                best = other
        return None if best is None else self.explored(best)

    @property
    def least(self) -> float:
        """Return the smallest gain that counts as one."""
        return GAIN * float(np.abs(self.q).max())

    def ascended(self, best: Trial | None, penalty: float = np.inf) -> Trial | None:
        """Insert neighbouring cells into a word as long as that helps."""
        while best is not None:
            for candidate in inserted(best, self.vertices, self.space.mu):
                trial = self.trial(candidate, penalty=penalty)
                if trial is not None and trial.value > best.value + self.least:
                    best = trial
                    break
            else:
                break
        return best

    def explored(self, best: Trial) -> Trial:
        """Change words in all single signs, the best first, as long as that helps."""
        waiting, idle = [(-best.value, 0, best)], 0
        seen = {best.cells.tobytes()}
        while waiting and idle < PATIENCE:
            *_, current = heappop(waiting)
            idle += 1
            for candidate in changed(current.cells):
                trial = self.trial(candidate)
                if trial is None or trial.cells.tobytes() in seen:
                    continue
                seen.add(trial.cells.tobytes())
                heappush(waiting, (-trial.value, len(seen), trial))
                if trial.value > best.value + self.least:
                    break
            top = self.ascended(waiting[0][2]) if waiting else None
            if top is not None and top.value > best.value + self.least:
                best, idle = top, 0
                waiting.insert(0, (-top.value, -len(seen), top))
            if self.is_over:
                break
        return best

    def finished(self, cells: SignArray) -> Trial | None:
        """Continue a word until no contact approaches; None if that fails."""
        for penalty in PENALTIES * float(np.abs(self.q).max()):
            best = self.ascended(self.trial(cells, penalty=penalty), penalty)
            if best is None:
                return None
            cells = best.cells
            if best.approach <= ENDED:
                return self.trial(cells)
        return None


def around(cells: SignArray, k: int, point: FloatArray, flips: int) -> list[SignArray]:
    """Return cells that contain a point between stretches k - 1 and k, near those of a word."""
    zero = np.flatnonzero(np.abs(point) <= NEAR).tolist()
    out: list[SignArray] = []
    for base in cells[max(k - 1, 0) : k + 1]:
        for forms in itertools.combinations(zero, min(flips, len(zero))):
            for signs in itertools.product((-1, 0, 1), repeat=len(forms)):
                cell = base.copy()
                cell[list(forms)] = signs
                out.append(cell)
    own = {cell.tobytes() for cell in cells[max(k - 1, 0) : k + 1]} if len(cells) > 1 else set()
    kept = [cell for cell in out if (cell[::2] < 0).any() and cell.tobytes() not in own]
    return list({cell.tobytes(): cell for cell in kept}.values())


def improve(
    space: ContactSpace,
    start: FloatArray,
    impulses: FloatArray,
    q: FloatArray,
    deadline: float,
    most_programs: float = np.inf,
) -> Word | None:
    """Improve a motion by changes of its word, until none helps or the deadline passes.

    Args:
        space: The impact.
        start: Dimensionless contact velocities (2 m,) before it.
        impulses: Dimensionless impulses (n, 2 m) of a legal motion; its end may be missing.
        q: Objective (2 m,): maximize q . (sum of the impulses).
        deadline: Time of `time.monotonic` after which no program is started.
        most_programs: Maximum number of programs.
    """
    search = Search(space, start, q, deadline, most_programs)
    cells = words.cells_of_path(space, start, impulses)
    best = search.run(cells[words.approaching(cells)])
    return None if best is None else words.polish(space, start, best.cells, q)


def inserted(trial: Trial, vertices: Vertices, mu: FloatArray) -> Iterator[SignArray]:
    """Generate words with one more cell between any two stretches, the most promising first."""
    K = len(trial.cells)
    for flips in (1, 2):
        options = []
        for k in range(K + 1):
            cells = np.array(around(trial.cells, k, trial.points[k], flips), dtype=np.int8)
            cells = cells.reshape(-1, trial.cells.shape[1])
            gains = np.where(
                vertices.acting(cells, mu), vertices.rate @ trial.prices[k], -np.inf
            ).max(axis=1)
            options.append(cells[np.argsort(-gains, kind="stable")])
        for rank in range(max(map(len, options))):
            for back in (False, True):
                out = []
                for k in range(K + 1):
                    if rank < len(options[k]):
                        out.append(options[k][rank])
                        if back and k:
                            out.append(trial.cells[k - 1])
                    out += list(trial.cells[k : k + 1])
                yield np.array(out)


def changed(cells: SignArray) -> Iterator[SignArray]:
    """Generate words in which one sign of one cell, or of all later or earlier ones, differs."""
    K, c = cells.shape
    for k in range(K):
        for j in range(c):
            for sign in (-1, 0, 1):
                if sign == cells[k, j]:
                    continue
                cell = cells[k].copy()
                cell[j] = sign
                yield np.vstack([cells[:k], cell, cells[k + 1 :]])
                yield np.vstack([cells[: k + 1], cell, cells[k + 1 :]])
                yield np.vstack([cells[: k + 1], cell, cells[k:]])
                if k + 1 < K:
                    later = cells.copy()
                    later[k:, j] = sign
                    yield np.vstack([cells[: k + 1], later[k:]])
                    yield later
        yield np.delete(cells, k, axis=0)
