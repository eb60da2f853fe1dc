"""Check that impacts lose energy, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.outcomes.path import ImpactPath
    from carom.outcomes.sampled import SampledSet
    from carom.problem import ImpactProblem


NOTHING = 1e-12
"""A normal impulse below this share of what would stop its contact does not count as one."""


@dataclass(frozen=True)
class Dissipation:
    """Tell what recorded paths do to kinetic energy.

    Attributes:
        num_paths: How many paths were looked at.
        num_steps: How many steps they have.
        largest_change: Largest change of energy in one step, as a share of that before the
            impact: below 0 if every step loses.
        least_loss: Least share of the energy that a whole impact loses.

    Examples:
        One corner after the other, the block keeps 7.35 % of its energy.

        >>> import carom
        >>> from carom.guarantees.dissipation import dissipation
        >>> block = carom.scenes.load("rocking-block").problem
        >>> losses = dissipation(carom.Sequential().resolve(block))
        >>> losses.num_paths, losses.num_steps, losses.is_strict, round(losses.least_loss, 4)
        (2, 4, True, 0.9265)
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
    """Return the kinetic energy along a path, (steps + 1,) [J].

    Args:
        problem: The impact.
        path: Its steps.

    Examples:
        >>> import carom
        >>> from carom.guarantees.dissipation import path_energy
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> path = carom.Sequential(order=("A", "B")).resolve(block).path(0)
        >>> path_energy(block, path).round(5).tolist()
        [0.5, 0.075, 0.03675]
    """
    return np.asarray(problem.kinetic_energy(path.v))


def dissipation(outcomes: SampledSet, num_paths: int = 256) -> Dissipation:
    """Follow paths of a sampled set and compare energies [HalmPosa, thm:TimesteppingDissipation].

    Under a pointed friction cone every step that moves the velocity loses energy [HalmPosa,
    thm:strictdissipation].

    Args:
        outcomes: Samples of a law that steps.
        num_paths: Number of paths that are followed at most.

    Examples:
        >>> import carom
        >>> from carom.guarantees.dissipation import dissipation
        >>> block = carom.scenes.load("rocking-block").problem
        >>> losses = dissipation(carom.Routh(num_samples=100).resolve(block), num_paths=10)
        >>> losses.num_paths, losses.is_strict, losses.least_loss > 0.92
        (10, True, True)
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
