"""carom check: report what can be guaranteed for an impact."""

from __future__ import annotations

from typing import Any

import click

from carom.cli import impact, show
from carom.cli.options import Command, json_option, option, positive, seed

EPILOG = f"""\
Verdicts:
  holds  it was shown
  fails  it was refuted, and the lines below tell by what
  open   neither was possible

{impact.EPILOG}
Examples:
  carom check compass-gait
  carom scenes box-wall --save my-impact.json
  carom check my-impact.json --step 0.1 --json
"""
LIMIT = "Budget of time [s]; what does not fit is open; default: 20."


@click.command("check", cls=Command, epilog=EPILOG, short_help="report what can be guaranteed")
@impact.takes_an_impact
@option("--step", metavar="H", type=positive, help="The paper's h [N s]; default: the scene's.")
@option("--budget", metavar="SECONDS", type=positive, default=20.0, help=LIMIT)
@option("--seed", metavar="N", type=seed, default=0, help="Seed of the samples; default: 0.")
@json_option
def command(
    target: str | None, step: float | None, budget: float, seed: int, as_json: bool, **given: Any
) -> None:
    """Check the assumptions of the paper for an impact, and what follows from them.

    Eight statements are printed, each with its verdict in front and its source in brackets: is the
    friction cone pointed, how many steps does the impact take, how much impulse, has a step one
    outcome, do samples cover the set, does energy fall, what do samples miss, and how do outcomes
    differ.
    """
    from carom import check

    about = impact.load_impact(target, given)
    if step is None and about.scene is not None:
        step = about.scene.step_impulse
    with show.progress() as begin:
        begin("check", "follows every order of events")
        report = check(about.problem, step_impulse=step, max_seconds=budget, seed=seed)
    show.show({"source": about.source, **report.json()} if as_json else str(report))
