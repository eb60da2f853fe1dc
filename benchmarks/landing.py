"""Measure a quadruped's landing on four feet in space beside Drake's Moby solver.

Solo12 lands with legs that yield, and with legs that are held, so that it is one rigid body and
its four contacts depend on each other.
"""

from __future__ import annotations

import time
from importlib.metadata import distribution

import numpy as np
import pinocchio as pin
from pydrake.solvers import MathematicalProgram, MobyLcpSolver

import carom
from carom.adapters.pinocchio import PinocchioSystem
from carom.contact_space import step_matrix, step_vector

URDF = distribution("example-robot-data").locate_file(
    "cmeel.prefix/share/example-robot-data/robots/solo_description/robots/solo12.urdf"
)
LEGS = {"FL": 1, "FR": 1, "HL": -1, "HR": -1}
FEET = [f"{leg}_FOOT" for leg in LEGS]
MU = 0.7
BEND = 0.6
"""How far thighs are turned, and half as far as knees are [rad]."""
VELOCITY = (0.3, 0.1, -1.0)
"""Forward, to the left, and down [m/s]."""

NUM_SAMPLES = 2**14
NUM_DRAKE = 200
"""Drake gets the LCPs of so many samples; those of all would take it minutes."""
NUM_COSTS = 2**11
"""Samples with which numbers of directions are compared."""
COSTS = (4, 8, 16, 32)
ROUNDS = 3
GOAL = 30.0
"""Seconds for all samples on two cores."""


def landings(num_directions: int = 8) -> dict[str, carom.ImpactProblem]:
    """Return the landing of Solo12 with legs that yield, and with legs that are held."""
    model = pin.buildModelFromUrdf(str(URDF), pin.JointModelFreeFlyer())
    q = pin.neutral(model)
    for leg, side in LEGS.items():
        q[model.joints[model.getJointId(f"{leg}_HFE")].idx_q] = side * BEND
        q[model.joints[model.getJointId(f"{leg}_KFE")].idx_q] = -2 * side * BEND
    v = np.zeros(model.nv)
    v[:3] = VELOCITY
    system = PinocchioSystem(model, FEET, mu=MU)
    q = system.stand(q)
    rigid = pin.buildReducedModel(model, list(range(2, model.njoints)), q)
    held = PinocchioSystem(rigid, FEET, mu=MU)
    return {
        "legs that yield": system.impact_problem(q, v, num_directions=num_directions),
        "legs that are held": held.impact_problem(q[:7], v[:6], num_directions=num_directions),
    }


def measure(problem: carom.ImpactProblem) -> dict[str, float]:
    """Return seconds of carom and of Drake for the same samples, and facts about them."""
    carom.Routh(num_samples=NUM_DRAKE, draw="persistent").resolve(problem)
    best = {1: np.inf, 2: np.inf}
    for _ in range(ROUNDS):
        for threads in best:
            law = carom.Routh(num_samples=NUM_SAMPLES, num_threads=threads, draw="persistent")
            start = time.perf_counter()
            outcomes = law.resolve(problem)
            best[threads] = min(best[threads], time.perf_counter() - start)
    programs = _programs(problem)
    solver = MobyLcpSolver()
    start = time.perf_counter()
    solved = sum(solver.Solve(program).is_success() for program in programs)
    drake = time.perf_counter() - start
    return {
        "velocities": problem.num_velocities,
        "rank": int(np.linalg.matrix_rank(problem.J)),
        "steps": float(outcomes.num_steps.mean()),
        "unfinished": outcomes.num_unfinished,
        "carom 1": best[1],
        "carom 2": best[2],
        "drake": drake / NUM_DRAKE * NUM_SAMPLES,
        "drake us": 1e6 * drake / len(programs),
        "drake lcps": len(programs),
        "drake solved": solved / len(programs),
    }


def costs(name: str) -> dict[int, float]:
    """Return the microseconds that a sample takes on one thread, for numbers of directions."""
    found = {}
    for k in COSTS:
        problem = landings(k)[name]
        law = carom.Routh(num_samples=NUM_COSTS, num_threads=1, draw="persistent")
        seconds = np.inf
        for _ in range(ROUNDS):
            start = time.perf_counter()
            law.resolve(problem)
            seconds = min(seconds, time.perf_counter() - start)
        found[k] = 1e6 * seconds / NUM_COSTS
    return found


def _programs(problem: carom.ImpactProblem) -> list[MathematicalProgram]:
    """Return the step LCPs that the first samples meet."""
    space = problem.space
    m, c = space.num_contacts, len(problem.J)
    law = carom.Routh(num_samples=NUM_SAMPLES, draw="persistent")
    sampler = law.sampler(problem)
    W = step_matrix(space.A, space.mu, space.directions)
    programs = []
    for sample in range(NUM_DRAKE):
        record = sampler.record(sample, sampler.rule.max_steps)
        record = record[record[:, 2 * c] >= 0]
        before = np.vstack([problem.start, record[:-1, :c]])
        for v_c, step in zip(before, record, strict=True):
            caps = step[2 * c : 2 * c + m]
            program = MathematicalProgram()
            x = program.NewContinuousVariables(len(W))
            w = step_vector(v_c.reshape(m, -1), caps, space.directions)
            program.AddLinearComplementarityConstraint(W, w, x)
            programs.append(program)
    return programs


def table(results: dict[str, dict[str, float]], times: dict[int, float]) -> list[str]:
    """Write the results as Markdown."""
    lines = [
        "",
        "## Four feet in space: 2^14 samples of Solo12's landing",
        "",
        f"With 8 friction directions, the default draw and step; carom from problem to set, the "
        f"best of {ROUNDS}. Drake's `MobyLcpSolver`, from Python and on one thread, got the LCPs "
        f"of the first {NUM_DRAKE} samples, and its time for all follows from these. The goal is "
        f"{GOAL:.0f} s on two cores.",
        "",
        "| landing | velocities, rank of J | steps per sample | carom, 2 threads | "
        "carom, 1 thread | Drake, all samples | Drake per LCP | LCPs timed | Drake says solved | "
        "times faster, 1 thread | goal |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, row in results.items():
        met = row["carom 2"] < GOAL and not row["unfinished"]
        lines.append(
            f"| {name} | {row['velocities']:.0f}, {row['rank']:.0f} | {row['steps']:.1f} | "
            f"{row['carom 2']:.2f} s | {row['carom 1']:.2f} s | {row['drake']:.0f} s | "
            f"{row['drake us']:.0f} µs | {row['drake lcps']:.0f} | "
            f"{100 * row['drake solved']:.1f} % | {row['drake'] / row['carom 1']:.0f} | "
            f"{'met' if met else 'missed'} |"
        )
    lines += [
        "",
        "What friction directions cost, with legs that are held, one thread:",
        "",
        "| directions k | " + " | ".join(str(k) for k in times) + " |",
        "|---|" + "---|" * len(times),
        "| µs per sample | " + " | ".join(f"{value:.0f}" for value in times.values()) + " |",
    ]
    return lines


def section() -> list[str]:
    """Measure all, and write it as Markdown."""
    results = {name: measure(problem) for name, problem in landings().items()}
    return table(results, costs("legs that are held"))


if __name__ == "__main__":
    print("\n".join(section()))
