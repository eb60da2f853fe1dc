"""Say what can be promised for a given impact: one call, one report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from carom.errors import ImpactNotResolved, InvalidProblem, MissingExtra
from carom.guarantees import sentences
from carom.guarantees.ambiguity import Ambiguity, ambiguity
from carom.guarantees.cone import Pointedness, pointedness
from carom.guarantees.dissipation import Dissipation, dissipation
from carom.guarantees.impulse import WorstImpulse, worst_impulse
from carom.guarantees.lipschitz import Lipschitz, step_lipschitz
from carom.guarantees.sentences import DELTA, Statement
from carom.guarantees.termination import Termination, single_contact_rate, termination
from carom.guarantees.uniqueness import Uniqueness, step_uniqueness
from carom.laws.routh import Routh
from carom.laws.routh_exact import RouthExact
from carom.outcomes.distances import coverage_distance
from carom.outcomes.holdout import Holdout
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.sampled import SampledSet
from carom.outcomes.summary import why_nothing_happens
from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem

MISSED = 0.01
"""Share of further draws that may be missed by the samples of a report."""

RESOLUTION = 0.02
"""Distance up to which an outcome counts as found, as a share of the set's extent."""

SAMPLES = 2**10
"""First batch of samples of a report."""

INNER = 2**8
"""Samples inside an outer set."""

MOST_SAMPLES = 2**17
"""Largest number of samples of a report."""


@dataclass(frozen=True, eq=False)
class Guarantees:
    """Tell what holds for one impact; prints as a table.

    Attributes:
        problem: The impact.
        step_impulse: The step h that bounds on steps are for [N s].
        cone: Whether impulses can cancel.
        termination: Bound on the number of steps; None if the cone is not pointed.
        kappa: For one contact, impulse a unit of speed that it takes at most; else None.
        worst: The largest impulse of all solutions, exactly; None if that was not found.
        uniqueness: Whether a step has one outcome.
        lipschitz: Lipschitz constant of the step; None if it has several outcomes.
        samples: Sampled outcomes.
        exact: All outcomes as polytopes, or a set that holds them all; None if not found.
        coverage: Largest distance from an outcome to the nearest sample, and by how much it may
            be larger; None if outcomes are not known exactly.
        losses: What sampled paths do to the energy.
        ambiguity: How outcomes differ.

    Examples:
        A ball of 2 kg that falls with 1 m/s.

        >>> import carom
        >>> ball = carom.ImpactProblem(
        ...     M=[[2.0, 0.0], [0.0, 2.0]], J_n=[[0.0, 1.0]], J_t=[[1.0, 0.0]], mu=0.5,
        ...     v_pre=[0.0, -1.0])
        >>> report = carom.check(ball)
        >>> len(report.statements), {statement.verdict for statement in report.statements}
        (9, {'holds'})
        >>> report.holdout.is_met, round(report.worst.s, 9), report.coverage[0] < 1e-9
        (True, 2.0, True)
        >>> report.json()["contacts"], str(report).split("  [")[0]
        (['A'], 'holds     pointed friction cone')
    """

    problem: ImpactProblem
    step_impulse: float
    cone: Pointedness
    termination: Termination | None
    kappa: float | None
    worst: WorstImpulse | None
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
        made = (
            sentences.on_cone(self.problem, self.cone),
            sentences.on_steps(self.termination, self.step_impulse),
            sentences.on_impulse(self.problem, self.worst, self.termination),
            sentences.on_single_contact(self.problem, self.kappa),
            sentences.on_uniqueness(self.problem, self.uniqueness),
            sentences.on_lipschitz(
                self.lipschitz, self.uniqueness, self.termination, self.step_impulse
            ),
            sentences.on_energy(self.cone, self.losses),
            sentences.on_samples(self.holdout, self.coverage),
            sentences.on_ambiguity(self.ambiguity, self.exact),
        )
        return tuple(statement for statement in made if statement is not None)

    def __str__(self) -> str:
        stays = why_nothing_happens(self.problem)
        lines = [] if stays is None else [f"nothing collides, for {stays}"]
        for statement in self.statements:
            lines.append(f"{statement.verdict:<8}  {statement.title}  [{statement.source}]")
            lines += [f"          {line}" for line in statement.lines]
        return "\n".join(lines)

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
    max_seconds: float = 5.0,
    seed: int = 0,
) -> Guarantees:
    """Check the paper's assumptions for an impact, and compute the constants of its theorems.

    Args:
        problem: The impact.
        step_impulse: The paper's step h, for bounds on the number of steps; by default what
            `Routh` would take [N s].
        max_seconds: Budget of each exact search.
        seed: Of the samples.

    Raises:
        InvalidProblem: An option is out of range.
        ImpactNotResolved: No outcome was found at all.

    Examples:
        >>> import carom
        >>> report = carom.check(carom.scenes.load("rocking-block").problem)
        >>> report.cone.is_pointed, report.uniqueness.is_unique
        (True, True)
    """
    step = float(problem.space.impulse_unit.max()) if step_impulse is None else step_impulse
    if not (isinstance(step, int | float | np.number) and np.isfinite(step) and step > 0.0):
        raise InvalidProblem(f"step_impulse: expected a number > 0, got {step_impulse!r}")
    if not max_seconds > 0.0:
        raise InvalidProblem(f"max_seconds: expected a number > 0, got {max_seconds!r}")
    cone = pointedness(problem)
    uniqueness = step_uniqueness(problem)
    exact = _exact(problem, max_seconds)
    samples = _samples(problem, seed)
    complete = exact is not None and exact.is_complete
    return Guarantees(
        problem=problem,
        step_impulse=float(step),
        cone=cone,
        termination=termination(problem, cone, float(step)),
        kappa=single_contact_rate(problem) if problem.num_contacts == 1 else None,
        worst=worst_impulse(problem, max_seconds),
        uniqueness=uniqueness,
        lipschitz=step_lipschitz(problem, uniqueness),
        samples=samples,
        exact=exact,
        coverage=coverage_distance(samples, exact) if complete and exact is not None else None,
        losses=dissipation(samples),
        ambiguity=ambiguity(exact if complete and exact is not None else samples),
    )


def _exact(problem: ImpactProblem, max_seconds: float) -> PolyhedralSet | None:
    """Return the exact set, or an outer one, where that can be had."""
    # Samples inside an outer set have small steps, and would take longer than the search.
    law = RouthExact(max_seconds=max_seconds, on_budget="outer", num_samples=INNER)
    try:
        return law.resolve(problem)
    except (MissingExtra, ImpactNotResolved):
        return None


def _samples(problem: ImpactProblem, seed: int) -> SampledSet:
    """Sample until few further draws are new, at a resolution that suits the set."""
    extent = _extent(Routh(num_samples=SAMPLES, seed=seed).resolve(problem).contact_bounds())
    # Where nothing moves, any distance will do.
    unit = float(problem.space.velocity_unit.max()) or 1.0
    epsilon = max(RESOLUTION * extent, 1e-9 * unit)
    law = Routh(
        num_samples=SAMPLES,
        seed=seed,
        until=(epsilon, MISSED, DELTA),
        max_samples=MOST_SAMPLES,
    )
    return law.resolve(problem)


def _extent(bounds: FloatArray) -> float:
    return float(np.linalg.norm(bounds[..., 1] - bounds[..., 0]))
