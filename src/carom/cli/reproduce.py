"""carom reproduce: make the paper's figures and tables again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from carom.cli import show
from carom.cli.options import Command, json_option, option, to_folder

if TYPE_CHECKING:
    from carom.paper.exhibit import Exhibit, Kept

EPILOG = """\
Files in DIR:
  index.html              everything in one file, which works offline: pictures, tables, data as
      CSV, what the paper says of each and whether it agrees
  NAME/*.png, NAME/*.csv  the same pictures and data as files

Duration:
  in full  some minutes
  --quick  about a minute, and two the first time, when code is compiled

Examples:
  carom reproduce --list
  carom reproduce zeno-cycle routh-path --quick --out paper
"""
NAMED = ("name", "place", "title")
OUT = "Folder for the files; default: out/reproduce."


def _complete(_context: Any, _parameter: Any, typed: str) -> list[CompletionItem]:
    try:
        from carom.paper.exhibits import EXHIBITS
    except ImportError:
        return []
    return [CompletionItem(name) for name in EXHIBITS if name.startswith(typed)]


@click.command("reproduce", cls=Command, epilog=EPILOG, short_help="make the paper's figures again")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=_complete)
@option("--out", **to_folder, default=Path("out/reproduce"), help=OUT)
@option("--quick", is_flag=True, help="Draw fewer samples than the paper.")
@option("--fresh", is_flag=True, help="Make again what is there from an earlier run.")
@option("--list", "only_list", is_flag=True, help="Only list the names.")
@json_option
def command(
    names: tuple[str, ...], out: Path, quick: bool, fresh: bool, only_list: bool, as_json: bool
) -> None:
    """Make the numerical figures and tables of the paper again, as one page.

    Exact sets are drawn over the samples. Per figure or table are printed how many of the paper's
    sentences on it agree with the data, which do not, and the time it took. A run that was
    interrupted continues where it was. Needs matplotlib and pplpy.
    """
    from carom.paper.run import choose, reproduce

    chosen = choose(names)
    if only_list:
        cells = [(x.name, f"{x.place}: {x.title}") for x in chosen]
        lines = show.table(("name", "figure or table"), cells, width=show.terminal_width())
        listed = {"exhibits": [show.pick(x, *NAMED) for x in chosen]}
        show.show(listed if as_json else "\n".join(lines))
        return
    with show.progress([exhibit.seconds[quick] for exhibit in chosen]) as begin:
        how: Any = {"quick": quick, "fresh": fresh, "begin": lambda x: begin(x.name)}
        try:
            kept = reproduce(out, names, **how)
        except KeyboardInterrupt:
            show.warn(f"what is done is in {out}; the same command goes on from there")
            raise
    pairs = list(zip(chosen, kept, strict=True))
    page = str(out / "index.html")
    if as_json:
        show.show({"page": page, "quick": quick, "exhibits": [_row(*pair) for pair in pairs]})
    else:
        show.show("\n".join([*_lines(pairs), f"page: {page}"]))


def _lines(pairs: list[tuple[Exhibit, Kept]]) -> list[str]:
    lines = []
    width = max(len(exhibit.name) for exhibit, _ in pairs)
    for exhibit, one in pairs:
        time = "kept" if one.was_there else f"{one.seconds:.1f} s"
        agree = f"{one.num_agreeing} of {len(one.findings)} sentences agree"
        lines.append(f"{exhibit.name:{width}}  {agree}  {time:>8}")
        differ = (finding for finding in one.findings if not finding.agrees)
        lines += [f"{'':{width}}  differs: {x.sentence} ({x.measured})" for x in differ]
    return lines


def _row(exhibit: Exhibit, one: Kept) -> dict[str, Any]:
    return {
        **show.pick(exhibit, *NAMED),
        **show.pick(one, "seconds", "was_there", "remarks"),
        "findings": [vars(finding) for finding in one.findings],
        "figures": [str(one.folder / name) for name in one.figures],
        "tables": [str(one.folder / name) for name in one.tables],
    }
