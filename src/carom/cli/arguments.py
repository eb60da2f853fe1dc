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
    from carom.impact.problem import ImpactProblem
    from carom.scenes import Scene


def add_target(parser: argparse.ArgumentParser) -> None:
    """Declare the impact that a command is about."""
    parser.add_argument(
        "target",
        metavar="SCENE|FILE",
        help="a scene, or a .json or .npz file with M, J_n, J_t, mu, v_pre and, if wanted, "
        "contacts, num_directions and without_collision",
    )


def load_target(target: str) -> tuple[Scene | None, ImpactProblem]:
    """Find a scene or read a file; a scene's name wins."""
    from carom import scenes
    from carom.impact.files import load_problem

    looks_like_file = Path(target).suffix or os.sep in target or Path(target).exists()
    if target not in scenes.names() and looks_like_file:
        return None, load_problem(target)
    scene = scenes.load(target)
    return scene, scene.problem


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
