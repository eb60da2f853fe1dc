"""Base class of impact laws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from carom import checks
from carom.errors import ImpactNotResolved
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.path import ImpactPath
from carom.outcomes.points import PointSet
from carom.problem import ImpactProblem
from carom.typing import FloatArray

NUM_SEEDS = 2**53 - 1
"""Number of seeds to draw from; every law takes them."""


RISING = 1e-9
"""Share of the kinetic energy that is more than rounding."""


def draw_seed(rng: np.random.Generator | int | None) -> int:
    """Draw the seed of one outcome."""
    own = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
    return int(own.integers(NUM_SEEDS))


def refuse_bounces(problem: ImpactProblem, law: str) -> None:
    """Raise an error if contacts have restitution, of which a law knows nothing."""
    if problem.bounces:
        raise ImpactNotResolved(
            f"{law} knows no restitution: use carom.Routh(), or restitution=0", problem
        )


def energy_rises(
    problem: ImpactProblem, steps: Sequence[FloatArray], labels: Sequence[str]
) -> tuple[str, ...]:
    """Return one sentence for each outcome, given its steps, that has more energy than v_pre."""
    after = [problem.kinetic_energy(problem.velocity_after(own.sum(axis=0))) for own in steps]
    before = problem.kinetic_energy(problem.v_pre)
    return tuple(
        f"{label}: kinetic energy rises by {100.0 * (energy / before - 1.0):.3g} %."
        for label, energy in zip(labels, after, strict=True)
        if energy > before * (1.0 + RISING)
    )


class ImpactLaw(ABC):
    """Map an impact to the set of its outcomes.

    A law is a frozen dataclass whose fields are its options. Laws are equal if their options are.

    Examples:
        A block of 1 kg lands with 1 m/s. Whatever the law, stopping it takes at least 1 N s.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> for law in (carom.AnitescuPotra(), carom.Sequential(), carom.Routh(num_samples=100)):
        ...     path = law.draw_path(block, seed=1)
        ...     print(law, len(law.resolve(block)), path.lambda_n.sum() >= 1.0 - 1e-9)
        AnitescuPotra() 1 True
        Sequential() 2 True
        Routh(num_samples=100) 100 True
    """

    @abstractmethod
    def resolve(self, problem: ImpactProblem) -> OutcomeSet:
        """Return the set of post-impact velocities that this law allows.

        Args:
            problem: The impact.

        Raises:
            ImpactNotResolved: No outcome was found; the message says what to try.
        """

    def draw_path(self, problem: ImpactProblem, seed: int) -> ImpactPath:
        """Draw one outcome, as the method `sample` of the set does, and return the path to it.

        Args:
            problem: The impact.
            seed: Seed of the random generator, an integer >= 0.

        Raises:
            ImpactNotResolved: No outcome was found; the message says what to try.
        """
        checks.integer("seed", seed, 0)
        outcomes = self.resolve(problem)
        if isinstance(outcomes, PointSet):
            # By index, because outcomes with the same velocity may have different paths.
            return outcomes.path(int(np.random.default_rng(seed).integers(len(outcomes))))
        v = outcomes.sample(1, rng=seed)[0]
        return outcomes.path_to(v, max(1e-6, 1e-6 * float(np.linalg.norm(v))))

    def draw_end(self, problem: ImpactProblem, seed: int) -> tuple[FloatArray, FloatArray]:
        """Draw one outcome, the end of what `draw_path` draws, without the way there.

        Args:
            problem: The impact.
            seed: Seed of the random generator, an integer >= 0.

        Returns:
            The velocity (nv,), and the impulses of the whole impact (m, 1 + d), normal first [N s].

        Raises:
            ImpactNotResolved: No outcome was found; the message says what to try.
        """
        path = self.draw_path(problem, seed)
        steps = np.concatenate([path.lambda_n[:, :, None], path.lambda_t], axis=2)
        return path.v[-1], steps.sum(axis=0)

    def draw_velocity(
        self, problem: ImpactProblem, rng: np.random.Generator | int | None = None
    ) -> FloatArray:
        """Draw one post-impact velocity (nv,): the end of a path that `draw_path` draws.

        Args:
            problem: The impact.
            rng: Random generator or seed.

        Raises:
            ImpactNotResolved: No outcome was found; the message says what to try.
        """
        return self.draw_path(problem, draw_seed(rng)).v[-1]

    def __repr__(self) -> str:
        given = (
            f"{f.name}={_short(getattr(self, f.name))}"
            for f in fields(self)  # type: ignore[arg-type]
            if f.default is MISSING or not _same(getattr(self, f.name), f.default)
        )
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = (f.name for f in fields(self))  # type: ignore[arg-type]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        values = (getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]
        return hash((type(self), *(v for v in values if not isinstance(v, np.ndarray))))


def _same(mine: Any, theirs: Any) -> bool:
    return bool(np.array_equal(mine, theirs)) if isinstance(mine, np.ndarray) else mine == theirs


def _short(value: Any) -> str:
    """Return the repr of an option, with the shape in place of an array."""
    return f"array{value.shape}" if isinstance(value, np.ndarray) else repr(value)
