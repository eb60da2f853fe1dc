"""Whole figures of an impact, of a motion, or of many, and small ones for notebooks."""

from __future__ import annotations

import io
import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from carom.errors import InvalidOption
from carom.extremes.extreme import Extreme, Extremes
from carom.motion.bundle import Bundle
from carom.motion.trajectory import Trajectory
from carom.outcomes.outcome_set import OutcomeSet
from carom.plots import style
from carom.plots.bundle import plot_bundle
from carom.plots.contact_velocities import Drawing, default_coordinates
from carom.plots.extremes import draw_extremes
from carom.plots.motion import plot_energy, plot_impulses, plot_states
from carom.problem import ImpactProblem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.systems.system import System

COLUMNS = 3
PANEL = 4.0
"""Width of a panel with its labels [inch]."""
KEYS = 5
"""Number of entries of a legend that fit below three panels."""
THUMBNAIL = (3.6, 2.6)
"""Width and height of a figure in a notebook [inch]."""
FEW_PATHS = 100
ROW = 0.28
"""Height of one extreme [inch]."""
FEW_ROWS = 12


def outcomes_overview(
    outcomes: OutcomeSet | None,
    *,
    exact: OutcomeSet | None = None,
    simultaneous: OutcomeSet | None = None,
    sequential: OutcomeSet | None = None,
    system: System | None = None,
    title: str = "",
    num_paths: int = 1000,
) -> Figure:
    """Draw all velocities of an impact in one figure.

    The first panel has the normal velocities of the first two contacts; then each contact has
    its own, with tangential and normal velocity. Where outcomes are hard to see beside the paths,
    a further panel shows them alone. The last panel has the range of each body velocity.

    Args:
        outcomes: Set to draw, as for `plot_outcomes`; so are those that follow.
        exact: Set of `RouthExact`.
        simultaneous: Outcomes of `AnitescuPotra`.
        sequential: Outcomes of `Sequential`.
        system: System of the impact, which names its body velocities.
        title: Text above the panels.
        num_paths: Maximum number of paths.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> outcomes = carom.Routh(num_samples=100).resolve(block.problem)
        >>> figure = carom.plots.outcomes_overview(outcomes, system=block.system)
        >>> [ax.get_xlabel() for ax in figure.axes][2:]
        ['tangential velocity of B [m/s]', 'body velocities [m/s, rad/s]']
    """
    drawing = Drawing(outcomes, exact, simultaneous, sequential, num_paths, system)
    names, tangents = drawing.problem.contacts, range(1, 1 + drawing.problem.num_tangents)
    pairs = [default_coordinates(drawing.problem)] if len(names) > 1 else []
    pairs += [((name, i), (name, 0)) for name in names for i in tangents]
    views = [(*pair, False) for pair in pairs]
    views += [(*pair, True) for pair in pairs if drawing.is_small(*pair)]
    count = len(views) + 1
    columns = 2 if count == 4 else min(COLUMNS, count)
    rows = math.ceil(count / columns)
    figure = _figure((max(1.5, columns) * PANEL, rows * (PANEL - 0.25) + 0.8), title)
    for i, (x, y, zoom) in enumerate(views):
        ax = figure.add_subplot(rows, columns, i + 1)
        drawing.draw(ax, x, y, zoom=zoom)
        if zoom:
            ax.set_title("the outcomes alone", fontsize=9)
    drawing.draw_velocities(figure.add_subplot(rows, columns, count))
    _legend_outside(figure, KEYS if columns == COLUMNS else 3)
    return figure


def extremes_overview(extremes: Extremes | Extreme, *, title: str = "") -> Figure:
    """Draw what is reached and what is proved, one panel per unit.

    Args:
        extremes: Extremes to draw, as for `plot_extremes`.
        title: Text above the panels.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block").problem
        >>> found = carom.worst_case(block, ["A normal", "A impulse", "B impulse"])
        >>> figure = carom.plots.extremes_overview(found, title="a block")
        >>> [ax.get_xlabel() for ax in figure.axes]
        ['contact velocity after the impact [m/s]', 'normal impulse of the impact [N s]']
    """
    found = (extremes,) if isinstance(extremes, Extreme) else extremes
    units = dict.fromkeys(each.unit for each in found)
    parts = [Extremes(tuple(each for each in found if each.unit == unit)) for unit in units]
    counts = [len(part.rows()) for part in parts]
    figure = _figure((1.6 * PANEL, ROW * sum(counts) + 0.7 * len(parts) + 0.9), title)
    axes = figure.subplots(len(parts), 1, squeeze=False, height_ratios=counts)[:, 0]
    for ax, part in zip(axes, parts, strict=True):
        draw_extremes(part, ax)
    _legend_outside(figure, KEYS)
    return figure


def trajectory_overview(trajectory: Trajectory, *, title: str = "") -> Figure:
    """Draw coordinates, velocities, energy and impulses over time, below each other.

    Args:
        trajectory: Motion to draw; without its system there is no energy.
        title: Text above the panels.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.05, carom.Routh(), seed=3)
        >>> figure = carom.plots.trajectory_overview(motion, title=scene.description)
        >>> [ax.get_ylabel() for ax in figure.axes][2:]
        ['energy [J]', 'impulse [N s]']
    """
    panels: list[Any] = [partial(plot_states, of="q"), partial(plot_states, of="v")]
    panels += [] if trajectory.system is None else [plot_energy]
    panels += [plot_impulses] if trajectory.contacts else []
    figure = _figure((9.0, 2.3 * len(panels) + 0.5), title)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for ax, draw in zip(axes, panels, strict=True):
        draw(trajectory, ax)
        ax.label_outer()
        if ax.get_legend() is not None:
            # Beside the ax it hides nothing.
            ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    figure.align_ylabels(list(axes))
    return figure


def bundle_overview(bundle: Bundle, *, title: str = "") -> Figure:
    """Draw every coordinate and every velocity of many motions over time.

    Args:
        bundle: Motions to draw.
        title: Text above the panels.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     scene.system, scene.q, scene.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> figure = carom.plots.bundle_overview(motions)
        >>> [ax.get_ylabel() for ax in figure.axes][2:]
        ['angle [rad]', 'x [m/s]', 'y [m/s]', 'angle [rad/s]']
    """
    layout = bundle.trajectories[0].layout
    panels = [("q", i) for i in range(layout.nq)] + [("v", i) for i in range(layout.nv)]
    columns = min(COLUMNS, layout.nq)
    rows = math.ceil(len(panels) / columns)
    figure = _figure((max(1.5, columns) * PANEL, rows * 0.7 * PANEL + 0.8), title)
    for place, (of, i) in enumerate(panels, 1):
        ax = plot_bundle(bundle, figure.add_subplot(rows, columns, place), coordinate=i, of=of)
        ax.legend().remove()
    _legend_outside(figure, KEYS)
    return figure


def thumbnail(what: OutcomeSet | Trajectory | Bundle | ImpactProblem | Any) -> bytes:
    """Draw a small figure for a notebook, and return it as an SVG file.

    Args:
        what: A set (two contact velocities), a motion or many (their last coordinate over time),
            extremes (those with the first one's unit), a problem (the contact velocities before the
            impact), or a report on one of these.

    Examples:
        >>> import carom
        >>> carom.plots.thumbnail(carom.scenes.load("rocking-block").problem)[:5]
        b'<?xml'
    """
    buffer = io.BytesIO()
    # The same figure is the same file: no date, and no random names.
    with rc_context({"svg.hashsalt": "carom", "font.size": 8.0}):
        figure = Figure(figsize=THUMBNAIL, layout="constrained")
        _draw_small(what, figure.add_subplot())
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _draw_small(what: Any, ax: Axes) -> None:
    if isinstance(what, OutcomeSet):
        Drawing(what, num_paths=FEW_PATHS).draw(ax, *default_coordinates(what.problem))
    elif isinstance(what, Trajectory):
        plot_states(what, ax)
    elif isinstance(what, Bundle):
        plot_bundle(what, ax, coordinate=what.trajectories[0].layout.nq - 1, num_lines=0)
    elif isinstance(what, Extremes):
        alike = [each for each in what if each.unit == what[0].unit]
        # The least and the largest of a quantity share a row.
        draw_extremes(Extremes(tuple(alike[: 2 * FEW_ROWS])), ax)
    elif isinstance(problem := getattr(what, "problem", what), ImpactProblem):
        _draw_problem(problem, ax)
    else:
        raise InvalidOption(f"what: expected a set, motion or problem, got a {type(what).__name__}")


def _draw_problem(problem: ImpactProblem, ax: Axes) -> None:
    """Draw the velocity of each contact before the impact, one row each."""
    v_c = problem.contact_velocity(problem.v_pre)
    rows = np.arange(problem.num_contacts)
    words = ("normal", *["tangential"] * problem.num_tangents)
    height = 0.8 / len(words)
    for j, word in enumerate(words):
        number = f" {j}" if j and problem.num_tangents > 1 else ""
        place = rows + (j - 0.5 * (len(words) - 1)) * height
        ax.barh(place, v_c[:, j], 0.9 * height, color=style.CYCLE[j], label=f"{word}{number}")
    ax.axvline(0.0, **style.ZERO)
    ax.set_yticks(rows, [style.contact(name) for name in problem.contacts])
    ax.invert_yaxis()
    ax.set_xlabel("velocity before the impact [m/s]")
    ax.legend()


def _figure(size: tuple[float, float], title: str) -> Figure:
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.1))
    if title:
        figure.suptitle(style.literal(title))
    return figure


def _legend_outside(figure: Figure, most: int) -> None:
    """Put the legend of the first ax below all of them, with a maximum of entries per row."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    ncols = math.ceil(len(labels) / math.ceil(len(labels) / most))
    figure.legend(handles, labels, loc="outside lower center", ncols=ncols, frameon=False)
