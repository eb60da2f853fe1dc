"""Motions: a ball that is thrown, and a block that rocks ever faster until it stands."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.figure import Figure

from carom.laws.routh_single import RouthSingle
from carom.laws.sequential import Sequential
from carom.motion.simulation import simulate
from carom.motion.trajectory import Trajectory
from carom.paper.exhibit import NOTE, Effort, Finding, Made, Progress, Table, exhibit
from carom.plots import plot_phase, plot_rates, plot_scene, plot_states, style
from carom.scenes import load
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact, Prismatic

SPEEDS = (3.0, 1.5, 0.0, -2.2, -4.0)
"""With which balls are thrown up or down from a height of 1 m [m/s]."""
RADIUS = 0.12
FLIGHT = 1.5
"""How long balls are followed [s]."""
ROUNDING = 1e-9
"""A gap below zero by less than this is not penetration [m]."""
ANGLE = 2
DURATION = 3.0
TITLES = (
    "over time, velocities jump",
    "over s, nothing jumps: impacts are shaded",
    "how time and the corners share s",
)


def throw() -> list[Trajectory]:
    """Throw balls from one height, which move up and down only."""
    body = Body.disc("ball", RADIUS, 1.0, joints=(Prismatic((0.0, 1.0)),))
    floor = PlaneContact("A", Disc("ball", (0.0, 0.0), RADIUS), FLOOR, 0.0)
    system = PlanarSystem([body], [floor])
    return [simulate(system, [1.0 + RADIUS], [speed], FLIGHT, RouthSingle()) for speed in SPEEDS]


@exhibit("ball-phase", "Figure 6 (fig:penetrationproof)", 3.0)
def phase(_effort: Effort, _progress: Progress) -> Made:
    """A ball over the ground: why nothing penetrates."""
    thrown = throw()
    t = np.linspace(0.0, FLIGHT, 301)
    states = [motion.at(t=t) for motion in thrown]
    gaps = np.array([state.q[:, 0] - RADIUS for state in states])
    ends = np.array([state.v[-1, 0] for state in states])
    impacts = [part for motion in thrown for part in motion.impacts]
    findings = (
        Finding(
            "no motion crosses from the right half-plane to the left: nothing penetrates",
            gaps.min() >= -ROUNDING,
            f"least gap {gaps.min():.1e} m in {gaps.size:,} states of {len(SPEEDS)} motions",
        ),
        Finding(
            "at the ground the velocity jumps to zero while the gap stays: the flow is vertical",
            all(part.v[-1, 0] == 0.0 and part.q[0, 0] == part.q[1, 0] for part in impacts),
            f"{len(impacts)} impacts, inelastic",
        ),
        Finding(
            "the ball then rests",
            np.abs(ends).max() < ROUNDING and np.abs(gaps[:, -1]).max() < ROUNDING,
            f"after {FLIGHT} s the speed is {np.abs(ends).max():.1e} m/s",
        ),
    )
    rows = [
        [speed, *row]
        for speed, gap, state in zip(SPEEDS, gaps, states, strict=True)
        for row in np.column_stack([t, gap, state.v[:, 0]]).tolist()
    ]
    remarks = "Agrees. The motions are simulated from event to event, not sampled on a grid."
    table = Table(("thrown with [m/s]", "t [s]", "gap [m]", "velocity [m/s]"), rows)
    return Made(remarks, {"phase": _draw_phase(thrown)}, {"motions": table}, findings)


def _draw_phase(thrown: list[Trajectory]) -> Figure:
    """Draw the ball, and its motions in the plane of gap and velocity."""
    figure = Figure(figsize=(8.6, 5.4), layout="constrained")
    left, ax = figure.subplots(1, 2, width_ratios=[0.35, 1.0])
    plot_scene(thrown[0].require_system(), [0.15 + RADIUS], left, v=[-1.0])
    for speed, motion, color in zip(SPEEDS, thrown, style.CYCLE, strict=False):
        signed = f"{speed:+.1f}".replace("-", "−") if speed else "0"
        plot_phase(motion, ax, coordinate=0, color=color, label=signed)
        ax.plot([1.0 + RADIUS], [speed], "o", color=color, markersize=6, zorder=3.0)
        # An arrow shows which way it goes, half way to its first impact.
        here = motion.at(t=0.5 * motion.impacts[0].t + np.array([0.0, 1e-3]))
        tail, head = zip(here.q[:, 0], here.v[:, 0], strict=True)
        shape = {"arrowstyle": "-|>", "color": color, "mutation_scale": 16}
        ax.annotate("", xy=head, xytext=tail, arrowprops=shape)
    ax.plot([RADIUS], [0.0], "o", color=style.BLACK, markersize=9, zorder=4.0)
    ax.annotate("rest", (RADIUS, 0.0), xytext=(10, 8), va="center", **NOTE)
    words = "impact: the velocity jumps,\nthe height does not"
    ax.annotate(words, (RADIUS, -1.7), xytext=(14, 0), va="center", **NOTE)
    low, high = -0.17, 1.7
    ax.axvspan(low, RADIUS, facecolor=style.LIGHT, alpha=0.6, hatch="//", edgecolor="white")
    middle = 0.5 * (low + RADIUS)
    ax.text(middle, -1.2, "penetration", rotation=90, ha="center", va="center", **style.NAME)
    ax.axhline(0.0, **style.ZERO)
    ax.set(xlim=(low, high), xlabel="height of the centre [m]", ylabel="velocity [m/s]")
    ax.legend(title="thrown with [m/s]", frameon=False, loc="lower right")
    return figure


@cache
def wobble() -> Trajectory:
    """Move the block until it stands."""
    scene = load("zeno-block")
    return simulate(scene.system, scene.q, scene.v, DURATION, Sequential())


@exhibit("zeno-cycle", "Figure 7 (fig:zeno)", 8.0)
def cycle(_effort: Effort, _progress: Progress) -> Made:
    """Half a cycle of the wobbling block."""
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


@exhibit("zeno-trajectory", "Figure 8 (fig:zeno_trajectory)", 3.0)
def trajectory(_effort: Effort, _progress: Progress) -> Made:
    """The wobbling block comes to rest after infinitely many impacts."""
    motion = wobble()
    (limit,) = [impact for impact in motion.impacts if impact.kind == "accumulation"]
    s_end = float(motion.at(t=limit.end).s[0])
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
            np.abs(rest.v).max() < 1e-6,
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
        [i, part.kind, part.t, *part.v[[0, -1], ANGLE].tolist()]
        for i, part in enumerate(motion.impacts, 1)
    ]
    columns = ("impact", "kind", "t [s]", "rate before [rad/s]", "rate after [rad/s]")
    tables = {
        "trajectory": Table(("t [s]", "s", "angle [rad]", "rate [rad/s]"), rows),
        "impacts": Table(columns, impacts),
    }
    remarks = (
        "Agrees. The true values are t* = 2.671421 s and s* = 28.37807, which quadrature of the "
        "pendulum confirms to 1e-6. The paper sums the first impacts; carom follows them until "
        "they shrink by the same factor and takes the limit, so that the motion goes on beyond."
    )
    return Made(remarks, {"trajectory": _draw_wobble(motion, limit.end)}, tables, findings)


def _draw_wobble(motion: Trajectory, end: float) -> Figure:
    """Draw the block's angle and rate over t and over s, and the rates of s."""
    figure = Figure(figsize=(8.0, 8.4), layout="constrained")
    axes = figure.subplots(3, 1)
    # Legends go above, to the right of the titles.
    place: style.Marks = {"loc": "lower right", "bbox_to_anchor": (1.0, 0.985)}
    for ax, clock in zip(axes, "ts", strict=False):
        plot_states(motion, ax, clock=clock, rows=[ANGLE], labels=["angle θ [rad]"])
        plot_states(motion, ax, clock=clock, of="v", rows=[ANGLE], labels=["its rate [rad/s]"])
        ax.set_ylabel("angle [rad], rate [rad/s]")
        ax.axhline(0.0, **style.ZERO)
    plot_rates(motion, axes[2])
    for ax, title in zip(axes, TITLES, strict=True):
        ax.legend(frameon=False, ncols=3, fontsize=9, borderaxespad=0.2, **place)
        ax.set_title(title, loc="left", fontsize=11)
    axes[2].sharex(axes[1])
    axes[0].axvline(end, color=style.DARK, linestyle=":", linewidth=1.2)
    words = f"infinitely many impacts\nup to t = {end:.3f} s"
    axes[0].annotate(words, (end, -0.45), xytext=(-8, 0), ha="right", va="top", **NOTE)
    return figure
