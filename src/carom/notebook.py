"""Show results in a notebook: a table, and a small figure where matplotlib is installed."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def page(
    title: str,
    head: Sequence[str] = (),
    rows: Iterable[Sequence[str]] = (),
    notes: Iterable[str] = (),
    figure_of: Any = None,
) -> str:
    """Return HTML for `_repr_html_`; every text is escaped.

    Args:
        title: One line above the table.
        head: Titles of the columns.
        rows: Cells of the table, as text.
        notes: Lines below the table.
        figure_of: A problem, set, trajectory or report for `carom.plots.thumbnail`.
    """
    parts = [f"<p><b>{escape(title)}</b></p>"]
    cells = [_row("td", row) for row in rows]
    if cells:
        parts.append(
            f"<table><thead>{_row('th', head)}</thead><tbody>{''.join(cells)}</tbody></table>"
        )
    lines = "".join(f"<li>{escape(note)}</li>" for note in notes)
    parts += [f"<ul>{lines}</ul>"] if lines else []
    return f"<div>{''.join(parts)}{_figure(figure_of)}</div>"


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _figure(what: Any) -> str:
    if what is None or find_spec("matplotlib") is None:
        return ""
    try:
        # Imported by name: plots are a room above everything that shows itself.
        svg = import_module("carom.plots").thumbnail(what)
    except Exception:
        # A notebook should show the table even where no figure can be drawn of it.
        return ""
    return f'<img alt="" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}">'
