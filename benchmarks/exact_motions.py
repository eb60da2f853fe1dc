"""Measure exact motions beside the paper's steps, and the search for extremes beside luck."""

from __future__ import annotations

import time
from typing import Any

import landing
import numpy as np

import carom
from carom.extremes.quantity import Quantity, quantities
from carom.stepping import ExtremeSearch
from carom.stepping.motions import distinct

ROUNDS = 7
NUM_SAMPLES = {"disk-stack": 2**12, "Solo12, legs held": 2**10, "Solo12, legs yield": 2**10}
NUM_OTHERWISE = 2**16

NEAR = 0.02
"""A random sample comes near an extreme if it falls short by no more than this share."""

TIMES = 100
"""Random motions end when they come near, or have taken so many times the time of each search."""

SOUGHT = {"disk-stack": 1, "Solo12, legs held": 2}
"""Number of rounds of each search."""


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


def luck(name: str, problem: carom.ImpactProblem) -> list[str]:
    """Return rows: what searches reach, one per direction, and when random motions come near.

    The random motions are the same for all directions.
    """
    rows = [_searched(problem, each, SOUGHT[name]) for each in _directions(problem)]
    most = TIMES * max(row["seconds"] for row in rows)
    drawn, seed, start = 0, 1000, time.perf_counter()
    while (lasted := time.perf_counter() - start) < most:
        if all("drawn" in row for row in rows):
            break
        outcomes = carom.Routh(2**16, seed=seed, extremes=0.0).resolve(problem)
        drawn, seed = drawn + 2**16, seed + 1
        lasted = time.perf_counter() - start
        for row in rows:
            row["best"] = max(row.get("best", -np.inf), outcomes.support(row["direction"]))
            is_near = row["best"] >= row["reached"] - NEAR * abs(row["reached"])
            if is_near and "drawn" not in row:
                row |= {"drawn": drawn, "lasted": lasted}
    return [_luck_row(name, row, drawn, lasted) for row in rows]


def _directions(problem: carom.ImpactProblem) -> list[Quantity]:
    """Return the extremes of contact velocities that differ; the least normal velocity is zero."""
    asked, _ = quantities(problem, None)
    asked = [each for each in asked if not each.name.startswith("-") or "tang" in each.name]
    return [asked[k] for k in distinct(np.array([each.direction for each in asked]))]


def _searched(problem: carom.ImpactProblem, quantity: Quantity, num_rounds: int) -> dict[str, Any]:
    """Search for one extreme."""
    space = problem.space
    units = np.repeat(space.impulse_unit, space.width)
    search = ExtremeSearch(space, problem.start, quantity.objective(problem)[None] * units)
    search.warm_up()
    start = time.perf_counter()
    search.run(time.monotonic() + 60.0, max_rounds=num_rounds)
    return {
        "name": quantity.name,
        "direction": quantity.direction,
        "seconds": time.perf_counter() - start,
        "motions": search.num_motions,
        "reached": float(quantity.direction @ problem.v_pre + search.values[0]),
    }


def _luck_row(name: str, row: dict[str, Any], drawn: int, lasted: float) -> str:
    sign = "" if "drawn" in row else "more than "
    drawn, lasted = row.get("drawn", drawn), row.get("lasted", lasted)
    return (
        f"| {name}, {row['name']} | {row['reached']:.4f} | {row['motions']:,} | "
        f"{row['seconds']:.2f} s | {row['best']:.4f} | {sign}{drawn:,} | {lasted:.0f} s | "
        f"{sign}{drawn / row['motions']:.0f} | {sign}{lasted / row['seconds']:.0f} |"
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
        f"How many random motions come within {100 * NEAR:.0f} % of what a search of few rounds "
        f"reaches, for every contact velocity. They are drawn in batches of 2^16, and end "
        f"after {TIMES} times the time of the longest search. Two threads.",
        "",
        "| impact, quantity | reached by search [m/s] | motions | time | best random [m/s] | "
        "random motions | time | ratio of motions | ratio of times |",
        "|---|---|---|---|---|---|---|---|---|",
        *(row for name in SOUGHT for row in luck(name, given[name])),
    ]


if __name__ == "__main__":
    print("\n".join(section()))
