"""Keep an exact set in a file, to the last digit."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from carom.errors import CaromError, InvalidProblem
from carom.io import write_atomically
from carom.laws.files import problem_fields
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.polytope import Exact, Polytope
from carom.problem import ImpactProblem

FORMAT = "carom polyhedral set 1"
FIELDS = ("kinds", "is_complete", "is_outer", "notes", "num_polyhedra")


def save_set(outcomes: PolyhedralSet, path: str | os.PathLike[str]) -> None:
    """Write a set to a .json file that `load_set` reads; rationals are strings "p/q".

    The file appears whole or not at all. The samples inside an outer set and the paths that
    `witness` tells are not kept.

    Args:
        outcomes: The set, as `RouthExact` returns it.
        path: The file.

    Raises:
        InvalidProblem: The file has another ending, or the set is of another kind.
        OSError: The file cannot be written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import carom
        >>> outcomes = carom.RouthExact().resolve(carom.scenes.load("rocking-block").problem)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "outcomes.json"
        ...     carom.save_set(outcomes, path)
        ...     loaded = carom.load_set(path)
        >>> [mine.corners == theirs.corners for mine, theirs in zip(outcomes.pieces, loaded.pieces)]
        [True, True, True]
    """
    if not isinstance(outcomes, PolyhedralSet):
        raise InvalidProblem(f"outcomes: expected a PolyhedralSet, got a {type(outcomes).__name__}")
    file = _checked(path)
    problem = {
        name: np.asarray(value).tolist() for name, value in problem_fields(outcomes.problem).items()
    }
    content = {
        "format": FORMAT,
        "problem": problem,
        **{name: getattr(outcomes, name) for name in FIELDS},
        "pieces": [
            {
                "kind": piece.kind,
                "corners": _strings(piece.corners),
                "conditions": _strings(piece.conditions),
                "equations": _strings(piece.equations),
            }
            for piece in outcomes.pieces
        ],
    }
    write_atomically(file, (json.dumps(content, indent=1) + "\n").encode())


def load_set(path: str | os.PathLike[str]) -> PolyhedralSet:
    """Read a set that `save_set` wrote.

    Args:
        path: The file.

    Raises:
        InvalidProblem: The file is missing, unreadable, or not such a file.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import carom
        >>> outcomes = carom.RouthExact().resolve(carom.scenes.load("rocking-block").problem)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "outcomes.json"
        ...     carom.save_set(outcomes, path)
        ...     carom.load_set(path).kinds
        ('A lifts, B sticks', 'A sticks, B lifts', 'A sticks, B sticks')
    """
    file = _checked(path)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f'"format" is not "{FORMAT}"')
        return PolyhedralSet(
            problem=ImpactProblem(**content["problem"]),
            pieces=tuple(_piece(piece) for piece in content["pieces"]),
            kinds=tuple(content["kinds"]),
            is_complete=bool(content["is_complete"]),
            is_outer=bool(content["is_outer"]),
            notes=tuple(content["notes"]),
            num_polyhedra=int(content["num_polyhedra"]),
        )
    except (OSError, ArithmeticError, CaromError, KeyError, TypeError, ValueError) as error:
        raise InvalidProblem(
            f"{file}: expected a file that carom.save_set wrote ({type(error).__name__}: {error})"
        ) from error


def _checked(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if file.suffix.lower() != ".json":
        raise InvalidProblem(f"{file}: expected a file that ends in .json")
    return file


def _piece(fields: dict[str, Any]) -> Polytope:
    piece = Polytope(
        corners=_fractions(fields["corners"]),
        conditions=_fractions(fields["conditions"]),
        equations=_fractions(fields["equations"]),
        kind=str(fields["kind"]),
    )
    if not piece.corners:
        raise ValueError("a piece without corners")
    return piece


def _strings(rows: Exact) -> list[list[str]]:
    return [[_text(x) for x in row] for row in rows]


def _text(x: Fraction) -> str:
    # In hexadecimal: Python refuses to print integers of thousands of decimal digits.
    return f"{x.numerator:#x}/{x.denominator:#x}"


def _fractions(rows: list[list[str]]) -> Exact:
    return tuple(tuple(_fraction(text) for text in row) for row in rows)


def _fraction(text: str) -> Fraction:
    numerator, denominator = text.split("/")
    return Fraction(int(numerator, 16), int(denominator, 16))
