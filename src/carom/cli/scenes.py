"""carom scenes: list the paper's scenes."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from carom.cli.tables import table

if TYPE_CHECKING:
    from carom.errors import ImpactNotResolved
    from carom.scenes import Scene

HELP = "list the scenes"
DESCRIPTION = "List the scenes that `carom outcomes` and `carom simulate` take."
EPILOG = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def run(options: argparse.Namespace) -> list[ImpactNotResolved]:
    """Print a table of scenes."""
    from carom import scenes

    rows = [_row(scenes.load(name)) for name in scenes.names()]
    print(json.dumps(rows, indent=2) if options.json else _table(rows))
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
    cells = [
        (row["name"], " ".join(row["contacts"]), str(row["num_velocities"]), row["description"])
        for row in rows
    ]
    return "\n".join(table(("scene", "contacts", "velocities", "description"), cells, right=(2,)))
