"""Run samples of `Routh` again, to tell how they came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from carom import stepping
from carom.outcomes.path import ImpactPath
from carom.problem import ImpactProblem
from carom.typing import FloatArray


@final
@dataclass(frozen=True, eq=False)
class SampleReplay:
    """Run samples of a problem again by their numbers."""

    problem: ImpactProblem
    sampler: stepping.AnySampler

    def path(self, number: int, num_steps: int) -> ImpactPath:
        """Return the path of a sample, given its number and its number of steps or events."""
        if self.problem.stays:
            return ImpactPath.of_impulses(self.problem, np.zeros((0, len(self.problem.J))))
        return self.path_of(self.sampler.record(number, num_steps))

    def path_of(self, record: FloatArray) -> ImpactPath:
        """Return the path of a sample from what the sampler recorded of it."""
        problem, space = self.problem, self.problem.space
        m, c = problem.num_contacts, len(problem.J)
        units = np.repeat(space.impulse_unit, space.width)
        if isinstance(self.sampler, stepping.MotionSampler):
            energies = record[:, c:] * problem.energy_norm**2 if problem.bounces else None
            return ImpactPath.of_impulses(
                problem, record[:, :c] * units, is_straight=True, energies=energies
            )
        return ImpactPath.of_impulses(
            problem,
            record[:, c : 2 * c] * units,
            (stepping.mode_names(row, space.directions) for row in record[:, 2 * c + m : -1]),
            record[:, 2 * c : 2 * c + m] * space.impulse_unit,
        )
