"""The folder of a sweep: its recipe, one file per work unit, and the result."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from carom.errors import InvalidFile, InvalidOption
from carom.io import write_atomically
from carom.sweeps.recipe import Recipe, read_recipe
from carom.sweeps.units import Unit, decode

RECIPE, UNITS, RESULT = "recipe.json", "units", "result.zarr"
STALE = 600.0
"""Age after which a temporary file belongs to nobody who still writes it [s]."""


@dataclass(frozen=True)
class Failure:
    """A point that failed.

    Attributes:
        index: Index of the point.
        point: Its parameters.
        error: What went wrong.
    """

    index: int
    point: dict[str, Any]
    error: str


@dataclass(frozen=True)
class Status:
    """How far a sweep has come.

    Attributes:
        points: Number of points in all.
        done: Number of points that are in the store, failed ones included.
        failures: The points that failed.
        damaged: Names of unit files that cannot be read, whose points count as not done.
    """

    points: int
    done: int
    failures: tuple[Failure, ...]
    damaged: tuple[str, ...]

    @property
    def is_finished(self) -> bool:
        """Return whether every point is in the store."""
        return self.done == self.points

    def __str__(self) -> str:
        text = f"{self.done:,} of {self.points:,} points done, {len(self.failures):,} failed"
        return text + (f", {len(self.damaged)} units damaged" if self.damaged else "")


@dataclass(frozen=True, eq=False)
class Store:
    """A folder with the recipe and the units of one sweep."""

    folder: Path
    recipe: Recipe

    def path(self, unit: int) -> Path:
        """Return the file of a unit, named by the recipe and its range of points."""
        first, count = self.recipe.extent(unit)
        return self.folder / UNITS / f"{self.recipe.digest}-{first:012d}-{count}.npz"

    @property
    def result(self) -> Path:
        """Return where the whole result is kept."""
        return self.folder / RESULT

    def read(self, unit: int) -> Unit | None:
        """Return a unit, or None if it is not there or damaged."""
        path = self.path(unit)
        try:
            return decode(path.read_bytes(), self.recipe.digest, *self.recipe.extent(unit))
        except FileNotFoundError:
            return None
        except OSError:
            raise
        except Exception:  # Damaged archives raise nearly anything.
            return None

    def write(self, unit: int, content: bytes) -> None:
        """Keep a unit, whole or not at all."""
        try:
            write_atomically(self.path(unit), content)
        except OSError as error:
            # A full disk does not say which file it is about.
            if error.filename is None:
                error.filename = str(self.path(unit))
            raise

    def units(self) -> Iterator[tuple[int, Unit | None]]:
        """Yield every unit by its number; None if it is not there or damaged."""
        names = {each.name for each in os.scandir(self.folder / UNITS)}
        for unit in range(self.recipe.num_units):
            yield unit, self.read(unit) if self.path(unit).name in names else None

    def status(self) -> Status:
        """Return how far the sweep has come."""
        done, failures, damaged = 0, [], []
        for number, unit in self.units():
            if unit is not None:
                done += unit.count
                failures += [
                    Failure(index, self.recipe.points[index], error)
                    for index, error in unit.errors.items()
                ]
            elif self.path(number).exists():
                damaged.append(self.path(number).name)
        return Status(len(self.recipe.points), done, tuple(failures), tuple(damaged))

    def remove_temporaries(self, age: float = STALE) -> None:
        """Remove what writers left that were killed; younger files may be someone's."""
        for path in (self.folder / UNITS).glob(".*.tmp"):
            try:
                if time.time() - path.stat().st_mtime >= age:
                    path.unlink(missing_ok=True)
            except FileNotFoundError:
                continue


def open_store(folder: str | os.PathLike[str]) -> Store:
    """Return the sweep that a folder holds."""
    path = Path(folder) / RECIPE
    if not path.is_file():
        raise InvalidFile(f"{folder}: expected the folder of a sweep, but there is no {RECIPE}")
    return Store(Path(folder), read_recipe(path.read_bytes(), str(path)))


def make_store(folder: Path, recipe: Recipe, *, any_size: bool) -> Store:
    """Return the folder of a sweep, made if it is not there; refuse one of another recipe.

    Args:
        folder: The folder.
        recipe: The recipe.
        any_size: Whether units may have the size that they have there.
    """
    if (folder / RECIPE).exists():
        there = open_store(folder)
        sized = there.recipe.unit_size if any_size else recipe.unit_size
        if there.recipe.digest != _with_size(recipe, sized).digest:
            what = "; ".join(_with_size(recipe, sized).differences(there.recipe))
            raise InvalidOption(
                f"out: {folder} holds another sweep: {what}; name another folder, or remove it"
            )
        recipe = _with_size(recipe, sized)
    elif folder.is_dir() and _others(os.listdir(folder)):
        raise InvalidOption(f"out: expected a new folder or one of this sweep, got {folder}")
    (folder / UNITS).mkdir(parents=True, exist_ok=True)
    if not (folder / RECIPE).exists():
        write_atomically(folder / RECIPE, recipe.to_json())
    return Store(folder, recipe)


def _others(names: Iterable[str]) -> list[str]:
    """Return the files that no sweep makes; one that was killed at its start left only its own."""
    return [name for name in names if name != UNITS and not re.match(rf"\.{RECIPE}.*\.tmp$", name)]


def _with_size(recipe: Recipe, unit_size: int) -> Recipe:
    return recipe if recipe.unit_size == unit_size else replace(recipe, unit_size=unit_size)
