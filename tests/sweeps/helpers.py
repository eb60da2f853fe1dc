"""Functions that workers import, and how to compare sweeps."""

import os
import signal
import time
from pathlib import Path

import numpy as np

import carom

GRID = {"mu": [0.1, 0.3, 0.5, 0.7], "speed": [0.5, 1.0, 2.0]}
MEASURES = ["contact_bounds", "kinds", "complete"]
FEW = carom.Routh(num_samples=16)


def problem_of(mu, speed):
    return carom.scenes.load("rocking-block", mu=mu, speed=speed).problem


def slow_problem_of(mu, speed):
    """As above, and slow enough to be interrupted."""
    time.sleep(0.05)
    return problem_of(mu, speed)


def fails_at_a_half(mu, speed):
    if mu == 0.5:
        raise ValueError("no friction of a half")
    return problem_of(mu, speed)


def fails_unless_allowed(mu, speed):
    if mu == 0.5 and "CAROM_TEST_ALLOW" not in os.environ:
        raise ValueError("not allowed yet")
    return problem_of(mu, speed)


def kills_its_worker_once(mu, speed):
    """End the worker that computes one of the points, the first time."""
    mark = Path(os.environ["CAROM_TEST_MARK"])
    if mu == 0.5 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return problem_of(mu, speed)


def kills_every_worker(mu, speed):  # noqa: ARG001
    os.kill(os.getpid(), signal.SIGKILL)


def largest_lift(outcomes):
    return float(outcomes.contact_bounds()[:, 0, 1].max())


def hear_ctrl_c():
    """Undo what a background job of a shell passes on to its children: it ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def units_of(folder):
    """Return the bytes of every unit by its name."""
    return {path.name: path.read_bytes() for path in sorted((Path(folder) / "units").iterdir())}


def assert_same(one, other):
    """Both folders hold the same units to the last bit, no half files, and the same result."""
    import xarray

    first, second = units_of(one), units_of(other)
    assert first == second
    assert not [name for name in first if name.endswith(".tmp")]
    results = [xarray.open_zarr(Path(each) / "result.zarr", chunks=None) for each in (one, other)]
    assert set(results[0]) == set(results[1])
    for name in results[0]:
        mine, theirs = (np.asarray(each[name]) for each in results)
        assert mine.tobytes() == theirs.tobytes(), name
