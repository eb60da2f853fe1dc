"""Draw what MuJoCo predicts for a block that lands, beside all that can happen.

Run it as `.venv/bin/python docs/figures/mujoco_block.py`; the picture appears beside it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

import carom
from carom.adapters.mujoco import engine_outcome, impact_problem
from carom.plots import plot_outcomes, style

DOCS = Path(__file__).parents[1]
BLOCK = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="9 9 1" friction="{mu}"/>
  <body name="block"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <joint type="hinge" axis="0 -1 0"/>
    <geom type="box" size="0.5 0.3 1" mass="1" friction="{mu}"/></body>
</worldbody></mujoco>"""
SPEED = float(np.sqrt(2 * 9.81 * 0.01))
"""After a fall of 1 cm [m/s]."""
TILT = 1e-3
TILTS = np.linspace(-2 * TILT, 2 * TILT, 41)
LONG = 0.02
"""How long MuJoCo steps [s]: a tilted block's second corner takes some milliseconds to land."""
MARK = {"linestyle": "none", "markeredgecolor": style.BLACK, "clip_on": False, "zorder": 6.0}


def land(
    tilt: float = 0.0, slide: float = 0.0, mu: float = 1.0
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return a block, 1 m wide and 2 m high, whose lower corner touches the floor."""
    model = mujoco.MjModel.from_xml_string(BLOCK.format(mu=mu))
    data = mujoco.MjData(model)
    data.qpos[1:] = np.cos(tilt) + 0.5 * abs(np.sin(tilt)), tilt
    data.qvel[:] = slide, -SPEED, 0.0
    return model, data


def named(problem: carom.ImpactProblem) -> carom.ImpactProblem:
    """Return the impact with short names: A is the left corner, B the right."""
    return replace(problem, contacts=("A", "B"))


def draw_tilts(ax: Axes, problem: carom.ImpactProblem) -> None:
    """Draw how fast each corner lifts after MuJoCo's impact, over the tilt of the block."""
    outcomes = carom.RouthExact().resolve(problem)
    most = outcomes.contact_bounds()[:, 0, 1].max()
    ax.axhspan(0.0, most, facecolor=style.SKY + "60", label="all that can happen, if flat")
    lifts = np.array([problem.J_n @ engine_outcome(*land(t), duration=LONG) for t in TILTS])
    for i, (name, marker) in enumerate((("A", "^"), ("B", "v"))):
        ax.plot(
            1e3 * TILTS,
            lifts[:, i],
            color=style.CYCLE[i],
            marker=marker,
            markersize=4.5,
            linewidth=1.0,
            label=f"MuJoCo: corner {name} lifts",
        )
    ax.set(xlabel="tilt when it lands [mrad]", ylabel="lift speed [m/s]", ylim=(-0.005, 0.16))
    ax.legend(frameon=False, loc="upper left", fontsize=9)
    ax.set_title("a milliradian decides in MuJoCo", loc="left", fontsize=11)


def draw_set(
    ax: Axes, problem: carom.ImpactProblem, marks: dict[str, tuple[np.ndarray, dict]], title: str
) -> None:
    """Draw a set of lift speeds, and marks of velocities."""
    # The velocity before the impact is far off.
    plot_outcomes(carom.RouthExact().resolve(problem), ax, x=("A", 0), y=("B", 0), zoom=True)
    for label, (v, look) in marks.items():
        ax.plot(*(problem.J_n @ v), **MARK, **look, label=label)
    ax.axhline(0.0, **style.ZERO)
    ax.axvline(0.0, **style.ZERO)
    span = (-0.02, 0.34)
    ax.set(xlabel="corner A lifts [m/s]", ylabel="corner B lifts [m/s]", xlim=span, ylim=span)
    handles = [each for each in ax.get_lines() if str(each.get_label()).startswith("MuJoCo")]
    swatch = Patch(facecolor=style.SKY, label="all that can happen")
    ax.legend(handles=[swatch, *handles], frameon=False, loc="upper right", fontsize=9)
    ax.set_title(title, loc="left", fontsize=11)


def draw() -> Figure:
    """Draw the tilt that decides, and two impacts that MuJoCo ends outside of the set."""
    figure = Figure(figsize=(13.0, 4.2), layout="constrained")
    axes = figure.subplots(1, 3)
    flat = named(impact_problem(*land()))
    draw_tilts(axes[0], flat)
    look = {"marker": "D", "markersize": 8, "color": style.VERMILLION}
    damped = {"marker": "s", "markersize": 6, "color": style.YELLOW}
    draw_set(
        axes[1],
        flat,
        {
            "MuJoCo, its own damping": (engine_outcome(*land(), damping_ratio=1.0), look),
            "MuJoCo, damped": (engine_outcome(*land()), damped),
        },
        "it lands flat",
    )
    slides = {"slide": 1.0, "mu": 0.3}
    sliding = named(impact_problem(*land(**slides)))
    draw_set(
        axes[2],
        sliding,
        {
            "MuJoCo, its own damping": (engine_outcome(*land(**slides), damping_ratio=1.0), look),
            "MuJoCo, damped": (engine_outcome(*land(**slides)), damped),
        },
        "it lands flat and slides with 1 m/s",
    )
    return figure


if __name__ == "__main__":
    path = DOCS / "mujoco-block.png"
    draw().savefig(path, dpi=110)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
