"""Measure carom beside its peers, in one run, and write the table benchmarks/results.md.

Every solver gets the very LCPs that a run of `carom.Routh` with its defaults meets on a scene.
Machines are noisy: rounds are interleaved, the best of each is kept, and ratios are what counts.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bounces
import draws
import end_to_end
import exact_motions
import landing
import motion
import numba
import numpy as np
from numba import njit
from pydrake.solvers import MathematicalProgram, MobyLcpSolver
from quantecon.optimize import lcp_lemke
from rich.progress import track

import carom
from carom.contact_space import step_matrix, step_vector
from carom.kernels import lemke
from carom.stepping.sampler import Sampler

RESULTS = Path(__file__).parent / "results.md"
# Those of the paper's table; in the others nothing collides.
SCENES = ("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack")
ROUNDS = 25
NUM_SAMPLES = 2**16
NUM_PATHS = 1000
BY_HAND = "\n## Exact sets beside an earlier version\n"
"""Beginning of what is not measured here, and kept."""


@dataclass(frozen=True)
class Workload:
    """The LCPs of one scene: W (n, n) and w (count, n), dimensionless."""

    scene: str
    sampler: Sampler
    W: np.ndarray
    w: np.ndarray
    scaled: np.ndarray
    rows: np.ndarray


def make_workload(name: str) -> Workload:
    """Collect the step LCPs that the first samples of a scene meet."""
    scene = carom.scenes.load(name)
    problem = scene.problem
    law = carom.Routh(
        num_samples=NUM_SAMPLES, step_impulse=scene.step_impulse, max_steps=scene.max_steps
    )
    sampler = law.sampler(problem)
    space = problem.space
    m, c = space.num_contacts, len(problem.J)
    ws = []
    for sample in range(NUM_PATHS):
        record = sampler.record(sample, scene.max_steps)
        record = record[record[:, 2 * c] >= 0]
        before = np.vstack([problem.start, record[:-1, :c]])
        for v_c, step in zip(before, record, strict=True):
            caps = step[2 * c : 2 * c + m]
            ws.append(step_vector(v_c.reshape(m, -1), caps, space.directions))
    W = step_matrix(space.A, space.mu, space.directions)
    scaled, rows, _ = lemke.equilibrate(W)
    return Workload(name, sampler, W, np.array(ws), scaled, rows)


@njit
def _quantecon_loop(W, w):
    d = np.ones(w.shape[1])
    solved = 0
    for i in range(w.shape[0]):
        solved += lcp_lemke(W, w[i], d).success
    return solved


@njit
def _lemke_loop(scaled, rows, w):
    n = w.shape[1]
    d, x, trial, row = np.ones(n), np.empty(n), np.empty(n), np.empty(n)
    work = lemke.make_work(n)
    solved = 0
    for i in range(w.shape[0]):
        for j in range(n):
            row[j] = rows[j] * w[i, j]
        status, _ = lemke.solve_accurately(scaled, row, d, work, x, trial, 50 * n)
        solved += status == 0
    return solved


def _drake_programs(W: np.ndarray, w: np.ndarray) -> list[MathematicalProgram]:
    programs = []
    for row in w:
        program = MathematicalProgram()
        x = program.NewContinuousVariables(len(row))
        program.AddLinearComplementarityConstraint(W, row, x)
        programs.append(program)
    return programs


def _drake_loop(programs: list[MathematicalProgram]) -> int:
    solver = MobyLcpSolver()
    return sum(solver.Solve(program).is_success() for program in programs)


def _seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure(load: Workload) -> dict[str, float]:
    """Return the best microseconds per LCP of every contender, and facts about the scene."""
    count = len(load.w)
    programs = _drake_programs(load.W, load.w[:500])
    steps = load.sampler.run(NUM_SAMPLES, 1, None)[2].sum()
    contenders: dict[str, tuple[Callable[[], object], int]] = {
        "quantecon": (lambda: _quantecon_loop(load.W, load.w), count),
        "lemke": (lambda: _lemke_loop(load.scaled, load.rows, load.w), count),
        "drake": (lambda: _drake_loop(programs), len(programs)),
        "pieces 1": (lambda: load.sampler.run(NUM_SAMPLES, 1, None), steps),
        "pieces 2": (lambda: load.sampler.run(NUM_SAMPLES, 2, None), steps),
    }
    best = dict.fromkeys(contenders, np.inf)
    for function, _ in contenders.values():
        function()
    for _ in range(ROUNDS):
        for name, (function, amount) in contenders.items():
            best[name] = min(best[name], 1e6 * _seconds(function) / amount)
    best["steps"] = steps / NUM_SAMPLES
    best["solved quantecon"] = _quantecon_loop(load.W, load.w) / count
    best["solved lemke"] = _lemke_loop(load.scaled, load.rows, load.w) / count
    best["solved drake"] = _drake_loop(programs) / len(programs)
    return best


def write(results: dict[str, dict[str, float]]) -> str:
    """Write the tables as Markdown."""
    lines = [
        "# Benchmarks",
        "",
        "Made by `make bench`, all in one run; every solver gets the LCPs that `carom.Routh` meets "
        "with its defaults and the paper's step.",
        "Per LCP, without some 40 ms of preparation that runs of 2^16 samples or more are given, "
        "the best of "
        f"{ROUNDS} interleaved rounds. Times depend on the machine; the ratios are the point.",
        "",
        f"Python {platform.python_version()}, NumPy {np.__version__}, Numba {numba.__version__}, "
        f"{platform.machine()}.",
        "",
        "## Microseconds per LCP",
        "",
        "| scene | QuantEcon `lcp_lemke`, jitted loop | Drake `MobyLcpSolver`, from Python | "
        "carom Lemke | carom pieces, 1 thread | carom pieces, 2 threads |",
        "|---|---|---|---|---|---|",
    ]
    for scene, row in results.items():
        lines.append(
            f"| {scene} | {row['quantecon']:.3g} | {row['drake']:.3g} | {row['lemke']:.3g} | "
            f"{row['pieces 1']:.3g} | {row['pieces 2']:.3g} |"
        )
    lines += [
        "",
        "## How many times faster than QuantEcon, one thread",
        "",
        "| scene | carom Lemke | carom pieces | steps per sample | µs per sample, 1 thread | "
        "µs per sample, 2 threads |",
        "|---|---|---|---|---|---|",
    ]
    for scene, row in results.items():
        lines.append(
            f"| {scene} | {row['quantecon'] / row['lemke']:.2f} | "
            f"{row['quantecon'] / row['pieces 1']:.1f} | {row['steps']:.2f} | "
            f"{row['steps'] * row['pieces 1']:.3g} | {row['steps'] * row['pieces 2']:.3g} |"
        )
    lines += [
        "",
        "## Share of these LCPs that each solver says it solved",
        "",
        "| scene | QuantEcon | Drake | carom Lemke (by residual) |",
        "|---|---|---|---|",
    ]
    for scene, row in results.items():
        lines.append(
            f"| {scene} | {100 * row['solved quantecon']:.2f} % | "
            f"{100 * row['solved drake']:.2f} % | {100 * row['solved lemke']:.2f} % |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure every scene and write the results."""
    names = sys.argv[1:] or list(SCENES)
    results = {name: measure(make_workload(name)) for name in track(names, description="scenes")}
    text = write(results)
    if not sys.argv[1:]:
        text += "\n".join(end_to_end.section()) + "\n"
        text += "\n".join(landing.section()) + "\n"
        text += "\n".join(exact_motions.section()) + "\n"
        text += "\n".join(bounces.section()) + "\n"
        text += "\n".join(motion.section()) + "\n"
        text += "\n".join(draws.section()) + "\n"
        text += "".join(RESULTS.read_text(encoding="utf-8").partition(BY_HAND)[1:])
        temporary = RESULTS.with_suffix(".tmp")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(RESULTS)
    print(text)


if __name__ == "__main__":
    main()
