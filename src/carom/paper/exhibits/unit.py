"""One contact: a set-valued direction, and the path of a velocity by Routh's method."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from carom.laws.routh_exact import RouthExact
from carom.laws.routh_single import RouthSingle
from carom.motion.simulation import simulate
from carom.paper.exhibit import Effort, Finding, Made, Progress, Table, exhibit
from carom.plots import style
from carom.problem import ImpactProblem
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact
from carom.typing import FloatArray

STARTS = ((1.6, 1.1), (-1.3, 1.5))
"""Velocities from which the two solutions begin."""
EXTENT = 2.0
FRICTION, GRAVITY = 1.0, 9.81

MU = 0.6
TILT = np.radians(65.0)
"""Angle between the ground and a rod that falls on its end."""
SLIP, FALL = 0.45, 1.0
"""Velocity of that end along the ground and towards it [m/s]."""


@exhibit(
    "set-valued-direction",
    "Figure 2 (fig:unit)",
    "A set-valued function and the motions of its inclusion",
    2.0,
)
def direction(_effort: Effort, _progress: Progress) -> Made:
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
                (motion[s >= length] == 0.0).all()
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
    """Return when a sliding point stops in a simulation [s], and the error of that time."""
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
    ax.set(xlabel="v", ylabel="Unit(v)")
    ax.set_title("the direction of a number", loc="left", fontsize=11)
    ax.legend(frameon=False, loc="lower right")


def _draw_flow(ax: Axes, motions: list[FloatArray]) -> None:
    grid = np.linspace(-EXTENT, EXTENT, 13)
    x, y = np.meshgrid(grid, grid)
    length = np.hypot(x, y)
    length[length == 0.0] = 1.0
    ax.quiver(x, y, -x / length, -y / length, color=style.ORANGE, scale=24, width=0.004)
    for motion, color in zip(motions, (style.BLUE, style.VERMILLION), strict=True):
        ax.plot(*motion.T, color=color, linewidth=2.5)
        ax.plot(*motion[0], "o", color=color)
    ax.set(xlabel="v_1", ylabel="v_2", aspect="equal")
    ax.set_title("motions with dv/ds in -Unit(v)", loc="left", fontsize=11)


def rod() -> ImpactProblem:
    """Return a uniform rod of 1 m and 1 kg, which falls on its end without turning."""
    arm = 0.5 * np.array([np.cos(TILT), -np.sin(TILT)])
    return ImpactProblem(
        M=np.diag([1.0, 1.0, 1.0 / 12.0]),
        J_n=[[0.0, 1.0, arm[0]]],
        J_t=[[1.0, 0.0, -arm[1]]],
        mu=MU,
        v_pre=[SLIP, -FALL, 0.0],
    )


@exhibit(
    "routh-path",
    "Figure 3 (fig:routh)",
    "The velocity of one contact through an impact by Routh's method",
    1.0,
)
def routh_path(_effort: Effort, _progress: Progress) -> Made:
    """Draw the path of the contact's velocity, and the rays of the friction cone."""
    problem = rod()
    exact = RouthExact().resolve(problem)
    end = RouthSingle().resolve(problem).v_post[0]
    path = exact.path_to(end)
    v_c = problem.contact_velocity(path.v)[:, 0]
    slip = np.abs(v_c[:, 1])
    modes = [mode for (mode,) in path.modes]
    findings = (
        Finding(
            "the contact slides at first",
            slip[0] > 1e-9,
            f"the first of {len(modes)} straight stretches: {modes[0]}",
        ),
        Finding(
            "when its tangential velocity is zero it sticks",
            slip[-2] < 1e-9 and slip[-1] < 1e-9,
            f"tangential velocity {v_c[-2, 1]:.1e} m/s at the change; then: {modes[-1]}",
        ),
        Finding(
            "the impact ends when the normal velocity is zero",
            abs(v_c[-1, 0]) < 1e-9,
            f"{v_c[-1, 0]:.1e} m/s",
        ),
    )
    remarks = (
        "Agrees. The path is that of a falling rod, computed twice: in closed form and as a "
        f"witness from the exact set; the two ends are {exact.distance(end):.1e} apart."
    )
    rows = [
        [step, *row[::-1], mode]
        for step, (row, mode) in enumerate(zip(v_c.tolist(), ["start", *modes], strict=True))
    ]
    table = Table(("step", "tangential [m/s]", "normal [m/s]", "stretch that led here"), rows)
    return Made(remarks, {"path": _draw_path(problem, v_c)}, {"path": table}, findings)


def _draw_path(problem: ImpactProblem, v_c: FloatArray) -> Figure:
    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    ax = figure.add_subplot()
    A = problem.J @ np.linalg.solve(problem.M, problem.J.T)
    # Tangential across, normal up.
    points = v_c[:, ::-1]
    look: style.Marks = {"color": style.VERMILLION, "linewidth": 1.8}
    for sign, name in ((-1.0, "edges of the friction cone"), (1.0, "")):
        tip = points[0] + (0.1 * A @ np.array([1.0, sign * MU]))[::-1]
        ax.annotate("", xy=tip, xytext=points[0], arrowprops={"arrowstyle": "-|>"} | look)
        # An arrow does not widen the view, and has no place in the legend.
        ax.plot(*np.array([points[0], tip]).T, label=name, **look)
    dotted: style.Marks = {"color": style.ORANGE, "linestyle": ":", "linewidth": 3.0}
    ax.plot(*points.T, label="velocity of the contact", **dotted)
    ax.plot(*points[0], label="before the impact", **style.BEFORE)
    ax.plot(*points[-1], label="after it", **style.SIMULTANEOUS)
    ax.axhline(0.0, **style.ZERO)
    ax.axvline(0.0, **style.ZERO)
    note: style.Marks = {"textcoords": "offset points", "fontsize": 9}
    ax.annotate("it ends", (0.25, 0.0), xytext=(0, 4), **note)
    ax.annotate("it sticks", (0.0, -0.85), xytext=(-4, 0), rotation=90, ha="right", **note)
    ax.set(xlabel="tangential velocity [m/s]", ylabel="normal velocity [m/s]")
    ax.legend(frameon=False, loc="center right")
    ax.margins(0.12)
    return figure
