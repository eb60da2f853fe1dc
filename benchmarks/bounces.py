"""Measure impacts that bounce beside inelastic ones, event by event."""

from __future__ import annotations

import time
from dataclasses import replace

import exact_motions
import numpy as np

import carom

RESTITUTION = 0.5
GOAL = 5.0


def compare(name: str, problem: carom.ImpactProblem) -> str:
    """Return a row: events per sample and processor time per event, on one thread."""
    count = exact_motions.NUM_SAMPLES.get(name, exact_motions.NUM_OTHERWISE)
    law = carom.Routh(count, num_threads=1, extremes=0.0)
    kinds = {"inelastic": problem, "bounces": replace(problem, restitution=RESTITUTION)}
    events = {key: law.resolve(each).num_steps.mean() for key, each in kinds.items()}
    best = dict.fromkeys(kinds, np.inf)
    for _ in range(exact_motions.ROUNDS):
        for key, each in kinds.items():
            start = time.process_time()
            law.resolve(each)
            spent = (time.process_time() - start) / count / events[key]
            best[key] = min(best[key], 1e9 * spent)
    ratio = best["bounces"] / best["inelastic"]
    return (
        f"| {name} | {events['inelastic']:.1f} | {best['inelastic']:.0f} | "
        f"{events['bounces']:.1f} | {best['bounces']:.0f} | {ratio:.1f} | "
        f"{'met' if ratio <= GOAL else 'missed'} |"
    )


def section() -> list[str]:
    """Measure all, and write it as Markdown."""
    rows = [compare(name, problem) for name, problem in exact_motions.problems().items()]
    return [
        "",
        "## Impacts that bounce",
        "",
        f"`Routh(extremes=0)` with restitution {RESTITUTION} beside none, from problem to set, "
        f"processor time of one thread, the best of {exact_motions.ROUNDS} interleaved rounds. "
        f"The goal is at most {GOAL:g} times the time per event.",
        "",
        "| impact | events, inelastic | ns per event | events, bouncing | ns per event | ratio "
        "| goal |",
        "|---|---|---|---|---|---|---|",
        *rows,
    ]


if __name__ == "__main__":
    print("\n".join(section()))
