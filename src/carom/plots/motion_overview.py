"""One figure of a motion, or of many."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from carom.plots.bundle import plot_bundle
from carom.plots.motion import plot_energy, plot_impulses, plot_states

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.motion.bundle import Bundle
    from carom.motion.trajectory import Trajectory

COLUMNS = 3
PANEL = 4.0
"""Width of a panel beside others [inch]."""
WIDTH = 9.0
HEIGHT = 2.3
"""Of panels below each other [inch]."""


def trajectory_overview(trajectory: Trajectory, *, title: str = "") -> Figure:
    """Draw coordinates, velocities, energy and impulses over time, below each other.

    Args:
        trajectory: The motion; without its system there is no energy.
        title: Words above all.

    Returns:
        A figure that belongs to no window: `figure.savefig("motion.png")` writes it.

    Raises:
        InvalidProblem: The motion has no parts, so that there is nothing to draw.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.05, carom.Routh(), seed=3)
        >>> figure = carom.plots.trajectory_overview(motion, title=scene.description)
        >>> [ax.get_ylabel() for ax in figure.axes][2:]
        ['energy [J]', 'impulse [N s]']
    """
    panels = [_coordinates, _velocities]
    panels += [] if trajectory.system is None else [plot_energy]
    panels += [plot_impulses] if trajectory.contacts else []
    engine = ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.1)
    figure = Figure(figsize=(WIDTH, HEIGHT * len(panels) + 0.5), layout=engine)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for ax, draw in zip(axes, panels, strict=True):
        draw(trajectory, ax)
        ax.label_outer()
        _legend_beside(ax)
    figure.align_ylabels(list(axes))
    if title:
        figure.suptitle(title)
    return figure


def bundle_overview(bundle: Bundle, *, title: str = "") -> Figure:
    """Draw every coordinate of many motions over time.

    Args:
        bundle: The motions.
        title: Words above all.

    Returns:
        A figure that belongs to no window: `figure.savefig("bundle.png")` writes it.

    Raises:
        InvalidProblem: No motion moved.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     scene.system, scene.q, scene.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> figure = carom.plots.bundle_overview(motions)
        >>> [ax.get_ylabel() for ax in figure.axes]
        ['x [m]', 'y [m]', 'angle [rad]']
    """
    count = bundle.trajectories[0].layout.nq
    columns = min(COLUMNS, count)
    rows = math.ceil(count / columns)
    size = (max(1.5, columns) * PANEL, rows * 0.75 * PANEL + 0.4)
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.1))
    for i in range(count):
        plot_bundle(bundle, figure.add_subplot(rows, columns, i + 1), coordinate=i)
    if title:
        figure.suptitle(title)
    return figure


def _coordinates(trajectory: Trajectory, ax: Axes) -> Axes:
    return plot_states(trajectory, ax, of="q")


def _velocities(trajectory: Trajectory, ax: Axes) -> Axes:
    return plot_states(trajectory, ax, of="v")


def _legend_beside(ax: Axes) -> None:
    """Move a legend out of the ax, where it hides nothing."""
    if ax.get_legend() is not None:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
