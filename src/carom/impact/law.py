"""What every impact law answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from carom.errors import InvalidProblem

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


def check_integer(name: str, value: int, least: int, most: int | None = None) -> None:
    """Refuse an option that is not an integer in its range.

    Raises:
        InvalidProblem: The message names the option.
    """
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_integer or value < least or (most is not None and value > most):
        span = f">= {least}" if most is None else f"from {least} to {most}"
        raise InvalidProblem(f"{name}: expected an integer {span}, got {value!r}")
