"""Many motions of one initial state: what may happen, over time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carom import checks
from carom.laws.law import ImpactLaw
from carom.motion.simulation import simulate
from carom.motion.trajectory import Trajectory
from carom.stepping.sampler import available_cores
from carom.systems.system import System
from carom.typing import ArrayLike, FloatArray

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Bundle:
    """Hold motions that start alike and differ in what was drawn.

    Attributes:
        trajectories: The motions.
        seed: Of which the seed of each was made.

    Examples:
        A block that lands flat may stay, or pivot either way: after 0.05 s its angles differ.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     block.system, block.q, block.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> len(motions), motions.num_finished
        (4, 4)
        >>> motions.q_at([0.0, 0.05]).shape, motions.v_at(0.05).shape
        ((4, 2, 3), (4, 1, 3))
        >>> (motions.spread([0.0, 0.05])[:, 2] > 1e-3).tolist()
        [False, True]
    """

    trajectories: tuple[Trajectory, ...]
    seed: int

    def __len__(self) -> int:
        return len(self.trajectories)

    @property
    def num_finished(self) -> int:
        """Count the motions that last as long as was asked."""
        return sum(motion.is_finished for motion in self.trajectories)

    def q_at(self, times: ArrayLike) -> FloatArray:
        """Return the configurations at some times, (num, n, nq); NaN after a motion's end.

        Args:
            times: (n,) times, or one [s].
        """
        return self._at(times, "q")

    def v_at(self, times: ArrayLike) -> FloatArray:
        """Return the velocities at some times, (num, n, nv); NaN after a motion's end.

        Args:
            times: (n,) times, or one [s].
        """
        return self._at(times, "v")

    def spread(self, times: ArrayLike) -> FloatArray:
        """Return the largest minus the smallest of each coordinate at some times, (n, nq).

        Args:
            times: (n,) times, or one [s].
        """
        q = self.q_at(times)
        return np.asarray(np.nanmax(q, axis=0) - np.nanmin(q, axis=0))

    def _at(self, times: ArrayLike, name: str) -> FloatArray:
        asked = np.atleast_1d(np.asarray(times, dtype=np.float64))
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
    progress: Progress | None = None,
    **options: Any,
) -> Bundle:
    """Return many motions from one state, in parallel.

    Motion i of a seed is the same whatever their number and that of the processes.

    Args:
        system: What moves.
        q: Configuration at the start, (nq,).
        v: Velocity at the start, (nv,).
        duration: How long each moves [s].
        law: Resolves impacts; give one that draws, such as `Routh`.
        num: Number of motions.
        seed: Of all draws.
        num_processes: Processes to use; one a core by default.
        progress: Called with (motions done, motions in all).
        **options: As for `simulate`.

    Raises:
        InvalidProblem: An argument is wrong, or motions start with a penetration.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     scene.system, scene.q, scene.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> len(motions), motions.num_finished
        (4, 4)
    """
    checks.integer("num", num, 1)
    checks.integer("seed", seed, 0, 2**53 - 1)
    if num_processes is not None:
        checks.integer("num_processes", num_processes, 1)
    processes = min(num, num_processes or available_cores())
    job = _Job(system, q, v, duration, law, int(seed), options)
    # The first one runs here: bad input is told at once, and kernels are compiled once.
    motions: list[Trajectory] = [job.run(0)]
    if progress is not None:
        progress(1, num)
    for motion in _run(job, range(1, num), processes):
        motions.append(motion)
        if progress is not None:
            progress(len(motions), num)
    by_seed = {motion.seed: motion for motion in motions}
    return Bundle(tuple(by_seed[job.seed_of(i)] for i in range(num)), int(seed))


@dataclass(frozen=True, eq=False)
class _Job:
    """What all motions of a bundle share."""

    system: System
    q: ArrayLike
    v: ArrayLike
    duration: float
    law: ImpactLaw
    seed: int
    options: dict[str, Any]

    def seed_of(self, i: int) -> int:
        return int(np.random.default_rng([self.seed, i]).integers(2**53))

    def run(self, i: int) -> Trajectory:
        return simulate(
            self.system,
            self.q,
            self.v,
            self.duration,
            self.law,
            seed=self.seed_of(i),
            **self.options,
        )


_job: _Job | None = None
"""The job of a worker process, handed over when it starts."""


def _take(job: _Job) -> None:
    global _job
    _job = job


def _work(i: int) -> Trajectory:
    assert _job is not None
    # The system stays here: it may not be one that can be sent.
    return replace(_job.run(i), system=None)


def _run(job: _Job, items: range, processes: int) -> Iterator[Trajectory]:
    """Yield motions as they are done; what has not begun is dropped on Ctrl-C."""
    if processes == 1 or len(items) < 2:
        yield from map(job.run, items)
        return
    with ProcessPoolExecutor(processes, initializer=_take, initargs=(job,)) as pool:
        try:
            for done in as_completed([pool.submit(_work, i) for i in items]):
                yield replace(done.result(), system=job.system)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
