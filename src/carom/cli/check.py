"""carom check: say what can be promised for an impact."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from carom import __version__
from carom.cli import console
from carom.cli.arguments import FILE_WITH_AN_IMPACT, add_target, positive, seed
from carom.cli.report import show
from carom.cli.robots import ROBOT_IN_A_STATE, add_robot, load_impact

if TYPE_CHECKING:
    from carom.errors import CaromError

HELP = "say what can be promised for an impact"
DESCRIPTION = """\
Check the assumptions of the paper for an impact, and what follows from them.

Eight statements are printed, each with where it comes from in brackets: is the
friction cone pointed, how many steps does the impact take, how much impulse,
has a step one outcome, do samples cover the set, does energy fall, what do
samples miss, and how do outcomes differ. In front stands what became of it:

  holds  it was shown
  fails  it was refuted, and the lines below tell by what
  open   neither was possible"""
EPILOG = f"""\
{FILE_WITH_AN_IMPACT}

{ROBOT_IN_A_STATE}

examples:
  carom check compass-gait
  carom scenes box-wall --save my-impact.json
  carom check my-impact.json --step 0.1 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_target(parser)
    add = parser.add_argument
    add("--step", metavar="H", type=positive, help="the paper's h [N s]; default: the scene's")
    add(
        "--budget",
        metavar="SECONDS",
        type=positive,
        default=20.0,
        help="budget of time; what does not fit is open; default: 20",
    )
    add("--seed", metavar="N", type=seed, default=0, help="of the samples; default: 0")
    add("--json", action="store_true", help="print one JSON object")
    add_robot(parser)


def run(options: argparse.Namespace) -> list[CaromError]:
    """Print the report."""
    from carom import check

    target = load_impact(options)
    step = options.step
    if step is None and target.scene is not None:
        step = target.scene.step_impulse
    with console.progress() as begin:
        begin("check", "follows every order of events")
        report = check(
            target.problem, step_impulse=step, max_seconds=options.budget, seed=options.seed
        )
    about = {"carom": __version__, "source": target.source}
    show(about | report.json() if options.json else str(report))
    return []
