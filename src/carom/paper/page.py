"""One page that holds everything: pictures, tables, data and text."""

from __future__ import annotations

import base64
import html
import os
import platform
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from carom import __version__
from carom.io import write_atomically
from carom.paper.exhibit import Exhibit, Finding, Kept, read_table

PAGE = "index.html"
FEWER = (
    "Exhibits that were made with --quick have fewer samples and runs than the paper, so that sets "
    "look thinner and sentences about rare outcomes may fail."
)
AS_PUBLISHED = "Samples are as many as in the paper."


def write(out: Path, pairs: Sequence[tuple[Exhibit, Kept]], *, num_left: int) -> None:
    """Write the page of the exhibits that are there so far."""
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    template = Template(files("carom.paper").joinpath("page.html").read_text(encoding="utf-8"))
    text = template.substitute(
        version=__version__,
        agreeing=sum(one.num_agreeing for _, one in pairs),
        judged=sum(len(one.findings) for _, one in pairs),
        effort=FEWER if any(one.quick for _, one in pairs) else AS_PUBLISHED,
        machine=html.escape(f"Python {platform.python_version()} on {system}"),
        seconds=f"{sum(one.seconds for _, one in pairs):.0f}",
        unfinished=f"; {num_left} more are still to come" if num_left else "",
        contents="\n".join(_contents_row(exhibit, one) for exhibit, one in pairs),
        sections="\n".join(_section(exhibit, one) for exhibit, one in pairs),
    )
    write_atomically(out / PAGE, text.encode())


def _contents_row(exhibit: Exhibit, kept: Kept) -> str:
    return (
        f'<tr><td>{html.escape(exhibit.place)}</td><td class="words">'
        f'<a href="#{exhibit.name}">{html.escape(exhibit.title)}</a></td>'
        f"<td>{kept.num_agreeing} of {len(kept.findings)}</td><td>{kept.seconds:.1f}</td></tr>"
    )


def _section(exhibit: Exhibit, kept: Kept) -> str:
    command = f"carom reproduce {exhibit.name}{' --quick' if kept.quick else ''}"
    title = html.escape(exhibit.title)
    parts = [
        f'<h2 id="{exhibit.name}">{title}<small>{html.escape(exhibit.place)}</small></h2>',
        *(
            f'<p><img src="{_data_uri(kept.folder / name, "image/png")}" alt="{title}"></p>'
            for name in kept.figures
        ),
        *(_table(kept.folder / name) for name in kept.shown),
        f"<p>{html.escape(kept.remarks)}</p>",
        '<ul class="findings">',
        *map(_finding, kept.findings),
        "</ul>",
        f'<p class="made">Made by <code>{html.escape(command)}</code> in {kept.seconds:.1f} s. '
        f"Data: {', '.join(_link(kept.folder / name) for name in kept.tables)}.</p>",
    ]
    return "\n".join(parts)


def _finding(finding: Finding) -> str:
    word = "agrees" if finding.agrees else "differs"
    return (
        f'<li><b class="{word}">{word}</b>{html.escape(finding.sentence)}'
        f'<span class="measured">{html.escape(finding.measured)}</span></li>'
    )


def _table(path: Path) -> str:
    table = read_table(path)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.columns)
    rows = [
        "<tr>" + "".join(f"<td>{html.escape(_short(str(cell)))}</td>" for cell in row) + "</tr>"
        for row in table.rows
    ]
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n' + "\n".join(rows) + "\n</table></div>"


def _short(cell: str) -> str:
    """Return a number in six digits, and words as they are."""
    try:
        value = float(cell)
    except ValueError:
        return cell
    return "0" if abs(value) < 1e-12 else f"{value:.6g}"


def _link(path: Path) -> str:
    name = f"{path.parent.name}-{path.name}"
    return f'<a download="{name}" href="{_data_uri(path, "text/csv")}">{html.escape(path.name)}</a>'


def _data_uri(path: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
