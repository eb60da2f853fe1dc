"""What every impact law answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from carom import checks
from carom.errors import CaromError
from carom.outcomes.kinds import kind_words
from carom.outcomes.path import ImpactPath
from carom.outcomes.sampled import SampledSet

if TYPE_CHECKING:
    from carom.outcomes.outcome_set import OutcomeSet
    from carom.problem import ImpactProblem


class ImpactLaw(ABC):
    """Map an impact to the set of ways in which it can end.

    Examples:
        A block of 1 kg lands with 1 m/s: whatever the law, it takes 1 N s at least to stop it.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> for law in (carom.AnitescuPotra(), carom.Sequential(), carom.Routh(num_samples=100)):
        ...     path = law.draw_path(block, seed=1)
        ...     print(len(law.resolve(block)), path.lambda_n.sum() >= 1.0 - 1e-9)
        1 True
        2 True
        100 True
    """

    @abstractmethod
    def resolve(self, problem: ImpactProblem) -> OutcomeSet:
        """Return the post-impact velocities that this law allows.

        Args:
            problem: The impact.

        Raises:
            ImpactNotResolved: No outcome was found; the message says what to try.
        """

    def draw_path(self, problem: ImpactProblem, seed: int) -> ImpactPath:
        """Resolve an impact and pick one outcome by a seed, with the steps that lead to it.

        All outcomes have equal chances. A law that does not step is taken to do it all in one
        step, and where nothing acts there is none.

        Args:
            problem: The impact.
            seed: Decides which outcome, an integer >= 0.

        Raises:
            InvalidProblem: The seed is no integer >= 0.
            ImpactNotResolved: No outcome was found; the message says what to try.
            CaromError: The law returns another set than samples, and has no `draw_path` of its own.
        """
        checks.integer("seed", seed, 0)
        outcomes = self.resolve(problem)
        if not isinstance(outcomes, SampledSet):
            raise CaromError(
                f"draw_path: expected a SampledSet, got a {type(outcomes).__name__}; give "
                f"{type(self).__name__} a draw_path of its own"
            )
        i = int(np.random.default_rng(seed).integers(len(outcomes)))
        return outcomes.path(i) if outcomes.has_paths else _in_one_step(outcomes, i)


def _in_one_step(outcomes: SampledSet, i: int) -> ImpactPath:
    """Return outcome i as one step, or as none where nothing acts."""
    problem = outcomes.problem
    blocks = np.concatenate([outcomes.impulse_n[i][:, None], outcomes.impulse_t[i]], axis=1)
    impulses = blocks.reshape(1, -1)[: int(blocks.any())]
    return ImpactPath.of_impulses(
        problem, impulses, kind_words(problem, outcomes.v_post[i : i + 1])[: len(impulses)]
    )
