"""carom reproduce: make the paper's figures and tables again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carom import __version__
from carom.cli import console
from carom.cli.arguments import check_folder
from carom.cli.parts import parts
from carom.cli.report import show
from carom.cli.tables import table, terminal_width

if TYPE_CHECKING:
    from carom.errors import CaromError
    from carom.paper.exhibit import Exhibit
    from carom.paper.store import Kept

HELP = "make the paper's figures and tables again"
DESCRIPTION = """\
Make the numerical figures and tables of the paper again, as one page.

Exact sets are drawn over the samples. Per figure or table are printed how many
of the paper's sentences on it agree with the data, which do not, and the time
it took. A run that was interrupted goes on where it was."""
EPILOG = """\
files in DIR:
  index.html  everything in one file, which works offline: pictures, tables,
              data as CSV, what the paper says of each and whether it came out
              so
  NAME/*.png, NAME/*.csv
              the same pictures and data as files

A full run takes some minutes; --quick, with fewer samples than the paper, takes
about one, and two the first time, when code is compiled. It needs carom[plots]
and carom[exact].

examples:
  carom reproduce --list
  carom reproduce zeno-cycle routh-path --quick --out paper
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("names", metavar="NAME", nargs="*", help="figures and tables; default: all")
    default = Path("out/reproduce")
    add("--out", metavar="DIR", type=Path, default=default, help="default: %(default)s")
    add("--quick", action="store_true", help="draw fewer samples than the paper")
    add("--fresh", action="store_true", help="make again what is there from an earlier run")
    add("--list", action="store_true", help="only tell the names")
    add("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> list[CaromError]:
    """Make what is asked for, or list what there is."""
    from carom.paper.run import choose

    chosen = choose(options.names)
    if options.list:
        show(_list(chosen, as_json=options.json))
        return []
    check_folder(options.out)
    from carom.paper.run import reproduce

    with parts([exhibit.seconds[options.quick] for exhibit in chosen]) as begin:
        try:
            kept = reproduce(
                options.out,
                options.names,
                quick=options.quick,
                fresh=options.fresh,
                begin=lambda exhibit: begin(exhibit.name),
            )
        except KeyboardInterrupt:
            console.warn(f"what is done is in {options.out}; the same command goes on from there")
            raise
    show(_json(options, chosen, kept) if options.json else _text(options, chosen, kept))
    return []


def _list(chosen: list[Exhibit], *, as_json: bool) -> str | dict[str, Any]:
    if as_json:
        rows = [{"name": x.name, "place": x.place, "title": x.title} for x in chosen]
        return {"carom": __version__, "exhibits": rows}
    cells = [(x.name, f"{x.place}: {x.title}") for x in chosen]
    return "\n".join(table(("name", "figure or table"), cells, width=terminal_width()))


def _text(options: argparse.Namespace, chosen: list[Exhibit], kept: list[Kept]) -> str:
    lines = []
    width = max(len(exhibit.name) for exhibit in chosen)
    for exhibit, one in zip(chosen, kept, strict=True):
        agreeing = sum(finding.agrees for finding in one.findings)
        time = "kept" if one.was_there else f"{one.seconds:.1f} s"
        lines.append(
            f"{exhibit.name:{width}}  {agreeing} of {len(one.findings)} sentences agree  {time:>8}"
        )
        lines += [
            f"{'':{width}}  differs: {finding.sentence} ({finding.measured})"
            for finding in one.findings
            if not finding.agrees
        ]
    return "\n".join([*lines, f"page: {options.out / 'index.html'}"])


def _json(options: argparse.Namespace, chosen: list[Exhibit], kept: list[Kept]) -> dict[str, Any]:
    exhibits: list[dict[str, Any]] = [
        {
            "name": exhibit.name,
            "place": exhibit.place,
            "title": exhibit.title,
            "seconds": one.seconds,
            "was_there": one.was_there,
            "findings": [vars(finding) for finding in one.findings],
            "remarks": one.remarks,
            "figures": [str(one.folder / name) for name in one.figures],
            "tables": [str(one.folder / name) for name in one.tables],
        }
        for exhibit, one in zip(chosen, kept, strict=True)
    ]
    return {
        "carom": __version__,
        "page": str(options.out / "index.html"),
        "quick": options.quick,
        "exhibits": exhibits,
    }
