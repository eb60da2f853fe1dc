"""Errors that carom raises, each with one sentence on what to do, and how it warns."""

from __future__ import annotations

import inspect
import warnings
from typing import Any


class CaromError(Exception):
    """Base class of every error that carom raises on purpose.

    Examples:
        >>> import carom
        >>> try:
        ...     carom.scenes.load("rocking-block", width=-1.0)
        ... except carom.CaromError as error:
        ...     print(error)
        width: expected a number > 0, got -1.0
    """


class InvalidProblem(CaromError, ValueError):
    """Raised when a field of a problem, system, model or body is wrong; the message names it.

    Examples:
        >>> import carom
        >>> carom.ImpactProblem(M=[[1.0]], J_n=[[1.0]], J_t=[[0.0]], mu=-0.5, v_pre=[-1.0])
        Traceback (most recent call last):
        carom.errors.InvalidProblem: mu: expected numbers >= 0, got -0.5
    """


class InvalidOption(CaromError, ValueError):
    """Raised when an argument or option of a call is wrong; the message names it.

    Examples:
        >>> import carom
        >>> carom.Routh(num_samples=0)
        Traceback (most recent call last):
        carom.errors.InvalidOption: num_samples: expected an integer >= 1, got 0
    """


class InvalidFile(CaromError, ValueError):
    """Raised when a file is damaged, or holds something that carom does not read.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import carom
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     (Path(folder) / "empty.json").touch()
        ...     carom.load(Path(folder) / "empty.json")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        carom.errors.InvalidFile: ...empty.json: expected a file that carom saved ...
    """


class InvalidCertificate(CaromError, ValueError):
    """Raised when a certificate does not prove its claim; the message names what fails.

    Examples:
        >>> import carom
        >>> from carom.proofs import check, prove
        >>> block = carom.scenes.load("rocking-block").problem
        >>> faster = carom.scenes.load("rocking-block", speed=2.0).problem
        >>> check(faster, prove(block, block.J_n[0]))
        Traceback (most recent call last):
        carom.errors.InvalidCertificate: problem: the certificate belongs to another impact
    """


class UnknownScene(CaromError, ValueError):
    """Raised when no scene has the given name; the message lists the names.

    Examples:
        >>> import carom
        >>> carom.scenes.load("rocking-blok")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        carom.errors.UnknownScene: no scene is named 'rocking-blok' (did you mean ...
    """


class ImpactNotResolved(CaromError):
    """Raised when a law finds no outcome of an impact.

    Args:
        message: What went wrong, and what to try.
        problem: The impact.
        solution: The last LCP solution that was tried, or None.

    Attributes:
        problem: The impact.
        solution: The last LCP solution that was tried, or None.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block").problem
        >>> law = carom.Routh(num_samples=10, step_impulse=1e-6, max_steps=1)
        >>> law.resolve(block)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        carom.errors.ImpactNotResolved: no sample ended: 10 of 10 samples still collided after ...
    """

    def __init__(self, message: str, problem: Any = None, solution: Any = None) -> None:
        super().__init__(message)
        self.problem, self.solution = problem, solution

    def __reduce__(self) -> tuple[Any, ...]:
        # By default errors are pickled with their message alone.
        return type(self), (str(self), self.problem, self.solution)


class NotResolvedExactly(ImpactNotResolved):
    """Raised when an exact set is not found within its budget; the message says what to do.

    Args:
        reason: Why there is no exact set.
        advice: What to try instead.
        problem: The impact.

    Attributes:
        reason: Why there is no exact set.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block").problem
        >>> try:
        ...     carom.RouthExact(max_polyhedra=1).resolve(block)
        ... except carom.NotResolvedExactly as error:
        ...     print(error.reason)
        the budget of 1 polyhedra ended
    """

    def __init__(self, reason: str, advice: str, problem: Any = None) -> None:
        super().__init__(f"not resolved exactly: {reason}; {advice}", problem)
        self.reason, self.advice = reason, advice

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.advice, self.problem)


class MissingExtra(CaromError, ImportError):
    """Raised when an optional package is not installed; the message says how to install it.

    Examples:
        >>> from carom.errors import MissingExtra
        >>> print(MissingExtra.of("exact sets", "pplpy", "exact"))
        exact sets: install pplpy, e.g. by pip install pplpy or pip install "carom[exact]"
    """

    @classmethod
    def of(cls, what: str, package: str, extra: str) -> MissingExtra:
        """Return the error for something that needs an optional package.

        Args:
            what: Feature that needs the package.
            package: Name of the package on PyPI.
            extra: Extra of carom that includes the package.
        """
        return cls(
            f"{what}: install {package}, e.g. by pip install {package} or pip install "
            f'"carom[{extra}]"'
        )


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's code, whatever of carom is between."""
    frame, levels = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("carom."):
        frame, levels = frame.f_back, levels + 1
    warnings.warn(message, category, stacklevel=levels + 1)
