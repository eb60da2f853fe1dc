"""What every impact law answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carom.impact.problem import ImpactProblem
    from carom.outcomes.outcome_set import OutcomeSet


class ImpactLaw(ABC):
    """Map an impact to the set of ways in which it can end."""

    @abstractmethod
    def resolve(self, problem: ImpactProblem) -> OutcomeSet:
        """Return the post-impact velocities that this law allows.

        Raises:
            ImpactNotResolved: No outcome was found; the message says what to try.
        """
