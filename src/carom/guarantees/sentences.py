"""Put guarantees into words, each with where it comes from and what to do if it fails."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from carom.guarantees.citations import cite

if TYPE_CHECKING:
    from carom.guarantees.report import Guarantees

HOLDS, FAILS, OPEN = "holds", "fails", "open"
RARE = 1e-6
"""Probability for which a number of steps is printed."""
DELTA = 0.05
"""Statements about samples hold with probability 1 - this."""
MISSED = 0.01
"""Share of further draws that samples may miss."""
NEAR = 0.02
"""Distance for which a number of samples is printed, as a share of |v_pre|_M."""
NO_STEPS = "the paper's steps are for inelastic impacts; with restitution motions have no steps"
"""Why nothing is said of steps where contacts bounce."""
RETURNED = "docs/restitution.md: kinetic energy plus what contacts can return never rises"
"""Source of what holds where contacts bounce."""
ROUNDING = 1e-9
"""Share of the energy by which stretches of paths that bounce may seem to gain: in space slip is
integrated to about that."""
MOST_STEPS = 3
"""Number of steps of the worst path that are printed."""


@dataclass(frozen=True)
class Statement:
    """State one guarantee.

    Attributes:
        title: What it is about.
        verdict: "holds", "fails" or "open", which means not known.
        source: Theorem, lemma or assumption of the paper by number, or carom's own method.
        lines: What it says, and what to do where it fails.
        values: Its numbers, for programs.
    """

    title: str
    verdict: str
    source: str
    lines: tuple[str, ...]
    values: dict[str, Any]

    def json(self) -> dict[str, Any]:
        """Return the statement for programs."""
        return asdict(self)


def _on_cone(report: Guarantees) -> Statement:
    title, cone = "pointed friction cone", report.cone
    source = cite("assump:nondegenerate", "lem:NetForceBoundedByIndividualForces")
    if cone.is_pointed and cone.r is not None:
        line = "no impulses within friction cancel: the friction cone is pointed"
        values = {"r": cone.r.tolist(), "residual": cone.residual}
        return Statement(title, HOLDS, source, (line,), values)
    assert cone.jamming is not None
    normal = zip(report.problem.contacts, cone.jamming[:, 0], strict=True)
    pressing = [f"{name} {impulse:.3g} N s" for name, impulse in normal if impulse > 1e-9]
    rubs = bool((abs(cone.jamming[:, 1:]) > 1e-9).any())
    lines = (
        f"impulses cancel, as in a jam: {', '.join(pressing)}{' (and friction)' if rubs else ''}",
        f"impacts may last without end; {'lower mu, or ' if rubs else ''}leave out a contact that "
        f"cannot matter",
    )
    values = {"jamming": cone.jamming.tolist(), "residual": cone.residual}
    return Statement(title, FAILS, source, lines, values)


def _on_steps(report: Guarantees) -> Statement:
    title, bound = "number of steps", report.termination
    source = cite("thm:ExponentialSimulationDecay")
    if report.problem.bounces:
        return _on_end(report)
    if bound is None:
        line = "without a pointed cone nothing is promised: max_steps ends what does not end"
        return Statement(title, OPEN, source, (line,), {})
    rate = (bound.num_contacts + 1) ** 2
    steps = bound.steps_for(RARE)
    lines = (
        f"uniform draws of {report.step_impulse:.4g} N s: P(steps > "
        f"{steps - math.ceil(-math.log(RARE) * rate)} + k) <= exp(-k / {rate}), so more than "
        f"{steps} steps have probability {RARE:g} at most",
        f"(c = {bound.c_energy} by energy; the paper's constant is {bound.c}, with sigma = "
        f"{bound.sigma:.4g} and |r| = {bound.r_norm:.4g})",
    )
    values = {"c": bound.c, "c_energy": bound.c_energy, "sigma": bound.sigma, "r": bound.r_norm}
    return Statement(title, HOLDS, source, lines, values)


def _on_end(report: Guarantees) -> Statement:
    """Return whether an impact with restitution ends, in place of a number of steps."""
    known = [] if report.extreme is None else [report.extreme.proved]
    if (bound := _plain_bound(report)) is not None:
        known.append(bound)
    most = min(known, default=math.inf)
    if math.isinf(most):
        line = "not known: nothing bounds the impulse, so that motions may last without end"
        return Statement("the impact ends", OPEN, RETURNED, (line, NO_STEPS), {})
    line = f"no motion takes more than {most:.4g} N s, and none stops before it is over"
    return Statement("the impact ends", HOLDS, RETURNED, (line, NO_STEPS), {"bound": most})


def _plain_bound(report: Guarantees) -> float | None:
    """Return the bound 2 |r| |v_pre| on the impulse, if there is one.

    In space r is for k friction directions, but contacts that bounce have the round cone.
    """
    is_round = report.problem.bounces and report.problem.num_tangents > 1
    bound = report.termination
    return None if bound is None or is_round else bound.largest_impulse


def _on_impulse(report: Guarantees) -> Statement:
    title, worst = "accrued normal impulse s", report.worst
    source = cite("prop:nondegeneratedissipation") + "; exact search with s as a coordinate"
    source = RETURNED if report.problem.bounces else source
    lines = []
    values: dict[str, Any] = {}
    if worst is not None:
        steps = [_modes(report, modes) for modes in worst.path.modes[:MOST_STEPS]]
        way = "; ".join([*steps, *(["..."] if worst.path.num_steps > MOST_STEPS else [])])
        if math.isinf(worst.s):
            after = f" after {way}" if way else ""
            line = f"no bound:{after} impulses can cancel while a contact still approaches"
            return Statement(title, FAILS, source, (line,), {"worst": None})
        lines.append(f"no solution takes more than {worst.s:.6g} N s, and one does: {way}")
        values["worst"] = worst.s
    if (extreme := report.extreme) is not None:
        lines.append(f"a motion takes {extreme.reached:.6g} N s")
        values["reached"] = extreme.reached
        if math.isfinite(extreme.proved):
            lines.append(f"no motion takes more than {extreme.proved:.6g} N s, which is proved")
            values["proved"] = extreme.proved
    if (bound := _plain_bound(report)) is not None:
        lines.append(f"the bound 2 |r| |v_pre| is {bound:.4g} N s")
        values["bound"] = bound
    if not lines:
        lines.append("not known: the cone is not pointed, and no search found an end")
    return Statement(title, HOLDS if values else OPEN, source, tuple(lines), values)


def _on_single_contact(report: Guarantees) -> Statement | None:
    if (kappa := report.kappa) is None:
        return None
    s = kappa * report.problem.energy_norm
    line = f"kappa = {kappa:.4g}: the impact ends within {s:.4g} N s, kappa times |v_pre|_M"
    source = cite("lem:singlefrictional")
    return Statement("one contact", HOLDS, source, (line,), {"kappa": kappa})


def _on_uniqueness(report: Guarantees) -> Statement:
    title, source = "one outcome per step", cite("assump:uniqueLCPoutcome")
    found = report.uniqueness.ambiguity
    if report.problem.bounces:
        return Statement(title, OPEN, source, (f"it does not apply: {NO_STEPS}",), {})
    if found is None:
        unique = report.uniqueness.is_unique
        start = "a step's outcome is unique whatever the velocity" if unique else "not known"
        line = f"{start}: {report.uniqueness.reason}"
        return Statement(title, HOLDS if unique else OPEN, source, (line,), {})
    one, other = (_modes(report, modes) for modes in found.modes)
    ways = f"in one choice of modes, {one}," if one == other else f"{one}, or {other};"
    apart = report.problem.contact_velocity(found.v_post[1] - found.v_post[0])
    contact, component = np.unravel_index(np.abs(apart).argmax(), apart.shape)
    lines = (
        f"some step has two outcomes: {ways} they differ by {abs(apart[contact, component]):.3g} "
        f"m/s in the {'tangential' if component else 'normal'} velocity of "
        f"{report.problem.contacts[contact]}",
        "which one a solver returns is an artefact; Routh draws among all (selection='random')",
    )
    arrays = {name: getattr(found, name).tolist() for name in ("v", "lambda_max", "v_post")}
    values = arrays | {"modes": [*map(list, found.modes)], "residual": found.residual}
    return Statement(title, FAILS, source, lines, values)


def _modes(report: Guarantees, modes: Iterable[str]) -> str:
    """Return what contacts do in a step, e.g. "A free and B closed, sticking"."""
    pairs = zip(report.problem.contacts, modes, strict=True)
    return " and ".join(f"{contact} {mode}" for contact, mode in pairs)


def _on_lipschitz(report: Guarantees) -> Statement:
    title, lipschitz, uniqueness = "dense sampling", report.lipschitz, report.uniqueness
    source = cite("lem:SimulationLCPLipschitz", "thm:VelocitySetApproximation", "prop:epsilonnet")
    if lipschitz is None:
        why = "some step has two outcomes"
        if report.problem.bounces:
            why = NO_STEPS
        elif uniqueness.is_unique:
            why = "there are too many pieces to find the step's Lipschitz constant"
        elif not uniqueness.is_decided:
            why = "it is not known whether steps have one outcome"
        line = f"the theorem does not apply: {why}; what samples miss is estimated below"
        verdict = FAILS if uniqueness.ambiguity is not None else OPEN
        return Statement(title, verdict, source, (line,), {})
    L, L_energy, bound = lipschitz.L, lipschitz.L_energy, report.termination
    values: dict[str, Any] = {"L": L, "L_energy": L_energy}
    lines = [f"a step is Lipschitz: L = {L_energy:.4g} by energy, {L:.4g} in the paper's norms"]
    if bound is not None and bound.energy_norm > 0.0:
        near, steps = NEAR * bound.energy_norm, bound.steps_for(DELTA)
        samples = (near, DELTA, steps, report.step_impulse)
        exponent = lipschitz.log10_samples(*samples, by_energy=True)
        lines.append(
            f"to be within {100 * NEAR:g} % of |v_pre| of everything that N = {steps} steps reach, "
            f"the theorem asks for more than 10^{exponent:,.0f} samples: dense sampling is "
            f"possible, but not practical"
        )
        values["log10_samples"] = exponent
    return Statement(title, HOLDS, source, tuple(lines), values)


def _on_energy(report: Guarantees) -> Statement:
    title, losses, bounces = "energy falls", report.losses, report.problem.bounces
    source = cite("thm:TimesteppingDissipation", "thm:strictdissipation")
    title, source = ("energy does not rise", RETURNED) if bounces else (title, source)
    values = {"largest_change": losses.largest_change, "least_loss": losses.least_loss}
    if losses.num_steps == 0:
        return Statement(title, HOLDS, source, ("nothing collides, so nothing is lost",), values)
    what = "kinetic energy plus what contacts can return" if bounces else "energy"
    line = (
        f"in {losses.num_steps:,} steps of {losses.num_paths:,} recorded paths {what} changes by "
        f"{losses.largest_change:.3g} of its value at most; an impact loses "
        f"{100 * losses.least_loss:.3g} % at least"
    )
    if bounces:
        line += "; kinetic energy alone rises while a contact restitutes"
    elif not report.cone.is_pointed:
        line += "; strict decrease is not promised without a pointed cone"
    verdict = HOLDS if losses.largest_change <= (ROUNDING if bounces else 1e-12) else FAILS
    return Statement(title, verdict, source, (line,), values)


def _on_samples(report: Guarantees) -> Statement:
    found = report.holdout
    # The p that was asked for is this report's own, and nothing that a reader knows of.
    lines = [str(replace(found, asked=None))]
    if found.p > MISSED:
        lines.append(
            f"samples were drawn until the budget ended; for fewer misses allow more with "
            f"max_seconds, or use Routh(until=({found.epsilon:.2g}, p, delta))"
        )
    values: dict[str, Any] = {"p": found.p, "epsilon": found.epsilon, "delta": found.delta}
    if report.coverage is not None:
        within = sum(report.coverage)
        lines.append(f"against the exact set: every outcome is within {within:.4g} m/s of a sample")
        values["coverage"] = report.coverage[0]
    source = "holdout with exact binomial bound (Clopper and Pearson 1934)"
    verdict = HOLDS if found.p <= MISSED else OPEN
    return Statement("what samples miss", verdict, source, tuple(lines), values)


def _on_ambiguity(report: Guarantees) -> Statement:
    found, complete = report.ambiguity, report.exact is not None
    values = {
        "kinds": [kind.words for kind in found.kinds],
        "distance": found.distance,
        "relative_distance": found.relative_distance,
        "basis": found.basis.tolist(),
    }
    title = "ambiguity" if found.num_kinds > 1 else "no ambiguity in kind"
    source = "exact set" if complete else "samples: there may be more"
    return Statement(title, HOLDS if complete else OPEN, source, found.lines, values)


ALL = [_on_cone, _on_steps, _on_impulse, _on_single_contact, _on_uniqueness, _on_lipschitz]
ALL += [_on_energy, _on_samples, _on_ambiguity]
"""Functions that make the statements of a report, in their order; None where one is not for it."""
