"""A planar system in one configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carom.plots import style
from carom.plots.stage import Stage, contact_points, draw_ground, require_planar, view_of
from carom.systems.planar_contacts import PlaneContact

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.systems.planar import PlanarSystem
    from carom.systems.system import System
    from carom.typing import ArrayLike, FloatArray

LONGEST = 0.25
"""Length of the longest arrow, as a share of the view."""
MOMENT = 1e-6
"""Step of the central difference that gives the velocity of centres of mass [s]."""
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
    contact_arrows: bool = False,
    seconds: float | None = None,
) -> Axes:
    """Draw a planar system: bodies to scale, the ground, contact points and velocities.

    Args:
        system: `PlanarSystem` to draw.
        q: Configuration, (nq,) [m, rad].
        ax: Where to draw, in metres.
        v: Velocity, (nv,) [m/s, rad/s]: an arrow for each body that moves, at its centre of mass.
        contacts: Whether to mark contact points, filled where they touch, and name them.
        contact_arrows: Whether points that touch a half-plane get an arrow too, of another colour.
        seconds: Time in which a point would move along its arrow [s]. Default: the longest arrow
            takes a quarter of the view.

    Returns:
        The same ax.

    Raises:
        InvalidOption: The system is not planar.
        InvalidProblem: q or v does not fit the system.

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
        system.dynamics(q, v)
        moving = [(*_moving_centers(planar, q, v), style.ARROWS)]
        if contact_arrows:
            moving.append((*_moving_contacts(planar, q, v), style.CONTACT_ARROWS))
        view = _draw_arrows(moving, ax, view, seconds)
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
        ax.annotate(
            style.literal(name), (x, y), xytext=(6, 6), textcoords="offset points", **style.NAME
        )


def _draw_arrows(
    moving: list[tuple[FloatArray, FloatArray, style.Marks]],
    ax: Axes,
    view: FloatArray,
    seconds: float | None,
) -> FloatArray:
    """Draw velocities at points, in one scale; return a view that has room for them."""
    speeds = [np.linalg.norm(velocity, axis=1) for _, velocity, _ in moving]
    fastest = max(float(speed.max(initial=0.0)) for speed in speeds)
    if fastest < SLOW:
        return view
    size = float((view[1] - view[0]).max())
    scale = LONGEST * size / fastest if seconds is None else seconds
    low, high = view
    for (start, velocity, marks), speed in zip(moving, speeds, strict=True):
        moves = speed > SLOW * fastest
        if moves.any():
            tips = (start + scale * velocity)[moves]
            ax.quiver(*start[moves].T, *scale * velocity[moves].T, **marks)
            low = np.minimum(low, tips.min(axis=0) - 0.03 * size)
            high = np.maximum(high, tips.max(axis=0) + 0.03 * size)
    return np.array([low, high])


def _moving_centers(
    system: PlanarSystem, q: ArrayLike, v: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the centres of mass (n, 2) [m] and their velocities (n, 2) [m/s]."""
    move = MOMENT * np.asarray(v, dtype=np.float64)
    before, after = (_centers(system, np.asarray(q) + sign * move) for sign in (-0.5, 0.5))
    return 0.5 * (before + after), (after - before) / MOMENT


def _moving_contacts(
    system: PlanarSystem, q: ArrayLike, v: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the points (n, 2) [m] that touch half-planes, and their velocities (n, 2) [m/s]."""
    pairs, gap = system.contact_pairs, system.gap(q)
    planes = {i: p.plane for i, p in enumerate(pairs) if isinstance(p, PlaneContact)}
    here = [i for i in planes if gap[i] <= TOUCHES]
    normals = np.array([planes[i].normal for i in here]).reshape(-1, 2)
    tangents = np.column_stack([normals[:, 1], -normals[:, 0]])
    velocity = np.asarray(v, dtype=np.float64)
    v_n = (system.normal_jacobian(q) @ velocity)[here]
    v_t = (system.tangent_jacobian(q) @ velocity).reshape(-1)[here]
    return contact_points(system, q)[here], v_n[:, None] * normals + v_t[:, None] * tangents


def _centers(system: PlanarSystem, q: FloatArray) -> FloatArray:
    """Return the centres of mass (n, 2) of the bodies that have a mass [m]."""
    frames = system.frames(q)
    bodies = [body for body in system.bodies if body.mass > 0.0]
    return np.array([frames[body.name].point(body.com) for body in bodies]).reshape(-1, 2)
