"""carom explore: see the set of outcomes change, live in the browser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from carom.cli import impact, show
from carom.cli.options import FILE, Command, option, positive
from carom.errors import InvalidOption

TOKEN = "CAROM_EXPLORE_TOKEN"
"""The environment variable with a token to use in place of a random one."""

EPILOG = f"""\
Output:
  first line  the address of the page, with a random token that it needs (a robot's has none)

Environment:
  {TOKEN}  a token of your own; with it and --port, pages find a server that was started again

Examples:
  carom explore rocking-block  Drag friction, and watch a block's outcomes appear.
  carom explore box-wall --set tilt=0.5 --friction B=0.2  Begin with other parameters.
"""
HOST = "Address to listen on; default: 127.0.0.1, which other machines cannot reach."
PORT = "Port to listen on; default: any that is free."
SAVE = "Write a robot's outcomes as a page that plays without a server, and end."
BUDGET = "Time budget of an exact set [s]; default: 1. Then an outer set is shown, or samples."


@click.command(
    "explore", cls=Command, epilog=EPILOG, short_help="see outcomes change, live in the browser"
)
@impact.takes_an_impact
@option("--no-open", is_flag=True, help="Do not open the page in a browser.")
@option("--port", metavar="N", type=click.IntRange(0, 65535), default=0, help=PORT)
@option("--host", metavar="ADDRESS", default="127.0.0.1", help=HOST)
@option("--budget", metavar="SECONDS", type=positive, default=1.0, help=BUDGET)
@option("--save", metavar="FILE", type=FILE, help=SAVE)
def command(
    target: str | None,
    no_open: bool,
    port: int,
    host: str,
    budget: float,
    save: Path | None,
    **given: Any,
) -> None:
    """Open a page in the browser on which the set of outcomes follows the hand.

    The page draws the scene and, beside it, the velocities of its contacts after the impact: the
    exact set, samples, and the outcomes of classical laws. Drag a slider or the arrow of the
    velocity, point at an outcome to see how it comes about, and click to see what follows.

    A robot is shown in space, with the extremes of each contact and what follows them; its page is
    that of viser, which needs no token.

    Everything runs on this machine: the page needs no network.
    """
    from carom import scenes
    from carom.explorer.run import serve_until_interrupted, show_robot
    from carom.explorer.server import Settings
    from carom.explorer.subjects import SceneSubject, Subject

    nothing = target is None and given["mjcf"] is None and given["urdf"] is None
    about = impact.load_impact(scenes.names()[0] if nothing else target, given)
    if about.robot is not None:
        show_robot(*about.robot, about.problem, host, port, save=save, open_browser=not no_open)
        return
    if save is not None:
        raise InvalidOption("--save: writes a robot's playback; add --mjcf or --urdf")
    assert about.state is not None
    subjects: list[Subject] = [SceneSubject(name) for name in scenes.names()]
    if about.subject is not None:
        # A file that has the name of a scene comes first.
        subjects = [about.subject, *(each for each in subjects if each.name != about.subject.name)]
    token = {"token": os.environ[TOKEN]} if os.environ.get(TOKEN) else {}
    settings = Settings(about.state, host, port, budget, **token)
    serve_until_interrupted(subjects, settings, open_browser=not no_open, warn=show.warn)
