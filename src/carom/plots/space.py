"""One motion in space: its base, the gaps of its feet, and their forces, over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from carom import checks
from carom.errors import InvalidOption
from carom.motion.parts import Segment, States
from carom.plots import style
from carom.plots.motion import all_states, mark_impacts, part_states, plot_energy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.motion.trajectory import Trajectory

AXES = ("x", "y", "z")
MOST = 8
"""Maximum number of contacts that are drawn unless they are named."""


def plot_gaps(trajectory: Trajectory, ax: Axes, *, contacts: Iterable[str] | None = None) -> Axes:
    """Draw the gaps of contacts over time, such as the heights of feet.

    Args:
        trajectory: Motion to draw, with its system.
        ax: Where to draw: gaps [m] over time [s]; limits of joints that turn are in radians.
        contacts: Names of the contacts; default: those that act at any time, up to eight.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> from carom.systems import Box, SpatialBody
        >>> box = SpatialBody(Box([0.4, 0.25, 0.3]), mass=10.0, mu=0.6)
        >>> q, v = [0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0], [0.3, 0.0, 0.0, 0.0, 1.0, 0.0]
        >>> motion = carom.simulate(box, q, v, 0.2, carom.Routh(), time_step=2e-3)
        >>> carom.plots.plot_gaps(motion, Figure().subplots()).get_ylabel()
        'gap [m]'
    """
    system = trajectory.require_system()
    chosen = _chosen(trajectory, contacts)
    mark_impacts(trajectory, ax, "t")
    states = all_states(trajectory)
    gaps = np.array([system.gap(q) for q in states.q]).reshape(-1, len(trajectory.contacts))
    for k, i in enumerate(chosen):
        # A gap beyond what an engine looks at is not known.
        known = np.where(np.isfinite(gaps[:, i]), gaps[:, i], np.nan)
        ax.plot(states.t, known, label=style.contact(trajectory.contacts[i]), **style.line(k))
    ax.set_ylabel("gap [m]")
    if chosen:
        ax.legend(frameon=False)
    return ax


def plot_forces(trajectory: Trajectory, ax: Axes, *, contacts: Iterable[str] | None = None) -> Axes:
    """Draw the forces of contacts over time: normal forces, and (dashed) the size of friction.

    Impacts have no force; what they add is in `plot_impulses`.

    Args:
        trajectory: Motion to draw.
        ax: Where to draw: forces [N] over time [s].
        contacts: Names of the contacts; default: those that act at any time, up to eight.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> from carom.systems import Box, SpatialBody
        >>> box = SpatialBody(Box([0.4, 0.25, 0.3]), mass=10.0, mu=0.6)
        >>> q, v = [0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0], [0.3, 0.0, 0.0, 0.0, 1.0, 0.0]
        >>> motion = carom.simulate(box, q, v, 0.2, carom.Routh(), time_step=2e-3)
        >>> carom.plots.plot_forces(motion, Figure().subplots()).get_ylabel()
        'force [N]'
    """
    chosen = _chosen(trajectory, contacts)
    mark_impacts(trajectory, ax, "t")
    pairs = zip(trajectory.parts, part_states(trajectory), strict=True)
    states = [each for part, each in pairs if isinstance(part, Segment)]
    for k, i in enumerate(chosen):
        label = style.contact(trajectory.contacts[i])
        for each in states:
            rate = each.rate[:, i]
            ax.plot(each.t, rate[:, 0], label=label, **style.line(k))
            size = np.linalg.norm(rate[:, 1:], axis=1)
            ax.plot(each.t, size, linewidth=1.0, **style.line(k) | {"linestyle": "--"})
            label = "_"
    ax.set_ylabel("force [N]")
    if chosen:
        ax.plot([], [], color=style.DARK, linestyle="--", linewidth=1.0, label="friction")
        ax.legend(frameon=False)
    return ax


def spatial_overview(
    trajectory: Trajectory,
    *,
    base: Sequence[int] = (0, 1, 2),
    contacts: Iterable[str] | None = None,
    title: str = "",
) -> Figure:
    """Draw a motion in space: its base, gaps and forces of contacts, and energy, below each other.

    Args:
        trajectory: Motion to draw, with its system.
        base: Indices of the coordinates x, y and z of the base; (4, 5, 6) in Drake.
        contacts: Names of the contacts; default: those that act at any time, up to eight.
        title: Text above the panels.

    Examples:
        >>> import carom
        >>> from carom.systems import Box, SpatialBody
        >>> box = SpatialBody(Box([0.4, 0.25, 0.3]), mass=10.0, mu=0.6)
        >>> q, v = [0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0], [0.3, 0.0, 0.0, 0.0, 1.0, 0.0]
        >>> motion = carom.simulate(box, q, v, 0.2, carom.Routh(), time_step=2e-3)
        >>> figure = carom.plots.spatial_overview(motion, title="a box")
        >>> [ax.get_ylabel() for ax in figure.axes]
        ['position [m]', 'gap [m]', 'force [N]', 'energy [J]']
    """
    names = None if contacts is None else list(contacts)
    panels: list[Any] = [
        partial(_plot_base, rows=base),
        partial(plot_gaps, contacts=names),
        partial(plot_forces, contacts=names),
        plot_energy,
    ]
    figure = Figure(figsize=(9.0, 2.3 * len(panels) + 0.5), layout="constrained")
    if title:
        figure.suptitle(style.literal(title))
    axes = figure.subplots(len(panels), 1, sharex=True)
    for ax, draw in zip(axes, panels, strict=True):
        draw(trajectory, ax)
        ax.label_outer()
        if ax.get_legend() is not None:
            # Beside the ax it hides nothing.
            ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    figure.align_ylabels(list(axes))
    return figure


def _plot_base(trajectory: Trajectory, ax: Axes, rows: Sequence[int]) -> Axes:
    """Draw the position of the base."""
    for row in rows:
        checks.integer("base", row, 0, trajectory.layout.nq - 1)
    mark_impacts(trajectory, ax, "t")
    states: States = all_states(trajectory)
    for k, (row, name) in enumerate(zip(rows, AXES, strict=False)):
        ax.plot(states.t, states.q[:, row], label=name, **style.line(k))
    ax.set_ylabel("position [m]")
    ax.legend(frameon=False)
    return ax


def _chosen(trajectory: Trajectory, contacts: Iterable[str] | None) -> list[int]:
    """Return the numbers of the contacts to draw."""
    names = trajectory.contacts
    if contacts is None:
        acting = np.flatnonzero(trajectory.impulse[-1, :, 0] > 0.0)
        most = np.argsort(-trajectory.impulse[-1, acting, 0], kind="stable")[:MOST]
        return sorted(acting[most].tolist())
    given = [contacts] if isinstance(contacts, str) else list(contacts)
    for name in given:
        if name not in names:
            raise InvalidOption(
                f"contacts: there is no {name!r}; the motion has {', '.join(names[:40])}"
            )
    return [names.index(name) for name in given]
