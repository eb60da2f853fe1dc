"""Measure exact motions beside the paper's steps, and the search for extremes beside luck."""

from __future__ import annotations

import time

import landing
import numpy as np

import carom
from carom.extremes.quantity import named
from carom.stepping import ExtremeSearch

ROUNDS = 7
NUM_SAMPLES = {"disk-stack": 2**12, "Solo12, legs held": 2**10, "Solo12, legs yield": 2**10}
NUM_OTHERWISE = 2**16

NEAR = 0.02
"""A random sample comes near an extreme if it falls short by no more than this share."""

TIMES = 100
"""Random motions end when they come near, or are so many times those of a search."""

SOUGHT = {"disk-stack": "-A tangential", "Solo12, legs held": "HR_FOOT normal"}


def problems() -> dict[str, carom.ImpactProblem]:
    """Return the planar scenes of the paper and two landings in space."""
    names = ("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack")
    found = {name: carom.scenes.load(name).problem for name in names}
    yields, held = landing.landings().values()
    return found | {"Solo12, legs held": held, "Solo12, legs yield": yields}


def compare(name: str, problem: carom.ImpactProblem) -> str:
    """Return a row: events and steps per sample, and what they cost, on one thread."""
    count = NUM_SAMPLES.get(name, NUM_OTHERWISE)
    step = carom.scenes.load(name).step_impulse if name in carom.scenes.names() else None
    steps = {"step_impulse": step} if step else {"draw": "persistent"}
    laws = {
        "exact": carom.Routh(count, num_threads=1, extremes=0.0),
        "steps": carom.Routh(count, num_threads=1, **steps),
    }
    per_sample = {key: law.resolve(problem).num_steps.mean() for key, law in laws.items()}
    best = dict.fromkeys(laws, np.inf)
    for _ in range(ROUNDS):
        for key, law in laws.items():
            start = time.perf_counter()
            law.resolve(problem)
            best[key] = min(best[key], (time.perf_counter() - start) / count)
    events, lcps = per_sample["exact"], per_sample["steps"]
    return (
        f"| {name} | {events:.1f} | {1e9 * best['exact'] / events:.0f} | "
        f"{1e6 * best['exact']:.3g} | {lcps:.1f} | {1e9 * best['steps'] / lcps:.0f} | "
        f"{1e6 * best['steps']:.3g} | {best['exact'] / best['steps']:.2f} |"
    )


def luck(name: str, problem: carom.ImpactProblem) -> str:
    """Return a row: what a search reaches, and how many random motions come near."""
    space, quantity = problem.space, named(problem, SOUGHT[name])
    units = np.repeat(space.impulse_unit, space.width)
    search = ExtremeSearch(space, problem.start, quantity.objective(problem)[None] * units)
    search.warm_up()
    start = time.perf_counter()
    search.run(time.monotonic() + 20.0, max_rounds=1)
    seconds = time.perf_counter() - start
    begin = float(quantity.direction @ problem.v_pre)
    reached = begin + float(search.values[0])
    most, drawn, best, seed = TIMES * search.num_motions, 0, -np.inf, 1000
    start = time.perf_counter()
    while drawn < most and best < reached - NEAR * abs(reached):
        count = min(2**18, most - drawn)
        outcomes = carom.Routh(count, seed=seed, extremes=0.0).resolve(problem)
        best = max(best, outcomes.support(quantity.direction))
        drawn, seed = drawn + count, seed + 1
    lasted = time.perf_counter() - start
    found = best >= reached - NEAR * abs(reached)
    sign = "" if found else "more than "
    return (
        f"| {name}, {quantity.name} | {reached:.4f} | {search.num_motions:,} | {seconds:.1f} s | "
        f"{best:.4f} | {sign}{drawn:,} | {lasted:.0f} s | "
        f"{sign}{drawn / search.num_motions:.0f} | {sign}{lasted / seconds:.0f} |"
    )


def section() -> list[str]:
    """Measure all, and write it as Markdown."""
    given = problems()
    return [
        "",
        "## Exact motions beside the paper's steps",
        "",
        "`Routh(extremes=0)` and `Routh` with the paper's step, from problem to set, one thread, "
        f"the best of {ROUNDS} interleaved rounds. In space motions keep to the round cone, steps "
        "to 8 friction directions.",
        "",
        "| impact | events per sample | ns per event | µs per sample | LCPs per sample | "
        "ns per LCP | µs per sample | ratio |",
        "|---|---|---|---|---|---|---|---|",
        *(compare(name, problem) for name, problem in given.items()),
        "",
        "## Search beside luck",
        "",
        f"How many random motions come within {100 * NEAR:.0f} % of what one round of search "
        f"reaches; they end at {TIMES} times as many. Two threads.",
        "",
        "| impact, quantity | reached by search [m/s] | motions | time | best random [m/s] | "
        "random motions | time | ratio of motions | ratio of times |",
        "|---|---|---|---|---|---|---|---|---|",
        *(luck(name, given[name]) for name in SOUGHT),
    ]


if __name__ == "__main__":
    print("\n".join(section()))
