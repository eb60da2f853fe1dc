"""Errors that carom raises, each with one sentence on what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carom.impact.problem import ImpactProblem
    from carom.lcp import LCPSolution


class CaromError(Exception):
    """Mark every error that carom raises on purpose.

    Examples:
        >>> import carom
        >>> try:
        ...     carom.scenes.load("rocking-block", width=-1.0)
        ... except carom.CaromError as error:
        ...     print(error)
        width must be positive and finite, got -1.0
    """


class InvalidProblem(CaromError, ValueError):
    """Say which field of an input is wrong, what was expected and what came.

    Examples:
        >>> import carom
        >>> try:
        ...     carom.ImpactProblem(M=[[1.0]], J_n=[[1.0]], J_t=[[0.0]], mu=-0.5, v_pre=[-1.0])
        ... except carom.InvalidProblem as error:
        ...     print(error)
        mu: expected numbers >= 0, got -0.5
    """


class UnknownScene(CaromError, ValueError):
    """Say that no scene has this name, and which names there are.

    Examples:
        >>> import carom
        >>> try:
        ...     carom.scenes.load("rocking-blok")
        ... except carom.UnknownScene as error:
        ...     print(str(error).split(";")[0])
        no scene is named 'rocking-blok' (did you mean 'rocking-block'?)
    """


class ImpactNotResolved(CaromError):
    """Say that a law could not bring an impact to its end.

    Args:
        message: What went wrong, and what to try.
        problem: The impact at hand.
        solution: The last LCP solution that was tried, where there is one.

    Attributes:
        problem: The impact at hand.
        solution: The last LCP solution that was tried, or None.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block").problem
        >>> try:
        ...     carom.Routh(num_samples=10, step_impulse=1e-6, max_steps=1).resolve(block)
        ... except carom.ImpactNotResolved as error:
        ...     print(str(error).split(";")[0])
        no sample ended: 10 of 10 samples still collided after the last step
    """

    def __init__(
        self, message: str, problem: ImpactProblem, solution: LCPSolution | None = None
    ) -> None:
        super().__init__(message)
        self.problem = problem
        self.solution = solution


class NotResolvedExactly(ImpactNotResolved):
    """Say that an exact set was not found within its budget, and what to do instead.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block").problem
        >>> try:
        ...     outcomes = carom.RouthExact(max_polyhedra=1).resolve(block)
        ... except carom.NotResolvedExactly:
        ...     outcomes = carom.Routh(num_samples=100).resolve(block)
        >>> outcomes.is_complete
        False
    """


class MissingExtra(CaromError, ImportError):
    """Say which optional packages are not installed, and how to install them.

    Examples:
        >>> import carom
        >>> ball = carom.ImpactProblem(M=[[2.0]], J_n=[[1.0]], J_t=[[0.0]], mu=0.5, v_pre=[-1.0])
        >>> try:
        ...     outcomes = carom.RouthExact().resolve(ball)
        ... except carom.MissingExtra:
        ...     outcomes = carom.Routh(num_samples=100).resolve(ball)
        >>> outcomes.contains([0.0])
        True
    """
