"""Measure sweeps: throughput of engines, overhead per point, a large sweep, cost per point.

Run it as `python benchmarks/sweep.py [throughput | large | cost | tasks]`; it prints what
docs/scale.md quotes. Throughput depends on what else the machine does: the load is printed too.
"""

from __future__ import annotations

import filecmp
import math
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event, Thread

import numpy as np

import carom
from carom.io import write_atomically
from carom.sweeps.run import Sweep, prepare

SPEED = math.sqrt(2 * 9.81 * 0.01)
"""Speed of the block after a fall of 1 cm [m/s]."""
NUM_COSTS = 20
NUM_TASKS = 2000


def problem_of(mu: float, tilt: float) -> carom.ImpactProblem:
    """Pose the landing of a block, flat on a slope that is tilted [rad]."""
    scene = carom.scenes.load("rocking-block", mu=mu)
    v = SPEED * np.array([math.sin(tilt), -math.cos(tilt), 0.0])
    return scene.system.impact_problem(scene.q, v)


def nothing(outcomes: carom.OutcomeSet) -> float:
    """Measure nothing."""
    return 0.0 * len(outcomes.v_post)


def same_problem(number: int) -> carom.ImpactProblem:
    return BLOCK if number >= 0 else None


BLOCK = carom.scenes.load("rocking-block").problem


@dataclass(frozen=True, eq=False, repr=False)
class Known(carom.ImpactLaw):
    """Return outcomes that are known already, so that the sweep itself is what costs."""

    def resolve(self, problem: carom.ImpactProblem) -> carom.OutcomeSet:
        return known()


@cache
def known() -> carom.OutcomeSet:
    return carom.AnitescuPotra().resolve(BLOCK)


def grid(num_mu: int, num_tilt: int) -> dict[str, np.ndarray]:
    return {"mu": np.linspace(0.05, 1.2, num_mu), "tilt": np.linspace(0.0, 0.5, num_tilt)}


def seconds_used() -> float:
    """Return the processor time of this process and of its children that ended [s]."""
    return sum(
        sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def timed(name: str, out: Path, points: dict[str, np.ndarray], **engine: object) -> None:
    """Run one sweep and print its times."""
    before, begin = seconds_used(), time.monotonic()
    first: list[float] = []
    # Starting workers is not throughput: the clock of a rate starts at the first unit.
    data = carom.sweep(
        problem_of,
        points,
        ["contact_bounds"],
        out=out,
        progress=lambda p: first.append(time.monotonic()) if p.per_second else None,
        **engine,
    )
    wall = time.monotonic() - begin
    size = data["status"].size
    unit = size / len(first)
    rate = (size - unit) / (first[-1] - first[0])
    used = seconds_used() - before
    print(
        f"{name:16s} {wall:7.1f} s in all, {rate:6.1f} points/s after the first unit, "
        f"{1e3 * used / size:.2f} ms of processor time per point, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def throughput() -> None:
    """Compare one worker, two, and two of Dask, over 10,000 points."""
    from distributed import Client, LocalCluster

    points = grid(100, 100)
    carom.sweep(problem_of, grid(2, 2), ["contact_bounds"], out=tempfile.mkdtemp(), workers=1)
    with tempfile.TemporaryDirectory() as folder:
        outs = [Path(folder) / name for name in ("one", "two", "dask")]
        timed("one worker", outs[0], points, workers=1)
        timed("two workers", outs[1], points, workers=2)
        settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
        with LocalCluster(**settings) as cluster, Client(cluster) as client:
            timed("Dask, two", outs[2], points, dask=client)
        for other in outs[1:]:
            names = sorted(path.name for path in (outs[0] / "units").iterdir())
            same, *rest = filecmp.cmpfiles(outs[0] / "units", other / "units", names, shallow=False)
            print(f"{other.name}: {len(same)} of {len(names)} units have the same bytes", *rest)


def shared_memory(process: str) -> int:
    """Return the memory of a process and of all its children, shared pages once [kB]."""
    folder = Path("/proc") / process
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
        children = [each.read_text().split() for each in folder.glob("task/*/children")]
    except OSError:  # It has just ended.
        return 0
    own = sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return own + sum(shared_memory(child) for each in children for child in each)


@contextmanager
def watched_memory() -> Iterator[list[int]]:
    """Note the memory of this process and its children now and then."""
    seen, is_over = [0], Event()

    def watch() -> None:
        while not is_over.wait(0.5):
            seen.append(shared_memory(str(os.getpid())))

    thread = Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        thread.join()


def large(out: str = "") -> None:
    """Sweep 10^5 points with exact bounds, and draw them."""
    from carom.plots import sweep_page

    folder = Path(out or tempfile.mkdtemp()) / "large"
    before = seconds_used()
    begin = time.monotonic()
    with watched_memory() as memory:
        data = carom.sweep(
            problem_of, grid(400, 250), ["contact_bounds", "complete"], out=folder, workers=2
        )
        computed = time.monotonic() - begin
        write_atomically(folder / "summary.html", sweep_page(data).encode())
    complete = int(data.complete.sum())
    rss = [resource.getrusage(w).ru_maxrss / 1024 for w in (resource.RUSAGE_SELF, -1)]
    size = sum(path.stat().st_size for path in (folder / "units").iterdir())
    print(
        f"10^5 points: {computed:.0f} s, page {time.monotonic() - begin - computed:.1f} s more; "
        f"{seconds_used() - before:.0f} s of processor time; {complete:,} complete; memory "
        f"{rss[0]:.0f} MB of the driver, {rss[1]:.0f} MB of the largest worker, "
        f"{max(memory) / 1024:.0f} MB of all with shared pages counted once; "
        f"units {size:,} bytes; load {os.getloadavg()[0]:.1f}"
    )


def cost() -> None:
    """Print how long one point takes, over contacts and samples."""
    for name in ("rocking-block", "compass-gait", "ramone", "disk-stack"):
        problem = carom.scenes.load(name).problem
        for samples in (2**8, 2**10, 2**12, 2**14):
            law = carom.Routh(num_samples=samples, num_threads=1)
            print(f"{name}, {problem.num_contacts} contacts, {samples}: {_ms(law, problem):.2f} ms")
        if problem.num_contacts <= 3:
            law = carom.RouthExact(max_seconds=math.inf, max_polyhedra=1000)
            print(f"{name}, exact: {_ms(law, problem):.2f} ms")


def _ms(law: carom.ImpactLaw, problem: carom.ImpactProblem) -> float:
    law.resolve(problem)
    times = []
    for _ in range(NUM_COSTS):
        begin = time.process_time()
        law.resolve(problem)
        times.append(time.process_time() - begin)
    return 1e3 * float(np.median(times))


def tasks() -> None:
    """Print what the sweep itself takes: per point, per unit, per task of an engine."""
    from distributed import Client, LocalCluster

    law, numbers = Known(), {"number": [float(i) for i in range(NUM_TASKS)]}

    def ready(unit_size: int) -> Sweep:
        out = tempfile.mkdtemp()
        return prepare(same_problem, numbers, [nothing], out=out, law=law, unit_size=unit_size)

    for size in (1, 100):
        one = ready(size)
        used = _used(lambda one=one: one.compute(workers=1))
        files = [path.stat().st_size for path in (one.store.folder / "units").iterdir()]
        print(f"units of {size}: {used / NUM_TASKS:.0f} µs per point, {np.mean(files):.0f} bytes")
        print(f"  zarr of {len(files)} units: {_used(one.data) / len(files):.0f} µs per unit")
    two = ready(1)
    _print_rate("two processes", two, workers=2)
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        _print_rate("Dask, two workers", ready(1), dask=client)


def _used(function: Callable[[], object]) -> float:
    """Return the processor time of a call [µs]."""
    begin = time.process_time()
    function()
    return 1e6 * (time.process_time() - begin)


def _print_rate(name: str, sweep: Sweep, **engine: object) -> None:
    stamps: list[float] = []

    def watch(progress: carom.sweeps.Progress) -> None:
        if progress.per_second:
            stamps.append(time.monotonic())

    used = _used(lambda: sweep.compute(progress=watch, **engine)) / NUM_TASKS
    rate = (len(stamps) - 1) / (stamps[-1] - stamps[0])
    load = os.getloadavg()[0]
    print(f"{name}: {rate:.0f} tasks/s, {used:.0f} µs of the driver per task, load {load:.1f}")


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "throughput"
    {"throughput": throughput, "large": large, "cost": cost, "tasks": tasks}[chosen](*sys.argv[2:])
