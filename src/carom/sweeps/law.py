"""The law of a sweep: one whose answer depends on no clock."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, final

import numpy as np

from carom import checks
from carom.errors import NotResolvedExactly
from carom.laws.law import ImpactLaw
from carom.laws.routh import Routh
from carom.laws.routh_exact import RouthExact
from carom.outcomes.outcome_set import OutcomeSet
from carom.problem import ImpactProblem

NOT_PHYSICS = ("num_threads", "progress")
"""Options that change no outcome."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class ExactOrSampled(ImpactLaw):
    """Compute the exact set where its search ends within a number of polyhedra, else sample.

    Unlike `post_impact_set` it looks at no clock, so that it gives the same set on every machine.
    In space it samples: exact sets have k friction directions, samples the round cone. It also
    samples contacts with restitution, of which there is no exact set.

    Args:
        max_polyhedra: Maximum number of polyhedra in the exact search; 0 for samples only.
        num_samples: Number of samples where the set is not exact.
        seed: Seed of the samples.
        num_threads: Number of threads of the samples.

    Examples:
        >>> import carom
        >>> from carom.sweeps import ExactOrSampled
        >>> block = carom.scenes.load("rocking-block").problem
        >>> ExactOrSampled(max_polyhedra=1000).resolve(block).is_complete
        True
        >>> ExactOrSampled(max_polyhedra=0, num_samples=100).resolve(block).is_complete
        False
    """

    max_polyhedra: int = 1000
    num_samples: int = 2**12
    seed: int = 0
    num_threads: int | None = None

    def __post_init__(self) -> None:
        checks.integer("max_polyhedra", self.max_polyhedra, 0)
        checks.integer("num_samples", self.num_samples, 1)

    def resolve(self, problem: ImpactProblem) -> OutcomeSet:
        """Return the exact set or samples.

        Args:
            problem: The impact.

        Raises:
            ImpactNotResolved: No sample ended, or contacts at rest must act and cannot.
            MissingExtra: pplpy is not installed.
        """
        sampled = Routh(num_samples=self.num_samples, seed=self.seed, num_threads=self.num_threads)
        if problem.num_tangents > 1 or problem.bounces or not self.max_polyhedra:
            return sampled.resolve(problem)
        exact = RouthExact(max_seconds=math.inf, max_polyhedra=self.max_polyhedra)
        try:
            return exact.resolve(problem)
        except NotResolvedExactly:
            return sampled.resolve(problem)


def describe(law: ImpactLaw) -> dict[str, Any]:
    """Return the name and the options of a law that decide on its outcomes, but for the seed."""
    options = {
        f.name: _plain(getattr(law, f.name))
        for f in fields(law)  # type: ignore[arg-type]
        if f.name not in (*NOT_PHYSICS, "seed")
    }
    return {"name": type(law).__name__} | options


def for_point(law: ImpactLaw, seed: int, index: int) -> ImpactLaw:
    """Return a law with the seed of a point, on one thread: points are what runs in parallel."""
    names = {f.name for f in fields(law)}  # type: ignore[arg-type]
    own: dict[str, Any] = {}
    if "seed" in names:
        own["seed"] = int(np.random.default_rng([seed, index]).integers(2**53))
    if "num_threads" in names and law.num_threads is None:  # type: ignore[attr-defined]
        own["num_threads"] = 1
    return replace(law, **own) if own else law  # type: ignore[type-var]


def depends_on_clock(law: ImpactLaw) -> bool:
    """Return whether a law's answer may differ with the speed of the machine."""
    return math.isfinite(getattr(law, "max_seconds", math.inf))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    # JSON knows no infinity.
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, bool | int | float | str | None) else repr(value)
