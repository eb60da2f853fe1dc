"""Many motions of one initial state: how far they fan out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from carom.errors import InvalidProblem
from carom.plots import style
from carom.plots.motion import CLOCKS, check_coordinate
from carom.systems.names import Name, names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.motion.bundle import Bundle
    from carom.typing import FloatArray

TIMES = 600
BANDS = ((0.0, 100.0), (5.0, 95.0), (25.0, 75.0))
"""Percentiles between which a fan is shaded, each over the one before."""


def plot_bundle(
    bundle: Bundle,
    ax: Axes,
    *,
    coordinate: int,
    num_lines: int = 25,
    color: str = style.BLUE,
    label: str | None = None,
) -> Axes:
    """Draw a coordinate of all motions over time: shaded bands, and some motions as lines.

    The palest band holds all motions, the next 90 % and the darkest half of them.

    Args:
        bundle: The motions.
        ax: Where to draw: the coordinate [m or rad] over time [s].
        coordinate: Which one, from 0 to nq - 1.
        num_lines: Most motions to draw as lines.
        color: Of all.
        label: For a legend.

    Returns:
        The same ax.

    Raises:
        InvalidProblem: There is no such coordinate, or no motion moved.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     scene.system, scene.q, scene.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> ax = carom.plots.plot_bundle(motions, Figure().subplots(), coordinate=2)
        >>> len(ax.lines), ax.get_ylabel()
        (4, 'angle [rad]')
    """
    times = _times(bundle)
    name = _name(bundle, coordinate)
    q = bundle.q_at(times)[:, :, coordinate]
    for low, high in BANDS:
        band = np.nanpercentile(q, [low, high], axis=0)
        ax.fill_between(times, *band, color=color, alpha=0.16, linewidth=0.0, zorder=1.0)
    for values in q[:num_lines]:
        ax.plot(times, values, color=color, linewidth=0.5, alpha=0.7, zorder=1.5)
    if label is not None:
        ax.plot([], [], color=color, linewidth=3, label=label)
        ax.legend(frameon=False)
    ax.set_xlabel(CLOCKS["t"])
    ax.set_ylabel(str(name))
    # Small spreads about a large value are read off in full, not from an offset above the axis.
    ax.ticklabel_format(axis="y", useOffset=False)
    ax.margins(x=0.01)
    return ax


def plot_spread(bundles: Mapping[str, Bundle], ax: Axes, *, coordinate: int) -> Axes:
    """Draw how far motions are apart in a coordinate, over time, for several bundles.

    Args:
        bundles: Motions by their label.
        ax: Where to draw: the spread [m or rad] over time [s].
        coordinate: Which one, from 0 to nq - 1; the largest minus the smallest of it is drawn.

    Returns:
        The same ax.

    Raises:
        InvalidProblem: There is no bundle, no such coordinate, or no motion moved.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     scene.system, scene.q, scene.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> ax = carom.plots.plot_spread({"flat": motions}, Figure().subplots(), coordinate=2)
        >>> bool(ax.lines[0].get_ydata().max() > 0.0), ax.get_ylabel()
        (True, 'spread of angle [rad]')
    """
    if not bundles:
        raise InvalidProblem("bundles: expected at least one, got none")
    for i, (label, bundle) in enumerate(bundles.items()):
        times = _times(bundle)
        name = _name(bundle, coordinate)
        spread = bundle.spread(times)[:, coordinate]
        ax.plot(times, spread, label=label, linewidth=1.8, **style.line(i))
    ax.set_xlabel(CLOCKS["t"])
    ax.set_ylabel(f"spread of {name}")
    ax.margins(x=0.01)
    ax.legend(frameon=False)
    return ax


def _times(bundle: Bundle) -> FloatArray:
    moved = [motion for motion in bundle.trajectories if motion.parts]
    if not moved:
        raise InvalidProblem("bundle: nothing to draw, no motion moved")
    return np.linspace(moved[0].start_time, max(motion.end_time for motion in moved), TIMES)


def _name(bundle: Bundle, coordinate: int) -> Name:
    motion = bundle.trajectories[0]
    check_coordinate(coordinate, motion.layout.nq, "coordinate")
    return names(motion.system, motion.layout.nq)[coordinate]
