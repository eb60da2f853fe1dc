"""carom scenes: list the paper's scenes, or save one as a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carom import __version__
from carom.cli import console
from carom.cli.report import show
from carom.cli.tables import table, terminal_width
from carom.errors import InvalidProblem

if TYPE_CHECKING:
    from carom.errors import CaromError
    from carom.scenes import Scene

HELP = "list the scenes, or save one as a file to start from"
DESCRIPTION = """\
List the scenes, or save the impact of one as a file to start from.

A scene is a system in a state in which it hits something. `carom outcomes`
and `carom check` take its impact, `carom simulate` its motion. Per scene are
printed the contacts of its impact, the number of its velocities and what it
is; --json adds the step h and the numbers of steps and samples to use."""
EPILOG = """\
examples:
  carom scenes
  carom scenes rocking-block --save my-impact.json
      Write an impact to a file, in which you may change what you like.
  carom outcomes my-impact.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("target", metavar="SCENE", nargs="?", help="default: all scenes")
    add("--save", metavar="FILE", type=Path, help="write its impact to a .json or .npz file")
    add("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> list[CaromError]:
    """Print a table of scenes."""
    from carom import save_problem, scenes

    if options.save is not None and options.target is None:
        raise InvalidProblem("--save: name the scene, as in: carom scenes rocking-block --save …")
    names = scenes.names() if options.target is None else (options.target,)
    chosen = [scenes.load(name) for name in names]
    if options.save is not None:
        save_problem(chosen[0].problem, options.save)
        console.note(f"wrote {options.save}; see it with: carom outcomes {options.save}")
    rows = [_row(scene) for scene in chosen]
    show({"carom": __version__, "scenes": rows} if options.json else _table(rows))
    return []


def _row(scene: Scene) -> dict[str, Any]:
    problem = scene.problem
    return {
        "name": scene.name,
        "description": scene.description,
        "contacts": list(problem.contacts),
        "num_velocities": problem.num_velocities,
        "step_impulse": scene.step_impulse,
        "max_steps": scene.max_steps,
        "num_samples": scene.num_samples,
    }


def _table(rows: list[dict[str, Any]]) -> str:
    head = ("scene", "contacts", "velocities", "description")
    cells = [
        (row["name"], " ".join(row["contacts"]), str(row["num_velocities"]), row["description"])
        for row in rows
    ]
    return "\n".join(table(head, cells, right=(2,), width=terminal_width()))
