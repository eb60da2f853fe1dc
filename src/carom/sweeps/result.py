"""The result of a sweep: an xarray.Dataset, kept as zarr, which other tools open."""

from __future__ import annotations

import json
import os
import shutil
import uuid
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from carom.errors import MissingExtra
from carom.sweeps import measures
from carom.sweeps.points import POINT, Points
from carom.sweeps.store import Store
from carom.sweeps.units import Table, Unit, check_dims, stack

SUMS = ".sums.json"
"""File in the result with a checksum of every other file: where one is gone or changed, zarr would
return NaN, or an error that nobody understands."""

STATUS = "status"
MISSING, DONE, FAILED = range(3)
"""Values of `status`: not computed yet, computed, failed."""


def need(package: str) -> Any:
    """Import a package of the extra `sweeps`."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingExtra.of("the result of a sweep", package, "sweeps") from error


def assemble(store: Store) -> Any:
    """Return the units that are there as an xarray.Dataset; points that are not there are NaN."""
    xarray = need("xarray")
    points = store.recipe.points
    status = np.full(len(points), MISSING, dtype=np.int8)
    units = [unit for _, unit in store.units() if unit is not None]
    for unit in units:
        status[unit.first : unit.first + unit.count] = DONE
        status[[*unit.errors]] = FAILED
    meanings = {"flag_values": [MISSING, DONE, FAILED], "flag_meanings": "missing done failed"}
    variables: dict[str, Any] = {
        STATUS: (points.dims, status.reshape(points.shape), {"units": "1"} | meanings)
    }
    labels: dict[str, Any] = {}
    dims: dict[str, tuple[str, ...]] = {}
    for unit in units:
        check_dims(unit.tables, dims)
    for name in store.recipe.measures:
        table = _join(units, name, len(points))
        labels |= dict(zip(table.dims, table.labels, strict=True))
        data = table.data.reshape(points.shape + table.data.shape[1:])
        about = {
            "units": store.recipe.units.get(name) or table.unit,
            "long_name": measures.words(name),
        }
        variables[name] = (points.dims + table.dims, data, about)
    coordinates = _coordinates(points, store.recipe.units) | {
        dim: (dim, np.array(each) if each else np.empty(0)) for dim, each in labels.items()
    }
    return xarray.Dataset(variables, coordinates, _attributes(store))


def _join(units: list[Unit], name: str, num: int) -> Table:
    """Return one measure of all points."""
    known = [(unit, unit.tables[name]) for unit in units if name in unit.tables]
    # One row per unit tells the labels of all.
    heads = [table._replace(data=table.data[0]) for _, table in known]
    shape = stack(heads)
    if shape is None:
        return Table(np.full(num, np.nan), (), (), "1")
    sizes = tuple(map(len, shape.labels))
    fill: Any = False if shape.data.dtype == np.bool_ else np.nan
    data = np.full((num, *sizes), fill)
    for unit, table in known:
        pairs = zip(table.labels, shape.labels, strict=True)
        places = [[want.index(x) for x in have] for have, want in pairs]
        rows = data[unit.first : unit.first + unit.count]
        rows[np.ix_(range(unit.count), *places)] = table.data
    return shape._replace(data=data)


def _coordinates(points: Points, units: dict[str, str]) -> dict[str, Any]:
    """Return the parameters as coordinates; vectors have a dimension of their own."""
    found: dict[str, Any] = {} if points.is_grid else {POINT: np.arange(len(points))}
    for name, column in points.columns.items():
        dim = name if points.is_grid else POINT
        about = {"units": units.get(name, "")}
        if isinstance(column[0], tuple):
            if points.is_grid:
                found[name] = np.arange(len(column))
            found[f"{name}_values"] = ((dim, f"{name}_component"), np.array(column), about)
        else:
            found[name] = (dim, np.array(column), about)
    for name, value in points.constants.items():
        found[name] = (f"{name}_component",) * isinstance(value, tuple), np.array(value)
    return found


def _attributes(store: Store) -> dict[str, Any]:
    recipe = store.recipe
    content = dict(recipe.content)
    if not recipe.points.is_grid:
        # The columns of a list of points may be long, and are coordinates already.
        content["parameters"] = [*recipe.points.columns]
    return {
        "title": "carom sweep",
        "carom": recipe.carom,
        "recipe": json.dumps(content),
        "recipe_hash": recipe.digest,
        "reproducible": int(recipe.reproducible),
    }


def write_result(store: Store, data: Any) -> None:
    """Write the whole result as zarr, under a temporary name first."""
    zarr = need("zarr")
    # Format 2 is what most tools read, and the only one that has a type for words.
    newer = int(zarr.__version__.split(".")[0]) >= 3
    form = {"zarr_format": 2} if newer else {}
    temporary = store.folder / f".{store.result.name}.{uuid.uuid4().hex}.tmp"
    try:
        data.to_zarr(temporary, mode="w", consolidated=True, **form)
        (temporary / SUMS).write_text(json.dumps(_sums(temporary)))
        _replace(temporary, store.result)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _replace(temporary: Path, target: Path) -> None:
    """Rename a folder; one that is there and not empty must go first."""
    shutil.rmtree(target, ignore_errors=True)
    try:
        os.rename(temporary, target)
    except OSError:
        # Another shard was quicker: its result is the same.
        if not target.is_dir():
            raise


def is_whole(store: Store) -> bool:
    """Return whether the result that is kept is what was written."""
    try:
        known = json.loads((store.result / SUMS).read_text())
        return bool(known == _sums(store.result))
    except (OSError, ValueError):
        return False


def _sums(folder: Path) -> dict[str, int]:
    """Return a checksum of every file in a folder, but for that of these."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS)
    return {path.relative_to(folder).as_posix(): zlib.crc32(path.read_bytes()) for path in files}


def open_result(store: Store) -> Any:
    """Return the result that is kept, loaded as it is used."""
    xarray = need("xarray")
    need("zarr")
    return xarray.open_zarr(store.result, chunks=None, consolidated=True)
