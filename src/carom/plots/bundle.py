"""Many motions of one initial state: how far they fan out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_rgb

from carom import checks
from carom.errors import InvalidOption
from carom.plots import style
from carom.plots.motion import CLOCKS, state_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.motion.bundle import Bundle
    from carom.systems.names import Name
    from carom.typing import FloatArray

TIMES = 600
BANDS = {"all motions": (0.0, 100.0), "90 %": (5.0, 95.0), "50 %": (25.0, 75.0)}
"""Percentiles between which a fan is shaded, each over the one before."""
ALPHAS = (0.2, 0.3, 0.45)
"""Opacity of each band; together they make three shades that everybody tells apart."""


def plot_bundle(
    bundle: Bundle,
    ax: Axes,
    *,
    coordinate: int,
    of: str = "q",
    num_lines: int = 25,
    color: str = style.BLUE,
    label: str | None = None,
) -> Axes:
    """Draw a coordinate or velocity of all motions over time: shaded bands, and some as lines.

    The palest band holds all motions, the next 90 % and the darkest half of them.

    Args:
        bundle: Motions to draw.
        ax: Where to draw: the coordinate [m or rad] or velocity [m/s or rad/s] over time [s].
        coordinate: Index of the coordinate or velocity.
        of: "q" for coordinates, "v" for velocities.
        num_lines: Maximum number of motions that are drawn as lines.
        color: Colour of bands and lines.
        label: Legend entry of the lines. Default: how many they are.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     scene.system, scene.q, scene.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> carom.plots.plot_bundle(motions, Figure().subplots(), coordinate=2).get_ylabel()
        'angle [rad]'
    """
    times, name = _axes(bundle, coordinate, of)
    values = (bundle.q_at if of == "q" else bundle.v_at)(times)[:, :, coordinate]
    through = 1.0
    for (share, percentiles), alpha in zip(BANDS.items(), ALPHAS, strict=True):
        band = np.nanpercentile(values, percentiles, axis=0)
        ax.fill_between(times, *band, color=color, alpha=alpha, linewidth=0.0, zorder=1.0)
        # Inner bands lie over outer ones; the legend shows both together.
        through *= 1.0 - alpha
        ax.fill([], [], color=color, alpha=1.0 - through, linewidth=0.0, label=share)
    shown = values[:num_lines]
    dark = [0.5 * part for part in to_rgb(color)]
    for each in shown:
        ax.plot(times, each, color=dark, linewidth=0.5, zorder=1.5)
    if len(shown):
        ax.lines[-1].set_label(label or f"{len(shown)} of {len(bundle)} motions")
    ax.legend(fontsize="small", framealpha=0.7)
    ax.set(xlabel=CLOCKS["t"], ylabel=style.literal(str(name)))
    # Small spreads about a large value are read off in full, not from an offset above the axis.
    ax.ticklabel_format(axis="y", useOffset=False)
    ax.margins(x=0.01)
    return ax


def plot_spread(bundles: Mapping[str, Bundle], ax: Axes, *, coordinate: int) -> Axes:
    """Draw the spread of a coordinate, largest minus smallest, over time, for several bundles.

    Args:
        bundles: Motions by their legend entry.
        ax: Where to draw: the spread [m or rad] over time [s].
        coordinate: Index of the coordinate, from 0 to nq - 1.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("rocking-block")
        >>> motions = carom.simulate_many(
        ...     scene.system, scene.q, scene.v, 0.05, carom.Routh(), 4, num_processes=1)
        >>> ax = carom.plots.plot_spread({"flat": motions}, Figure().subplots(), coordinate=2)
        >>> ax.get_ylabel()
        'spread of angle [rad]'
    """
    if not bundles:
        raise InvalidOption("bundles: expected at least one, got none")
    for i, (label, bundle) in enumerate(bundles.items()):
        times, name = _axes(bundle, coordinate, "q")
        spread = bundle.spread(times)[:, coordinate]
        ax.plot(times, spread, label=label, linewidth=1.8, **style.line(i))
    ax.set(xlabel=CLOCKS["t"], ylabel=style.literal(f"spread of {name}"))
    ax.margins(x=0.01)
    ax.legend(frameon=False)
    return ax


def _axes(bundle: Bundle, coordinate: int, of: str) -> tuple[FloatArray, Name]:
    """Return the times to draw at, and the name of a coordinate or velocity."""
    motions = bundle.trajectories
    found = state_names(motions[0], checks.choice("of", of, ("q", "v")))
    name = found[checks.integer("coordinate", coordinate, 0, len(found) - 1)]
    return np.linspace(motions[0].start_time, max(x.end_time for x in motions), TIMES), name
