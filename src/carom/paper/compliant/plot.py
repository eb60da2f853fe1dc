"""Outcomes of compliant impacts, coloured by the number that was varied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.colors import LogNorm, Normalize

from carom.plots import style
from carom.plots.contact_velocities import Drawing, default_coordinates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.outcomes.polyhedral import PolyhedralSet
    from carom.paper.compliant.sweeps import CompliantSweep

COLORS = "cividis"
"""Made for all kinds of colour vision [Nunez, Anderton and Renslow, 2018]."""
MARKS: style.Marks = {"s": 42, "edgecolors": "black", "linewidths": 0.6, "zorder": 6.0}


def plot_sweep(
    sweep: CompliantSweep,
    ax: Axes,
    *,
    exact: PolyhedralSet,
    label: str,
    logarithmic: bool = False,
) -> Axes:
    """Draw the normal velocities that compliant impacts end with, over the set of rigid ones.

    Args:
        sweep: The impacts.
        ax: Where to draw; its figure gets a colour bar.
        exact: The set of the same impact with rigid contacts.
        label: What was varied, with its unit, for the colour bar.
        logarithmic: Whether colours go by the logarithm.

    Returns:
        The same ax.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("rocking-block")
        >>> sweep = carom.paper.compliant.angle_sweep(scene, num=2)
        >>> exact = carom.RouthExact().resolve(scene.problem)
        >>> ax = carom.plots.plot_sweep(
        ...     sweep, Figure().subplots(), exact=exact, label="angle [deg]"
        ... )
        >>> ax.get_xlabel()
        'normal velocity of A [m/s]'
    """
    problem = exact.problem
    x, y = default_coordinates(problem)
    # What comes before the impact lies far off, and would shrink what is to be seen.
    Drawing(None, exact).draw(ax, x, y, zoom=True)
    ends = problem.contact_velocity(sweep.v_post)[..., 0]
    low, high = float(sweep.values.min()), float(sweep.values.max())
    colors = LogNorm(low, high) if logarithmic else Normalize(low, high)
    x_ends, y_ends = ends[:, 0], ends[:, 1]
    points = ax.scatter(
        x_ends, y_ends, c=sweep.values, cmap=COLORS, norm=colors, label="compliant", **MARKS
    )
    ax.figure.colorbar(points, ax=ax, label=label)
    room = 0.15 * float(ends.max())
    ax.set_xlim(-room, float(ends[:, 0].max()) + room)
    ax.set_ylim(-room, float(ends[:, 1].max()) + room)
    ax.legend(frameon=False, loc="upper right")
    return ax
