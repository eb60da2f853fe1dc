"""carom check: say what can be promised for an impact."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from carom.cli import console
from carom.cli.arguments import add_target, load_target, positive, seed

if TYPE_CHECKING:
    from carom.errors import ImpactNotResolved

HELP = "say what can be promised for an impact"
DESCRIPTION = """\
Check the paper's assumptions for an impact and compute the constants of its theorems: pointed
friction cone, number of steps, largest impulse, uniqueness of a step, what samples miss, and how
outcomes differ. Each statement holds, fails or is open, and names where it comes from."""
EPILOG = """\
examples:
  carom check compass-gait
  carom check my-impact.json --step 0.1 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_target(parser)
    add = parser.add_argument
    add("--step", metavar="H", type=positive, help="the paper's h [N s]; default: the scene's")
    add("--budget", metavar="SECONDS", type=positive, default=5.0, help="of each exact search")
    add("--seed", metavar="N", type=seed, default=0, help="of the samples; default: 0")
    add("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> list[ImpactNotResolved]:
    """Print the report."""
    from carom import check

    scene, problem = load_target(options.target)
    step = options.step
    if step is None and scene is not None:
        step = scene.step_impulse
    with console.progress() as begin:
        begin("check", "follows every order of events")
        report = check(problem, step_impulse=step, max_seconds=options.budget, seed=options.seed)
    print(json.dumps(report.json(), indent=2) if options.json else report)
    return []
