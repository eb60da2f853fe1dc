"""Exhibits on disk: one folder each, with a record that is written last."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from carom import __version__
from carom.io import write_atomically
from carom.paper.exhibit import Effort, Exhibit, Finding, Made, Table

RECORD = "exhibit.json"
DPI = 130


@dataclass(frozen=True)
class Kept:
    """An exhibit as it lies on disk.

    Attributes:
        folder: Folder of its files.
        remarks: What agrees with the paper and what differs.
        findings: Sentences of the paper, judged.
        figures: File names of pictures.
        tables: File names of data.
        shown: Those of them that the page prints.
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

    @property
    def num_agreeing(self) -> int:
        """Return how many findings agree."""
        return sum(finding.agrees for finding in self.findings)


def keep(out: Path, exhibit: Exhibit, made: Made, effort: Effort, seconds: float) -> Kept:
    """Write an exhibit; its record comes last, so that what is interrupted does not count."""
    folder = out / exhibit.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).unlink(missing_ok=True)
    for name, figure in made.figures.items():
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=DPI)
        write_atomically(folder / f"{name}.png", buffer.getvalue())
    for name, table in made.tables.items():
        write_atomically(folder / f"{name}.csv", _csv(table))
    kept = Kept(
        folder=folder,
        remarks=made.remarks,
        findings=made.findings,
        figures=tuple(f"{name}.png" for name in made.figures),
        tables=tuple(f"{name}.csv" for name in made.tables),
        shown=tuple(f"{name}.csv" for name, table in made.tables.items() if table.shown),
        seconds=seconds,
        quick=effort.quick,
    )
    record = {"key": _key(effort), **asdict(kept), "folder": exhibit.name}
    del record["was_there"]
    write_atomically(folder / RECORD, (json.dumps(record, indent=2) + "\n").encode())
    return kept


def find(out: Path, exhibit: Exhibit, effort: Effort) -> Kept | None:
    """Return an exhibit that an earlier run of the same kind left, if it is whole."""
    folder = out / exhibit.name
    try:
        record: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if record.pop("key") != _key(effort):
            return None
        record["findings"] = tuple(Finding(**finding) for finding in record["findings"])
        names = {key: tuple(record[key]) for key in ("figures", "tables", "shown")}
        kept = Kept(**record | names | {"folder": folder, "was_there": True})
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
