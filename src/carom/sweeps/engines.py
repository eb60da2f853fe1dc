"""Run work units on processes of this machine, on any executor, or on Dask; none of it is ours."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from carom import checks
from carom.errors import CaromError, InvalidOption, MissingExtra
from carom.processes import deaf_to_ctrl_c, end_with_parent
from carom.stepping.parallel import available_cores
from carom.sweeps.units import compute

PER_WORKER = 4
"""Number of units per process that are handed out ahead, so that none waits for work."""
AHEAD = 1000
"""Number of units that are handed to an executor ahead, whose workers nobody has counted."""
MOST_CRASHES = 3
"""Number of times in a row that workers may die without finishing a unit."""

Call = tuple[Any, ...]
"""Arguments of `compute`."""
Calls = Callable[[int], Call]
"""Returns the arguments for a unit, when its turn comes."""
Results = Iterator[tuple[int, bytes]]


class WorkersDied(CaromError):
    """Raised when worker processes die again and again; what was done is kept.

    Examples:
        >>> from carom.sweeps.engines import WorkersDied
        >>> print(WorkersDied.after([3, 4]))  # doctest: +ELLIPSIS
        workers died 3 times in a row while computing units 3, 4: ...
    """

    @classmethod
    def after(cls, units: list[int]) -> WorkersDied:
        """Return the error that names the units that were being computed."""
        some = ", ".join(map(str, sorted(units)[:8]))
        return cls(
            f"workers died {MOST_CRASHES} times in a row while computing units {some}: memory may "
            f"be short, or native code has crashed; a script must call carom.sweep below "
            f"`if __name__ == '__main__':`; try workers=1 to see more"
        )


def here(units: list[int], calls: Calls) -> Results:
    """Compute units in this process, one after the other."""
    for unit in units:
        yield unit, compute(*calls(unit))


def on_processes(units: list[int], calls: Calls, workers: int) -> Results:
    """Compute units on processes of this machine; those of workers that died again."""
    left = dict.fromkeys(units)
    crashes = 0
    while left:
        with _processes(workers) as pool:
            try:
                for unit, content in _on_executor([*left], calls, pool, {}, PER_WORKER * workers):
                    del left[unit]
                    crashes = 0
                    yield unit, content
            except BrokenExecutor as error:
                crashes += 1
                if crashes == MOST_CRASHES:
                    raise WorkersDied.after([*left][: PER_WORKER * workers]) from error


@contextmanager
def _processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Start a pool; on an error, Ctrl-C included, end its processes at once."""
    # Forks of a process with threads may hang; new interpreters are the same everywhere.
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, context, initializer=end_with_parent) as pool:
        try:
            # The first call starts them all.
            with deaf_to_ctrl_c():
                pool.submit(os.getpid)
            yield pool
        except BaseException:
            # They die before their pipes are closed, of which they would complain.
            for process in set(multiprocessing.active_children()) - before:
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def on_executor(units: list[int], calls: Calls, executor: Executor) -> Results:
    """Compute units on an executor, and yield them as they are done."""
    waiting: dict[Future[bytes], int] = {}
    try:
        yield from _on_executor(units, calls, executor, waiting, AHEAD)
    finally:
        for future in waiting:
            future.cancel()


def _on_executor(
    units: list[int],
    calls: Calls,
    executor: Executor,
    waiting: dict[Future[bytes], int],
    ahead: int,
) -> Results:
    """Hand out units and yield them; those that wait stay in a dict."""
    todo = iter(units)
    while True:
        for unit in todo:
            waiting[executor.submit(compute, *calls(unit))] = unit
            if len(waiting) >= ahead:
                break
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            yield waiting.pop(future), future.result()


@contextmanager
def dask_executor(dask: Any) -> Iterator[Executor]:
    """Yield the executor of a Dask client, cluster or scheduler's address."""
    try:
        Client = import_module("distributed").Client
    except ImportError as error:
        raise MissingExtra.of("dask", "distributed", "dask") from error
    with ExitStack() as stack:
        client = dask if isinstance(dask, Client) else stack.enter_context(Client(dask))
        yield client.get_executor(pure=False)


def run(
    units: list[int],
    calls: Calls,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    dask: Any = None,
) -> Results:
    """Compute units where the user wants it."""
    if dask is not None:
        with dask_executor(dask) as client:
            yield from on_executor(units, calls, client)
    elif executor is not None:
        yield from on_executor(units, calls, executor)
    elif is_here(units, workers=workers):
        yield from here(units, calls)
    else:
        yield from on_processes(units, calls, _count(units, workers))


def is_here(
    units: list[int],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    dask: Any = None,
) -> bool:
    """Return whether units are computed in this process."""
    return executor is None and dask is None and _count(units, workers) <= 1


def _count(units: list[int], workers: int | None) -> int:
    """Return the number of processes."""
    return min(len(units), available_cores() if workers is None else workers)


def check_engine(workers: int | None, executor: Executor | None, dask: Any) -> None:
    """Refuse more than one way to compute."""
    given = {"workers": workers, "executor": executor, "dask": dask}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InvalidOption(f"{' and '.join(named)}: expected one of them")
    if workers is not None:
        checks.integer("workers", workers, 1)
    if executor is not None and not isinstance(executor, Executor):
        kind = type(executor).__name__
        raise InvalidOption(f"executor: expected a concurrent.futures.Executor, got a {kind}")
