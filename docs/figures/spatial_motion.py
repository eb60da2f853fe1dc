"""Draw how a box that is dropped flat on four corners goes on, in all the ways that it can.

Run it as `.venv/bin/python docs/figures/spatial_motion.py`; the picture appears beside it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import carom
from carom.plots import style
from carom.systems import Box, SpatialBody
from carom.systems.quaternions import rotation

DOCS = Path(__file__).parents[1]
NUM_MOTIONS, DURATION, STEP = 200, 0.6, 1e-3
SIDES = np.array([0.4, 0.25, 0.3])
DROP = 0.2
"""From this height the box falls [m]."""
VELOCITY = (0.3, 0.1, 0.0, 0.0, 0.0, 0.0)
SHOWN = ("floor (---)", "floor (++-)")


def motions() -> carom.Bundle:
    """Return the motions of the box."""
    box = SpatialBody(Box(SIDES), mass=10.0, mu=0.6)
    q = [0.0, 0.0, 0.5 * SIDES[2] + DROP, 1.0, 0.0, 0.0, 0.0]
    law = carom.Routh(num_samples=1)
    return carom.simulate_many(box, q, VELOCITY, DURATION, law, NUM_MOTIONS, time_step=STEP)


def draw(bundle: carom.Bundle) -> Figure:
    """Draw heights of two corners over time, and where the box lies in the end."""
    figure = Figure(figsize=(11.0, 4.2), layout="constrained")
    grid = figure.add_gridspec(1, 3, width_ratios=[1.2, 1.2, 1.0])
    times = np.linspace(0.15, 0.45, 301)
    q = bundle.q_at(times)
    system = bundle.trajectories[0].require_system()
    first: Axes | None = None
    for k, name in enumerate(SHOWN):
        ax = figure.add_subplot(grid[0, k], sharey=first)
        i = system.contacts.index(name)
        heights = np.array([[system.gap(unit(x))[i] for x in one] for one in q])
        ax.plot(times, 1e3 * heights.T, color=style.CYCLE[k], alpha=0.15, linewidth=0.8)
        ax.set_title(f"corner {name.split()[1]}, {len(bundle)} motions", loc="left", fontsize=11)
        ax.set(xlabel="time t [s]", ylabel="height [mm]", ylim=(-1.0, 45.0))
        first = ax
    ax = figure.add_subplot(grid[0, 2])
    corners = 0.5 * SIDES * np.array([(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1)])
    for x in bundle.q_at([DURATION])[:, 0]:
        at = x[:3] + corners @ rotation(unit(x)[3:]).T
        around = np.vstack([at, at[:1]])
        ax.plot(*(1e3 * around[:, :2]).T, color=style.CYCLE[2], alpha=0.15, linewidth=0.8)
    ax.set_aspect("equal")
    ax.set(xlabel="x [mm]", ylabel="y [mm]")
    ax.set_title(f"from above, after {DURATION:g} s", loc="left", fontsize=11)
    return figure


def unit(q: np.ndarray) -> np.ndarray:
    """Return a configuration with a quaternion of unit length."""
    return np.concatenate([q[:3], q[3:] / np.linalg.norm(q[3:])])


if __name__ == "__main__":
    path = DOCS / "motion-box.png"
    draw(motions()).savefig(path, dpi=110)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
