"""Many motions of one initial state: what may happen, over time."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain
from multiprocessing.connection import wait
from typing import Any

import numpy as np

from carom import checks, notebook
from carom.errors import InvalidOption, MissingExtra
from carom.io import Saved
from carom.laws.law import ImpactLaw
from carom.motion.simulation import simulate
from carom.motion.trajectory import MOST_ROWS, Trajectory
from carom.stepping.parallel import available_cores
from carom.systems.names import names
from carom.systems.system import System
from carom.typing import ArrayLike, FloatArray

WATCH = 0.5
"""How often a worker looks whether its parent lives [s]."""


@dataclass(frozen=True, eq=False)
class Bundle(Saved):
    """Hold motions that start alike and differ in what was drawn.

    Attributes:
        trajectories: The motions.
        seed: Seed from which the seed of each was made.

    Examples:
        A block that lands flat may stay, or pivot either way: after 0.05 s its angles differ.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     block.system, block.q, block.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> (motions.spread([0.0, 0.05])[:, 2] > 1e-3).tolist()
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
        (nq, nv, _), system = self.trajectories[0].layout, self.trajectories[0].system
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
    **options: Any,
) -> Bundle:
    """Return many motions from one state, in parallel.

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
        **options: As for `simulate`.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     scene.system, scene.q, scene.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> len(motions), motions.num_finished
        (4, 4)
    """
    checks.integer("num", num, 1)
    seed = checks.integer("seed", seed, 0, 2**53 - 1)
    given = available_cores() if num_processes is None else num_processes
    processes = min(num, checks.integer("num_processes", given, 1))
    seeds = [int(np.random.default_rng([seed, i]).integers(2**53)) for i in range(num)]
    job = partial(simulate, system, q, v, duration, law, **options)
    motions: dict[int, Trajectory] = {}
    # The first one runs here: bad input is told at once, and kernels are compiled once.
    first = (job(seed=seeds[0]),)
    others = _run(job, seeds[1:], processes)
    for done, motion in enumerate(chain(first, others), start=1):
        motions[motion.seed] = replace(motion, system=system)
        if progress is not None:
            progress(done, num)
    return Bundle(tuple(motions[each] for each in seeds), seed)


Job = Callable[..., Trajectory]

_job: Job | None = None
"""The job of a worker process, handed over when it starts."""


def _take(job: Job) -> None:
    """Begin as a worker: keep the job, and end when the parent does."""
    global _job
    _job = job
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    """End this process with its parent, whose pipes it would else hold open for ever."""
    # The sentinel works everywhere, but forked siblings may hold it open; then the number changes.
    process = multiprocessing.parent_process()
    sentinels = [] if process is None else [process.sentinel]
    while os.getppid() == parent and not wait(sentinels, WATCH):
        pass
    os._exit(1)


def _work(seed: int) -> Trajectory:
    assert _job is not None
    # The system stays here: it may not be one that can be sent.
    return replace(_job(seed=seed), system=None)


def _run(job: Job, seeds: Sequence[int], processes: int) -> Iterator[Trajectory]:
    """Yield motions as they are done; what has not begun is dropped on Ctrl-C."""
    if processes == 1 or len(seeds) < 2:
        yield from (job(seed=seed) for seed in seeds)
        return
    context = _context(job)
    with ProcessPoolExecutor(processes, context, initializer=_take, initargs=(job,)) as pool:
        try:
            for done in as_completed([pool.submit(_work, seed) for seed in seeds]):
                yield done.result()
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
                f"system, law: expected ones that can be pickled, got {error}; define functions "
                f"at the top of a module, or give num_processes=1"
            ) from error
        return multiprocessing.get_context("fork")
    return context
