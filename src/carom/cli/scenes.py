"""carom scenes: list the paper's scenes, or save one as a file."""

from __future__ import annotations

from pathlib import Path

import click

from carom.cli.options import FILE, Command, complete_scene, json_option, option
from carom.cli.show import note, pick, show, table, terminal_width
from carom.errors import InvalidOption

EPILOG = """\
Examples:
  carom scenes
  carom scenes rocking-block --save my-impact.json  Write an impact to a file, to be changed.
  carom outcomes my-impact.json
"""
SAVE = "Write the impact of the scene to a .json or .npz file."


@click.command("scenes", cls=Command, epilog=EPILOG, short_help="list scenes, or save one")
@click.argument("scene", metavar="[SCENE]", required=False, shell_complete=complete_scene)
@option("--save", metavar="FILE", type=FILE, help=SAVE)
@json_option
def command(scene: str | None, save: Path | None, as_json: bool) -> None:
    """List the scenes, or save the impact of one as a file to start from.

    A scene is a system in a state in which it hits something. `carom outcomes` and `carom check`
    take its impact, `carom simulate` its motion. Per scene are printed the contacts of its impact,
    the number of its velocities and a description; --json adds the step h and the default numbers
    of steps and samples.
    """
    from carom import scenes

    if save is not None and scene is None:
        raise InvalidOption("--save: name the scene, as in: carom scenes rocking-block --save …")
    chosen = [scenes.load(name) for name in (scenes.names() if scene is None else (scene,))]
    if save is not None:
        chosen[0].problem.save(save)
        note(f"wrote {save}; see it with: carom outcomes {save}")
    rows = [
        pick(each, "name", "description", "step_impulse", "max_steps", "num_samples")
        | pick(each.problem, "contacts", "num_velocities")
        for each in chosen
    ]
    head = ("scene", "contacts", "velocities", "description")
    cells = [
        (row["name"], " ".join(row["contacts"]), str(row["num_velocities"]), row["description"])
        for row in rows
    ]
    lines = table(head, cells, right=(2,), width=terminal_width())
    show({"scenes": rows} if as_json else "\n".join(lines))
