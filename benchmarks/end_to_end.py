"""Measure what a user waits for, from `law.resolve(problem)` to the set, beside a jitted loop.

The loop is the paper's Algorithm 2 around QuantEcon's Lemke, on one thread.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit
from quantecon.optimize import lcp_lemke

import carom
from carom.contact_space import step_matrix

# Five contacts take a hundred times as long as two.
SCENES = {"rocking-block": 2**20, "compass-gait": 2**20, "box-wall": 2**20, "ramone": 2**20}
SCENES["disk-stack"] = 2**16
FEW = 2**14
ROUNDS = 5
COLLIDING = 1e-8
"""The paper ends a sample at J_n v >= -1e-8."""


@njit
def _algorithm_2(W, A, start, caps, num_samples, max_steps, seed):
    """Run the paper's algorithm in contact coordinates; return ends (n, c) and LCPs solved."""
    np.random.seed(seed)  # noqa: NPY002  Numba's own generator
    m, c = len(caps), len(start)
    n = W.shape[0]
    d, w, impulse = np.ones(n), np.zeros(n), np.empty(c)
    ends = np.empty((num_samples, c))
    solved = 0
    for sample in range(num_samples):
        u = start.copy()
        for _ in range(max_steps):
            colliding = False
            for i in range(m):
                colliding = colliding or u[2 * i] < -COLLIDING
            if not colliding:
                break
            for i in range(m):
                w[i] = caps[i] * np.random.random()  # noqa: NPY002
                w[m + i] = u[2 * i]
                w[2 * m + 2 * i] = u[2 * i + 1]
                w[2 * m + 2 * i + 1] = -u[2 * i + 1]
            z = lcp_lemke(W, w, d).z
            solved += 1
            for i in range(m):
                impulse[2 * i] = z[m + i]
                impulse[2 * i + 1] = z[2 * m + 2 * i] - z[2 * m + 2 * i + 1]
            u += A @ impulse
        ends[sample] = u
    return ends, solved


def _best(law: carom.ImpactLaw, problem: carom.ImpactProblem, rounds: int) -> float:
    """Return the least seconds of some calls, after one that compiles what is not yet compiled."""
    law.resolve(problem)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        law.resolve(problem)
        times.append(time.perf_counter() - start)
    return min(times)


def measure(name: str) -> dict[str, float]:
    """Return seconds of every contender."""
    scene, count = carom.scenes.load(name), SCENES[name]
    problem, space = scene.problem, scene.problem.space
    W = step_matrix(space.A, space.mu, space.directions)
    arguments = (W, space.A, problem.start, scene.step_impulse / space.impulse_unit)
    _algorithm_2(*arguments, 10, scene.max_steps, 0)
    start = time.perf_counter()
    _algorithm_2(*arguments, count, scene.max_steps, 0)
    sampling = time.perf_counter() - start
    options = {"step_impulse": scene.step_impulse, "max_steps": scene.max_steps}
    many = carom.Routh(num_samples=count, num_threads=1, **options)
    is_small = problem.num_contacts <= 3
    return {
        "count": count,
        "quantecon": sampling / count,
        "many": _best(many, problem, 3) / count,
        "few": _best(carom.Routh(num_samples=FEW), problem, ROUNDS),
        "exact": _best(carom.RouthExact(), problem, ROUNDS) if is_small else np.nan,
    }


def table(results: dict[str, dict[str, float]]) -> list[str]:
    """Return the results as Markdown."""
    lines = [
        "",
        "## End to end: from the call to the set",
        "",
        "`Routh(num_samples=n, num_threads=1).resolve(problem)` with the paper's step, beside the "
        "paper's algorithm in a jitted loop around QuantEcon's `lcp_lemke`, one thread, as many "
        "samples.",
        "Then what a user gets without options: `Routh().resolve(problem)`, 2^14 samples on all "
        "cores, and `RouthExact().resolve(problem)`.",
        "",
        "| scene | n | QuantEcon loop, µs per sample | `Routh`, µs per sample | times faster | "
        "`Routh()`, ms | `RouthExact()`, ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in results.items():
        exact = "" if np.isnan(row["exact"]) else f"{1e3 * row['exact']:.1f}"
        lines.append(
            f"| {name} | 2^{int(row['count']).bit_length() - 1} | {1e6 * row['quantecon']:.3g} | "
            f"{1e6 * row['many']:.3g} | {row['quantecon'] / row['many']:.1f} | "
            f"{1e3 * row['few']:.1f} | {exact} |"
        )
    return lines


if __name__ == "__main__":
    print("\n".join(table({name: measure(name) for name in SCENES})))
