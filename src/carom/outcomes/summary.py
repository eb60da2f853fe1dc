"""A set of samples as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carom.kernels.tolerances import STICKING

if TYPE_CHECKING:
    from carom.outcomes.outcome_set import OutcomeSet
    from carom.outcomes.polyhedral import PolyhedralSet
    from carom.outcomes.sampled import SampledSet
    from carom.problem import ImpactProblem

STAYS = "no contact approaches: the velocity stays as it is"

ROUNDED = "rounding: "
"""Notes that begin so are of no weight, and are left out of a summary."""


def why_nothing_happens(problem: ImpactProblem) -> str | None:
    """Say so where no contact approaches, and what may be wrong; None where something happens."""
    if problem.without_collision or problem.is_colliding(problem.v_pre):
        return None
    parting = problem.J_n @ problem.v_pre > STICKING * problem.space.velocity_unit
    hint = " (J_n v < 0 would approach: is the sign of J_n right?)" if parting.any() else ""
    return STAYS + hint


def describe(outcomes: SampledSet) -> str:
    """Write a set as text: a head line, one line a contact, then what concerns all of it."""
    stays = why_nothing_happens(outcomes.problem)
    lines = [head_line(outcomes), *([] if stays is None else [f"  {stays}"])]
    if len(outcomes):
        lines += _contact_table(outcomes)
        lines += _totals(outcomes)
    lines += [f"  unfinished   {outcomes.num_unfinished:,}", *_reasons(outcomes)]
    return "\n".join(lines)


def head_line(outcomes: SampledSet) -> str:
    """Say which law found how many outcomes, and what is missing."""
    # Where nothing happens, all samples are one outcome.
    count = len(outcomes) if why_nothing_happens(outcomes.problem) is None else 1
    noun = "outcome" if count == 1 else "outcomes"
    complete = "complete" if outcomes.is_complete else "outcomes may be missing"
    lost = ""
    if outcomes.num_unfinished:
        what = "samples" if outcomes.labels is None else "sequences"
        lost = (
            f"; {outcomes.num_unfinished:,} of {count + outcomes.num_unfinished:,} {what} did not "
            f"end, so that ranges are biased"
        )
    return f"{outcomes.law}: {count:,} {noun}{lost} ({complete})"


def _contact_table(outcomes: SampledSet) -> list[str]:
    shares = [100.0 * kind.mean(axis=0) for kind in outcomes.kinds()]
    head = f"{'sticks':>9}{'slides':>9}{'lifts':>9}"
    rows = ["".join(f"{share[i]:>8.1f}%" for share in shares) for i in range(len(shares[0]))]
    return _range_table(outcomes, head, rows)


def _range_table(outcomes: OutcomeSet, more_head: str, more: list[str]) -> list[str]:
    """Write the ranges of contact velocities, a line each, with more behind every line.

    The normal velocity before the impact comes first: one of the wrong sign is seen there.
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


def _totals(outcomes: SampledSet) -> list[str]:
    problem = outcomes.problem
    before = problem.kinetic_energy(problem.v_pre)
    kept = problem.kinetic_energy(outcomes.v_post) / before if before > 0.0 else np.ones(1)
    kept = np.where(kept < STICKING**2, 0.0, kept)
    steps = outcomes.num_steps
    lines = [
        f"  energy kept  {100 * kept.min():.4g} … {100 * kept.max():.4g} % of {before:.4g} J",
        f"  steps        {steps.mean():.3g} per sample, {steps.max()} at most",
    ]
    if outcomes.step_impulse is not None:
        h = f"h = {outcomes.step_impulse:.4g} N s"
        lines.append(f"  step         {h}; samples err in proportion to it")
    if outcomes.labels is not None:
        lines += [f"  - {label}" for label in outcomes.labels]
    return lines


def _reasons(outcomes: SampledSet) -> list[str]:
    return [f"  - {reason}" for reason in outcomes.unfinished]


def describe_polyhedral(outcomes: PolyhedralSet) -> str:
    """Write a union of polytopes as text."""
    problem = outcomes.problem
    if outcomes.is_complete:
        head = "Routh, exact: every way in which the impact can end, and nothing else"
    else:
        head = "Routh, outer set: nothing outside of it can happen; not all of it may"
    count = len(outcomes)
    lines = [f"{head} ({count} polytope{'s' if count > 1 else ''})"]
    stays = why_nothing_happens(problem)
    lines += [] if stays is None else [f"  {stays}"]
    gap = outcomes.gap
    if gap is None:
        lines += _range_table(outcomes, "", [""] * problem.num_contacts)
    else:
        beyond = [f"{f'≤ {own.max():.3g}':>22}" for own in gap]
        lines += _range_table(outcomes, f"{'beyond the samples':>22}", beyond)
    lines += ["  ends in which"] + [f"  - {kind}" for kind in outcomes.kinds]
    notes = [note for note in outcomes.notes if note != STAYS and not note.startswith(ROUNDED)]
    lines += [f"  note: {note}" for note in notes]
    return "\n".join(lines)
