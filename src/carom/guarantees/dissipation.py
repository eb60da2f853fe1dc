"""Check that impacts lose energy, step by step; with restitution, with what contacts can return."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from carom.outcomes.points import PointSet

NOTHING = 1e-12
"""A normal impulse below this share of what would stop its contact does not count as one."""


@dataclass(frozen=True)
class Dissipation:
    """Hold what recorded paths do to kinetic energy.

    Attributes:
        num_paths: Number of paths.
        num_steps: Number of their steps in which some contact pushes.
        largest_change: Largest change of energy in one step, as a share of that before the
            impact: below 0 if every step loses. With restitution, the energy that contacts can
            still return counts, too.
        least_loss: Least share of the energy that a whole impact loses.
    """

    num_paths: int
    num_steps: int
    largest_change: float
    least_loss: float

    @property
    def is_strict(self) -> bool:
        """Return whether every step lost energy."""
        return self.largest_change < 0.0


def dissipation(
    outcomes: PointSet, num_paths: int = 256, max_seconds: float = math.inf
) -> Dissipation:
    """Follow the paths of the first outcomes [HalmPosa, thm:TimesteppingDissipation].

    Under a pointed friction cone every step that moves the velocity loses energy [HalmPosa,
    thm:strictdissipation]. At least one path is followed, whatever the budget.
    """
    problem = outcomes.problem
    start = problem.kinetic_energy(problem.v_pre)
    if start == 0.0:
        return Dissipation(0, 0, 0.0, 0.0)
    end = time.monotonic() + max_seconds
    count, steps, largest, loss = 0, 0, -1.0, 1.0
    for i in range(min(num_paths, len(outcomes))):
        path = outcomes.path(i)
        energy = (problem.kinetic_energy(path.v) + path.energies.sum(axis=1)) / start
        # A contact that was drawn to act, but lifts already, makes a step in which nothing happens.
        acts = (path.lambda_n > NOTHING * problem.space.impulse_unit).any(axis=1)
        count, steps = count + 1, steps + int(acts.sum())
        largest = max(largest, float(np.diff(energy)[acts].max(initial=-1.0)))
        loss = min(loss, 1.0 - float(energy[-1]))
        if time.monotonic() > end:
            break
    return Dissipation(count, steps, largest, loss)
