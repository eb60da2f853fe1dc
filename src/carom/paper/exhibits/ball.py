"""A ball over the ground, in the plane of gap and velocity."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from carom.laws.routh_single import RouthSingle
from carom.motion.simulation import simulate
from carom.motion.trajectory import Trajectory
from carom.paper.exhibit import Effort, Finding, Made, Progress, Table, exhibit
from carom.plots import plot_phase, plot_scene, style
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact, Prismatic

SPEEDS = (3.0, 1.5, 0.0, -2.2, -4.0)
"""With which balls are thrown up or down from a height of 1 m [m/s]."""
RADIUS = 0.12
DURATION = 1.5
ROUNDING = 1e-9
"""A gap below zero by less than this is not penetration [m]."""


def ball() -> PlanarSystem:
    """Return a ball that moves up and down only; its coordinate is the gap."""
    body = Body.disc("ball", RADIUS, 1.0, joints=(Prismatic((0.0, 1.0)),))
    floor = PlaneContact("A", Disc("ball", (0.0, 0.0), RADIUS), FLOOR, 0.0)
    return PlanarSystem([body], [floor])


def motions() -> list[Trajectory]:
    """Throw balls from one height."""
    system = ball()
    return [simulate(system, [1.0 + RADIUS], [speed], DURATION, RouthSingle()) for speed in SPEEDS]


@exhibit(
    "ball-phase",
    "Figure 6 (fig:penetrationproof)",
    "A ball over the ground: why nothing penetrates",
    3.0,
)
def phase(_effort: Effort, _progress: Progress) -> Made:
    """Draw the system and its phase portrait."""
    thrown = motions()
    t = np.linspace(0.0, DURATION, 301)
    states = [motion.at(t=t) for motion in thrown]
    gaps = np.array([state.q[:, 0] - RADIUS for state in states])
    ends = np.array([state.v[-1, 0] for state in states])
    findings = (
        Finding(
            "no motion crosses from the right half-plane to the left: nothing penetrates",
            bool(gaps.min() >= -ROUNDING),
            f"least gap {gaps.min():.1e} m in {gaps.size:,} states of {len(SPEEDS)} motions",
        ),
        Finding(
            "at the ground the velocity jumps to zero while the gap stays: the flow is vertical",
            all(
                part.v[-1, 0] == 0.0 and part.q[0, 0] == part.q[1, 0]
                for motion in thrown
                for part in motion.impacts
            ),
            f"{sum(len(motion.impacts) for motion in thrown)} impacts, inelastic",
        ),
        Finding(
            "the ball then rests",
            bool(np.abs(ends).max() < ROUNDING and np.abs(gaps[:, -1]).max() < ROUNDING),
            f"after {DURATION} s the speed is {np.abs(ends).max():.1e} m/s",
        ),
    )
    rows = [
        [speed, float(t[k]), float(gap[k]), float(state.v[k, 0])]
        for speed, gap, state in zip(SPEEDS, gaps, states, strict=True)
        for k in range(len(t))
    ]
    remarks = "Agrees. The motions are simulated from event to event, not sampled on a grid."
    table = Table(("thrown with [m/s]", "t [s]", "gap [m]", "velocity [m/s]"), rows)
    return Made(remarks, {"phase": draw(thrown)}, {"motions": table}, findings)


def draw(thrown: list[Trajectory]) -> Figure:
    """Draw the ball, and its motions in the plane of gap and velocity."""
    figure = Figure(figsize=(8.6, 5.4), layout="constrained")
    left, ax = figure.subplots(1, 2, width_ratios=[0.35, 1.0])
    plot_scene(thrown[0].require_system(), [0.15 + RADIUS], left, v=[-1.0])
    for i, (speed, motion) in enumerate(zip(SPEEDS, thrown, strict=True)):
        color = style.CYCLE[i]
        plot_phase(motion, ax, coordinate=0, color=color, label=_signed(speed))
        ax.plot([1.0 + RADIUS], [speed], "o", color=color, markersize=6, zorder=3.0)
        _arrow(ax, motion, color)
    ax.plot([RADIUS], [0.0], "o", color=style.BLACK, markersize=9, zorder=4.0)
    _note(ax, "rest", (RADIUS, 0.0), (10, 8))
    _note(ax, "impact: the velocity jumps,\nthe height does not", (RADIUS, -1.7), (14, 0))
    low, high = -0.17, 1.7
    ax.axvspan(low, RADIUS, facecolor=style.LIGHT, alpha=0.6, hatch="//", edgecolor="white")
    middle = 0.5 * (low + RADIUS)
    ax.text(middle, -1.2, "penetration", rotation=90, ha="center", va="center", **style.NAME)
    ax.axhline(0.0, **style.ZERO)
    ax.set_xlim(low, high)
    ax.set_xlabel("height of the centre [m]")
    ax.set_ylabel("velocity [m/s]")
    ax.legend(title="thrown with [m/s]", frameon=False, loc="lower right")
    return figure


def _signed(speed: float) -> str:
    return f"{speed:+.1f}".replace("-", "−") if speed else "0"


def _arrow(ax: Axes, motion: Trajectory, color: str) -> None:
    """Show which way a motion goes, half way to its first impact."""
    t = 0.5 * motion.impacts[0].t + np.array([0.0, 1e-3])
    here = motion.at(t=t)
    ends = np.column_stack([here.q[:, 0], here.v[:, 0]])
    shape = {"arrowstyle": "-|>", "color": color, "mutation_scale": 16}
    ax.annotate("", xy=tuple(ends[1]), xytext=tuple(ends[0]), arrowprops=shape)


def _note(ax: Axes, words: str, point: tuple[float, float], offset: tuple[float, float]) -> None:
    """Write beside a point."""
    ax.annotate(words, xy=point, xytext=offset, textcoords="offset points", va="center", fontsize=9)
