"""A page about a sweep: one HTML file with all its figures."""

from __future__ import annotations

import base64
import html
from io import BytesIO
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from carom.plots import style
from carom.plots.sweep import parameters_of, plot_measure, plot_parallel, slices

MOST_FIGURES = 12
"""Number of figures of one measure over two or more parameters."""
MOST_PAIRS = 6
"""Number of pairs of parameters that are drawn."""
DPI = 100

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 16px/1.5 sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; }}
img {{ max-width: 100%; }} figure {{ display: inline-block; margin: 0 1em 1em 0; }}
figcaption {{ color: #555; }} pre {{ overflow-x: auto; background: #f6f6f6; padding: 1em; }}
</style></head><body>
<h1>{title}</h1>
<p>{counts}</p>
{sections}
<h2>Recipe</h2>
<pre>{recipe}</pre>
</body></html>
"""


def sweep_page(data: Any, title: str = "carom sweep") -> str:
    """Draw a sweep as a page, one HTML text with lines, maps, pairs or parallel coordinates.

    Over one parameter, a measure has one figure with a line per label; over two, a map per label;
    over more, a map per pair of parameters and parallel coordinates. What is too much for a page is
    left out, and the page says so.

    Args:
        data: xarray.Dataset of a sweep.
        title: Title of the page.

    Examples:
        >>> import tempfile
        >>> import carom
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data = carom.sweep(
        ...         "rocking-block", {"mu": [0.2, 1.0]}, ["contact_bounds"], out=folder, workers=1)
        ...     page = carom.plots.sweep_page(data)
        >>> page.count("<img"), "contact bounds" in page
        (1, True)
    """
    status = np.asarray(data["status"])
    counts = (
        f"{status.size:,} points, {(status == 2).sum():,} failed, {(status == 0).sum():,} missing."
    )
    sections = [_section(data, name) for name in data.data_vars if name != "status"]
    return PAGE.format(
        title=html.escape(title),
        counts=counts,
        sections="\n".join(sections),
        recipe=html.escape(str(data.attrs.get("recipe", ""))),
    )


def _section(data: Any, name: str) -> str:
    values, grid = data[name], tuple(data["status"].dims)
    found = slices(values, grid)
    head = f"<h2>{html.escape(name.replace('_', ' '))}</h2>"
    words = f"<p>{html.escape(values.attrs.get('long_name', name))}.</p>"
    parameters = parameters_of(data["status"])
    if len(parameters) == 1:
        return head + words + _figure(_lines(found), "")
    left = len(found) - MOST_FIGURES
    more = f"<p>Of {len(found)} labels, the first {MOST_FIGURES} are shown.</p>" if left > 0 else ""
    shown = found[:MOST_FIGURES]
    if len(parameters) == 2:
        return head + words + more + "".join(_figure(_map(each), label) for label, each in shown)
    return head + words + more + "".join(_of_many(label, each) for label, each in shown)


def _of_many(label: str, values: Any) -> str:
    """Return a measure over three or more parameters."""
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    plot_parallel(values, figure.subplots())
    pairs = [*combinations(parameters_of(values), 2)]
    note = "; over other parameters, the largest value" if "point" not in values.dims else ""
    drawn = [_figure(_map(values, *pair), f"{label}{note}") for pair in pairs[:MOST_PAIRS]]
    left = len(pairs) - MOST_PAIRS
    more = f"<p>Of {len(pairs)} pairs, the first {MOST_PAIRS} are shown.</p>" if left > 0 else ""
    return _figure(figure, label) + "".join(drawn) + more


def _lines(found: list[tuple[str, Any]]) -> Figure:
    """Return one figure with a line per label."""
    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
    ax = figure.subplots()
    for i, (label, values) in enumerate(found):
        plot_measure(values, ax)
        ax.lines[-1].set(label=style.literal(label), color=style.CYCLE[i % len(style.CYCLE)])
        ax.lines[-1].set_linestyle(("-", "--", ":", "-.")[i // len(style.CYCLE) % 4])
    if len(found) > 1:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8)
    return figure


def _map(values: Any, x: str | None = None, y: str | None = None) -> Figure:
    figure = Figure(figsize=(4.8, 3.8), layout="constrained")
    plot_measure(values, figure.subplots(), x=x, y=y)
    return figure


def _figure(figure: Figure, caption: str) -> str:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    image = base64.b64encode(buffer.getvalue()).decode()
    words = html.escape(caption)
    return (
        f'<figure><img src="data:image/png;base64,{image}" alt="{words}">'
        f"<figcaption>{words}</figcaption></figure>\n"
    )
