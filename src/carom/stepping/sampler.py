"""Drive the path kernels: prepare a table of pieces, run samples on all cores, replay one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels import draws, paths
from carom.kernels.search import Table
from carom.stepping import tables
from carom.stepping.parallel import Progress, Runs, empty_results, rows_of, run_chunks
from carom.stepping.pieces import Pieces
from carom.stepping.tables import search_table, singles_table
from carom.typing import FloatArray, IntArray

DRAWS = {"uniform": draws.UNIFORM, "subset": draws.SUBSET, "persistent": draws.PERSISTENT}
SELECTIONS = {"random": paths.RANDOM, "lemke": paths.LEMKE}

SAMPLES_TO_FILL = 128
TRIAL_SAMPLES = 1024
WORTH_A_TRIAL = 2**16
TRIAL_STEPS = 50
TRIAL_SEED = 2**53
RECORDED = 2**12


@dataclass(frozen=True, eq=False)
class Sampler:
    """One impact and one rule, ready to be run.

    Draws of its samples are numbered from `number` on, which is 0 where points take their place.
    """

    space: ContactSpace
    rule: paths.Rule
    table: Table
    singles: Table
    number: int = 0

    @classmethod
    def prepare(cls, space: ContactSpace, rule: paths.Rule, num_samples: int) -> Sampler:
        """Tabulate the pieces: all of them for few contacts, else those that a trial run meets.

        For few contacts the trial only tells what to look for first, and is left out where
        there are not enough samples to repay it; it changes no result.
        """
        singles = singles_table(space)
        none = Pieces.of_modes(space, np.empty((0, space.num_contacts), np.int64))
        empty = cls(space, rule, search_table(space, none), singles)
        if rule.selection == paths.LEMKE:
            return empty
        if not tables.can_tabulate(space):
            met = _run_trial(empty, SAMPLES_TO_FILL).modes
            modes, counts = np.unique(met, axis=0, return_counts=True)
            kept = np.argsort(-counts, kind="stable")[: tables.MOST_MET]
            pieces = Pieces.of_modes(space, modes[kept])
            return cls(space, rule, search_table(space, pieces), singles)
        pieces = Pieces.all(space)
        plain = cls(space, rule, search_table(space, pieces), singles)
        if num_samples < WORTH_A_TRIAL or len(pieces) > tables.MOST_COMPARED:
            return plain
        trial = _run_trial(plain, TRIAL_SAMPLES)
        if not len(trial.u):
            return plain
        return cls(space, rule, search_table(space, pieces, trial), singles_table(space, trial))

    def run(self, num_samples: int, num_threads: int | None, progress: Progress | None) -> Runs:
        """Run samples on all cores, or on some threads."""
        results = empty_results(num_samples, len(self.rule.v_c))
        record = np.empty((0, 0, 0))

        def run(part: slice) -> None:
            self._call(part.start, *rows_of(results, part), record)

        run_chunks(run, num_samples, num_threads, progress)
        return results

    def draw(self) -> tuple[Runs, FloatArray]:
        """Run the first sample, and return what its first `RECORDED` steps did as well."""
        results, record = self._record(0, 1, min(self.rule.max_steps + 1, RECORDED))
        return results, record[0]

    def record(self, sample: int, num_steps: int) -> FloatArray:
        """Run one sample again and return what each step did; see `carom.kernels.paths`."""
        return self._record(sample, 1, num_steps)[1][0]

    def _record(self, first: int, num_samples: int, num_steps: int) -> tuple[Runs, FloatArray]:
        """Run some samples, and return what their steps did as well, -1 beyond the last."""
        c, m = len(self.rule.v_c), self.space.num_contacts
        record = np.full((num_samples, num_steps, 2 * c + 2 * m + 1), -1.0)
        results = empty_results(num_samples, c)
        self._call(first, *results, record)
        return results, record

    def _call(self, first: int, *results: FloatArray | IntArray) -> None:
        sizes = tables.extents(self.space), tables.single_extents(self.space)
        known = self.space.kernel, self.table, self.singles, self.rule, *sizes
        # The random numbers wrap around by design; interpreted, NumPy would warn of it.
        with np.errstate(over="ignore"):
            paths.run_chunk(*known, self.number + first, *results)


def _run_trial(sampler: Sampler, num_samples: int) -> tables.Trial:
    """Run some samples and note their steps."""
    rule = sampler.rule
    draw = draws.PERSISTENT if rule.draw == draws.POINTS else rule.draw
    length = min(rule.max_steps, TRIAL_STEPS)
    rule = rule._replace(draw=draw, seed=TRIAL_SEED, max_steps=length)
    c, m = len(rule.v_c), sampler.space.num_contacts
    _, record = replace(sampler, rule=rule)._record(0, num_samples, length)
    start = np.tile(rule.v_c, (num_samples, 1, 1))
    velocities = np.concatenate([start, record[:, :-1, :c]], axis=1)
    u = np.concatenate([velocities, record[:, :, 2 * c : 2 * c + m]], axis=2)
    modes = record[:, :, 2 * c + m : 2 * c + 2 * m].astype(np.int64)
    piece = record[:, :, -1].astype(np.int64)
    before = np.full_like(piece, -1)
    for step in range(1, length):
        before[:, step] = np.where(piece[:, step - 1] >= 0, piece[:, step - 1], before[:, step - 1])
    taken = modes[:, :, 0] >= 0
    return tables.Trial(u[taken], modes[taken], piece[taken], before[taken])
