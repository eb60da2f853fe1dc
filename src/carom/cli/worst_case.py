"""carom worst-case: bound the extremes of an impact from both sides."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carom.cli import impact, show
from carom.cli.options import Command, option, output, positive, seed

if TYPE_CHECKING:
    from carom.extremes.extreme import Extreme, Extremes

SAVED, FIGURE = "extremes.json", "extremes.png"

EPILOG = f"""\
Names of directions:
  "A normal"      velocity at which contact A parts [m/s]
  "A tangential"  its sliding velocity [m/s]; in space "A tangent 1" and "A tangent 2"
  "A impulse"     its normal impulse [N s]
  "energy kept"   kinetic energy after the impact [J]
  "-A normal"     the least value: a minus in front of any name

{impact.EPILOG}
Files in DIR, each of which appears whole or not at all:
  summary.txt      what is printed
  worst-case.json  what --json prints: settings, and what is reached and proved
  {SAVED}    the extremes, with motions and certificates, as carom.load reads them
  {FIGURE}     what is reached and what is proved (needs matplotlib)

Examples:
  carom worst-case rocking-block --out block
  carom worst-case compass-gait --direction "B normal" --direction "-A tangential"
  carom worst-case disk-stack --direction "A normal" --max-seconds 2 --json
"""
NAME = "What to maximize, by name; may be repeated; default: all contact velocities, both ways."
LIMIT = "Time budget, without compilation; more time closes gaps; default: 10."


@click.command(
    "worst-case", cls=Command, epilog=EPILOG, short_help="bound the extremes of an impact"
)
@impact.takes_an_impact
@option("--direction", "directions", metavar="NAME", multiple=True, help=NAME)
@option("--max-seconds", metavar="SECONDS", type=positive, default=10.0, help=LIMIT)
@option("--seed", metavar="N", type=seed, default=0, help="Seed of the search; default: 0.")
@output
def command(
    target: str | None,
    directions: tuple[str, ...],
    max_seconds: float,
    seed: int,
    out: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Find how far an impact can go: the least and the largest value of a velocity after it.

    Per quantity are printed the least value that is reached and the bound below it, the largest
    value that is reached and the bound above it, and the gap between reached and proved. A motion
    reaches the former; a proof, which can be checked, shows that no outcome exceeds the latter.
    Where both agree, the extreme is exact.
    """
    from carom import worst_case

    about = impact.load_impact(target, given)
    with show.progress() as begin:
        begin("worst-case", f"searches and proves for {max_seconds:g} s, after compilation")
        found: Any = worst_case(
            about.problem, list(directions) or None, max_seconds=max_seconds, seed=seed
        )
    content = _json(about, found, {"max_seconds": max_seconds, "seed": seed})
    draw = partial(show.write_figure, "extremes_overview", found, title=about.title)
    files: dict[str, show.Writer] = {SAVED: found.save, FIGURE: draw}
    show.Report("worst-case", _text(about, found), content, files).finish(out, as_json=as_json)


def _text(about: impact.Target, found: Extremes) -> str:
    """Return the report for people."""
    from carom.extremes.extreme import HEAD

    table = show.table(HEAD, found.cells(), right=range(1, len(HEAD)))
    exact = sum(each.is_exact for each in found)
    what = "extreme is" if len(found) == 1 else "extremes are"
    parts = [about.title, "\n".join(table), f"{exact} of {len(found)} {what} exact."]
    parts += ["\n".join(f"note: {note}" for note in found.notes)] if found.notes else []
    return "\n\n".join(parts)


def _json(about: impact.Target, found: Extremes, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the report for programs; a bound that is None is not known."""
    known = show.pick(found.problem, "contacts", "num_velocities", "num_tangents", "v_pre")
    problem = {"source": about.source, **known}
    return {
        "problem": problem,
        "settings": settings,
        "extremes": [_describe(each) for each in found],
    }


def _describe(each: Extreme) -> dict[str, Any]:
    kind = None if each.certificate is None else type(each.certificate).__name__
    names = ("name", "unit", "direction", "impulse_weights", "reached", "proved", "gap")
    known = show.pick(each, *names, "is_exact", "scale", "v_post", "notes")
    return known | {"ends": each.path.ends, "certificate": kind}
