"""Many motions of one initial state: what may happen, over time."""

from __future__ import annotations

import multiprocessing
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any, TypeVar, overload

import numpy as np

from carom import checks, notebook
from carom.errors import InvalidOption, MissingExtra
from carom.io import Saved
from carom.laws.law import ImpactLaw
from carom.motion.simulation import simulate
from carom.motion.trajectory import MOST_ROWS, Trajectory
from carom.processes import end_with_parent
from carom.stepping.parallel import available_cores
from carom.systems.names import names
from carom.systems.system import System
from carom.typing import ArrayLike, FloatArray

T = TypeVar("T")

CHUNKS, LARGEST_CHUNK = 8, 16
"""Number of chunks of motions per process, so that all end at about the same time, unless chunks
would have more motions than this."""


@dataclass(frozen=True, eq=False)
class Bundle(Saved):
    """Hold motions that start alike and differ in what was drawn.

    Attributes:
        trajectories: The motions.
        seed: Seed from which the seed of each was made.

    Examples:
        A block that lands flat may stay, or pivot either way: after 0.02 s its angles differ.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     block.system, block.q, block.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> (motions.spread([0.0, 0.02])[:, 2] > 1e-3).tolist()
        [False, True]
    """

    trajectories: tuple[Trajectory, ...]
    seed: int

    def __post_init__(self) -> None:
        checks.integer("seed", self.seed, 0)
        if {type(motion) for motion in self.trajectories} != {Trajectory}:
            raise InvalidOption("trajectories: expected one motion or more")
        if len({(motion.layout, motion.contacts) for motion in self.trajectories}) > 1:
            raise InvalidOption("trajectories: expected motions of one system, got several")

    def __repr__(self) -> str:
        start, end = self.trajectories[0].start_time, max(m.end_time for m in self.trajectories)
        finished = f"{self.num_finished} finished, seed {self.seed}"
        return f"Bundle({len(self)} motions, {finished}, t = {start:g} … {end:g} s)"

    def _repr_html_(self) -> str:
        head = ("motion", "seed", "status", "end [s]", "impacts")
        rows = [
            (str(i), str(m.seed), m.status, f"{m.end_time:.6g}", str(len(m.impacts)))
            for i, m in enumerate(self.trajectories[:MOST_ROWS])
        ]
        ends = Counter(motion.status for motion in self.trajectories)
        notes = [f"{status}: {count} motions" for status, count in ends.items()]
        return notebook.page(repr(self), head, rows, notes, figure_of=self)

    def with_system(self, system: System) -> Bundle:
        """Return the same motions with their system, which a file does not keep."""
        return Bundle(tuple(each.with_system(system) for each in self.trajectories), self.seed)

    def __len__(self) -> int:
        return len(self.trajectories)

    @property
    def num_finished(self) -> int:
        """Count the motions that last as long as was asked."""
        return sum(motion.is_finished for motion in self.trajectories)

    def q_at(self, times: ArrayLike) -> FloatArray:
        """Return the configurations at n times [s], (num, n, nq); NaN after a motion's end."""
        return self._at(times, "q")

    def v_at(self, times: ArrayLike) -> FloatArray:
        """Return the velocities at n times [s], (num, n, nv); NaN after a motion's end."""
        return self._at(times, "v")

    def spread(self, times: ArrayLike) -> FloatArray:
        """Return the largest minus the smallest of each coordinate at n times [s], (n, nq)."""
        q = self.q_at(times)
        return np.asarray(np.nanmax(q, axis=0) - np.nanmin(q, axis=0))

    def to_xarray(self, times: ArrayLike) -> Any:
        """Return q and v at n times [s] as an xarray.Dataset; NaN after a motion's end.

        Its dimensions are motion, time, and coordinate or velocity, which bear the names of the
        system where it is planar; `seed` and `status` belong to each motion.

        Raises:
            MissingExtra: xarray is not installed.
        """
        try:
            xarray = import_module("xarray")
        except ImportError as error:
            raise MissingExtra('to_xarray needs xarray: pip install "carom[tables]"') from error
        (nq, nv, *_), system = self.trajectories[0].layout, self.trajectories[0].system
        values = {
            "q": (("motion", "time", "coordinate"), self.q_at(times)),
            "v": (("motion", "time", "velocity"), self.v_at(times)),
        }
        coordinates = {
            "motion": np.arange(len(self)),
            "time": ("time", np.atleast_1d(checks.floats("times", times)), {"units": "s"}),
            "coordinate": [str(name) for name in names(system, nq)],
            "velocity": [str(name) for name in names(system, nv, "v")],
            "seed": ("motion", [motion.seed for motion in self.trajectories]),
            "status": ("motion", [motion.status for motion in self.trajectories]),
        }
        return xarray.Dataset(values, coordinates)

    def _at(self, times: ArrayLike, name: str) -> FloatArray:
        asked = np.atleast_1d(checks.floats("times", times))
        width = getattr(self.trajectories[0].layout, f"n{name}")
        out = np.full((len(self), len(asked), width), np.nan)
        for values, motion in zip(out, self.trajectories, strict=True):
            known = (asked >= motion.start_time) & (asked <= motion.end_time)
            values[known] = getattr(motion.at(t=asked[known]), name)
        return out


@overload
def simulate_many(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    law: ImpactLaw,
    num: int,
    *,
    seed: int = 0,
    num_processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    measure: None = None,
    **options: Any,
) -> Bundle: ...


@overload
def simulate_many(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    law: ImpactLaw,
    num: int,
    *,
    seed: int = 0,
    num_processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    measure: Callable[[Trajectory], T],
    **options: Any,
) -> list[T]: ...


def simulate_many(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    law: ImpactLaw,
    num: int,
    *,
    seed: int = 0,
    num_processes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    measure: Callable[[Trajectory], Any] | None = None,
    **options: Any,
) -> Bundle | list[Any]:
    """Return many motions from one state, in parallel, or what is measured of each.

    Motion i of a seed is the same whatever their number and that of the processes.

    Args:
        system: System that moves.
        q: Configuration at the start, (nq,).
        v: Velocity at the start, (nv,).
        duration: Duration of each motion [s].
        law: Law that resolves impacts; give one that draws, such as `Routh`.
        num: Number of motions.
        seed: Seed of all draws.
        num_processes: Number of processes; one per core by default.
        progress: Function that is called with (motions done, motions in all).
        measure: Function of a motion, called where it was made. What it returns is returned, in
            the order of the motions, and no motion is kept: memory does not grow with their steps.
        **options: As for `simulate`.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     scene.system, scene.q, scene.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> len(motions), motions.num_finished
        (4, 4)
        >>> carom.simulate_many(
        ...     scene.system, scene.q, scene.v, 0.05, carom.Routh(), 3, num_processes=1,
        ...     measure=lambda motion: motion.end_time)
        [0.05, 0.05, 0.05]
    """
    checks.integer("num", num, 1)
    seed = checks.integer("seed", seed, 0, 2**53 - 1)
    given = available_cores() if num_processes is None else num_processes
    processes = min(num, checks.integer("num_processes", given, 1))
    seeds = [int(np.random.default_rng([seed, i]).integers(2**53)) for i in range(num)]
    job = partial(_make, partial(simulate, system, q, v, duration, law, **options), measure)
    found: dict[int, Any] = {}
    # The first one runs here: bad input is told at once, and kernels are compiled once.
    first = ((seeds[0], job(seeds[0])),)
    for each, result in chain(first, _run(job, seeds[1:], processes)):
        found[each] = replace(result, system=system) if measure is None else result
        if progress is not None:
            progress(len(found), num)
    results = [found[each] for each in seeds]
    return Bundle(tuple(results), seed) if measure is None else results


def _make(
    simulation: Callable[..., Trajectory],
    measure: Callable[[Trajectory], Any] | None,
    seed: int,
) -> Any:
    """Make one motion; return it without its system, which may not be sent, or its measure."""
    motion = simulation(seed=seed)
    return replace(motion, system=None) if measure is None else measure(motion)


Job = Callable[[int], Any]

_job: Job | None = None
"""The job of a worker process, handed over when it starts."""


def _take(job: Job) -> None:
    """Begin as a worker: keep the job, and end when the parent does."""
    global _job
    _job = job
    end_with_parent()


def _work(seeds: Sequence[int]) -> list[tuple[int, Any]]:
    assert _job is not None
    return [(seed, _job(seed)) for seed in seeds]


def _run(job: Job, seeds: Sequence[int], processes: int) -> Iterator[tuple[int, Any]]:
    """Yield seeds and results as they are done; what has not begun is dropped on Ctrl-C."""
    if processes == 1 or len(seeds) < 2:
        yield from ((seed, job(seed)) for seed in seeds)
        return
    context = _context(job)
    size = max(1, min(LARGEST_CHUNK, len(seeds) // (CHUNKS * processes)))
    chunks = [seeds[k : k + size] for k in range(0, len(seeds), size)]
    with ProcessPoolExecutor(processes, context, initializer=_take, initargs=(job,)) as pool:
        try:
            for done in as_completed([pool.submit(_work, chunk) for chunk in chunks]):
                yield from done.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _context(job: Job) -> multiprocessing.context.BaseContext:
    """Return how to start processes: as Python is set to, or by a fork if that sends too much."""
    context = multiprocessing.get_context()
    if context.get_start_method() == "fork":
        return context
    try:
        pickle.dumps(job)
    except Exception as error:  # Objects may raise anything here.
        if "fork" not in multiprocessing.get_all_start_methods():
            raise InvalidOption(
                f"system, law, measure: expected ones that can be pickled, got {error}; define "
                f"functions at the top of a module, or give num_processes=1"
            ) from error
        return multiprocessing.get_context("fork")
    return context
