"""A planar system in one configuration: bodies and grounds, drawn once and moved at will."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import patches
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.transforms import Affine2D

from carom.errors import InvalidOption
from carom.plots import style
from carom.systems.planar import PlanarSystem
from carom.systems.planar_bodies import Circle
from carom.systems.planar_contacts import PlaneContact
from carom.systems.views import Moving, contact_points, moving_centers, view_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

    from carom.systems.planar_bodies import Body
    from carom.systems.planar_contacts import HalfPlane
    from carom.systems.system import System
    from carom.typing import ArrayLike, FloatArray

DEPTH = 0.045
"""Depth of the hatched strip that marks a solid, as a share of the view."""
FAR = 2.0
"""Half the length of a half-plane's edge, in sizes of the view."""
LONGEST = 0.25
"""Length of the longest arrow, as a share of the view."""
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
        moving = [(moving_centers(planar, q, v), style.ARROWS)]
        if contact_arrows:
            moving.append((_moving_contacts(planar, q, v), style.CONTACT_ARROWS))
        view = _draw_arrows(moving, ax, view, seconds)
    draw_ground(planar, ax, view)
    if contacts:
        beside: style.Marks = {"xytext": (6, 6), "textcoords": "offset points"} | style.NAME
        here = zip(planar.contacts, contact_points(planar, q), planar.gap(q), strict=True)
        for name, (x, y), gap in here:
            ax.plot([x], [y], **(style.TOUCHING if gap <= TOUCHES else style.APART))
            ax.annotate(style.literal(name), (x, y), **beside)
    ax.set(xlim=view[:, 0], ylim=view[:, 1], aspect="equal", xlabel="x [m]", ylabel="y [m]")
    return ax


def _draw_arrows(
    moving: list[tuple[Moving, style.Marks]], ax: Axes, view: FloatArray, seconds: float | None
) -> FloatArray:
    """Draw velocities at points, in one scale; return a view that has room for them."""
    speeds = [np.linalg.norm(velocity, axis=1) for (_, velocity), _ in moving]
    fastest = max(float(speed.max(initial=0.0)) for speed in speeds)
    if fastest < SLOW:
        return view
    size = float((view[1] - view[0]).max())
    scale = LONGEST * size / fastest if seconds is None else seconds
    low, high = view
    for ((start, velocity), marks), speed in zip(moving, speeds, strict=True):
        moves = speed > SLOW * fastest
        if moves.any():
            tips = (start + scale * velocity)[moves]
            ax.quiver(*start[moves].T, *scale * velocity[moves].T, **marks)
            low = np.minimum(low, tips.min(axis=0) - 0.03 * size)
            high = np.maximum(high, tips.max(axis=0) + 0.03 * size)
    return np.array([low, high])


def _moving_contacts(system: PlanarSystem, q: ArrayLike, v: ArrayLike) -> Moving:
    """Return the points (n, 2) [m] that touch half-planes, and their velocities (n, 2) [m/s]."""
    pairs, gap = system.contact_pairs, system.gap(q)
    planes = {i: p.plane for i, p in enumerate(pairs) if isinstance(p, PlaneContact)}
    here = [i for i in planes if gap[i] <= TOUCHES]
    normals = np.array([planes[i].normal for i in here]).reshape(-1, 2)
    tangents = np.column_stack([normals[:, 1], -normals[:, 0]])
    v_n = (system.normal_jacobian(q) @ np.asarray(v))[here, None]
    v_t = (system.tangent_jacobian(q) @ np.asarray(v)).reshape(-1, 1)[here]
    return contact_points(system, q)[here], v_n * normals + v_t * tangents


def require_planar(system: System) -> PlanarSystem:
    """Return the system, or refuse one that is not planar."""
    if not isinstance(system, PlanarSystem):
        raise InvalidOption(
            f"system: expected a PlanarSystem, whose bodies have outlines to draw, got a "
            f"{type(system).__name__}"
        )
    return system


class Stage:
    """The bodies of a planar system on an ax, ready to be placed."""

    def __init__(self, system: PlanarSystem, ax: Axes) -> None:
        self.system = system
        self.affines = [Affine2D() for _ in system.bodies]
        for i, (body, affine) in enumerate(zip(system.bodies, self.affines, strict=True)):
            _draw_body(ax, body, affine + ax.transData, style.CYCLE[i % len(style.CYCLE)])

    def place(self, q: ArrayLike) -> None:
        """Move all bodies to a configuration."""
        for affine, (x, y, angle) in zip(self.affines, self.system.body_poses(q), strict=True):
            affine.clear().rotate(angle).translate(x, y)


def draw_ground(system: PlanarSystem, ax: Axes, view: FloatArray) -> None:
    """Draw the edges of half-planes beyond a view, hatched on their solid side."""
    pairs = system.contact_pairs
    planes = [*dict.fromkeys(pair.plane for pair in pairs if isinstance(pair, PlaneContact))]
    size = float((view[1] - view[0]).max())
    for plane in planes:
        normal, point = np.array(plane.normal), np.array(plane.point)
        tangent = np.array([normal[1], -normal[0]])
        # Long enough to cross the view, wherever the point of the plane is.
        foot = point + ((view.mean(axis=0) - point) @ tangent) * tangent
        whole = foot + FAR * size * np.array([-tangent, tangent])
        edge = _not_behind(whole, [other for other in planes if other is not plane])
        strip = np.vstack([edge, edge[::-1] - DEPTH * size * normal])
        ax.add_patch(patches.Polygon(strip, closed=True, hatch="/////", **style.SOLID))
        ax.plot(*edge.T, **style.GROUND)


def _not_behind(edge: FloatArray, planes: list[HalfPlane]) -> FloatArray:
    """Return the part of an edge (2, 2) that is not within other solids; all, if that is none."""
    low, high = 0.0, 1.0
    for plane in planes:
        start, end = (edge - np.array(plane.point)) @ np.array(plane.normal)
        if start < 0.0 <= end:
            low = max(low, start / (start - end))
        elif end < 0.0 <= start:
            high = min(high, start / (start - end))
        elif start < 0.0:
            return edge
    return edge if low >= high else edge[0] + np.outer([low, high], edge[1] - edge[0])


def _draw_body(ax: Axes, body: Body, transform: Transform, color: str) -> None:
    fill = style.BODY | {"facecolor": [0.35 * x + 0.65 for x in to_rgb(color)]}
    for outline in body.outline:
        if isinstance(outline, Circle):
            (x, y), r = outline.center, outline.radius
            ax.add_patch(patches.Circle((x, y), r, transform=transform, **fill))
            # Without a spoke nobody sees it turn.
            ax.add_line(Line2D([x, x], [y, y + r], transform=transform, **style.SPOKE))
        elif len(outline.points) > 2:
            ax.add_patch(patches.Polygon(outline.points, transform=transform, **fill))
        else:
            ends = np.array(outline.points).T
            ax.add_line(Line2D(*ends, color=color, transform=transform, **style.LINK))
    if not body.outline:
        x, y = body.com
        ax.add_line(Line2D([x], [y], color=color, transform=transform, **style.DOT))
