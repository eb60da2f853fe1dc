"""One contact by Routh's method: the path of its velocity."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from carom.laws.routh_exact import RouthExact
from carom.laws.routh_single import RouthSingle
from carom.paper.exhibit import Effort, Exhibit, Finding, Made, Progress, Table
from carom.plots import style
from carom.problem import ImpactProblem
from carom.typing import FloatArray

MU = 0.6
TILT = np.radians(65.0)
"""Of a rod that falls on its end, from the ground."""
SLIP, FALL = 0.45, 1.0
"""Velocity of that end along the ground and towards it [m/s]."""


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


def make(_effort: Effort, _progress: Progress) -> Made:
    """Draw the path of the contact's velocity, and the rays of the friction cone."""
    problem = rod()
    exact = RouthExact().resolve(problem)
    outcome = RouthSingle().resolve(problem)
    path = exact.witness(outcome.v_post[0])
    v_c = problem.contact_velocity(path.v)[:, 0]
    apart = exact.distance(outcome.v_post[0])
    modes = [mode for (mode,) in path.modes]
    findings = (
        Finding(
            "the contact slides at first",
            "sliding" in modes[0],
            f"the first of {len(modes)} straight stretches: {modes[0]}",
        ),
        Finding(
            "when its tangential velocity is zero it sticks",
            "sticking" in modes[-1] and abs(v_c[-2, 1]) < 1e-9,
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
        f"witness from the exact set; the two ends are {apart:.1e} apart."
    )
    rows = [
        [step, *row[::-1], mode]
        for step, (row, mode) in enumerate(zip(v_c.tolist(), ["start", *modes], strict=True))
    ]
    table = Table(("step", "tangential [m/s]", "normal [m/s]", "stretch that led here"), rows)
    return Made(remarks, {"path": _draw(problem, v_c)}, {"path": table}, findings)


def _draw(problem: ImpactProblem, v_c: FloatArray) -> Figure:
    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    ax = figure.add_subplot()
    A = problem.J @ np.linalg.solve(problem.M, problem.J.T)
    for sign, name in ((-1.0, "edges of the friction cone"), (1.0, "")):
        rate_n, rate_t = 0.1 * A @ np.array([1.0, sign * MU])
        ax.annotate(
            "",
            xy=(v_c[0, 1] + rate_t, v_c[0, 0] + rate_n),
            xytext=(v_c[0, 1], v_c[0, 0]),
            arrowprops={"arrowstyle": "-|>", "color": style.VERMILLION, "linewidth": 1.8},
        )
        # An arrow does not widen the view, and has no place in the legend.
        ends = [v_c[0, 1], v_c[0, 1] + rate_t], [v_c[0, 0], v_c[0, 0] + rate_n]
        ax.plot(*ends, color=style.VERMILLION, linewidth=1.8, label=name)
    ax.plot(
        v_c[:, 1],
        v_c[:, 0],
        color=style.ORANGE,
        linestyle=":",
        linewidth=3.0,
        label="velocity of the contact",
    )
    ax.plot(v_c[0, 1], v_c[0, 0], label="before the impact", **style.BEFORE)
    ax.plot(v_c[-1, 1], v_c[-1, 0], label="after it", **style.SIMULTANEOUS)
    ax.axhline(0.0, **style.ZERO)
    ax.axvline(0.0, **style.ZERO)
    ax.annotate("it ends", (0.25, 0.0), xytext=(0, 4), textcoords="offset points", fontsize=9)
    ax.annotate(
        "it sticks",
        (0.0, -0.85),
        xytext=(-4, 0),
        textcoords="offset points",
        rotation=90,
        ha="right",
        fontsize=9,
    )
    ax.set_xlabel("tangential velocity [m/s]")
    ax.set_ylabel("normal velocity [m/s]")
    ax.legend(frameon=False, loc="center right")
    ax.margins(0.12)
    return figure


ROUTH_PATH = Exhibit(
    "routh-path",
    "Figure 3 (fig:routh)",
    "The velocity of one contact through an impact by Routh's method",
    make,
    (1.0, 1.0),
)
