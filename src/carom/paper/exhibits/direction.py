"""The set-valued direction, and the motions that follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from carom.laws.routh_single import RouthSingle
from carom.motion.simulation import simulate
from carom.paper.exhibit import Effort, Exhibit, Finding, Made, Progress, Table
from carom.plots import style
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact
from carom.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STARTS = ((1.6, 1.1), (-1.3, 1.5))
"""Velocities from which the two solutions begin."""
EXTENT = 2.0
FRICTION = 1.0
GRAVITY = 9.81


def make(_effort: Effort, _progress: Progress) -> Made:
    """Draw Unit(v) in one dimension, and the flow of -Unit(v) in two."""
    s = np.linspace(0.0, 2.5, 101)
    motions = [follow(np.array(start), s) for start in STARTS]
    figure = Figure(figsize=(10.0, 4.4), layout="constrained")
    graph, flow = figure.subplots(1, 2)
    _draw_graph(graph)
    _draw_flow(flow, motions)
    lengths = [float(np.linalg.norm(start)) for start in STARTS]
    stop, error = sliding_stop(1.2)
    findings = (
        Finding(
            "solutions reach zero and stay there",
            all(
                bool((motion[s >= length] == 0.0).all())
                for motion, length in zip(motions, lengths, strict=True)
            ),
            f"after s = {lengths[0]:.4f} and {lengths[1]:.4f}, the lengths of their starts",
        ),
        Finding(
            "friction is such an inclusion: a sliding body stops and then rests",
            error < 1e-9,
            f"a point with 1.2 m/s and friction 1 stops after {stop:.9f} s in carom's "
            f"simulation; v / (mu g) differs by {error:.1e} s",
        ),
    )
    rows = [
        [i, float(s[k]), *motion[k].tolist()]
        for i, motion in enumerate(motions, 1)
        for k in range(len(s))
    ]
    remarks = (
        "Agrees. At zero the direction is not one number but all of [-1, 1], which is what lets a "
        "solution stop there. The curves are the closed form; the same law is what carom's "
        "simulation applies to a body that slides."
    )
    table = Table(("solution", "s", "v_1", "v_2"), rows)
    return Made(remarks, {"direction": figure}, {"solutions": table}, findings)


def follow(start: FloatArray, s: FloatArray) -> FloatArray:
    """Return the solution (n, 2) of dv/ds in -Unit(v): straight to zero, then at rest."""
    length = np.linalg.norm(start)
    return start * (np.maximum(length - s, 0.0) / length)[:, None]


def sliding_stop(speed: float) -> tuple[float, float]:
    """Return when a sliding point stops in a simulation [s], and how far that is off."""
    point = Body.point("point", 1.0)
    system = PlanarSystem([point], [PlaneContact("A", Disc("point"), FLOOR, FRICTION)])
    motion = simulate(system, [0.0, 0.0], [speed, 0.0], 0.5, RouthSingle())
    stop = next(part.end for part in motion.segments if abs(motion.at(t=part.end).v[0, 0]) < 1e-9)
    return stop, abs(stop - speed / (FRICTION * GRAVITY))


def _draw_graph(ax: Axes) -> None:
    ax.plot([-EXTENT, 0.0], [-1.0, -1.0], color=style.BLUE, linewidth=2.5)
    ax.plot([0.0, EXTENT], [1.0, 1.0], color=style.BLUE, linewidth=2.5)
    ax.plot([0.0, 0.0], [-1.0, 1.0], color=style.VERMILLION, linewidth=2.5, label="all of [-1, 1]")
    ax.axhline(0.0, **style.ZERO)
    ax.set_xlabel("v")
    ax.set_ylabel("Unit(v)")
    ax.set_title("the direction of a number", loc="left", fontsize=11)
    ax.legend(frameon=False, loc="lower right")


def _draw_flow(ax: Axes, motions: list[FloatArray]) -> None:
    grid = np.linspace(-EXTENT, EXTENT, 13)
    x, y = np.meshgrid(grid, grid)
    length = np.hypot(x, y)
    moving = length > 0.0
    length[~moving] = 1.0
    ax.quiver(x, y, -x / length, -y / length, color=style.ORANGE, scale=24, width=0.004)
    for motion, color in zip(motions, (style.BLUE, style.VERMILLION), strict=True):
        ax.plot(*motion.T, color=color, linewidth=2.5)
        ax.plot(*motion[0], "o", color=color)
    ax.set_xlabel("v_1")
    ax.set_ylabel("v_2")
    ax.set_aspect("equal")
    ax.set_title("motions with dv/ds in -Unit(v)", loc="left", fontsize=11)


DIRECTION = Exhibit(
    "set-valued-direction",
    "Figure 2 (fig:unit)",
    "A set-valued function and the motions of its inclusion",
    make,
    (2.0, 2.0),
)
