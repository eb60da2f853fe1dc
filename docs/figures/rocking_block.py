"""Draw the first picture of the README: a block lands flat, and all the ways that can end.

Run it as `.venv/bin/python docs/figures/rocking_block.py`; the picture appears in docs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import carom
from carom.plots import plot_outcomes, plot_scene, style

DOCS = Path(__file__).parents[1]
TILT = np.radians(9.0)
"""Angle by which a block that pivots is drawn."""
APART = 2.1
"""Distance between two drawings of the block [m]."""
ARROW = {"arrowstyle": "-|>", "color": style.VERMILLION, "linewidth": 2.0, "shrinkA": 5}
ENDS = {"pivots on A": (-1.0, TILT), "rests": (1.0, 0.0), "pivots on B": (1.0, -TILT)}
"""Corner about which the block turns, and its angle."""


def tilted(q: np.ndarray, corner: np.ndarray, angle: float) -> np.ndarray:
    """Return the configuration of a block that has turned about a point."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([*(corner + np.array([[c, -s], [s, c]]) @ (q[:2] - corner)), q[2] + angle])


def arrow(ax: Axes, start: np.ndarray, move: float, color: str) -> None:
    """Draw a velocity, upwards or downwards."""
    look = ARROW | {"color": color}
    ax.annotate("", xy=start + np.array([0.0, move]), xytext=start, arrowprops=look, zorder=5)


def draw_blocks(ax: Axes, scene: carom.scenes.Scene, most: float) -> None:
    """Draw the block to scale as it lands, and three of the ways that can end."""
    q = np.asarray(scene.q)
    (half, top), *_ = np.abs(scene.system.bodies[0].outline[0].points)
    words = {"ha": "center", "fontsize": 10}
    for i, (title, (side, angle)) in enumerate({"lands flat": (1.0, 0.0), **ENDS}.items()):
        here = q + np.array([i * APART + (0.6 if i else 0.0), 0.0, 0.0])
        corner = np.array([here[0] + side * half, 0.0])
        plot_scene(scene.system, tilted(here, corner, angle), ax)
        ax.text(here[0], 2.0 * top + 0.35, title, **words)
        if angle:
            other = np.array([here[0] - side * half, 0.0, 0.0])
            arrow(ax, tilted(other, corner, angle)[:2], 0.8, style.VERMILLION)
    arrow(ax, q[:2], -0.9, style.BLACK)
    ax.text(q[0] + 0.06, q[1] + 0.1, f"{-scene.v[1]:.2f} m/s", **words)
    ax.text(q[0], -0.45, f"{2 * half:g} m", va="top", **words)
    ax.text(q[0] - half - 0.1, top, f"{2 * top:g} m", va="center", ha="right", fontsize=10)
    ax.text(1.55, top, "→", va="center", ha="center", fontsize=20)
    below = f"or anything between: a corner lifts at any speed up to {most:.3f} m/s"
    ax.text(0.6 + 2 * APART, -0.45, f"{below}\n(tilts are exaggerated)", va="top", **words)
    ax.set(xlim=(-1.2, 0.6 + 3 * APART + 0.9), ylim=(-0.9, 2.0 * top + 0.7))
    ax.set_axis_off()


def draw() -> Figure:
    """Draw the block, and the set of all of its outcomes."""
    scene = carom.scenes.load("rocking-block")
    problem = scene.problem
    exact = carom.RouthExact().resolve(problem)
    figure = Figure(figsize=(12.0, 4.9), layout="constrained")
    # Each with a layout of its own, so that a legend on the right leaves the left alone.
    left, right = (each.subplots() for each in figure.subfigures(1, 2, width_ratios=[1.65, 1.0]))
    draw_blocks(left, scene, exact.contact_bounds()[0, 0, 1])
    plot_outcomes(
        carom.Routh(num_samples=2**12).resolve(problem),
        right,
        exact=exact,
        simultaneous=carom.AnitescuPotra().resolve(problem),
        sequential=carom.Sequential().resolve(problem),
    )
    right.set(xlim=(-0.5, 0.25), ylim=(-0.5, 0.25))
    note = {"fontsize": 9, "zorder": 6.0}
    right.text(0.02, 0.02, "pivots on B", **note)
    right.text(-0.02, 0.06, "pivots on A", ha="right", **note)
    right.text(0.02, -0.06, "rests", **note)
    return figure


if __name__ == "__main__":
    path = DOCS / "rocking-block.png"
    draw().savefig(path, dpi=110)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
