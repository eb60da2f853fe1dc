"""Measure what a user waits for, from `law.resolve(problem)` to the set, beside a jitted loop.

The loop is the paper's Algorithm 2 around QuantEcon's Lemke, on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import landing
import numpy as np
from numba import njit
from quantecon.optimize import lcp_lemke

import carom
from carom.contact_space import step_matrix
from carom.stepping import stopping_impulse

NUM_SAMPLES = {"disk-stack": 2**16, "Solo12, legs held": 2**11, "Solo12, legs yield": 2**11}
"""More contacts take a hundred times as long as two."""
MANY = 2**20
FEW = 2**14
ROUNDS = 5
COLLIDING = 1e-8
"""The paper ends a sample at J_n v >= -1e-8."""
MAX_STEPS = 1000


@njit
def _algorithm_2(W, A, directions, start, caps, num_samples, max_steps, seed):
    """Run the paper's algorithm in contact coordinates; return ends (n, c) and LCPs solved."""
    np.random.seed(seed)  # noqa: NPY002  Numba's own generator
    m, c, n = len(caps), len(start), W.shape[0]
    k, d = directions.shape
    width = 1 + d
    ones, w, impulse = np.ones(n), np.zeros(n), np.empty(c)
    ends = np.empty((num_samples, c))
    solved = 0
    for sample in range(num_samples):
        u = start.copy()
        for _ in range(max_steps):
            colliding = False
            for i in range(m):
                colliding = colliding or u[width * i] < -COLLIDING
            if not colliding:
                break
            for i in range(m):
                w[i] = caps[i] * np.random.random()  # noqa: NPY002
                w[m + i] = u[width * i]
                for a in range(k):
                    w[2 * m + k * i + a] = 0.0
                    for j in range(d):
                        w[2 * m + k * i + a] += directions[a, j] * u[width * i + 1 + j]
            z = lcp_lemke(W, w, ones).z
            solved += 1
            for i in range(m):
                impulse[width * i] = z[m + i]
                for j in range(d):
                    impulse[width * i + 1 + j] = 0.0
                    for a in range(k):
                        impulse[width * i + 1 + j] += directions[a, j] * z[2 * m + k * i + a]
            u += A @ impulse
        ends[sample] = u
    return ends, solved


def impacts() -> dict[str, carom.ImpactProblem]:
    """Return the scenes of the paper that collide, and Solo12's landing on four feet."""
    names = ("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack")
    yields, held = landing.landings().values()
    robots = {"Solo12, legs held": held, "Solo12, legs yield": yields}
    return {name: carom.scenes.load(name).problem for name in names} | robots


def _medians(contenders: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median seconds of some rounds, in turns, after one that compiles.

    On one thread the processor's time counts, to which other work on the machine adds little.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(1 + ROUNDS):
        for name, run in contenders.items():
            clock = time.perf_counter if name == "default" else time.process_time
            start = clock()
            run()
            times[name].append(clock() - start)
    return {name: float(np.median(found[1:])) for name, found in times.items()}


def measure(name: str, problem: carom.ImpactProblem) -> dict[str, float]:
    """Return seconds of every contender, per sample, and of whole calls."""
    space, count = problem.space, NUM_SAMPLES.get(name, MANY)
    few = min(FEW, count)
    scene = carom.scenes.load(name) if name in carom.scenes.names() else None
    step = scene.step_impulse if scene else stopping_impulse(problem)
    max_steps = scene.max_steps if scene else MAX_STEPS
    W = step_matrix(space.A, space.mu, space.directions)
    known = W, space.A, space.directions, problem.start, step / space.impulse_unit
    steps = {"step_impulse": step, "max_steps": max_steps}
    contenders: dict[str, Callable[[], object]] = {
        "peer": lambda: _algorithm_2(*known, count, max_steps, 0),
        "many": lambda: carom.Routh(count, num_threads=1).resolve(problem),
        "steps": lambda: carom.Routh(count, num_threads=1, **steps).resolve(problem),
        "peer few": lambda: _algorithm_2(*known, few, max_steps, 0),
        "few": lambda: carom.Routh(few, num_threads=1).resolve(problem),
        "default": lambda: carom.Routh().resolve(problem),
    }
    if problem.num_contacts <= 3:
        contenders["exact"] = lambda: carom.RouthExact().resolve(problem)
    found = _medians(contenders)
    lcps = _algorithm_2(*known, few, max_steps, 0)[1] / few
    sizes = {"peer": count, "many": count, "steps": count, "peer few": few, "few": few}
    per_sample = {key: found[key] / size for key, size in sizes.items()}
    return {"exact": np.nan} | found | per_sample | {"count": count, "n few": few, "lcps": lcps}


def table(results: dict[str, dict[str, float]]) -> list[str]:
    """Return the results as Markdown."""
    lines = [
        "",
        "## End to end: from the call to the set",
        "",
        "`Routh(num_samples=n, num_threads=1).resolve(problem)`, exact motions of which a quarter "
        "search for extremes, and the same with the paper's step, beside the paper's algorithm in "
        "a jitted loop around QuantEcon's `lcp_lemke`: as many samples, one thread, "
        f"µs of processor time per sample, medians of {ROUNDS} rounds in turns, preparation "
        "included. In brackets, how many times faster than the loop.",
        "Then what a user gets without options: `Routh().resolve(problem)`, 2^14 samples on all "
        "cores, elapsed time, and `RouthExact().resolve(problem)`.",
        "",
        "| impact | n | LCPs each | loop | `Routh` | `Routh`, paper's step | fewer n | loop | "
        "`Routh` | `Routh()`, ms | `RouthExact()`, ms |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, row in results.items():
        exact = "" if np.isnan(row["exact"]) else f"{1e3 * row['exact']:.1f}"
        many, few = (f"2^{int(row[key]).bit_length() - 1}" for key in ("count", "n few"))
        lines.append(
            f"| {name} | {many} | {row['lcps']:.1f} | {1e6 * row['peer']:.3g} | "
            f"{_times(row, 'many', 'peer')} | {_times(row, 'steps', 'peer')} | {few} | "
            f"{1e6 * row['peer few']:.3g} | {_times(row, 'few', 'peer few')} | "
            f"{1e3 * row['default']:.1f} | {exact} |"
        )
    return lines


def _times(row: dict[str, float], key: str, peer: str) -> str:
    return f"{1e6 * row[key]:.3g} ({row[peer] / row[key]:.1f})"


def section() -> list[str]:
    """Measure all, and write it as Markdown."""
    return table({name: measure(name, problem) for name, problem in impacts().items()})


if __name__ == "__main__":
    print("\n".join(section()))
