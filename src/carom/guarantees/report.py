"""Check what can be promised for a given impact: one call, one report."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carom import checks, notebook
from carom.errors import ImpactNotResolved, MissingExtra
from carom.extremes.extreme import Extreme
from carom.extremes.worst_case import worst_case
from carom.guarantees import sentences
from carom.guarantees.ambiguity import Ambiguity, ambiguity
from carom.guarantees.cone import Pointedness, pointedness
from carom.guarantees.dissipation import Dissipation, dissipation
from carom.guarantees.impulse import WorstImpulse, worst_impulse
from carom.guarantees.lipschitz import Lipschitz, step_lipschitz
from carom.guarantees.sentences import DELTA, FAILS, HOLDS, MISSED, NO_STEPS, OPEN, Statement
from carom.guarantees.termination import Termination, single_contact_rate, termination
from carom.guarantees.uniqueness import Uniqueness, step_uniqueness
from carom.laws.routh import Routh
from carom.laws.routh_exact import RouthExact
from carom.laws.samples_within import CAUTION, samples_within
from carom.outcomes.distances import coverage_distance
from carom.outcomes.holdout import Holdout
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.sampled import SampledSet
from carom.outcomes.summary import why_nothing_happens
from carom.problem import ImpactProblem

RESOLUTION = 0.02
"""Distance up to which an outcome counts as found, as a share of the set's extent."""
FEW_SAMPLES, FIRST_SAMPLES, MOST_SAMPLES = 2**4, 2**10, 2**17
"""Samples that are timed first, samples of the first round, and samples at most."""
GROWTH = 8
"""Factor from one timed number of samples to the next."""
SPREADING = 0.5
"""Share of a part's time for samples that show how outcomes differ, in addition."""
PARTS = 4
"""Parts of a check that share its budget: uniqueness, exact set, largest impulse and samples."""


@dataclass(frozen=True, eq=False, repr=False)
class Guarantees:
    """Hold what can be promised for one impact; prints as a table.

    Attributes:
        problem: The impact.
        step_impulse: Step h that bounds on steps are for [N s].
        cone: Whether impulses can cancel.
        termination: Bound on the number of steps, which only inelastic impacts take, and on the
            impulse of every impact; None if the cone is not pointed.
        kappa: For one contact without restitution, the largest impulse per |v_pre|_M
            [N s / sqrt(J)]; else None.
        worst: Largest impulse of all solutions, exactly; None if that was not found.
        extreme: The same from both sides where it was not found exactly; else None.
        uniqueness: Whether a step has one outcome.
        lipschitz: Lipschitz constant of the step; None if it has several outcomes.
        samples: Sampled outcomes.
        exact: All outcomes as polytopes; None if they were not found within the budget.
        coverage: Largest distance from an outcome to the nearest sample, and by how much it may
            be larger [m/s]; None if outcomes are not known exactly.
        losses: What sampled paths do to the energy.
        ambiguity: How outcomes differ.

    Examples:
        >>> import carom
        >>> report = carom.check(carom.scenes.load("rocking-block").problem)
        >>> round(report.worst.s, 3), report.statements[0].title
        (0.489, 'pointed friction cone')
    """

    problem: ImpactProblem
    step_impulse: float
    cone: Pointedness
    termination: Termination | None
    kappa: float | None
    worst: WorstImpulse | None
    extreme: Extreme | None
    uniqueness: Uniqueness
    lipschitz: Lipschitz | None
    samples: SampledSet
    exact: PolyhedralSet | None
    coverage: tuple[float, float] | None
    losses: Dissipation
    ambiguity: Ambiguity

    @property
    def holdout(self) -> Holdout:
        """Return the bound on what samples miss."""
        assert self.samples.holdout is not None
        return self.samples.holdout

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Return all statements, each with the theorem or assumption it comes from."""
        return tuple(made for state in sentences.ALL if (made := state(self)) is not None)

    def __repr__(self) -> str:
        count, m = Counter(each.verdict for each in self.statements), self.problem.num_contacts
        verdicts = f"{count[HOLDS]} hold, {count[FAILS]} fail, {count[OPEN]} open"
        return f"Guarantees({m} contact{'s' if m > 1 else ''}: {verdicts})"

    @property
    def _notes(self) -> list[str]:
        stays = why_nothing_happens(self.problem)
        return [] if stays is None else [stays]

    def __str__(self) -> str:
        lines = self._notes
        for statement in self.statements:
            lines.append(f"{statement.verdict:<8}  {statement.title}  [{statement.source}]")
            lines += [f"          {line}" for line in statement.lines]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = ("verdict", "statement", "what it says", "source")
        rows = [(s.verdict, s.title, "; ".join(s.lines), s.source) for s in self.statements]
        return notebook.page(repr(self), head, rows, self._notes)

    def json(self) -> dict[str, Any]:
        """Return the report for programs."""
        return {
            "contacts": list(self.problem.contacts),
            "step_impulse": self.step_impulse,
            "statements": [statement.json() for statement in self.statements],
        }


def check(
    problem: ImpactProblem,
    *,
    step_impulse: float | None = None,
    max_seconds: float = 20.0,
    seed: int = 0,
) -> Guarantees:
    """Check the paper's assumptions for an impact, and compute the constants of its theorems.

    Args:
        problem: The impact.
        step_impulse: The paper's step h, for bounds on the number of steps; by default what
            `Routh` would take [N s].
        max_seconds: Budget of time [s], shared evenly by uniqueness, exact set, largest impulse
            and samples. What does not fit is reported as open. Code that is compiled on its first
            use does not count.
        seed: Seed of the samples.

    Raises:
        ImpactNotResolved: No outcome was found at all.

    Examples:
        >>> import carom
        >>> report = carom.check(carom.scenes.load("rocking-block").problem)
        >>> report.cone.is_pointed, report.uniqueness.is_unique
        (True, True)
    """
    step = float(problem.space.impulse_unit.max()) if step_impulse is None else step_impulse
    step = checks.positive("step_impulse", step)
    part = checks.positive("max_seconds", max_seconds) / PARTS
    checks.integer("seed", seed, 0, 2**53 - 1)
    cone, uniqueness = pointedness(problem), _uniqueness(problem, part)
    try:
        exact = RouthExact(max_seconds=part).resolve(problem)
    except (MissingExtra, ImpactNotResolved):
        exact = None
    samples = _samples(problem, seed, part)
    worst = worst_impulse(problem, part)
    # Samples that search for extremes show more of the ambiguity than random ones.
    count = min(len(samples), FIRST_SAMPLES)
    # The paper's bound on one contact ends where restitution begins.
    has_kappa = problem.num_contacts == 1 and not problem.bounces
    spread = exact or samples_within(problem, SPREADING * part, count, seed)
    return Guarantees(
        problem=problem,
        step_impulse=step,
        cone=cone,
        termination=termination(problem, cone, step),
        kappa=single_contact_rate(problem) if has_kappa else None,
        worst=worst,
        extreme=_extreme_impulse(problem, part, seed) if worst is None else None,
        uniqueness=uniqueness,
        lipschitz=step_lipschitz(problem, uniqueness),
        samples=samples,
        exact=exact,
        coverage=None if exact is None else coverage_distance(samples, exact),
        losses=dissipation(samples, max_seconds=part),
        ambiguity=ambiguity(spread),
    )


def _uniqueness(problem: ImpactProblem, max_seconds: float) -> Uniqueness:
    """Return whether the paper's steps have one outcome; with restitution there are none."""
    if problem.bounces:
        return Uniqueness(False, None, NO_STEPS)
    return step_uniqueness(problem, max_seconds)


def _extreme_impulse(problem: ImpactProblem, max_seconds: float, seed: int) -> Extreme | None:
    """Return the largest sum of normal impulses from both sides, if a motion ends in time."""
    try:
        return worst_case(problem, "impulse", max_seconds=max_seconds, seed=seed)
    except ImpactNotResolved:
        return None


def _samples(problem: ImpactProblem, seed: int, max_seconds: float) -> SampledSet:
    """Sample until few further draws are new, or until about the budget ends."""
    # Once for what is compiled, which is no part of the budget.
    law = Routh(num_samples=1, seed=seed, extremes=0.0)
    law.resolve(problem)
    first = FEW_SAMPLES
    while True:
        start = time.perf_counter()
        bounds = replace(law, num_samples=first).resolve(problem).contact_bounds()
        seconds = time.perf_counter() - start
        if first == FIRST_SAMPLES or GROWTH * seconds > max_seconds:
            break
        first = min(GROWTH * first, FIRST_SAMPLES)
    most = min(MOST_SAMPLES, max(4 * first, int(first * max_seconds / (CAUTION * seconds))))
    extent = float(np.linalg.norm(bounds[..., 1] - bounds[..., 0]))
    # Where nothing moves, any distance will do.
    epsilon = max(RESOLUTION * extent, 1e-9 * (float(problem.space.velocity_unit.max()) or 1.0))
    # A quarter of all samples, without a miss, shows no less; a hair more, for rounding.
    p = max(MISSED, -math.expm1(math.log(DELTA / 2.0) / (most // 4)) * (1.0 + 1e-9))
    law = Routh(num_samples=first, seed=seed, until=(epsilon, p, DELTA), max_samples=most)
    return law.resolve(problem)
