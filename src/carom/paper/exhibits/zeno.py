"""A block that rocks ever faster, until it stands: infinitely many impacts in a finite time."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from carom.laws.sequential import Sequential
from carom.motion.parts import Impact
from carom.motion.simulation import simulate
from carom.motion.trajectory import Trajectory
from carom.paper.exhibit import Effort, Finding, Made, Progress, Table, exhibit
from carom.plots import plot_rates, plot_scene, plot_states, style
from carom.scenes import load

ANGLE = 2
DURATION = 3.0


@cache
def wobble() -> Trajectory:
    """Move the block until it stands."""
    scene = load("zeno-block")
    return simulate(scene.system, scene.q, scene.v, DURATION, Sequential())


@exhibit("zeno-cycle", "Figure 7 (fig:zeno)", "Half a cycle of the wobbling block", 8.0)
def cycle(_effort: Effort, _progress: Progress) -> Made:
    """Draw the half cycle up to the first impact."""
    motion = wobble()
    first = motion.impacts[0]
    t = np.linspace(0.0, first.t, 4001)
    states = motion.at(t=t[:-1])
    apex = int(states.q[:, ANGLE].argmax())
    shown = (
        ("it pivots on A", states.q[0], states.v[0], 0.0),
        ("apex", states.q[apex], states.v[apex], float(t[apex])),
        ("before the first impact", first.q[0], first.v[0], first.t),
        ("after it", first.q[1], first.v[-1], first.t),
    )
    figure = Figure(figsize=(13.0, 3.6), layout="constrained")
    for ax, (title, q, v, time) in zip(figure.subplots(1, 4), shown, strict=True):
        plot_scene(motion.require_system(), q, ax, v=v if np.abs(v).max() > 1e-3 else None)
        ax.set_title(f"{title} (t = {time:.3f} s)", fontsize=10)
    before, after = first.v[0][ANGLE], first.v[-1][ANGLE]
    findings = (
        Finding(
            "the block rises to about 0.22 rad",
            abs(states.q[apex, ANGLE] - 0.22) < 0.005,
            f"{states.q[apex, ANGLE]:.6f} rad",
        ),
        Finding(
            "it returns to the ground as fast as it began",
            abs(before + 1.0) < 1e-6,
            f"{before:.9f} rad/s, after a start with 1",
        ),
        Finding(
            "the impact leaves 0.7 of the rate",
            abs(after / before - 0.7) < 1e-9,
            f"{after / before:.12f}",
        ),
    )
    rows = [[title, time, *q.tolist(), *v.tolist()] for title, q, v, time in shown]
    names = ("x [m]", "y [m]", "angle [rad]", "dx/dt [m/s]", "dy/dt [m/s]", "rate [rad/s]")
    table = Table(("state", "t [s]", *names), rows, shown=True)
    remarks = "Agrees, with more digits than the paper prints."
    return Made(remarks, {"cycle": figure}, {"states": table}, findings)


@exhibit(
    "zeno-trajectory",
    "Figure 8 (fig:zeno_trajectory)",
    "The wobbling block comes to rest after infinitely many impacts",
    3.0,
)
def trajectory(_effort: Effort, _progress: Progress) -> Made:
    """Draw the motion over t, over s, and how s is shared out."""
    motion = wobble()
    limit = accumulation(motion)
    ends = motion.at(t=limit.end)
    s_end = float(ends.s[0])
    collisions = [part for part in motion.impacts if part.kind == "collision"]
    rest = motion.at(t=DURATION)
    findings = (
        Finding(
            "impacts accumulate at t of about 2.67 s",
            abs(limit.end - 2.67) < 0.005,
            f"t* = {limit.end:.6f} s",
        ),
        Finding("and at s of about 28.4", abs(s_end - 28.4) < 0.05, f"s* = {s_end:.5f}"),
        Finding(
            "then the block rests on both corners",
            bool(np.abs(rest.v).max() < 1e-6),
            f"largest velocity {np.abs(rest.v).max():.1e} after {DURATION:g} s",
        ),
        Finding(
            "the angle stands still during impacts",
            all((part.q[0] == part.q[1]).all() for part in collisions),
            f"{len(collisions)} impacts are resolved one by one before the limit is taken",
        ),
    )
    states = motion.states
    rows = np.column_stack([states.t, states.s, states.q[:, ANGLE], states.v[:, ANGLE]]).tolist()
    impacts = [
        [i, part.kind, part.t, float(part.v[0][ANGLE]), float(part.v[-1][ANGLE])]
        for i, part in enumerate(motion.impacts, 1)
    ]
    tables = {
        "trajectory": Table(("t [s]", "s", "angle [rad]", "rate [rad/s]"), rows),
        "impacts": Table(
            ("impact", "kind", "t [s]", "rate before [rad/s]", "rate after [rad/s]"), impacts
        ),
    }
    remarks = (
        "Agrees. The true values are t* = 2.671421 s and s* = 28.37807, which quadrature of the "
        "pendulum confirms to 1e-6. The paper sums the first impacts; carom follows them until "
        "they shrink by the same factor and takes the limit, so that the motion goes on beyond."
    )
    return Made(remarks, {"trajectory": draw(motion)}, tables, findings)


def accumulation(motion: Trajectory) -> Impact:
    """Return the limit of the impacts."""
    (limit,) = [impact for impact in motion.impacts if impact.kind == "accumulation"]
    return limit


def draw(motion: Trajectory) -> Figure:
    """Draw the block's angle and rate over t and over s, and the rates of s."""
    figure = Figure(figsize=(8.0, 8.4), layout="constrained")
    axes = figure.subplots(3, 1)
    for ax, clock in zip(axes, "ts", strict=False):
        plot_states(motion, ax, clock=clock, rows=[ANGLE], labels=["angle θ [rad]"])
        plot_states(motion, ax, clock=clock, of="v", rows=[ANGLE], labels=["its rate [rad/s]"])
        ax.set_ylabel("angle [rad], rate [rad/s]")
        ax.axhline(0.0, **style.ZERO)
        _legend_above(ax)
    _legend_above(plot_rates(motion, axes[2]))
    axes[2].sharex(axes[1])
    end = accumulation(motion).end
    axes[0].axvline(end, color=style.DARK, linestyle=":", linewidth=1.2)
    axes[0].annotate(
        f"infinitely many impacts\nup to t = {end:.3f} s",
        xy=(end, -0.45),
        xytext=(-8, 0),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=9,
    )
    titles = (
        "over time, velocities jump",
        "over s, nothing jumps: impacts are shaded",
        "how time and the corners share s",
    )
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, loc="left", fontsize=11)
    return figure


def _legend_above(ax: Axes) -> None:
    """Put the legend above the ax, to the right of the title."""
    ax.legend(
        frameon=False,
        ncols=3,
        fontsize=9,
        loc="lower right",
        bbox_to_anchor=(1.0, 0.985),
        borderaxespad=0.2,
    )
