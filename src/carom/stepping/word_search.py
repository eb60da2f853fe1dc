"""Improve a planar motion by a search over words of cells, one linear program per word.

Cells that contain a velocity between two stretches can be inserted there without loss: the motion
so far passes through them in no time. So words only grow better, and what turns out to be unused is
dropped again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from carom.contact_space import ContactSpace
from carom.stepping import words
from carom.stepping.words import SignArray, Word
from carom.typing import FloatArray

GAIN = 1e-12
"""Smallest gain that counts as one, relative to the size of the objective."""

NEAR = 1e-9
"""Velocities below this are zero where cells are inserted."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A word without unused cells, and the velocities between its stretches."""

    cells: SignArray  # (K, 2 m)
    points: FloatArray  # (K + 1, 2 m) contact velocities, from the start to the end
    approach: float  # sum of the velocities at which contacts approach at the end
    value: float


@dataclass(eq=False)
class Search:
    """The best word so far."""

    space: ContactSpace
    start: FloatArray
    q: FloatArray
    deadline: float
    num_programs: int = 0

    def trial(self, cells: SignArray, *, unfinished: bool = False) -> Trial | None:
        """Solve the program of a word; None if there is no motion or no time."""
        if time.monotonic() > self.deadline:
            return None
        self.num_programs += 1
        found = words.solve(self.space, self.start, cells, self.q, unfinished=unfinished)
        if found is None:
            return None
        _, solution = found
        used = solution.used
        points = np.vstack([self.start, solution.after[used]])
        value = solution.value
        approach = -value if unfinished else 0.0
        return Trial(_merged(cells[used]), points, approach, value)

    def is_better(self, trial: Trial | None, best: Trial) -> bool:
        """Return whether a trial improves on the best one."""
        if trial is None:
            return False
        if best.approach > 0.0:
            return trial.approach < best.approach - 1e-9 or trial.approach == 0.0
        return trial.value > best.value + GAIN * float(np.abs(self.q).max())


def _merged(cells: SignArray) -> SignArray:
    """Return a word without repeated cells in succession."""
    kept = np.ones(len(cells), dtype=bool)
    kept[1:] = (cells[1:] != cells[:-1]).any(axis=1)
    return cells[kept]


def around(cells: SignArray, k: int, point: FloatArray, flips: int) -> list[SignArray]:
    """Return cells that contain a point between stretches k - 1 and k, near those of a word."""
    zero = np.flatnonzero(np.abs(point) <= NEAR)
    out: list[SignArray] = []
    for base in cells[max(k - 1, 0) : k + 1]:
        for j in zero:
            for sign in (-1, 0, 1):
                cell = base.copy()
                cell[j] = sign
                out.append(cell)
                if flips > 1:
                    for i in zero[zero > j]:
                        for other in (-1, 0, 1):
                            cell = cell.copy()
                            cell[i] = other
                            out.append(cell)
    kept = [cell for cell in out if (cell[::2] < 0).any()]
    return list({cell.tobytes(): cell for cell in kept}.values())


def thickened(trial: Trial, flips: int, where: range | None = None) -> SignArray:
    """Return the word with all neighbouring cells inserted between its stretches."""
    out: list[SignArray] = []
    K = len(trial.cells)
    where = range(K + 1) if where is None else where
    for k in range(K + 1):
        if k in where:
            out += around(trial.cells, k, trial.points[k], flips)
        if k < K:
            out.append(trial.cells[k])
    return _merged(np.array(out, dtype=np.int8))


def improve(
    space: ContactSpace, start: FloatArray, impulses: FloatArray, q: FloatArray, deadline: float
) -> Word | None:
    """Improve a motion by changes of its word, until none helps or the deadline passes.

    Args:
        space: The impact.
        start: Dimensionless contact velocities (2 m,) before it.
        impulses: Dimensionless impulses (n, 2 m) of a legal motion; its end may be missing.
        q: Objective (2 m,): maximize q . (sum of the impulses).
        deadline: Time of `time.monotonic` after which no program is started.
    """
    search = Search(space, start, q, deadline)
    cells = words.cells_of_path(space, start, impulses)
    cells = cells[words.approaching(cells)]
    best = search.trial(cells) or search.trial(cells, unfinished=True)
    if best is None:
        return None
    while True:
        for candidate in neighbours(best):
            trial = None
            if best.approach:
                trial = search.trial(candidate, unfinished=True)
                if trial is not None and trial.approach < 1e-9:
                    trial = search.trial(trial.cells) or search.trial(candidate)
            else:
                trial = search.trial(candidate)
            if trial is not None and search.is_better(trial, best):
                best = trial
                break
        else:
            break
    if best.approach:
        return None
    return words.polish(space, start, best.cells, q)


def neighbours(best: Trial) -> Iterator[SignArray]:
    """Generate words near the best one, the most promising first."""
    yield thickened(best, 1)
    K = len(best.cells)
    for k in range(K + 1):
        yield thickened(best, 2, range(k, k + 1))
