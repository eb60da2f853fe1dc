"""carom sweep: measure many impacts, on one machine or a cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carom.cli import show
from carom.cli.options import FILE, Command, count, json_option, option, to_folder
from carom.errors import CaromError, ImpactNotResolved, InvalidOption, MissingExtra

if TYPE_CHECKING:
    from carom.sweeps import Progress, Status

PAGE = "summary.html"
PERIOD = 60.0
"""How often progress is printed where no terminal shows a bar [s]."""
MOST_FAILURES = 5
"""Number of failed points that are printed."""

EPILOG = f"""\
SPEC.toml, a file such as:
  problem = "rocking-block"  a scene, or module:function in a module beside the file
  measures = ["contact_bounds"]  also worst_case, kinds, energy_kept, complete, spread, ambiguity,
      module:function
  seed = 0  optional, as are unit_size and all tables but the next one
  [parameters]  mu = [0.2, 0.5] or mu = {{ from = 0.2, to = 1.0, num = 9 }}
  [design]  method = "sobol" (halton, latin-hypercube), num = 1024, for points instead of a grid
  [worst_case]  lift = "A normal"
  [law]  name = "Routh", num_samples = 4096
  [units]  mu = "1"

Files in DIR, each of which appears whole or not at all:
  recipe.json  all that decides on the numbers
  units/       one file per range of points
  result.zarr  the whole result, as xarray.open_zarr reads it (needs the extra sweeps)
  {PAGE}  lines and maps (needs matplotlib)

On a cluster:
  --dask tcp://scheduler:8786  the workers of a Dask scheduler
  --shard 3/100                one job of an array of 100, which share DIR

Examples:
  carom sweep --example > block.toml  Write a spec to start from.
  carom sweep block.toml --out block
  carom sweep block.toml --out block --workers 1  Nothing is computed again.
  carom sweep --status block
"""
SPEC = """\
# A block lands flat on two corners: how fast can a corner lift, over friction and height?
problem = "rocking-block"
measures = ["contact_bounds", "kinds", "energy_kept"]

[parameters]
mu = { from = 0.1, to = 1.0, num = 10 }
height = { from = 0.5, to = 3.0, num = 6 }

[units]
height = "m"
"""
OUT = "Folder of the sweep."
WORKERS = "Number of processes; default: one per core."
DASK = "Address of a Dask scheduler that computes instead (needs the extra dask)."
SHARD = "Compute the i-th of n parts only; i is from 1 to n."
RETRY = "Compute units with failed points again."
EXAMPLE = "Print a spec to start from."
STATUS = "Print how far the sweep in a folder has come."


def shard(text: str) -> tuple[int, int]:
    """Read i/n."""
    parts = text.split("/")
    if len(parts) == 2 and all(part.isdecimal() for part in parts):
        i, n = map(int, parts)
        if 1 <= i <= n:
            return i, n
    raise click.BadParameter(f"expected i/n, as in 3/100 with i from 1 to n, got {text!r}")


@click.command("sweep", cls=Command, epilog=EPILOG, short_help="measure many impacts")
@click.argument("spec", metavar="[SPEC.toml]", required=False, type=FILE)
@option("--out", **to_folder, help=OUT)
@option("--workers", metavar="N", type=count, help=WORKERS)
@option("--dask", metavar="ADDRESS", help=DASK)
@option("--shard", metavar="I/N", type=shard, help=SHARD)
@option("--retry", is_flag=True, help=RETRY)
@option("--example", is_flag=True, help=EXAMPLE)
@option("--status", "folder", metavar="DIR", type=click.Path(path_type=Path), help=STATUS)
@json_option
def command(
    spec: Path | None,
    out: Path | None,
    workers: int | None,
    dask: str | None,
    shard: tuple[int, int] | None,
    retry: bool,
    example: bool,
    folder: Path | None,
    as_json: bool,
) -> Sequence[CaromError]:
    """Measure the outcomes of many impacts over parameters, and keep them in a folder.

    What is in the folder is not computed again: the same command goes on where an earlier one
    ended, with any number of workers. A point that fails is recorded with its error, and the
    others go on. Printed are the number of points, those that failed, and the range of each
    measure.
    """
    if example:
        show.show({"spec": SPEC} if as_json else SPEC.rstrip())
        return []
    if folder is not None:
        from carom.sweeps import status

        if spec is not None:
            raise InvalidOption("--status: expected no SPEC.toml beside it")
        return _show_status(status(folder), as_json)
    if spec is None or out is None:
        raise InvalidOption("expected SPEC.toml and --out DIR, or --status DIR")
    return _run(spec, out, shard, retry, as_json, workers=workers, dask=dask)


def _run(
    spec: Path,
    out: Path,
    part: tuple[int, int] | None,
    retry: bool,
    as_json: bool,
    **engine: Any,
) -> Sequence[CaromError]:
    from carom.sweeps.engines import check_engine
    from carom.sweeps.run import check_shard, prepare
    from carom.sweeps.spec import read_spec

    if not spec.is_file():
        raise InvalidOption(f"there is no file {str(spec)!r}")
    read = read_spec(spec)
    check_engine(engine["workers"], None, engine["dask"])
    if part is None:
        from carom.sweeps.result import need

        # Before the work, not after it; a shard needs nothing but carom.
        need("xarray")
        need("zarr")
    fields = vars(read)
    ready = prepare(out=out, **fields)
    with show.progress() as begin:
        update = begin("sweep", "workers start")
        ready.compute(check_shard(part), retry=retry, progress=_teller(update), **engine)
    found = ready.store.status()
    if part is not None and not found.is_finished:
        return _show_status(found, as_json)
    try:
        data = ready.data()
    except MissingExtra as error:
        show.warn(f"result.zarr is left out: {error}")
        return _show_status(found, as_json)
    _write_page(data, out)
    return _show_result(data, found, as_json)


def _teller(update: Any) -> Any:
    """Return what tells progress: in a bar, or in a line per minute where there is none."""
    last = time.monotonic()

    def tell(progress: Progress) -> None:
        nonlocal last
        update(progress.done, progress.points, str(progress))
        if time.monotonic() > last + PERIOD and not show.is_watched():
            last = time.monotonic()
            show.warn(str(progress))

    return tell


def _write_page(data: Any, out: Path) -> None:
    from carom.io import write_atomically

    try:
        from carom.plots import sweep_page
    except ImportError as error:
        show.warn(f"{PAGE} is left out: {error}")
        return
    write_atomically(out / PAGE, sweep_page(data).encode())
    show.note(f"wrote {PAGE} to {out}")


def _show_status(found: Status, as_json: bool) -> Sequence[CaromError]:
    """Print how far a sweep has come."""
    content = _counts(found) | {
        "damaged": found.damaged,
        "failures": [
            {"index": each.index, "point": each.point, "error": each.error}
            for each in found.failures
        ],
    }
    show.show(content if as_json else "\n".join([str(found), *_failures(found)]))
    return []


def _show_result(data: Any, found: Status, as_json: bool) -> Sequence[CaromError]:
    """Print the range of each measure."""
    ranges = {
        name: {"least": float(data[name].min()), "largest": float(data[name].max())}
        for name in data.data_vars
        if name != "status"
    }
    cells = [
        (name, f"{each['least']:.6g}", f"{each['largest']:.6g}", data[name].attrs["units"])
        for name, each in ranges.items()
    ]
    lines = show.table(("measure", "least", "largest", "unit"), cells, right=(1, 2))
    text = "\n".join([str(found), *_failures(found), "", *lines])
    show.show(_counts(found) | {"measures": ranges} if as_json else text)
    if not found.failures:
        return []
    first = found.failures[0]
    return [
        ImpactNotResolved(
            f"{len(found.failures)} points failed; --status lists them, --retry tries them again; "
            f"the first, point {first.index}: {first.error}"
        )
    ]


def _counts(found: Status) -> dict[str, Any]:
    return {"points": found.points, "done": found.done, "failed": len(found.failures)}


def _failures(found: Status) -> list[str]:
    lines = [
        f"  point {each.index} ({', '.join(f'{k} = {v}' for k, v in each.point.items())}): "
        f"{each.error}"
        for each in found.failures[:MOST_FAILURES]
    ]
    more = len(found.failures) - MOST_FAILURES
    return [*lines, f"  and {more} more"] if more > 0 else lines
