"""One call that answers as well as can be."""

from __future__ import annotations

from dataclasses import replace

from carom.errors import MissingExtra, NotResolvedExactly
from carom.laws.routh import Routh
from carom.laws.routh_exact import RouthExact
from carom.outcomes.outcome_set import OutcomeSet
from carom.problem import ImpactProblem


def post_impact_set(
    problem: ImpactProblem, *, max_seconds: float = 2.0, seed: int = 0
) -> OutcomeSet:
    """Return every way in which an impact can end, as well as that can be known.

    It is exact where that takes no more than about max_seconds; else a set outside of which
    nothing can happen, with samples inside; else samples. `summary()` of the result says which.

    Args:
        problem: The impact.
        max_seconds: Budget for the exact set, and twice as much again for an outer one [s].
        seed: Of samples.

    Returns:
        A `PolyhedralSet`, complete or an outer one, or a `SampledSet`.

    Raises:
        InvalidProblem: An option is out of range; the message names it.
        ImpactNotResolved: No outcome was found; the message says what to try.

    Examples:
        >>> import carom
        >>> outcomes = carom.post_impact_set(carom.scenes.load("box-wall").problem)
        >>> outcomes.is_complete
        True
    """
    try:
        return RouthExact(max_seconds=max_seconds, on_budget="outer", seed=seed).resolve(problem)
    except (MissingExtra, NotResolvedExactly) as error:
        sampled = Routh(seed=seed).resolve(problem)
        return replace(sampled, notes=(*sampled.notes, str(error)))
