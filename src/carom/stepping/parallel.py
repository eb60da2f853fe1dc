"""Run many samples in chunks, on several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np

from carom.kernels.paths import FINISHED
from carom.problem import ImpactProblem
from carom.typing import FloatArray, IntArray

Progress = Callable[[int, int], None]
"""Is called with the number of samples done and their number in total."""

Runs = tuple[FloatArray, IntArray, IntArray]
"""Dimensionless impulses (n, c), statuses (n,) and numbers of steps or events (n,)."""

LARGEST_CHUNK = 2**14
SMALLEST_CHUNK = 2**10
"""Number of samples that are worth a thread."""


def empty_results(num_samples: int, c: int) -> Runs:
    """Allocate the results of samples."""
    totals, statuses = np.empty((num_samples, c)), np.empty(num_samples, np.int8)
    return totals, statuses, np.empty(num_samples, np.int64)


def rows_of(results: Runs, part: slice) -> Runs:
    """Return some rows of results, as views."""
    totals, statuses, steps = results
    return totals[part], statuses[part], steps[part]


def nothing_happens(problem: ImpactProblem, num_samples: int) -> Runs:
    """Return the results of samples that end where they begin."""
    totals, statuses, steps = empty_results(num_samples, len(problem.J))
    totals[:], statuses[:], steps[:] = 0.0, FINISHED, 0
    return totals, statuses, steps


def run_chunks(
    run: Callable[[slice], None],
    num_samples: int,
    num_threads: int | None,
    progress: Progress | None,
) -> None:
    """Run samples in chunks, on all cores or on some threads."""
    num_threads = num_threads or available_cores()
    share = -(-num_samples // num_threads)
    chunk = min(max(share, SMALLEST_CHUNK), LARGEST_CHUNK)

    def run_chunk(start: int) -> int:
        part = slice(start, min(start + chunk, num_samples))
        run(part)
        return part.stop - part.start

    done = 0
    for size in in_parallel(run_chunk, range(0, num_samples, chunk), num_threads):
        done += size
        if progress is not None:
            progress(done, num_samples)


def in_parallel(
    function: Callable[[int], int], items: Sequence[int], num_threads: int | None
) -> Iterator[int]:
    """Yield the results of a function, as they come; what has not begun is dropped on Ctrl-C."""
    num_threads = num_threads or available_cores()
    if num_threads == 1 or len(items) == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(num_threads) as pool:
        try:
            for job in as_completed([pool.submit(function, item) for item in items]):
                yield job.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def available_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
