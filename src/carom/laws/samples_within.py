"""As many samples of an impact as a time budget allows."""

from __future__ import annotations

import time

from carom.errors import ImpactNotResolved
from carom.laws.routh import Routh
from carom.outcomes.sampled import SampledSet
from carom.problem import ImpactProblem
from carom.stepping import ExtremeSearch

GROWTH = 4
"""Largest factor from one number of samples to the next."""

CAUTION = 2.0
"""Factor by which a sample may take longer than those before: few take most of the time, and
searches for extremes find just these."""


COMPILED = 2**6
"""Number of samples of an impact that bounces with which all is compiled."""


def samples_within(
    problem: ImpactProblem, max_seconds: float, num_samples: int, seed: int
) -> SampledSet:
    """Return samples, at least one and at most num_samples, within a time budget.

    Their number grows from 1, because one may take as long as the budget, and a thousand less than
    the clock can tell. Samples cannot be interrupted.

    Args:
        problem: The impact.
        max_seconds: Time budget [s], without compilation.
        num_samples: Maximum number of samples.
        seed: Seed of the samples.

    Raises:
        ImpactNotResolved: No sample ended, or contacts at rest must act and cannot.
    """
    _compile(problem, seed)
    end = time.monotonic() + max_seconds
    number = 1
    while True:
        begin = time.monotonic()
        found = _resolved(problem, number, seed)
        each = (time.monotonic() - begin) / number
        allowed = int(min((end - time.monotonic()) / max(CAUTION * each, 1e-9), num_samples))
        if number == num_samples or allowed < 2 * number:
            break
        number = min(GROWTH * number, allowed)
    if isinstance(found, ImpactNotResolved):
        raise found
    return found


def _resolved(problem: ImpactProblem, number: int, seed: int) -> SampledSet | ImpactNotResolved:
    """Return samples, or an error if none ended; of more samples, some may."""
    try:
        return Routh(number, seed=seed).resolve(problem)
    except ImpactNotResolved as error:
        return error


def _compile(problem: ImpactProblem, seed: int) -> None:
    """Compile what samples need, which shall not be timed."""
    if problem.bounces:
        Routh(COMPILED, seed=seed).resolve(problem)
    elif not problem.stays:
        ExtremeSearch(problem.space, problem.start, problem.space.A[:1], seed=seed).warm_up()
