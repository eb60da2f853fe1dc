"""Check that impacts lose energy, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.impact.problem import ImpactProblem
    from carom.outcomes.path import ImpactPath
    from carom.outcomes.sampled import SampledSet


NOTHING = 1e-12
"""A normal impulse below this share of what would stop its contact does not count as one."""


@dataclass(frozen=True)
class Dissipation:
    """What recorded paths do to kinetic energy.

    Attributes:
        num_paths: How many paths were looked at.
        num_steps: How many steps they have.
        largest_change: Largest change of energy in one step, as a share of that before the
            impact: below 0 if every step loses.
        least_loss: Least share of the energy that a whole impact loses.
    """

    num_paths: int
    num_steps: int
    largest_change: float
    least_loss: float

    @property
    def is_strict(self) -> bool:
        """Tell whether every step lost energy."""
        return self.largest_change < 0.0


def path_energy(problem: ImpactProblem, path: ImpactPath) -> FloatArray:
    """Return the kinetic energy along a path, (steps + 1,) [J]."""
    return np.asarray(problem.kinetic_energy(path.v))


def dissipation(outcomes: SampledSet, num_paths: int = 256) -> Dissipation:
    """Follow paths of a sampled set and compare energies [HalmPosa, thm:TimesteppingDissipation].

    Under a pointed friction cone every step that moves the velocity loses energy [HalmPosa,
    thm:strictdissipation].
    """
    problem = outcomes.problem
    count = min(num_paths, len(outcomes))
    start = problem.kinetic_energy(problem.v_pre)
    if start == 0.0 or count == 0:
        return Dissipation(0, 0, 0.0, 0.0)
    paths = [outcomes.path(i) for i in range(count)]
    energies = [path_energy(problem, path) / start for path in paths]
    # A contact that was drawn to act, but lifts already, makes a step in which nothing happens.
    changes = [
        np.diff(energy)[(path.lambda_n > NOTHING * problem.space.impulse_unit).any(axis=1)]
        for energy, path in zip(energies, paths, strict=True)
    ]
    return Dissipation(
        num_paths=count,
        num_steps=sum(map(len, changes)),
        largest_change=max(float(change.max(initial=-1.0)) for change in changes),
        least_loss=min(1.0 - float(energy[-1]) for energy in energies),
    )
