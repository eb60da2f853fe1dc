"""Sets as readable tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carom.kernels.tolerances import STICKING
from carom.problem import ImpactProblem

if TYPE_CHECKING:
    from carom.outcomes.outcome_set import OutcomeSet
    from carom.outcomes.points import PointSet
    from carom.outcomes.polyhedral import PolyhedralSet

STAYS = "no contact approaches: the velocity stays as it is"

ROUNDED = "rounding: "
"""Start of notes that a summary leaves out because they do not matter."""


def why_nothing_happens(problem: ImpactProblem) -> str | None:
    """Return why nothing happens and what may be wrong, or None if something does."""
    if not problem.stays:
        return None
    parting = problem.J_n @ problem.v_pre > STICKING * problem.space.velocity_unit
    hint = " (J_n v < 0 would approach: is the sign of J_n right?)" if parting.any() else ""
    return STAYS + hint


def points_title(outcomes: PointSet) -> str:
    """Return the law, the number of outcomes and whether some may be missing, in one line."""
    # If nothing happens, all samples are one outcome.
    count = len(outcomes) if why_nothing_happens(outcomes.problem) is None else 1
    noun = "outcome" if count == 1 else "outcomes"
    complete = "complete" if outcomes.is_complete else "outcomes may be missing"
    lost = ""
    if outcomes.num_unfinished:
        what = "sequences" if hasattr(outcomes, "labels") else "samples"
        lost = (
            f"; {outcomes.num_unfinished:,} of {count + outcomes.num_unfinished:,} {what} did not "
            f"end, so that ranges are biased"
        )
    return f"{outcomes.law}: {count:,} {noun}{lost} ({complete})"


def describe_points(outcomes: PointSet) -> str:
    """Return a set of points as text."""
    shares = [100.0 * state.mean(axis=0) for state in outcomes.contact_states]
    more = ["".join(f"{share[i]:>8.1f}%" for share in shares) for i in range(len(shares[0]))]
    lines = _head(outcomes)
    lines += _range_table(outcomes, f"{'sticks':>9}{'slides':>9}{'lifts':>9}", more)
    lines += _totals(outcomes)
    lines += [f"  - {label}" for label in getattr(outcomes, "labels", ())]
    lines += [f"  unfinished   {outcomes.num_unfinished:,}"]
    lines += [f"  - {reason}" for reason in outcomes.unfinished]
    lines += [f"  note: {note}" for note in outcomes.notes]
    holdout = getattr(outcomes, "holdout", None)
    return "\n".join([*lines, *([] if holdout is None else [f"  missed       {holdout}"])])


def polyhedral_title(outcomes: PolyhedralSet) -> str:
    """Return a one-line description of a union of polytopes."""
    count = len(outcomes.polytopes)
    if outcomes.is_complete:
        head = "exact: every way in which the impact can end, and nothing else"
    else:
        head = "outer set: contains every outcome, and possibly more"
    return f"{outcomes.law}, {head} ({count} polytope{'s' if count > 1 else ''})"


def describe_polyhedral(outcomes: PolyhedralSet) -> str:
    """Return a union of polytopes as text."""
    lines, excess = _head(outcomes), outcomes.outer_excess
    if excess is None:
        lines += _range_table(outcomes, "", [""] * outcomes.problem.num_contacts)
    else:
        beyond = [f"{f'≤ {own.max():.3g}':>22}" for own in excess]
        lines += _range_table(outcomes, f"{'beyond the samples':>22}", beyond)
    lines += ["  kinds of outcome"] + [f"  - {kind}" for kind in outcomes.kinds]
    notes = [note for note in outcomes.notes if note != STAYS and not note.startswith(ROUNDED)]
    return "\n".join([*lines, *(f"  note: {note}" for note in notes)])


def _head(outcomes: OutcomeSet) -> list[str]:
    stays = why_nothing_happens(outcomes.problem)
    return [outcomes._title(), *([] if stays is None else [f"  {stays}"])]


def _range_table(outcomes: OutcomeSet, more_head: str, more: list[str]) -> list[str]:
    """Return the ranges of contact velocities, one line per contact, with more columns appended.

    The normal velocity before the impact comes first, to reveal a wrong sign of J_n.
    """
    problem, bounds = outcomes.problem, outcomes.contact_bounds()
    # Rounding noise of a resting contact would fill the table with 1e-17s.
    noise = STICKING * problem.space.velocity_unit.max()
    bounds = np.where(np.abs(bounds) < noise, 0.0, bounds)
    before = problem.J_n @ problem.v_pre
    before = np.where(np.abs(before) < noise, 0.0, before)
    tangents = ["tangential"] if problem.num_tangents == 1 else ["tangent 1", "tangent 2"]
    width = max(7, *(len(name) for name in problem.contacts))
    head = "".join(f"{name + ' [m/s]':>26}" for name in ["normal", *tangents])
    lines = [f"  {'contact':<{width}}{'normal before':>15}{head}{more_head}"]
    for name, start, own, rest in zip(problem.contacts, before, bounds, more, strict=True):
        ranges = "".join(f"{f'{low:.5g} … {high:.5g}':>26}" for low, high in own)
        lines.append(f"  {name:<{width}}{start:>15.5g}{ranges}{rest}")
    return lines


def _totals(outcomes: PointSet) -> list[str]:
    problem = outcomes.problem
    before = problem.kinetic_energy(problem.v_pre)
    kept = problem.kinetic_energy(outcomes.v_post) / before if before > 0.0 else np.ones(1)
    kept = np.where(kept < STICKING**2, 0.0, kept)
    steps, h = outcomes.num_steps, getattr(outcomes, "step_impulse", None)
    word = "events" if "exact motions" in outcomes.law else "steps"
    lines = [
        f"  energy kept  {100 * kept.min():.4g} … {100 * kept.max():.4g} % of {before:.4g} J",
        f"  {word:<12} {steps.mean():.3g} per outcome, {steps.max()} at most",
    ]
    if h is not None:
        lines.append(f"  accuracy     steps of {h:.4g} N s; samples err in proportion to it")
    return lines
