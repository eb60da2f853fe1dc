"""Measure one draw of a new problem, and environments whose impacts are drawn beside bare ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import gymnasium
import landing
import numpy as np

import carom
from carom.adapters.gymnasium import SetValuedImpacts

ROUNDS = 5
NUM_DRAWS = 1000
NUM_STEPS = 10_000
GOALS = {"rocking-block": 0.2, "compass-gait": 0.2, "disk-stack": 0.5, "Solo12": 2.0}
"""Milliseconds of a draw, the problem's construction included."""
ENVIRONMENTS = ("Hopper-v5", "Walker2d-v5")
RATIO = 1.3
"""How many times the bare environment's time a step may take."""


def _seconds(function: Callable[[], object]) -> float:
    """Return the processor time of a call, in which other programs take no part."""
    start = time.process_time()
    function()
    return time.process_time() - start


def _problems() -> dict[str, carom.ImpactProblem]:
    scenes = {name: carom.scenes.load(name).problem for name in GOALS if name != "Solo12"}
    return {**scenes, "Solo12": landing.landings()["legs that yield"]}


def measure_draws() -> dict[str, tuple[float, float]]:
    """Return the milliseconds of making each problem, and of making it and drawing."""
    law, rng = carom.Routh(), np.random.default_rng(0)
    arrays = {
        name: (problem.M, problem.J_n, problem.J_t, problem.mu, problem.v_pre)
        for name, problem in _problems().items()
    }

    def make(name: str) -> None:
        for _ in range(NUM_DRAWS):
            carom.ImpactProblem(*arrays[name])

    def draw(name: str) -> None:
        for _ in range(NUM_DRAWS):
            law.draw_velocity(carom.ImpactProblem(*arrays[name]), rng)

    times: dict[str, list[tuple[float, float]]] = {name: [] for name in arrays}
    for name in arrays:
        draw(name)
    for _ in range(ROUNDS):
        for name, own in times.items():
            own.append((_seconds(lambda n=name: make(n)), _seconds(lambda n=name: draw(n))))
    scale = 1e3 / NUM_DRAWS
    return {
        name: tuple(scale * median(x) for x in zip(*own, strict=True))
        for name, own in times.items()
    }


def _run(env: gymnasium.Env, actions: np.ndarray) -> int:
    """Step an environment, reset it where an episode ends, and return the number of impacts."""
    impacts = 0
    env.reset(seed=0)
    for action in actions:
        *_, terminated, truncated, info = env.step(action)
        impacts += len(info.get("impacts", ()))
        if terminated or truncated:
            env.reset()
    return impacts


def measure_environment(name: str) -> tuple[float, float, int]:
    """Return microseconds per step, bare and wrapped, and the number of impacts drawn."""
    bare, wrapped = gymnasium.make(name), SetValuedImpacts(gymnasium.make(name))
    bare.action_space.seed(0)
    actions = np.array([bare.action_space.sample() for _ in range(NUM_STEPS)])
    impacts = _run(wrapped, actions)
    times = [
        [_seconds(lambda e=env: _run(e, actions)) for env in (bare, wrapped)] for _ in range(ROUNDS)
    ]
    before, after = (1e6 / NUM_STEPS * median(column) for column in zip(*times, strict=True))
    return before, after, impacts


def section() -> list[str]:
    """Return the results as Markdown."""
    lines = [
        "",
        "## One draw of a new problem",
        "",
        "`carom.ImpactProblem(...)` from arrays, and `carom.Routh().draw_velocity(problem, rng)` "
        f"after it, processor time of one thread, medians of {ROUNDS} interleaved rounds of "
        f"{NUM_DRAWS:,} draws.",
        "",
        "| impact | problem, ms | problem and draw, ms | goal, ms |",
        "|---|---|---|---|",
    ]
    for name, (problem, draw) in measure_draws().items():
        lines.append(f"| {name} | {problem:.3f} | {draw:.3f} | {GOALS[name]:g} |")
    lines += [
        "",
        f"Environments of Gymnasium, bare and with `SetValuedImpacts`: {NUM_STEPS:,} steps of a "
        f"random policy, resets included, medians of {ROUNDS} interleaved rounds. "
        f"The goal is {RATIO} times the bare environment's time.",
        "",
        "| environment | impacts drawn per 100 steps | bare, µs per step | wrapped, µs per step | "
        "ratio | goal |",
        "|---|---|---|---|---|---|",
    ]
    for name in ENVIRONMENTS:
        bare, wrapped, impacts = measure_environment(name)
        goal = "met" if wrapped <= RATIO * bare else "missed"
        lines.append(
            f"| {name} | {100 * impacts / NUM_STEPS:.1f} | {bare:.0f} | {wrapped:.0f} | "
            f"{wrapped / bare:.2f} | {goal} |"
        )
    return lines


if __name__ == "__main__":
    print("\n".join(section()))
