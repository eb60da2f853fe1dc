"""Motions as notebooks show them: a table, and a small figure where matplotlib is installed."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING

from carom.systems.names import names

if TYPE_CHECKING:
    from carom.motion.trajectory import Trajectory

MOST_ROWS = 20
"""Maximum number of rows of a table."""

MOST_DRAWN = 100
"""Maximum number of motions in a figure."""


def page(title: str, text: str, *parts: str) -> str:
    """Return a title, a text and finished parts as one block of HTML."""
    return f"<div><b>{escape(title)}</b><p>{escape(text)}</p>{''.join(parts)}</div>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table; names in it may hold any characters."""
    lines = [_line("th", head), *(_line("td", row) for row in rows[:MOST_ROWS])]
    if len(rows) > MOST_ROWS:
        lines.append(f'<tr><td colspan="{len(head)}">… {len(rows) - MOST_ROWS} more</td></tr>')
    return f"<table>{''.join(lines)}</table>"


def _line(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def figure(motions: Sequence[Trajectory]) -> str:
    """Return an image of all coordinates over time, or nothing without matplotlib."""
    try:
        # Not imported by name: the library itself does without matplotlib.
        drawing = import_module("matplotlib.figure").Figure(figsize=(5.0, 2.2), layout="tight")
    except ImportError:
        return ""
    axes = drawing.subplots()
    words = names(motions[0].system, motions[0].layout.nq)
    for k, motion in enumerate(motions[:MOST_DRAWN]):
        for i, (q, word) in enumerate(zip(motion.q.T, words, strict=True)):
            # A dollar would start a formula.
            label = str(word).replace("$", r"\$") if k == 0 else None
            axes.plot(motion.t, q, color=f"C{i % 10}", linewidth=0.8, label=label)
    axes.set_xlabel("t [s]")
    axes.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    buffer = io.BytesIO()
    drawing.savefig(buffer, format="png", dpi=80)
    image = base64.b64encode(buffer.getvalue()).decode()
    return f'<img alt="coordinates over time" src="data:image/png;base64,{image}">'
