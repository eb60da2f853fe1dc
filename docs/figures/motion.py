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
from carom.paper.exhibits import ball, zeno
from carom.plots import plot_bundle, plot_scene, plot_spread, style

DOCS = Path(__file__).parents[1]
ANGLE = 2
DROP = 0.2
"""From this height the lowest corner of a block falls [m]."""
TILT = math.radians(2.0)
NUM_MOTIONS = 200


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
    figures = {"zeno": zeno.draw(zeno.wobble()), "ball-phase": ball.draw(ball.motions())}
    for name, figure in (figures | {"bundle": bundle()}).items():
        path = DOCS / f"motion-{name}.png"
        figure.savefig(path, dpi=110)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
