"""The recipe of a sweep: all that decides on its numbers, and a hash of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from carom import checks
from carom.errors import InvalidFile, InvalidOption
from carom.laws.law import ImpactLaw
from carom.sweeps import law as laws
from carom.sweeps import measures
from carom.sweeps.measures import Chosen
from carom.sweeps.points import Points
from carom.sweeps.source import Source

FORMAT = 1
"""Version of the files of a sweep."""
DIGITS = 16
"""Number of hexadecimal digits of the hash."""
FEWEST_UNITS, LARGEST_UNIT = 64, 256
"""Units are so small that there are this many, but have no more points than this."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """Hold all that decides on the numbers of a sweep, as plain data.

    Attributes:
        points: The points.
        source: Where problems come from.
        measures: What is measured, by name.
        law: Name and options of the law.
        seed: Seed of the sweep.
        unit_size: Number of points of a work unit.
        carom: Version of carom.
        units: Units of parameters and measures; they decide on nothing.
        reproducible: Whether nothing depends on a clock; it follows from the law.
    """

    points: Points
    source: dict[str, Any]
    measures: dict[str, Any]
    law: dict[str, Any]
    seed: int
    unit_size: int
    carom: str
    units: dict[str, str] = field(default_factory=dict)
    reproducible: bool = True

    @cached_property
    def content(self) -> dict[str, Any]:
        """Return what the hash is of."""
        return {
            "format": FORMAT,
            "carom": self.carom,
            "problem_of": self.source,
            "parameters": {name: list(column) for name, column in self.points.columns.items()},
            "constants": self.points.constants,
            "grid": self.points.is_grid,
            "measures": self.measures,
            "law": self.law,
            "seed": self.seed,
            "unit_size": self.unit_size,
        }

    @cached_property
    def digest(self) -> str:
        """Return a hash of everything that decides on the numbers."""
        text = json.dumps(self.content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]

    def to_json(self) -> bytes:
        """Return the content of the recipe's file."""
        more = {"units": self.units, "reproducible": self.reproducible, "hash": self.digest}
        return (json.dumps(self.content | more, indent=1) + "\n").encode()

    def differences(self, other: Recipe) -> list[str]:
        """Return in words in what another recipe differs."""
        theirs = json.loads(json.dumps(other.content))
        mine = json.loads(json.dumps(self.content))
        return [
            f"{name} is {_short(theirs[name])} there and {_short(mine[name])} here"
            for name in mine
            if mine[name] != theirs[name]
        ]

    @property
    def num_units(self) -> int:
        """Return the number of work units."""
        return -(-len(self.points) // self.unit_size)

    def extent(self, unit: int) -> tuple[int, int]:
        """Return the first point of a unit and the number of its points."""
        first = unit * self.unit_size
        return first, min(self.unit_size, len(self.points) - first)


def make_recipe(
    points: Points,
    source: Source,
    chosen: Chosen,
    law: ImpactLaw,
    seed: int,
    unit_size: int | None,
    units: dict[str, str],
) -> Recipe:
    """Return the recipe of a sweep."""
    source.check([*points.columns, *points.constants])
    clash = (set(points.columns) | set(points.constants)) & set(chosen)
    if clash:
        raise InvalidOption(f"measures: {clash.pop()} is a parameter too")
    size = unit_size or max(1, min(LARGEST_UNIT, len(points) // FEWEST_UNITS))
    return Recipe(
        points=points,
        source=source.describe(),
        measures=measures.describe(chosen),
        law=laws.describe(law),
        seed=checks.integer("seed", seed, 0, 2**53 - 1),
        unit_size=checks.integer("unit_size", size, 1),
        # By name, because the package itself knows every room.
        carom=import_module("carom").__version__,
        units=dict(units),
        reproducible=not laws.depends_on_clock(law),
    )


def read_recipe(content: bytes, path: str) -> Recipe:
    """Return a recipe from its file."""
    try:
        tree = json.loads(content)
        columns = {name: _values(column) for name, column in tree["parameters"].items()}
        constants = dict(zip(tree["constants"], _values(tree["constants"].values()), strict=True))
        recipe = Recipe(
            points=Points(columns, constants, tree["grid"]),
            source=tree["problem_of"],
            measures=tree["measures"],
            law=tree["law"],
            seed=tree["seed"],
            unit_size=tree["unit_size"],
            carom=tree["carom"],
            units=tree["units"],
            reproducible=tree["reproducible"],
        )
        if tree["format"] != FORMAT:
            raise ValueError(f"format {tree['format']} is not that of this carom, {FORMAT}")
        if recipe.digest != tree["hash"]:
            raise ValueError("the hash is that of another recipe")
        return recipe
    except Exception as error:  # Damaged content raises nearly anything.
        raise InvalidFile(
            f"{path}: expected the recipe of a sweep ({type(error).__name__}: {error})"
        ) from error


def _values(column: Any) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in column)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
