"""The best available set of outcomes, in one call."""

from __future__ import annotations

import time
from dataclasses import replace

from carom.errors import MissingExtra, NotResolvedExactly
from carom.laws.routh import Routh
from carom.laws.routh_exact import SAMPLING, RouthExact
from carom.laws.samples_within import samples_within
from carom.outcomes.outcome_set import OutcomeSet
from carom.problem import ImpactProblem


def post_impact_set(
    problem: ImpactProblem, *, max_seconds: float = 2.0, seed: int = 0
) -> OutcomeSet:
    """Return the set of outcomes of an impact, exactly if that is found within max_seconds.

    Otherwise return an outer set with samples inside, or else samples; `summary()` says which. With
    restitution they are samples.

    Args:
        problem: The impact.
        max_seconds: Time budget [s]; samples inside an outer set take up to a fifth in addition.
        seed: Seed of the samples.

    Returns:
        A `PolyhedralSet`, complete or outer, or a `SampledSet`.

    Raises:
        ImpactNotResolved: No outcome was found; the message says what to try.

    Examples:
        >>> import carom
        >>> outcomes = carom.post_impact_set(carom.scenes.load("box-wall").problem)
        >>> outcomes.is_complete
        True
    """
    begin = time.monotonic()
    try:
        # With restitution an outer set would be loose, and would take the time of the samples.
        on_budget = "raise" if problem.bounces else "outer"
        return RouthExact(max_seconds=max_seconds, on_budget=on_budget, seed=seed).resolve(problem)
    except (MissingExtra, NotResolvedExactly) as error:
        left = max(begin + max_seconds - time.monotonic(), SAMPLING * max_seconds)
        sampled = samples_within(problem, left, Routh().num_samples, seed)
        # Not the message of the error: it advises to sample, which is done.
        why = error.reason if isinstance(error, NotResolvedExactly) else str(error)
        return replace(sampled, notes=(*sampled.notes, f"sampled, not exact: {why}"))
