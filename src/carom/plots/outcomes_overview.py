"""One figure of an impact: normal velocities against each other, and each contact by itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from carom.plots.contact_velocities import Coordinate, Drawing, default_coordinates

if TYPE_CHECKING:
    from carom.outcomes.outcome_set import OutcomeSet
    from carom.outcomes.polyhedral import PolyhedralSet
    from carom.outcomes.sampled import SampledSet
    from carom.problem import ImpactProblem

COLUMNS = 3
PANEL = 4.0
"""Width of a panel with its labels [inch]."""
KEYS = 5
"""So many entries of the legend fit below three panels."""


def outcomes_overview(
    outcomes: OutcomeSet | None,
    *,
    exact: PolyhedralSet | None = None,
    simultaneous: SampledSet | None = None,
    sequential: SampledSet | None = None,
    title: str = "",
    num_paths: int = 1000,
) -> Figure:
    """Draw all contact velocities of an impact in one figure.

    The first panel has the normal velocities of the first two contacts; then each contact has
    its own, with tangential and normal velocity. Where outcomes are hard to see beside the ways
    there, a further panel shows them alone.

    Args:
        outcomes: The set, as for `plot_outcomes`; so are those that follow.
        exact: The set by `RouthExact`.
        simultaneous: Outcomes of `AnitescuPotra`.
        sequential: Outcomes of `Sequential`.
        title: Words above all.
        num_paths: Most paths to draw.

    Returns:
        A figure that belongs to no window: `figure.savefig("impact.png")` writes it.

    Raises:
        InvalidProblem: No set was given or two exact ones, or they are not of one impact.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block").problem
        >>> outcomes = carom.Routh(num_samples=100).resolve(block)
        >>> figure = carom.plots.outcomes_overview(outcomes, title="a block lands flat")
        >>> [ax.get_ylabel()[-7:] for ax in figure.axes]
        ['B [m/s]', 'A [m/s]', 'B [m/s]']
    """
    drawing = Drawing.prepare(outcomes, exact, simultaneous, sequential, num_paths)
    pairs = _views(drawing.problem)
    views = [(x, y, False) for x, y in pairs]
    views += [(x, y, True) for x, y in pairs if drawing.is_small(x, y)]
    columns = min(COLUMNS, len(views))
    rows = math.ceil(len(views) / columns)
    size = (max(1.5, columns) * PANEL, rows * (PANEL - 0.25) + 0.8)
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.1))
    for i, (x, y, zoom) in enumerate(views):
        ax = figure.add_subplot(rows, columns, i + 1)
        drawing.draw(ax, x, y, zoom=zoom)
        if zoom:
            ax.set_title("the outcomes alone", fontsize=9)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    ncols = math.ceil(len(labels) / math.ceil(len(labels) / KEYS)) if columns == COLUMNS else 2
    figure.legend(handles, labels, loc="outside lower center", ncols=ncols, frameon=False)
    if title:
        figure.suptitle(title)
    return figure


def _views(problem: ImpactProblem) -> list[tuple[Coordinate, Coordinate]]:
    tangents = range(1, 1 + problem.num_tangents)
    each = [((name, tangent), (name, 0)) for name in problem.contacts for tangent in tangents]
    return each if problem.num_contacts == 1 else [default_coordinates(problem), *each]
