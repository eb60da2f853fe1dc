"""Measure many impacts: on one machine or a cluster, and go on where an earlier run ended."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from carom import checks
from carom.errors import InvalidOption
from carom.laws.law import ImpactLaw
from carom.sweeps import engines, result
from carom.sweeps.law import ExactOrSampled
from carom.sweeps.measures import check_measures
from carom.sweeps.points import check_points
from carom.sweeps.recipe import make_recipe
from carom.sweeps.source import ProblemOf, Source, to_bytes
from carom.sweeps.store import Failure, Status, Store, make_store, open_store
from carom.sweeps.units import Job, decode


@dataclass(frozen=True)
class Progress:
    """How far a running sweep has come.

    Attributes:
        done: Number of points in the store, failed ones included.
        failed: Number of points that failed.
        points: Number of points in all, or of this shard.
        per_second: Points per second of this run; 0 before the first unit.
        seconds_left: Expected time to the end [s], infinite before the first unit.
    """

    done: int
    failed: int
    points: int
    per_second: float
    seconds_left: float

    def __str__(self) -> str:
        text = f"{self.done:,} of {self.points:,} points, {self.failed:,} failed"
        if self.per_second:
            text += f", {self.per_second:.3g} per second, {_clock(self.seconds_left)} left"
        return text


Watch = Callable[[Progress], None]


@dataclass(frozen=True, eq=False)
class Sweep:
    """A sweep that is ready to run: its job and its store."""

    job: Job
    store: Store

    def todo(self, shard: tuple[int, int], *, retry: bool = False) -> list[int]:
        """Return the units of a shard that are not there, or that have failures to retry."""
        index, count = shard
        return [
            number
            for number, unit in self.store.units()
            if number % count == index - 1 and (unit is None or (retry and bool(unit.errors)))
        ]

    def compute(
        self,
        shard: tuple[int, int] = (1, 1),
        *,
        retry: bool = False,
        progress: Watch | None = None,
        **engine: Any,
    ) -> bool:
        """Compute and keep what is missing; return whether there was anything to do."""
        todo = self.todo(shard, retry=retry)
        if not todo:
            return False
        # What is left of an earlier result would hide what is computed now.
        shutil.rmtree(self.store.result, ignore_errors=True)
        self.store.remove_temporaries()
        recipe = self.store.recipe
        job: Job | bytes = self.job
        if not engines.is_here(todo, **engine):
            job = to_bytes(job, is_local=engine.get("dask") is None)

        def call(unit: int) -> tuple[Job | bytes, int, list[Any]]:
            first, count = recipe.extent(unit)
            return job, first, [recipe.points[i] for i in range(first, first + count)]

        meter = _Meter(self.store, shard, todo, progress)
        results = engines.run(todo, call, **engine)
        try:
            for unit, content in results:
                self.store.write(unit, content)
                meter.add(unit, content)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"{meter.now} are in {self.store.folder}; the same call goes on"
            ) from None
        finally:
            # Its pool ends here, not when the garbage is collected.
            results.close()  # type: ignore[attr-defined]
        return True

    def data(self) -> Any:
        """Return the result: from zarr if all is there, else what there is so far."""
        if not self.todo((1, 1)):
            # All is there, so nobody writes any more.
            self.store.remove_temporaries(age=0.0)
            if not result.is_whole(self.store):
                result.write_result(self.store, result.assemble(self.store))
            return result.open_result(self.store)
        return result.assemble(self.store)


@dataclass(eq=False)
class _Meter:
    """Count points as their units are kept."""

    store: Store
    shard: tuple[int, int]
    todo: list[int]
    progress: Watch | None
    begin: float = field(default_factory=time.monotonic)
    added: int = 0
    failed: int = 0
    before: int = field(init=False)
    points: int = field(init=False)

    def __post_init__(self) -> None:
        index, count = self.shard
        recipe = self.store.recipe
        mine = range(index - 1, recipe.num_units, count)
        self.points = sum(recipe.extent(unit)[1] for unit in mine)
        self.before = self.points - sum(recipe.extent(unit)[1] for unit in self.todo)
        self._tell()

    @property
    def now(self) -> Progress:
        seconds = time.monotonic() - self.begin
        rate = self.added / seconds if self.added else 0.0
        done = self.before + self.added
        left = (self.points - done) / rate if rate else float("inf")
        return Progress(done, self.failed, self.points, rate, left)

    def add(self, unit: int, content: bytes) -> None:
        recipe = self.store.recipe
        found = decode(content, recipe.digest, *recipe.extent(unit))
        self.added += found.count
        self.failed += len(found.errors)
        self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.now)


def prepare(
    problem_of: ProblemOf,
    parameters: Any,
    measures: Any,
    *,
    out: str | os.PathLike[str],
    law: ImpactLaw | None = None,
    seed: int = 0,
    unit_size: int | None = None,
    units: Mapping[str, str] | None = None,
) -> Sweep:
    """Check a sweep and make its folder, or find it there."""
    source, chosen = Source(problem_of), check_measures(measures)
    if law is None:
        law = ExactOrSampled(max_polyhedra=ExactOrSampled.max_polyhedra if find_spec("ppl") else 0)
    if not isinstance(law, ImpactLaw):
        raise InvalidOption(f"law: expected an ImpactLaw, got a {type(law).__name__}")
    points = check_points(parameters)
    recipe = make_recipe(points, source, chosen, law, seed, unit_size, dict(units or {}))
    store = make_store(Path(out), recipe, any_size=unit_size is None)
    return Sweep(Job(source, chosen, law, seed, store.recipe.digest), store)


def sweep(
    problem_of: ProblemOf,
    parameters: Any,
    measures: Any,
    *,
    out: str | os.PathLike[str],
    law: ImpactLaw | None = None,
    seed: int = 0,
    workers: int | None = None,
    executor: Executor | None = None,
    dask: Any = None,
    shard: tuple[int, int] | None = None,
    unit_size: int | None = None,
    units: Mapping[str, str] | None = None,
    retry: bool = False,
    progress: Watch | None = None,
) -> Any:
    """Measure the outcomes of many impacts, and keep them in a folder.

    What is in the folder is not computed again: a sweep that was interrupted goes on where it was,
    on any machine and with any number of workers, and its bits depend on neither. A point that
    fails is recorded with its error, and the sweep goes on.

    Args:
        problem_of: Function of the parameters that returns an `ImpactProblem` or a `Scene`, name
            of a scene, or `System`, whose parameters are the states `q` and `v`.
        parameters: Values by name, for a grid of all combinations; single values are constant. Or
            a list of points, each a dict, such as `carom.sweeps.design` makes.
        measures: Names (contact_bounds, worst_case, kinds, energy_kept, complete, spread,
            ambiguity), a `carom.sweeps.WorstCase`, or functions of an `OutcomeSet` that return a
            number, an array, or numbers by name; a list, or a dict of functions by name.
        out: Folder of the sweep.
        law: Law that resolves impacts. Default: `carom.sweeps.ExactOrSampled()`, which depends on
            no clock. Each point gets a seed of its own, made from `seed` and its index.
        seed: Seed of the sweep.
        workers: Number of processes on this machine; default: one per core.
        executor: Executor of `concurrent.futures` that computes units instead.
        dask: Client, cluster or scheduler's address of Dask that computes units instead.
        shard: (i, n) to compute every n-th unit only, starting with unit i, where i is from 1 to n.
        unit_size: Number of points of a work unit, which is computed in one go and kept in one
            file; default: a 64th of the points, at most 256.
        units: Units of parameters and of your own measures, for labels.
        retry: Whether to compute units with failed points again.
        progress: Function that is called with a `carom.sweeps.Progress` after each unit.

    Returns:
        An xarray.Dataset with one dimension per parameter of a grid, or `point`. Its variable
        `status` is 1 where a point is done, 2 where it failed, and 0 where a shard is missing.

    Raises:
        InvalidOption: An argument is wrong, or the folder holds another sweep.
        WorkersDied: Worker processes died again and again.
        MissingExtra: xarray, zarr or Dask is not installed.

    Examples:
        >>> import tempfile
        >>> import carom
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data = carom.sweep(
        ...         "rocking-block", {"mu": [0.2, 1.0]}, ["contact_bounds"], out=folder, workers=1)
        ...     lift = data["contact_bounds"].sel(contact="A", component="normal", side="largest")
        ...     print(lift.dims, (lift.values > 0.05).tolist())
        ('mu',) [False, True]
    """
    result.need("xarray")
    result.need("zarr")
    engines.check_engine(workers, executor, dask)
    part = check_shard(shard)
    ready = prepare(
        problem_of,
        parameters,
        measures,
        out=out,
        law=law,
        seed=seed,
        unit_size=unit_size,
        units=units,
    )
    ready.compute(
        part,
        retry=retry,
        progress=progress,
        workers=workers,
        executor=executor,
        dask=dask,
    )
    return ready.data()


def check_shard(shard: tuple[int, int] | None) -> tuple[int, int]:
    """Return which of how many shards is meant."""
    if shard is None:
        return 1, 1
    index, count = shard
    checks.integer("shard", count, 1)
    return checks.integer("shard", index, 1, count), count


def status(out: str | os.PathLike[str]) -> Status:
    """Return how far the sweep in a folder has come.

    Examples:
        >>> import tempfile
        >>> import carom
        >>> from carom.sweeps import status
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data = carom.sweep("box-wall", {"mu": [0.5]}, ["complete"], out=folder, workers=1)
        ...     print(status(folder))
        1 of 1 points done, 0 failed
    """
    return open_store(out).status()


def failed(out: str | os.PathLike[str]) -> list[Failure]:
    """Return the points of a sweep that failed; `carom.sweep(…, retry=True)` tries them again.

    Examples:
        >>> import tempfile
        >>> import carom
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data = carom.sweep("box-wall", {"mu": [-1, 1]}, ["complete"], out=folder, workers=1)
        ...     for failure in carom.sweep.failed(folder):
        ...         print(failure.index, failure.point, failure.error)  # doctest: +ELLIPSIS
        0 {'mu': -1} Invalid...
    """
    return list(open_store(out).status().failures)


# So that `carom.sweep.failed` is at hand where `carom.sweep` is.
sweep.failed = failed  # type: ignore[attr-defined]


def _clock(seconds: float) -> str:
    """Return a time as people write it."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
