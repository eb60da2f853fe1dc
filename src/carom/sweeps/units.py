"""Work units: contiguous ranges of points, each computed in one go and kept in one file.

A file is an archive of NumPy arrays, one per measure with a leading axis of points, and a header
in JSON with dimensions, labels and errors. It holds nothing that depends on when, where or beside
how many others it was computed, so its bytes do not either.
"""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from carom.errors import InvalidOption, MissingExtra
from carom.laws.law import ImpactLaw
from carom.sweeps import law as laws
from carom.sweeps.measures import Chosen, Label, Labelled, measure
from carom.sweeps.points import Point
from carom.sweeps.source import Source
from carom.typing import FloatArray

HEADER = "header"
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""Time stamp of the parts of an archive: equal contents have equal bytes."""
LONGEST = 500
"""Number of characters of an error that are kept."""


@dataclass(frozen=True, eq=False)
class Job:
    """What workers need to know besides the points; it is pickled once for all units."""

    source: Source
    measures: Chosen
    law: ImpactLaw
    seed: int
    digest: str


class Table(NamedTuple):
    """One measure of several points: (n, ...) values, NaN or False where a point has none."""

    data: FloatArray
    dims: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]
    unit: str


@dataclass(frozen=True, eq=False)
class Unit:
    """What was measured at the points from index `first` on.

    Attributes:
        first: Index of the first point.
        count: Number of points.
        tables: Values by measure.
        errors: Messages of the points that failed, by index.
    """

    first: int
    count: int
    tables: dict[str, Table]
    errors: dict[int, str]


def compute(job: Job | bytes, first: int, points: Sequence[Point]) -> bytes:
    """Return the file of a unit; this is what runs on workers."""
    own = job if isinstance(job, Job) else _unpickled(job)
    records: list[dict[str, Labelled]] = []
    errors: dict[int, str] = {}
    dims: dict[str, tuple[str, ...]] = {}
    for index, point in enumerate(points, start=first):
        try:
            problem = own.source.pose(point)
            outcomes = laws.for_point(own.law, own.seed, index).resolve(problem)
            found = measure(own.measures, outcomes)
            check_dims(found, dims)
            records.append(found)
        except MissingExtra:
            # Not the point's fault, and no other point would do better.
            raise
        except Exception as error:  # A user's function may raise anything.
            errors[index] = f"{type(error).__name__}: {error}"[:LONGEST]
            records.append({})
    tables = {name: stack([each.get(name) for each in records]) for name in own.measures}
    kept = {name: table for name, table in tables.items() if table is not None}
    return encode(Unit(first, len(points), kept, errors), own.digest)


def check_dims(found: Mapping[str, Labelled | Table], known: dict[str, tuple[str, ...]]) -> None:
    """Refuse a measure that has not the dimensions that it had before; add those of new ones."""
    for name, each in found.items():
        before = known.setdefault(name, each.dims)
        if before != each.dims:
            raise InvalidOption(
                f"measure {name}: expected as many dimensions at every point, got "
                f"{len(each.dims)} after {len(before)}"
            )


@lru_cache(maxsize=4)
def _unpickled(data: bytes) -> Job:
    job = pickle.loads(data)
    assert isinstance(job, Job)
    return job


def stack(values: Sequence[Labelled | Table | None]) -> Table | None:
    """Return several points' values as one table; None if no point has one.

    Points agree in their dimensions, but may differ in their labels, as where another contact
    touches. The table has all labels that occur, in the order in which they do.
    """
    known = [each for each in values if each is not None]
    if not known:
        return None
    dims = known[0].dims
    labels = tuple(
        tuple(dict.fromkeys(label for each in known for label in each.labels[k]))
        for k in range(len(dims))
    )
    shape = (len(values), *map(len, labels))
    is_bool = all(each.data.dtype == np.bool_ for each in known)
    data: Any = np.zeros(shape, dtype=bool) if is_bool else np.full(shape, np.nan)
    for i, each in enumerate(values):
        if each is not None:
            places = [_places(have, want) for have, want in zip(each.labels, labels, strict=True)]
            data[np.ix_([i], *places)] = each.data
    return Table(data, dims, labels, known[0].unit)


def _places(have: tuple[Label, ...], want: tuple[Label, ...]) -> list[int]:
    """Return where some labels are among others."""
    return list(range(len(have))) if have == want[: len(have)] else [want.index(x) for x in have]


def encode(unit: Unit, digest: str) -> bytes:
    """Return the bytes of a unit's file."""
    header = {
        "recipe": digest,
        "first": unit.first,
        "count": unit.count,
        "errors": {str(index): message for index, message in unit.errors.items()},
        "tables": {
            name: {"dims": table.dims, "labels": table.labels, "unit": table.unit}
            for name, table in unit.tables.items()
        },
    }
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in ((HEADER, text), *((n, t.data) for n, t in unit.tables.items())):
            part = io.BytesIO()
            np.lib.format.write_array(part, np.ascontiguousarray(data), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", FIRST_DAY), part.getvalue())
    return buffer.getvalue()


def decode(content: bytes, digest: str, first: int, count: int) -> Unit:
    """Return a unit from the bytes of its file; raise an error of any kind if it is damaged."""
    # Archives have a checksum for each of their parts.
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
    header = json.loads(_array(parts.pop(HEADER)).tobytes())
    if (header["recipe"], header["first"], header["count"]) != (digest, first, count):
        raise ValueError("the unit belongs to another sweep")
    if set(parts) != set(header["tables"]):
        raise ValueError("the unit misses a measure")
    tables = {}
    for name, about in header["tables"].items():
        labels = tuple(map(tuple, about["labels"]))
        data = _array(parts[name])
        if data.shape != (count, *map(len, labels)):
            raise ValueError("the unit has another shape")
        tables[name] = Table(data, tuple(about["dims"]), labels, about["unit"])
    errors = {int(index): message for index, message in header["errors"].items()}
    return Unit(first, count, tables, errors)


def _array(part: bytes) -> Any:
    return np.lib.format.read_array(io.BytesIO(part), allow_pickle=False)
