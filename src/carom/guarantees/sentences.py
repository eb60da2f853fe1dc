"""Put guarantees into words, each with where it comes from and what to do if it fails."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carom.guarantees.ambiguity import Ambiguity
    from carom.guarantees.cone import Pointedness
    from carom.guarantees.dissipation import Dissipation
    from carom.guarantees.impulse import WorstImpulse
    from carom.guarantees.lipschitz import Lipschitz
    from carom.guarantees.termination import Termination
    from carom.guarantees.uniqueness import Uniqueness
    from carom.outcomes.holdout import Holdout
    from carom.outcomes.polyhedral import PolyhedralSet
    from carom.problem import ImpactProblem

HOLDS, FAILS, OPEN = "holds", "fails", "open"

RARE = 1e-6
"""Probability for which a number of steps is told."""

DELTA = 0.05
"""Statements about samples hold with probability 1 - this."""

NEAR = 0.02
"""Distance for which a number of samples is told, as a share of |v_pre|_M."""


@dataclass(frozen=True)
class Statement:
    """State one guarantee.

    Attributes:
        title: What it is about.
        verdict: "holds", "fails" or "open", which means not known.
        source: The theorem, lemma or assumption of the paper, or carom's own method.
        lines: What it says, and what to do where it fails.
        values: Its numbers, for programs.

    Examples:
        >>> import carom
        >>> statement = carom.check(carom.scenes.load("rocking-block").problem).statements[0]
        >>> statement.title, statement.verdict
        ('pointed friction cone', 'holds')
        >>> sorted(statement.json())
        ['lines', 'source', 'title', 'values', 'verdict']
    """

    title: str
    verdict: str
    source: str
    lines: tuple[str, ...]
    values: dict[str, Any]

    def json(self) -> dict[str, Any]:
        """Return the statement for programs."""
        return asdict(self)


def on_cone(problem: ImpactProblem, cone: Pointedness) -> Statement:
    """Say whether impulses can cancel."""
    source = "HalmPosa, assump:nondegenerate; lem:NetForceBoundedByIndividualForces"
    if cone.is_pointed and cone.r is not None:
        line = "no impulses within friction cancel: the friction cone is pointed"
        values = {"r": cone.r.tolist(), "residual": cone.residual}
        return Statement("pointed friction cone", HOLDS, source, (line,), values)
    assert cone.jamming is not None
    pressing = [
        f"{name} {impulse[0]:.3g} N s"
        for name, impulse in zip(problem.contacts, cone.jamming, strict=True)
        if impulse[0] > 1e-9
    ]
    rubs = bool((abs(cone.jamming[:, 1:]) > 1e-9).any())
    lines = (
        f"impulses cancel, as in a jam: {', '.join(pressing)}{' (and friction)' if rubs else ''}",
        f"impacts may last without end; {'lower mu, or ' if rubs else ''}leave out a contact that "
        f"cannot matter",
    )
    values = {"jamming": cone.jamming.tolist(), "residual": cone.residual}
    return Statement("pointed friction cone", FAILS, source, lines, values)


def on_steps(bound: Termination | None, step_impulse: float) -> Statement:
    """Say how many steps an impact takes."""
    source, title = "HalmPosa, thm:ExponentialSimulationDecay", "number of steps"
    if bound is None:
        line = "nothing is promised without a pointed cone; max_steps ends what does not end"
        return Statement(title, OPEN, source, (line,), {})
    m = bound.num_contacts
    steps = bound.steps_for(RARE)
    lines = (
        f"uniform draws of {step_impulse:.4g} N s: P(steps > {steps - _extra(m)} + k) <= "
        f"exp(-k / {(m + 1) ** 2}), so more than {steps} steps have probability {RARE:g} at most",
        f"(c = {bound.c_energy} by energy; the paper's constant is {bound.c}, with sigma = "
        f"{bound.sigma:.4g} and |r| = {bound.r_norm:.4g})",
    )
    values = {"c": bound.c, "c_energy": bound.c_energy, "sigma": bound.sigma, "r": bound.r_norm}
    return Statement(title, HOLDS, source, lines, values)


def _extra(num_contacts: int) -> int:
    return math.ceil(-math.log(RARE) * (num_contacts + 1) ** 2)


def on_impulse(
    problem: ImpactProblem, worst: WorstImpulse | None, bound: Termination | None
) -> Statement:
    """Say how much normal impulse an impact takes at most."""
    source = "HalmPosa, prop:nondegeneratedissipation; exact search with s as a coordinate"
    title = "accrued normal impulse s"
    lines = []
    values: dict[str, Any] = {}
    if worst is not None:
        way = "; ".join(
            ", ".join(f"{n}: {m}" for n, m in zip(problem.contacts, step, strict=True))
            for step in worst.path.modes[:3]
        )
        way += "; ..." if worst.path.num_steps > 3 else ""
        if math.isinf(worst.s):
            after = f" after {way}" if way else ""
            line = f"no bound:{after} impulses can cancel while a contact still approaches"
            return Statement(title, FAILS, source, (line,), {"worst": None})
        lines.append(f"no solution takes more than {worst.s:.6g} N s, and one does: {way}")
        values["worst"] = worst.s
    if bound is not None:
        lines.append(f"the bound 2 |r| |v_pre| is {bound.largest_impulse:.4g} N s")
        values["bound"] = bound.largest_impulse
    if not lines:
        lines.append("not known: the cone is not pointed, or the exact search found no end")
    return Statement(title, HOLDS if values else OPEN, source, tuple(lines), values)


def on_single_contact(problem: ImpactProblem, kappa: float | None) -> Statement | None:
    """Say how much impulse one contact alone takes at most."""
    if kappa is None:
        return None
    line = (
        f"kappa = {kappa:.4g}: the impact ends within {kappa * problem.energy_norm:.4g} N s, kappa times "
        f"|v_pre|_M"
    )
    source = "HalmPosa, lem:singlefrictional"
    return Statement("one contact", HOLDS, source, (line,), {"kappa": kappa})


def on_uniqueness(problem: ImpactProblem, uniqueness: Uniqueness) -> Statement:
    """Say whether a step has one outcome."""
    source, title = "HalmPosa, assump:uniqueLCPoutcome", "one outcome a step"
    if uniqueness.is_unique:
        line = f"a step's outcome is unique whatever the velocity: {uniqueness.reason}"
        return Statement(title, HOLDS, source, (line,), {})
    found = uniqueness.ambiguity
    if found is None:
        return Statement(title, OPEN, source, (f"not known: {uniqueness.reason}",), {})
    ways = [
        ", ".join(f"{n}: {m}" for n, m in zip(problem.contacts, modes, strict=True))
        for modes in found.modes
    ]
    lines = (
        f"some step ends in two ways: {ways[0]}; or {ways[1]}",
        "a solver's habit decides which; Routh draws among all (selection='random')",
    )
    values = {
        "v": found.v.tolist(),
        "lambda_max": found.lambda_max.tolist(),
        "v_post": found.v_post.tolist(),
        "residual": found.residual,
    }
    return Statement(title, FAILS, source, lines, values)


def on_lipschitz(
    lipschitz: Lipschitz | None,
    uniqueness: Uniqueness,
    bound: Termination | None,
    step_impulse: float,
) -> Statement:
    """Say what the paper's theorem on dense sampling would ask for."""
    source = "HalmPosa, lem:SimulationLCPLipschitz; thm:VelocitySetApproximation; prop:epsilonnet"
    title = "dense sampling with certainty"
    if lipschitz is None:
        why = "some step has two outcomes"
        if uniqueness.is_unique:
            why = "there are too many pieces to find the step's Lipschitz constant"
        elif not uniqueness.is_decided:
            why = "it is not known whether steps have one outcome"
        line = f"the theorem does not apply: {why}; what samples miss is told below"
        verdict = OPEN if uniqueness.is_unique or not uniqueness.is_decided else FAILS
        return Statement(title, verdict, source, (line,), {})
    values: dict[str, Any] = {"L": lipschitz.L, "L_energy": lipschitz.L_energy}
    constants = f"L = {lipschitz.L_energy:.4g} by energy, {lipschitz.L:.4g} in the paper's norms"
    lines = [f"a step is Lipschitz: {constants}"]
    if bound is not None and bound.speed > 0.0:
        steps = bound.steps_for(DELTA)
        near = NEAR * bound.speed
        exponent = lipschitz.log10_samples(near, DELTA, steps, step_impulse, by_energy=True)
        lines.append(
            f"to be within {100 * NEAR:g} % of |v_pre| of everything that N = {steps} steps reach, "
            f"the theorem asks for more than 10^{exponent:,.0f} samples: it says that dense "
            f"sampling is possible, not that it is practical"
        )
        values["log10_samples"] = exponent
    return Statement(title, HOLDS, source, tuple(lines), values)


def on_energy(cone: Pointedness, losses: Dissipation) -> Statement:
    """Say whether every step lost energy."""
    source = "HalmPosa, thm:TimesteppingDissipation; thm:strictdissipation"
    values = {"largest_change": losses.largest_change, "least_loss": losses.least_loss}
    if losses.num_steps == 0:
        line = "nothing collides, so nothing is lost"
        return Statement("energy falls", HOLDS, source, (line,), values)
    line = (
        f"in {losses.num_steps:,} steps of {losses.num_paths:,} recorded paths energy changes by "
        f"{losses.largest_change:.3g} of its value at most; an impact loses "
        f"{100 * losses.least_loss:.3g} % at least"
    )
    verdict = HOLDS if losses.largest_change <= 1e-12 else FAILS
    strict = "" if cone.is_pointed else "; strict decrease is not promised without a pointed cone"
    return Statement("energy falls", verdict, source, (line + strict,), values)


def on_samples(holdout: Holdout, coverage: tuple[float, float] | None) -> Statement:
    """Say what samples miss."""
    lines = [str(holdout)]
    values: dict[str, Any] = {"p": holdout.p, "epsilon": holdout.epsilon, "delta": holdout.delta}
    if coverage is not None:
        distance, uncertainty = coverage
        lines.append(
            f"against the exact set: every outcome is within {distance + uncertainty:.4g} m/s of a "
            f"sample"
        )
        values["coverage"] = distance
    source = "holdout with exact binomial bound (Clopper and Pearson 1934)"
    verdict = HOLDS if holdout.is_met else OPEN
    return Statement("what samples miss", verdict, source, tuple(lines), values)


def on_ambiguity(ambiguity: Ambiguity, exact: PolyhedralSet | None) -> Statement:
    """Say how outcomes differ."""
    complete = exact is not None and exact.is_complete
    source = "exact set" if complete else "samples: there may be more"
    values = {
        "kinds": [kind.words for kind in ambiguity.kinds],
        "distance": ambiguity.distance,
        "relative_distance": ambiguity.relative_distance,
        "basis": ambiguity.basis.tolist(),
    }
    title = "ambiguity" if ambiguity.num_kinds > 1 else "no ambiguity in kind"
    lines = tuple(str(ambiguity).splitlines())
    return Statement(title, HOLDS if complete else OPEN, source, lines, values)
