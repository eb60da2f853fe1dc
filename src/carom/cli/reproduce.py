"""carom reproduce: make the paper's figures and tables again."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carom.cli.arguments import check_folder
from carom.cli.parts import parts

if TYPE_CHECKING:
    from carom.errors import CaromError
    from carom.reproduce.exhibit import Exhibit
    from carom.reproduce.store import Kept

HELP = "make the paper's figures and tables again"
DESCRIPTION = """\
Make the numerical figures and tables of the paper again, with the exact sets drawn over them, as
one page to be read beside the paper. A run that was interrupted goes on where it was."""
EPILOG = """\
files in DIR:
  index.html              everything in one file, which works offline: pictures, tables, data as
                          CSV, what the paper says of each and whether it came out so
  NAME/*.png, NAME/*.csv  the same pictures and data as files

A full run takes some minutes; --quick takes less than one, with fewer samples than the paper.
It needs carom[plots] and carom[exact].

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
    from carom.reproduce.run import choose

    chosen = choose(options.names)
    if options.list:
        print(_list(chosen, options.json))
        return []
    check_folder(options.out)
    from carom.reproduce import reproduce

    with parts([exhibit.seconds[options.quick] for exhibit in chosen]) as begin:
        kept = reproduce(
            options.out,
            options.names,
            quick=options.quick,
            fresh=options.fresh,
            begin=lambda exhibit: begin(exhibit.name),
        )
    print(_json(options, chosen, kept) if options.json else _text(options, chosen, kept))
    return []


def _list(chosen: list[Exhibit], as_json: bool) -> str:
    if as_json:
        rows = [{"name": x.name, "place": x.place, "title": x.title} for x in chosen]
        return json.dumps({"exhibits": rows}, indent=2)
    width = max(len(exhibit.name) for exhibit in chosen)
    return "\n".join(f"{x.name:{width}}  {x.place}: {x.title}" for x in chosen)


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


def _json(options: argparse.Namespace, chosen: list[Exhibit], kept: list[Kept]) -> str:
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
    page = str(options.out / "index.html")
    return json.dumps({"page": page, "quick": options.quick, "exhibits": exhibits}, indent=2)
