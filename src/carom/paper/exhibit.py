"""Numbered figures and tables of the paper, what reproducing one gives, and how that is kept.

On disk an exhibit is one folder, with a record that is written last.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from carom import __version__
from carom.io import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[int, int], None]
"""Called with how much is done, and how much there is."""
NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9}
"""Look of words beside a point of a figure."""
RECORD = "exhibit.json"
DPI = 130


@dataclass(frozen=True)
class Effort:
    """How much work is put into an exhibit: as in the paper, or less."""

    quick: bool = False

    def samples(self, count: int) -> int:
        """Return how many samples to draw where the paper draws `count`."""
        return min(count, 2**11) if self.quick else count

    def runs(self, count: int) -> int:
        """Return how many slow runs to do where the paper does `count`; odd stays odd."""
        return min(count, 5) if self.quick else count


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper, in other words, whether it agrees here, and what was measured."""

    sentence: str
    agrees: bool | np.bool_
    measured: str

    def __post_init__(self) -> None:
        # NumPy's own kind of truth is none that JSON knows.
        object.__setattr__(self, "agrees", bool(self.agrees))


@dataclass(frozen=True)
class Table:
    """Numbers or words under headings with units; the page prints it only if `shown`."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    shown: bool = False


@dataclass(frozen=True, eq=False)
class Made:
    """What an exhibit came to: what agrees and what differs, pictures and data by their names."""

    remarks: str
    figures: dict[str, Figure] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


Maker = Callable[[Effort, Progress], Made]


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of the paper that can be reproduced.

    `place` is its number in the paper with its label; `seconds` is about how long it takes, in full
    and quickly, for the progress bar.
    """

    name: str
    place: str
    title: str
    make: Maker
    seconds: tuple[float, float]


def exhibit(
    name: str, place: str, seconds: float, quickly: float | None = None
) -> Callable[[Maker], Exhibit]:
    """Make a function the maker of an exhibit, whose title is the function's docstring."""
    times = seconds, seconds if quickly is None else quickly
    return lambda make: Exhibit(name, place, (make.__doc__ or name).rstrip("."), make, times)


@dataclass(frozen=True)
class Kept:
    """An exhibit as it lies on disk: names of files in its folder, and what it says.

    `shown` are those tables that the page prints; `was_there` if it is from an earlier run.
    """

    folder: Path
    remarks: str
    findings: Sequence[Finding]
    figures: Sequence[str]
    tables: Sequence[str]
    shown: Sequence[str]
    seconds: float
    quick: bool = False
    was_there: bool = False

    @property
    def num_agreeing(self) -> int:
        return sum(bool(finding.agrees) for finding in self.findings)


def keep(out: Path, exhibit: Exhibit, made: Made, effort: Effort, seconds: float) -> Kept:
    """Write an exhibit; its record comes last, so that what is interrupted does not count."""
    folder = out / exhibit.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).unlink(missing_ok=True)
    figures = {f"{name}.png": figure for name, figure in made.figures.items()}
    tables = {f"{name}.csv": table for name, table in made.tables.items()}
    for name, figure in figures.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=DPI)
        write_atomically(folder / name, buffer.getvalue())
    for name, table in tables.items():
        write_atomically(folder / name, _csv(table))
    files = [*figures], [*tables], [name for name, table in tables.items() if table.shown]
    kept = Kept(folder, made.remarks, made.findings, *files, seconds, effort.quick)
    record = {"key": _key(effort), **asdict(kept), "folder": exhibit.name}
    write_atomically(folder / RECORD, (json.dumps(record, indent=2) + "\n").encode())
    return kept


def find(out: Path, exhibit: Exhibit, effort: Effort) -> Kept | None:
    """Return an exhibit that an earlier run of the same kind left, if it is whole."""
    folder = out / exhibit.name
    try:
        record: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if record.pop("key") != _key(effort):
            return None
        record["findings"] = [Finding(**finding) for finding in record["findings"]]
        kept = Kept(**record | {"folder": folder, "was_there": True})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    whole = all((folder / name).is_file() for name in (*kept.figures, *kept.tables))
    return kept if whole else None


def read_table(path: Path) -> Table:
    """Read a table back, as words."""
    with path.open(newline="", encoding="utf-8") as file:
        columns, *rows = csv.reader(file)
    return Table(tuple(columns), rows)


def _key(effort: Effort) -> dict[str, object]:
    """Return what must be the same for an exhibit to be used again."""
    return {"carom": __version__, "quick": effort.quick}


def _csv(table: Table) -> bytes:
    """Return a table with floats in nine digits, which are more than a plot shows."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow([f"{x:.9g}" if isinstance(x, float) else x for x in row])
    return buffer.getvalue().encode()
