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


@exhibit("stiffness-sweep", "Figure 12, top (fig:block_sensitivity)", 30.0, quickly=6.0)
def stiffness(effort: Effort, progress: Progress) -> Made:
    """Compliant blocks: the ratio of stiffness varied from 1e-5 to 1e5."""
    exact = collide("rocking-block").exact
    sweep = stiffness_sweep(collide("rocking-block").scene, effort.runs(NUM), progress=progress)
    normal = exact.problem.contact_velocity(sweep.v_post)[..., 0]
    most, farthest = exact.contact_bounds()[:, 0, 1], exact.distance(sweep.v_post).max()
    findings = (
        Finding(
            "every compliant outcome lies within the range of the set",
            normal.max() <= most.max(),
            f"normal velocities up to {normal.max():.6f} m/s, the set's up to {most[0]:.6f} m/s",
        ),
        Finding(
            "and on the set itself, but for what the compliance leaves",
            farthest < 1e-5,
            f"largest distance {farthest:.1e}: an impact counts as over while corners "
            "still approach with up to 1e-9 m/s, and the block turns a little while it lasts",
        ),
        _reaches("together they nearly reach its ends", normal, most),
    )
    remarks = (
        "Agrees: how the two corners share the impulse is decided by a ratio of stiffness that "
        "nobody knows, and every point of the set is some ratio's outcome."
    )
    return _made(sweep, "stiffness ratio k_A / k_B", LogNorm, remarks, *findings)


@exhibit("angle-sweep", "Figure 12, bottom (fig:block_sensitivity)", 30.0, quickly=6.0)
def angle(effort: Effort, progress: Progress) -> Made:
    """Compliant blocks: the angle at landing varied by 0.01 degrees."""
    exact = collide("rocking-block").exact
    sweep = angle_sweep(collide("rocking-block").scene, effort.runs(NUM), progress=progress)
    normal = exact.problem.contact_velocity(sweep.v_post)[..., 0]
    most, share = exact.contact_bounds()[:, 0, 1], float(sweep.shares.max())
    findings = (
        _reaches("the outcomes reach the ends of the set", normal, most),
        Finding(
            "the largest is slightly larger than the set's",
            normal.max() > most[0],
            f"{normal.max():.6f} m/s against {most[0]:.6f} m/s, "
            f"{normal.max() / most[0] - 1:+.1e} of it",
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
    return _made(sweep, "angle [deg]", Normalize, remarks, *findings)


def _reaches(sentence: str, normal: FloatArray, most: FloatArray) -> Finding:
    """Judge how much of each range (2,) normal velocities (n, 2) reach, and their widest hole."""
    reach = (normal.max(axis=0) / most).min()
    hole = (np.diff(np.sort(normal, axis=0), axis=0).max(axis=0) / normal.max(axis=0)).max()
    return Finding(
        sentence,
        reach > 0.95,
        f"they reach {100 * reach:.2f} % of each range; the widest hole between two of "
        f"{len(normal)} runs is {100 * hole:.0f} % of it",
    )


def _made(
    sweep: CompliantSweep, label: str, scale: type[Normalize], remarks: str, *findings: Finding
) -> Made:
    exact = collide("rocking-block").exact
    figure = Figure(figsize=(7.0, 5.2), layout="constrained")
    plot_sweep(sweep, figure.add_subplot(), exact=exact, label=label, scale=scale)
    share = "share of the first corner's impulse before the second touches"
    v_c = flat(exact.problem.contact_velocity(sweep.v_post))
    rows = np.column_stack([sweep.values, sweep.shares, v_c]).tolist()
    table = Table((label, share, *headings(exact.problem)), rows)
    return Made(remarks, {"sweep": figure}, {"outcomes": table}, findings)


def plot_sweep(
    sweep: CompliantSweep,
    ax: Axes,
    *,
    exact: PolyhedralSet,
    label: str,
    scale: type[Normalize] = Normalize,
) -> Axes:
    """Plot the normal velocities after compliant impacts, over the set of rigid ones.

    Args:
        sweep: The impacts.
        ax: Where to draw; its figure gets a colour bar.
        exact: The set of the same impact with rigid contacts.
        label: What was varied, with its unit.
        scale: Scale of the colours, such as `matplotlib.colors.LogNorm`.
    """
    # What comes before the impact lies far off, and would shrink what is to be seen.
    Drawing(None, exact).draw(ax, *NORMALS, zoom=True)
    ends = exact.problem.contact_velocity(sweep.v_post)[..., 0]
    colors: style.Marks = {"c": sweep.values, "cmap": COLORS, "label": "compliant"}
    norm = scale(sweep.values.min(), sweep.values.max())
    points = ax.scatter(ends[:, 0], ends[:, 1], norm=norm, **colors, **MARKS)
    ax.figure.colorbar(points, ax=ax, label=label)
    room = 0.15 * float(ends.max())
    ax.set_xlim(-room, float(ends[:, 0].max()) + room)
    ax.set_ylim(-room, float(ends[:, 1].max()) + room)
    ax.legend(frameon=False, loc="upper right")
    return ax
