"""What commands take from the command line, checked."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carom.errors import InvalidProblem

if TYPE_CHECKING:
    from carom.problem import ImpactProblem
    from carom.scenes import Scene


FILE_WITH_AN_IMPACT = """\
FILE holds an impact, as a JSON object (.json) or as NumPy arrays (.npz):
  M      (nv, nv)  mass matrix
  J_n    (m, nv)   J_n v are normal velocities of contacts; < 0 approaches
  J_t    (m, nv)   J_t v are tangential velocities; (m, 2, nv) in space
  mu     (m,)      coefficients of friction, or one number for all contacts
  v_pre  (nv,)     velocity before the impact
and, if wanted, contacts (their names), num_directions (of friction, in space)
and without_collision (contacts at rest may act although nothing collides).
`carom scenes rocking-block --save FILE` writes one to start from."""


def add_target(parser: argparse.ArgumentParser) -> None:
    """Declare the impact that a command is about, if it is no robot's."""
    parser.add_argument(
        "target",
        metavar="SCENE|FILE",
        nargs="?",
        help="a scene, or a .json or .npz file with an impact",
    )


def load_target(target: str) -> tuple[Scene | None, ImpactProblem]:
    """Find a scene or read a file; a scene's name wins."""
    from carom import scenes
    from carom.laws.files import load_problem

    if target not in scenes.names():
        if target and Path(target).is_dir():
            raise InvalidProblem(f"{target}: expected a scene or a file, got a folder")
        if looks_like_file(target):
            return None, load_problem(target)
    scene = scenes.load(target)
    return scene, scene.problem


def looks_like_file(target: str) -> bool:
    """Tell whether a target that is no scene was meant as a file."""
    path = Path(target)
    return target != "" and (path.suffix != "" or os.sep in target or path.exists())


def count(text: str) -> int:
    """Read a number of things."""
    return _number(text, int, lambda value: 1 <= value <= 2**40, "an integer from 1 to 2^40")


def seed(text: str) -> int:
    """Read a seed."""
    return _number(text, int, lambda value: 0 <= value < 2**53, "an integer from 0 to 2^53 - 1")


def positive(text: str) -> float:
    """Read a number above zero."""
    return _number(text, float, lambda value: 0.0 < value < math.inf, "a number > 0")


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written to before the work, not after."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise InvalidProblem(f"--out: expected a folder, got the file {existing}")
    if not os.access(existing, os.W_OK):
        raise InvalidProblem(f"--out: expected a folder to write to, but {existing} is read-only")


def _number(text: str, kind: type, is_valid: Callable[[Any], bool], expected: str) -> Any:
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not is_valid(value):
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return value
