"""Errors that carom raises, each with one sentence on what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carom.impact.problem import ImpactProblem
    from carom.lcp import LCPSolution


class CaromError(Exception):
    """Mark every error that carom raises on purpose."""


class InvalidProblem(CaromError, ValueError):
    """Say which field of an input is wrong, what was expected and what came."""


class UnknownScene(CaromError, ValueError):
    """Say that no scene has this name, and which names there are."""


class ImpactNotResolved(CaromError):
    """Say that a law could not bring an impact to its end.

    Attributes:
        problem: The impact at hand.
        solution: The last LCP solution that was tried, where there is one.
    """

    def __init__(
        self, message: str, problem: ImpactProblem, solution: LCPSolution | None = None
    ) -> None:
        super().__init__(message)
        self.problem = problem
        self.solution = solution


class NotResolvedExactly(ImpactNotResolved):
    """Say that an exact set was not found within its budget, and what to do instead."""


class MissingExtra(CaromError, ImportError):
    """Say which optional packages are not installed, and how to install them."""
