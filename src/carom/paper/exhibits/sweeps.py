"""The rocking block with springs in place of rigid contact, with one number varied."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from carom.outcomes.polyhedral import PolyhedralSet
from carom.paper.compliant import CompliantSweep, angle_sweep, stiffness_sweep
from carom.paper.exhibit import Effort, Finding, Made, Progress, Table, exhibit
from carom.paper.exhibits.collision import NORMALS, collide, flat, headings
from carom.plots import style
from carom.plots.contact_velocities import Drawing
from carom.typing import FloatArray

NUM = 51
"""Number of runs of a sweep, as in the paper."""
COLORS = "cividis"
"""Made for all kinds of colour vision [Nunez, Anderton and Renslow, 2018]."""
MARKS: style.Marks = {"s": 42, "edgecolors": "black", "linewidths": 0.6, "zorder": 6.0}


@exhibit(
    "stiffness-sweep",
    "Figure 12, top (fig:block_sensitivity)",
    "Compliant blocks: the ratio of stiffness varied from 1e-5 to 1e5",
    30.0,
    quickly=6.0,
)
def stiffness(effort: Effort, progress: Progress) -> Made:
    """Vary the ratio of stiffness."""
    exact = collide("rocking-block").exact
    sweep = stiffness_sweep(collide("rocking-block").scene, effort.runs(NUM), progress=progress)
    normal, distances = _judge(sweep, exact)
    reach = _reach(normal, exact)
    findings = (
        Finding(
            "every compliant outcome lies within the range of the set",
            bool(normal.max() <= exact.contact_bounds()[:, 0, 1].max()),
            f"normal velocities up to {normal.max():.6f} m/s, the set's up to "
            f"{exact.contact_bounds()[0, 0, 1]:.6f} m/s",
        ),
        Finding(
            "and on the set itself, but for what the compliance leaves",
            bool(distances.max() < 1e-5),
            f"largest distance {distances.max():.1e}: an impact counts as over while corners "
            "still approach with up to 1e-9 m/s, and the block turns a little while it lasts",
        ),
        Finding(
            "together they nearly reach its ends",
            reach > 0.95,
            f"they reach {100 * reach:.2f} % of each range; the widest hole between two of "
            f"{len(normal)} runs is {100 * _hole(normal):.0f} % of it",
        ),
    )
    remarks = (
        "Agrees: how the two corners share the impulse is decided by a ratio of stiffness that "
        "nobody knows, and every point of the set is some ratio's outcome."
    )
    return _made(sweep, exact, "stiffness ratio k_A / k_B", remarks, findings, logarithmic=True)


@exhibit(
    "angle-sweep",
    "Figure 12, bottom (fig:block_sensitivity)",
    "Compliant blocks: the angle at landing varied by 0.01 degrees",
    30.0,
    quickly=6.0,
)
def angle(effort: Effort, progress: Progress) -> Made:
    """Vary the angle at which the block lands."""
    exact = collide("rocking-block").exact
    sweep = angle_sweep(collide("rocking-block").scene, effort.runs(NUM), progress=progress)
    normal, _ = _judge(sweep, exact)
    reach, most = _reach(normal, exact), float(exact.contact_bounds()[0, 0, 1])
    share = float(sweep.shares.max())
    findings = (
        Finding(
            "the outcomes reach the ends of the set",
            reach > 0.95,
            f"they reach {100 * reach:.2f} % of each range; the widest hole between two of "
            f"{len(normal)} runs is {100 * _hole(normal):.0f} % of it",
        ),
        Finding(
            "the largest is slightly larger than the set's",
            bool(normal.max() > most),
            f"{normal.max():.6f} m/s against {most:.6f} m/s, {normal.max() / most - 1:+.1e} of it",
        ),
        Finding(
            "at the largest angle 99.9992 % of the first corner's impulse come before the second",
            abs(share - 0.999992) < 2e-6,
            f"{100 * share:.5f} %",
        ),
    )
    remarks = (
        "Agrees. Tilted by a hundredth of a degree, the block lands nearly in sequence. The set "
        "is that of the flat block; a tilted block's own set is a little larger, which is the "
        "excess that the paper notes."
    )
    return _made(sweep, exact, "angle [deg]", remarks, findings, logarithmic=False)


def _judge(sweep: CompliantSweep, exact: PolyhedralSet) -> tuple[FloatArray, FloatArray]:
    """Return the normal velocities (n, 2) of outcomes, and their distances (n,) from the set."""
    normal = exact.problem.contact_velocity(sweep.v_post)[..., 0]
    return normal, exact.distance(sweep.v_post)


def _reach(normal: FloatArray, exact: PolyhedralSet) -> float:
    """Return how much of each range of normal velocity is reached, the lesser of the two."""
    return float((normal.max(axis=0) / exact.contact_bounds()[:, 0, 1]).min())


def _hole(normal: FloatArray) -> float:
    """Return the widest hole between neighbours, as a share of the range, of either corner."""
    holes = []
    for lifts in normal.T:
        ordered = np.sort(lifts)
        holes.append(float(np.diff(ordered).max() / ordered[-1]))
    return max(holes)


def _made(
    sweep: CompliantSweep,
    exact: PolyhedralSet,
    label: str,
    remarks: str,
    findings: tuple[Finding, ...],
    logarithmic: bool,
) -> Made:
    figure = Figure(figsize=(7.0, 5.2), layout="constrained")
    draw(figure.add_subplot(), sweep, exact, label, logarithmic=logarithmic)
    v_c = flat(exact.problem.contact_velocity(sweep.v_post))
    numbers = zip(sweep.values.tolist(), sweep.shares.tolist(), v_c, strict=True)
    columns = (
        label,
        "share of the first corner's impulse before the second touches",
        *headings(exact.problem),
    )
    table = Table(columns, [[value, share, *row] for value, share, row in numbers])
    return Made(remarks, {"sweep": figure}, {"outcomes": table}, findings)


def draw(
    ax: Axes, sweep: CompliantSweep, exact: PolyhedralSet, label: str, *, logarithmic: bool
) -> None:
    """Draw the normal velocities that compliant impacts end with, over the set of rigid ones.

    Colours show the number that was varied, by its logarithm if it spans many decades.
    """
    # What comes before the impact lies far off, and would shrink what is to be seen.
    Drawing(None, exact).draw(ax, *NORMALS, zoom=True)
    ends = exact.problem.contact_velocity(sweep.v_post)[..., 0]
    low, high = float(sweep.values.min()), float(sweep.values.max())
    norm = LogNorm(low, high) if logarithmic else Normalize(low, high)
    points = ax.scatter(
        ends[:, 0], ends[:, 1], c=sweep.values, cmap=COLORS, norm=norm, label="compliant", **MARKS
    )
    ax.figure.colorbar(points, ax=ax, label=label)
    room = 0.15 * float(ends.max())
    ax.set_xlim(-room, float(ends[:, 0].max()) + room)
    ax.set_ylim(-room, float(ends[:, 1].max()) + room)
    ax.legend(frameon=False, loc="upper right")
