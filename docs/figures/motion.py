"""Draw pictures of motions through impacts.

Run it as `.venv/bin/python docs/figures/motion.py`; the pictures appear beside it.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import carom
from carom.plots import (
    plot_bundle,
    plot_phase,
    plot_rates,
    plot_scene,
    plot_spread,
    plot_states,
    style,
)
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact, Prismatic

DOCS = Path(__file__).parents[1]
ANGLE = 2
DROP = 0.2
"""From this height the lowest corner of a block falls [m]."""
TILT = math.radians(2.0)
NUM_MOTIONS = 200


def zeno() -> Figure:
    """Draw a block that rocks ever faster: over t, over s, and how s is shared out."""
    scene = carom.scenes.load("zeno-block")
    motion = carom.simulate(scene.system, scene.q, scene.v, 3.0, carom.Sequential())
    figure = Figure(figsize=(8.0, 8.4), layout="constrained")
    axes = figure.subplots(3, 1)
    for ax, clock in zip(axes, "ts", strict=False):
        plot_states(motion, ax, clock=clock, rows=[ANGLE], labels=["angle θ [rad]"])
        plot_states(motion, ax, clock=clock, of="v", rows=[ANGLE], labels=["its rate [rad/s]"])
        ax.set_ylabel("")
        ax.axhline(0.0, **style.ZERO)
        above(ax)
    above(plot_rates(motion, axes[2]))
    axes[2].sharex(axes[1])
    (limit,) = [impact for impact in motion.impacts if impact.kind == "accumulation"]
    axes[0].axvline(limit.end, color=style.DARK, linestyle=":", linewidth=1.2)
    axes[0].annotate(
        f"infinitely many impacts\nup to t = {limit.end:.3f} s",
        xy=(limit.end, -0.45),
        xytext=(-8, 0),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=9,
    )
    for ax, title in zip(
        axes,
        (
            "over time, velocities jump",
            "over s, nothing jumps: impacts are shaded",
            "how time and the corners share s",
        ),
        strict=True,
    ):
        ax.set_title(title, loc="left", fontsize=11)
    return figure


def above(ax: Axes) -> None:
    """Put the legend above the ax, to the right of the title."""
    place = {"loc": "lower right", "bbox_to_anchor": (1.0, 0.985), "borderaxespad": 0.2}
    ax.legend(frameon=False, ncols=3, fontsize=9, **place)


def ball_phase() -> Figure:
    """Draw balls that are thrown up or down from one height, in the plane of gap and velocity."""
    ball = Body.point("ball", 1.0, joints=(Prismatic((0.0, 1.0)),))
    system = PlanarSystem([ball], [PlaneContact("A", Disc("ball"), FLOOR, 0.0)])
    figure = Figure(figsize=(6.6, 5.4), layout="constrained")
    ax = figure.add_subplot()
    for i, speed in enumerate((3.0, 1.5, 0.0, -2.2, -4.0)):
        motion = carom.simulate(system, [1.0], [speed], 1.5, carom.RouthSingle())
        plot_phase(motion, ax, coordinate=0, color=style.CYCLE[i], label=signed(speed))
        ax.plot([1.0], [speed], "o", color=style.CYCLE[i], markersize=6, zorder=3.0)
        arrow(ax, motion, style.CYCLE[i])
    ax.plot([0.0], [0.0], "o", color=style.BLACK, markersize=9, zorder=4.0)
    note(ax, "rest", (0.0, 0.0), (10, 8))
    note(ax, "impact: the velocity jumps,\nthe gap does not", (0.0, -1.7), (14, 0))
    low, high = -0.28, 1.55
    ax.axvspan(low, 0.0, facecolor=style.LIGHT, alpha=0.6, hatch="//", edgecolor="white")
    ax.text(low / 2, -1.2, "penetration", rotation=90, ha="center", va="center", **style.NAME)
    ax.axhline(0.0, **style.ZERO)
    ax.set_xlim(low, high)
    ax.set_xlabel("gap [m]")
    ax.set_ylabel("velocity [m/s]")
    ax.legend(title="thrown with [m/s]", frameon=False, loc="lower right")
    return figure


def signed(speed: float) -> str:
    """Write a speed with its sign."""
    return f"{speed:+.1f}".replace("-", "−") if speed else "0"


def arrow(ax: Axes, motion: carom.Trajectory, color: str) -> None:
    """Show which way a motion goes, half way to its first impact."""
    t = 0.5 * motion.impacts[0].t + np.array([0.0, 1e-3])
    here = motion.at(t=t)
    ends = np.column_stack([here.q[:, 0], here.v[:, 0]])
    shape = {"arrowstyle": "-|>", "color": color, "mutation_scale": 16}
    ax.annotate("", xy=ends[1], xytext=ends[0], arrowprops=shape)


def note(ax: Axes, words: str, point: tuple[float, float], offset: tuple[float, float]) -> None:
    """Write beside a point."""
    ax.annotate(words, xy=point, xytext=offset, textcoords="offset points", va="center", fontsize=9)


def bundle() -> Figure:
    """Draw how blocks fan out that land flat, and on one corner first."""
    scene = carom.scenes.load("rocking-block")
    system = scene.system
    starts = {}
    for label, angle in (("lands flat", 0.0), ("lands on one corner first", TILT)):
        q = np.array([0.0, 0.0, angle])
        q[1] = DROP - system.gap(q).min()
        starts[label] = q
    law = carom.Routh(num_samples=1)
    bundles = {
        label: carom.simulate_many(system, q, np.zeros(3), 1.0, law, NUM_MOTIONS)
        for label, q in starts.items()
    }
    figure = Figure(figsize=(11.0, 6.4), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=[0.55, 1.6, 1.3])
    fans: list[Axes] = []
    for i, (label, motions) in enumerate(bundles.items()):
        plot_scene(system, starts[label], figure.add_subplot(grid[i, 0]))
        ax = figure.add_subplot(grid[i, 1], sharey=fans[0] if fans else None)
        plot_bundle(motions, ax, coordinate=ANGLE, color=style.CYCLE[i])
        ax.set_title(f"{label}: {NUM_MOTIONS} motions", loc="left", fontsize=11)
        ax.axhline(0.0, **style.ZERO)
        fans.append(ax)
    ax = plot_spread(bundles, figure.add_subplot(grid[:, 2]), coordinate=ANGLE)
    ax.legend(frameon=False, loc="upper right")
    ax.set_title("how far they are apart", loc="left", fontsize=11)
    # Room for the legend above, and for a line along zero below.
    top = ax.get_ylim()[1]
    ax.set_ylim(-0.02 * top, 1.15 * top)
    return figure


if __name__ == "__main__":
    for draw in (zeno, ball_phase, bundle):
        path = DOCS / f"motion-{draw.__name__.replace('_', '-')}.png"
        draw().savefig(path, dpi=110)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
