"""carom outcomes: resolve an impact with one law or all."""

from __future__ import annotations

import argparse
import math
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carom.cli import console
from carom.cli.arguments import (
    FILE_WITH_AN_IMPACT,
    add_target,
    check_folder,
    count,
    positive,
    seed,
)
from carom.cli.laws import BUDGET, make_law
from carom.cli.robots import ROBOT_IN_A_STATE, Target, add_robot, load_impact
from carom.errors import ImpactNotResolved, InvalidProblem

if TYPE_CHECKING:
    from carom.cli.outcomes_report import OutcomesReport
    from carom.laws.law import ImpactLaw
    from carom.problem import ImpactProblem
    from carom.scenes import Scene

# Per law, the options that bear on it.
LAWS = {
    "routh": ("samples", "step", "max_steps", "seed", "draw", "selection", "threads"),
    "exact": ("budget", "on_budget", "seed"),
    "anitescu-potra": ("seed",),
    "sequential": ("order",),
    "routh-single": (),
}
FIELDS = {
    "samples": "num_samples",
    "step": "step_impulse",
    "threads": "num_threads",
    "budget": "max_seconds",
}
DRAWS = ("persistent", "subset", "uniform")
SELECTIONS = ("random", "lemke")
ON_BUDGET = ("outer", "raise")
# Beyond these an exact set is rarely found in time; --law exact tries all the same.
MOST_CONTACTS_TO_BE_EXACT = 3
# The share of samples that may be lost before the rest counts as biased.
MOST_UNFINISHED = 0.01
# Seven contacts have 5,040 orders, which can take minutes.
MOST_CONTACTS_TO_ORDER = 6

HELP = "resolve an impact: every way in which it can end"
DESCRIPTION = """\
Resolve an impact, with one law or all, and tell the ways in which it can end.

  routh           the set-valued law, sampled; outcomes may be missing
  exact           the same law's whole set, as polytopes
  anitescu-potra  all contacts at once: every solution of its LCP
  sequential      one contact after another, in every order
  routh-single    one planar contact, in closed form

Per law are printed the number of outcomes, and whether some may be missing;
per contact its normal velocity before the impact (< 0 approaches), the least
and the largest one after it (0: it stays closed), the same of its tangential
velocity, and how often it sticks, slides or lifts; and the share of kinetic
energy that is kept."""
EPILOG = f"""\
{FILE_WITH_AN_IMPACT}

{ROBOT_IN_A_STATE}

files in DIR, each of which appears whole or not at all:
  summary.txt    what is printed
  outcomes.json  what --json prints: per law its settings, ranges and shares
  outcomes.npz   arrays: LAW/v_post (n, nv), LAW/impulse_n (n, m),
                 LAW/impulse_t (n, m, d), LAW/num_steps (n,),
                 LAW/v_unfinished (k, nv), and LAW/labels (n,) if the law has
                 them; exact/v_post (n, nv), the vertices, and exact/piece
                 (n,), their polytopes; problem/M, ...
  exact.json     the exact set, as carom.load_set reads it
  contact_velocities.png
                 the outcomes and the ways there (needs carom[plots])

examples:
  carom outcomes rocking-block --out block
  carom outcomes compass-gait --law exact --budget 60
      Every outcome and nothing else (needs carom[exact]).
  carom scenes compass-gait --save my-impact.json
  carom outcomes my-impact.json --law routh --samples 100000 --seed 1 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add_target(parser)
    add(
        "--law",
        choices=[*LAWS, "all"],
        default="all",
        metavar="LAW",
        help=f"{', '.join(LAWS)}, or all that apply, which is the default",
    )
    add("--out", metavar="DIR", type=Path, help="write files to this folder")
    add("--json", action="store_true", help="print one JSON object")
    add = parser.add_argument_group("law routh").add_argument
    add("--samples", metavar="N", type=count, help="default: the scene's, or 16384")
    add("--step", metavar="H", type=positive, help="largest impulse of a contact in a step [N s]")
    add(
        "--max-steps",
        metavar="N",
        type=count,
        help="steps after which a sample is unfinished; default: 1000, or more if H is small",
    )
    add("--seed", metavar="N", type=seed, help="of all random draws; default: 0")
    add("--draw", choices=DRAWS, help=f"how impulses are drawn; default: {DRAWS[0]}")
    add("--selection", choices=SELECTIONS, help="which solution of a step with several is taken")
    add("--threads", metavar="N", type=count, help="default: all cores; changes no result")
    add = parser.add_argument_group("law exact (needs carom[exact])").add_argument
    add(
        "--budget",
        metavar="SECONDS",
        type=positive,
        help=f"default: {BUDGET:g}; an outer set may take twice as much again",
    )
    add(
        "--on-budget",
        choices=ON_BUDGET,
        help="return an outer set, or fail, if the budget ends; default: outer",
    )
    add = parser.add_argument_group("law sequential").add_argument
    add("--order", metavar="A,B", type=_order, help="default: every order")
    add_robot(parser)


def run(options: argparse.Namespace) -> list[ImpactNotResolved]:
    """Print what the laws say; return the failures of some, raise the failure of all.

    A law whose samples mostly do not end is told all the same, and counts as a failure.
    """
    if options.out is not None:
        check_folder(options.out)
    target = load_impact(options)
    names = _chosen_laws(options, target.problem)
    with console.progress() as begin:
        report, failures = _resolve(names, options, target, begin)
        if options.out is not None:
            begin("files", "")
            report.write(options.out)
    report.show(as_json=options.json)
    return failures


def _resolve(
    names: list[str],
    options: argparse.Namespace,
    target: Target,
    begin: console.Begin,
) -> tuple[OutcomesReport, list[ImpactNotResolved]]:
    from carom.cli.outcomes_report import OutcomesReport

    report = OutcomesReport(target.source, target.title, target.problem)
    failures = []
    for name in names:
        hints = ("follows every order of events",) if name == "exact" else ()
        law = _law(name, options, target.scene, begin(name, *hints))
        try:
            report.add(name, law, law.resolve(target.problem))
            failures += _lost_samples(name, report)
        except ImpactNotResolved as error:
            if len(names) == 1:
                raise
            report.not_resolved[name] = str(error)
            failures.append(ImpactNotResolved(f"{name}: {error}", target.problem, error.solution))
    return report, failures


def _lost_samples(name: str, report: OutcomesReport) -> list[ImpactNotResolved]:
    """Warn of samples that did not end; return a failure where they are too many."""
    outcomes = report.sampled(name)
    if name != "routh" or outcomes is None or not outcomes.num_unfinished:
        return []
    lost, count = outcomes.num_unfinished, outcomes.num_unfinished + len(outcomes)
    message = (
        f"{name}: {lost:,} of {count:,} samples did not end, so that ranges are biased: "
        f"{'; '.join(outcomes.unfinished)}"
    )
    if lost > MOST_UNFINISHED * count:
        return [ImpactNotResolved(message, outcomes.problem)]
    console.warn(f"warning: {message}")
    return []


def _chosen_laws(options: argparse.Namespace, problem: ImpactProblem) -> list[str]:
    """Return the names of the laws to use; refuse options that bear on none of them."""
    names = [options.law]
    if options.law == "all":
        names = ["routh", "anitescu-potra", "sequential"]
        if _can_be_exact(problem):
            names.insert(1, "exact")
        if problem.num_contacts == 1 and problem.num_tangents == 1:
            names.append("routh-single")
        if problem.num_contacts > MOST_CONTACTS_TO_ORDER and options.order is None:
            names.remove("sequential")
            orders = math.factorial(problem.num_contacts)
            console.warn(f"sequential is left out: {orders:,} orders; name one with --order")
    used = {option for name in names for option in LAWS[name]}
    for option in sorted({option for each in LAWS.values() for option in each} - used):
        if getattr(options, option) is not None:
            flag = "--" + option.replace("_", "-")
            raise InvalidProblem(f"{flag}: does not bear on --law {options.law}; leave it out")
    return names


def _can_be_exact(problem: ImpactProblem) -> bool:
    """Tell whether an exact set is worth a try unasked; say so if only a package is missing."""
    if problem.num_contacts > MOST_CONTACTS_TO_BE_EXACT or problem.num_tangents > 1:
        return False
    if find_spec("ppl") is not None:
        return True
    console.warn('exact is left out: it needs pplpy; pip install "carom[exact]"')
    return False


def _law(
    name: str, options: argparse.Namespace, scene: Scene | None, progress: console.Progress
) -> ImpactLaw:
    given: dict[str, Any] = {
        FIELDS.get(option, option): getattr(options, option)
        for option in LAWS[name]
        if getattr(options, option) is not None
    }
    settings: dict[str, Any] = {}
    if name == "exact":
        settings = {"on_budget": ON_BUDGET[0]}
    elif name == "routh":
        settings = {"progress": progress}
        if scene is not None:
            settings |= {"num_samples": scene.num_samples, "step_impulse": scene.step_impulse}
    return make_law(name, **(settings | given))


def _order(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))
