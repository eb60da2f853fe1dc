"""A planar system in one configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carom.plots import style
from carom.plots.stage import Stage, contact_points, draw_ground, require_planar, view_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.systems.planar import PlanarSystem
    from carom.systems.system import System
    from carom.typing import ArrayLike, FloatArray

LONGEST = 0.25
"""Of the arrows, as a share of the view."""
MOMENT = 1e-6
"""So long the bodies move to see their velocity [s]."""
SLOW = 1e-9
"""Speeds below this, and below this share of the largest, are no motion [m/s]."""
TOUCHES = 1e-6
"""A gap up to this is drawn as closed [m]."""


def plot_scene(
    system: System,
    q: ArrayLike,
    ax: Axes,
    *,
    v: ArrayLike | None = None,
    contacts: bool = True,
) -> Axes:
    """Draw a planar system: its bodies, what they may touch, and how they move.

    Args:
        system: A `PlanarSystem`.
        q: Configuration, (nq,) [m, rad].
        ax: Where to draw, in metres.
        v: Velocity, (nv,) [m/s, rad/s]: an arrow for each body that moves, at its centre of mass.
        contacts: Whether to mark contact points, filled where they touch, and name them.

    Returns:
        The same ax.

    Raises:
        InvalidProblem: The system is not planar, or q or v does not fit it.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> scene = carom.scenes.load("compass-gait")
        >>> ax = carom.plots.plot_scene(scene.system, scene.q, Figure().subplots(), v=scene.v)
        >>> [text.get_text() for text in ax.texts]
        ['A', 'B']
    """
    planar = require_planar(system)
    Stage(planar, ax).place(q)
    view = view_of(planar, [q])
    if v is not None:
        view = _draw_arrows(planar, q, v, ax, view)
    draw_ground(planar, ax, view)
    if contacts:
        _draw_contacts(planar, q, ax)
    ax.set_xlim(*view[:, 0])
    ax.set_ylim(*view[:, 1])
    ax.set_aspect("equal")
    ax.set_xlabel("x [m]")
    ax.set_ylabel("y [m]")
    return ax


def _draw_contacts(system: PlanarSystem, q: ArrayLike, ax: Axes) -> None:
    here = zip(system.contacts, contact_points(system, q), system.gap(q), strict=True)
    for name, (x, y), gap in here:
        ax.plot([x], [y], **(style.TOUCHING if gap <= TOUCHES else style.APART))
        ax.annotate(name, (x, y), xytext=(6, 6), textcoords="offset points", **style.NAME)


def _draw_arrows(
    system: PlanarSystem, q: ArrayLike, v: ArrayLike, ax: Axes, view: FloatArray
) -> FloatArray:
    """Draw how fast each body's centre of mass moves; return a view that has room for it.

    The fastest body has the longest arrow.
    """
    system.dynamics(q, v)
    move = MOMENT * np.asarray(v, dtype=np.float64)
    before, after = (_centers(system, np.asarray(q) + sign * move) for sign in (-0.5, 0.5))
    start, velocity = 0.5 * (before + after), (after - before) / MOMENT
    fastest = float(np.linalg.norm(velocity, axis=1).max(initial=0.0))
    if fastest < SLOW:
        return view
    size = float((view[1] - view[0]).max())
    arrows = LONGEST * size / fastest * velocity
    moves = np.linalg.norm(velocity, axis=1) > SLOW * fastest
    ax.quiver(*start[moves].T, *arrows[moves].T, **style.ARROWS)
    tips = (start + arrows)[moves]
    room = 0.03 * size
    low = np.minimum(view[0], tips.min(axis=0) - room)
    high = np.maximum(view[1], tips.max(axis=0) + room)
    return np.array([low, high])


def _centers(system: PlanarSystem, q: FloatArray) -> FloatArray:
    """Return the centres of mass (n, 2) of the bodies that have a mass [m]."""
    frames = system.frames(q)
    bodies = [body for body in system.bodies if body.mass > 0.0]
    return np.array([frames[body.name].point(body.com) for body in bodies]).reshape(-1, 2)
