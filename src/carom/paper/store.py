"""Exhibits on disk: a folder each, with a record that is written last."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carom import __version__
from carom.io import write_atomically
from carom.paper.exhibit import Effort, Exhibit, Finding, Made, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RECORD = "exhibit.json"
DPI = 130


@dataclass(frozen=True)
class Kept:
    """An exhibit as it lies on disk.

    Attributes:
        folder: Where its files are.
        remarks: What agrees with the paper and what differs.
        findings: Sentences of the paper, judged.
        figures: File names of pictures.
        tables: File names of data.
        shown: Those of them that the report prints.
        seconds: How long it took to make.
        quick: Whether it was made with fewer samples than the paper.
        was_there: Whether it is from an earlier run.
    """

    folder: Path
    remarks: str
    findings: tuple[Finding, ...]
    figures: tuple[str, ...]
    tables: tuple[str, ...]
    shown: tuple[str, ...]
    seconds: float
    quick: bool = False
    was_there: bool = False


def keep(folder: Path, exhibit: Exhibit, made: Made, effort: Effort, start: float) -> Kept:
    """Write an exhibit; its record comes last, so that what is interrupted does not count.

    Args:
        folder: Where the exhibit gets a folder of its own.
        exhibit: What was made.
        made: What it came to.
        effort: How much work was put into it.
        start: When the work began, by `time.perf_counter`.
    """
    place = folder / exhibit.name
    place.mkdir(parents=True, exist_ok=True)
    (place / RECORD).unlink(missing_ok=True)
    figures = {f"{name}.png": _png(figure) for name, figure in made.figures.items()}
    tables = {f"{name}.csv": _csv(table) for name, table in made.tables.items()}
    for name, content in {**figures, **tables}.items():
        write_atomically(place / name, content)
    kept = Kept(
        folder=place,
        remarks=made.remarks,
        findings=made.findings,
        figures=tuple(figures),
        tables=tuple(tables),
        shown=tuple(f"{name}.csv" for name, table in made.tables.items() if table.shown),
        seconds=time.perf_counter() - start,
        quick=effort.quick,
    )
    record = {"key": _key(effort), **asdict(kept), "folder": exhibit.name}
    del record["was_there"]
    write_atomically(place / RECORD, (json.dumps(record, indent=2) + "\n").encode())
    return kept


def find(folder: Path, exhibit: Exhibit, effort: Effort) -> Kept | None:
    """Return an exhibit that an earlier run of the same kind left, if it is whole."""
    place = folder / exhibit.name
    try:
        record: dict[str, Any] = json.loads((place / RECORD).read_text(encoding="utf-8"))
        if record.pop("key") != _key(effort):
            return None
        record["findings"] = tuple(Finding(**finding) for finding in record["findings"])
        for field in ("figures", "tables", "shown"):
            record[field] = tuple(record[field])
        kept = Kept(**record | {"folder": place, "was_there": True})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    whole = all((place / name).is_file() for name in (*kept.figures, *kept.tables))
    return kept if whole else None


def read_table(path: Path) -> Table:
    """Read a table back, as words."""
    with path.open(newline="", encoding="utf-8") as file:
        columns, *rows = csv.reader(file)
    return Table(tuple(columns), rows)


def _key(effort: Effort) -> dict[str, object]:
    """Return what must be the same for an exhibit to be used again."""
    return {"carom": __version__, "quick": effort.quick}


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    return buffer.getvalue()


def _csv(table: Table) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(map(_plain, table.rows))
    return buffer.getvalue().encode()


def _plain(row: Sequence[object]) -> list[object]:
    """Return a row with floats in nine digits, which are more than a plot shows."""
    return [f"{value:.9g}" if isinstance(value, float) else value for value in row]
