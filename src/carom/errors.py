"""Errors that carom raises, each with one sentence on what to do."""

from __future__ import annotations

from typing import Any


class CaromError(Exception):
    """Mark every error that carom raises on purpose.

    Examples:
        >>> import carom
        >>> try:
        ...     carom.scenes.load("rocking-block", width=-1.0)
        ... except carom.CaromError as error:
        ...     print(error)
        width: expected a number > 0, got -1.0
    """


class InvalidProblem(CaromError, ValueError):
    """Say which field of a problem is wrong, what was expected and what came.

    Examples:
        >>> import carom
        >>> try:
        ...     carom.ImpactProblem(M=[[1.0]], J_n=[[1.0]], J_t=[[0.0]], mu=-0.5, v_pre=[-1.0])
        ... except carom.InvalidProblem as error:
        ...     print(error)
        mu: expected numbers >= 0, got -0.5
    """


class InvalidOption(CaromError, ValueError):
    """Say which argument of a call is wrong, what was expected and what came.

    Examples:
        >>> import carom
        >>> try:
        ...     carom.Routh(num_samples=0)
        ... except carom.InvalidOption as error:
        ...     print(error)
        num_samples: expected an integer >= 1, got 0
    """


class InvalidFile(CaromError, ValueError):
    """Say that a file is damaged, or holds something that carom does not read.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import carom
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "broken.json"
        ...     _ = path.write_text("{")
        ...     try:
        ...         carom.load(path)
        ...     except carom.InvalidFile as error:
        ...         print("broken.json" in str(error))
        True
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

    def __init__(self, message: str, problem: Any = None, solution: Any = None) -> None:
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
    """Say which optional package is not installed, and how to install it.

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

    @classmethod
    def of(cls, what: str, package: str, extra: str) -> MissingExtra:
        """Return the error for something that needs an optional package.

        Args:
            what: What needs it.
            package: Its name on PyPI, which installs it beside a checkout of carom too.
            extra: The extra of carom that brings it.

        Examples:
            >>> from carom.errors import MissingExtra
            >>> print(MissingExtra.of("exact sets", "pplpy", "exact"))
            exact sets: install pplpy, e.g. by pip install pplpy or pip install "carom[exact]"
        """
        return cls(
            f"{what}: install {package}, e.g. by pip install {package} or pip install "
            f'"carom[{extra}]"'
        )
