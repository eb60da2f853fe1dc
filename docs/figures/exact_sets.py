"""Draw the pictures of docs/exact-sets.md.

Run it as `.venv/bin/python docs/figures/exact_sets.py`; the pictures appear in docs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

import carom
from carom.plots import plot_outcomes, style
from carom.reach.flow import Flow, vertices
from carom.reach.inclusion import Cell, rationalize
from carom.reach.search import Search

DOCS = Path(__file__).parents[1]
LOW, HIGH = -0.5, 0.25
A_COLOUR, B_COLOUR = style.VERMILLION, style.GREEN


class Block:
    """The rocking block in the plane of its normal velocities; its corners never slide."""

    def __init__(self) -> None:
        problem = carom.scenes.load("rocking-block").problem
        self.inclusion = rationalize(problem)
        self.search = Search(Flow(self.inclusion))
        self.search.run(10.0, 1000)
        assert self.search.is_complete
        self.start = self.flat(self.inclusion.y_start)
        self.rate_a = self.rate((-1, 0, 1, 0))
        self.rate_b = self.rate((1, 0, -1, 0))

    def flat(self, y: list) -> np.ndarray:
        """Return the normal velocities (2,) of A and B."""
        rows = np.array(self.inclusion.rows, dtype=float)[::2]
        return rows @ np.array(y, dtype=float)

    def rate(self, cell: Cell) -> np.ndarray:
        """Return the direction (2,) in which the velocity moves where one contact can act."""
        (ray,) = self.search.flow.rays(cell)
        direction = self.flat(ray.y)
        return direction / np.linalg.norm(direction)

    def reached(self, *signs: tuple[int, int]) -> list[np.ndarray]:
        """Return the corners (k, 2) of what is reached in cells with these normal signs."""
        return [
            around(np.array([self.flat(y) for y in vertices(node.reached)]))
            for cell, nodes in self.search.known.items()
            if self.inclusion.normals(cell) in signs
            for node in nodes
        ]


def around(points: np.ndarray) -> np.ndarray:
    """Return corners (k, 2) in the order in which a pen goes around them."""
    angles = np.arctan2(*(points - points.mean(axis=0)).T[::-1])
    return points[np.argsort(angles)]


def frame(ax: Axes) -> None:
    """Draw the four cells."""
    ax.axhline(0.0, color=style.DARK, linewidth=0.8, zorder=1.5)
    ax.axvline(0.0, color=style.DARK, linewidth=0.8, zorder=1.5)
    ax.set_xlim(LOW, HIGH)
    ax.set_ylim(LOW, HIGH)
    ax.set_aspect("equal")
    ax.locator_params(nbins=5)
    ax.set_xlabel("normal velocity of A [m/s]")
    ax.set_ylabel("normal velocity of B [m/s]")


def fill(ax: Axes, corners: np.ndarray, colour: str = style.LIGHT) -> None:
    """Shade what is reached on the way."""
    if len(corners) > 2:
        ax.add_patch(Polygon(corners, facecolor=colour, edgecolor="none", zorder=1.0))


def thick(ax: Axes, corners: np.ndarray, colour: str) -> None:
    """Draw a segment."""
    ax.plot(*corners.T, color=colour, linewidth=5, solid_capstyle="round", zorder=3.0)


def arrow(ax: Axes, start: np.ndarray, move: np.ndarray, colour: str) -> None:
    """Draw how the velocity moves."""
    style_of = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=start + move, xytext=start, arrowprops=style_of, zorder=4.0)


def before(ax: Axes, block: Block) -> None:
    """Mark the velocity before the impact."""
    ax.plot(*block.start, **style.BEFORE)


def cells_and_rates() -> Figure:
    """Draw cells, rates, what is reached, and how it ends."""
    block = Block()
    figure = Figure(figsize=(6.4, 6.2), layout="constrained")
    ax = figure.add_subplot()
    frame(ax)
    everywhere = [(-1, -1), (0, -1), (1, -1), (-1, 0), (-1, 1)]
    for corners in block.reached(*everywhere):
        fill(ax, corners)
    for corners in block.reached((0, 0), (1, 0), (0, 1)):
        thick(ax, corners, style.BLUE)
    a, b = 0.1 * block.rate_a, 0.1 * block.rate_b
    for corner in ([-0.42, -0.16], [-0.16, -0.42]):
        both(ax, np.array(corner), a, b)
    both(ax, block.start, a, b)
    for corner in ([-0.42, 0.04], [-0.27, 0.04], [-0.12, 0.04]):
        arrow(ax, np.array(corner), a, A_COLOUR)
    for corner in ([0.06, -0.42], [0.06, -0.27], [0.06, -0.12]):
        arrow(ax, np.array(corner), b, B_COLOUR)
    before(ax, block)
    words(ax)
    return figure


def both(ax: Axes, start: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    """Draw the rates where both contacts can act: one, the other, and all between."""
    cone = np.array([start, start + a, start + b])
    ax.add_patch(Polygon(cone, facecolor=style.YELLOW, alpha=0.7, edgecolor="none", zorder=2.0))
    arrow(ax, start, a, A_COLOUR)
    arrow(ax, start, b, B_COLOUR)


def words(ax: Axes) -> None:
    """Name the cells and what is drawn."""
    text = {"fontsize": 9, "zorder": 5.0}
    ax.text(-0.485, 0.235, "A approaches, B lifts:\nonly A can act", va="top", **text)
    ax.text(0.01, -0.485, "A lifts, B approaches:\nonly B can act", va="bottom", **text)
    ax.text(-0.485, -0.015, "both approach:\nA, B, or both act", va="top", **text)
    ax.text(0.24, 0.235, "both lift:\nit is over", va="top", ha="right", **text)
    ax.text(-0.08, -0.1, "reached\non the way", ha="center", va="center", **text)
    ax.annotate(
        "how it can end",
        xy=(0.075, 0.005),
        xytext=(0.235, 0.045),
        ha="right",
        color=style.BLUE,
        fontweight="bold",
        **text,
    )
    ax.annotate("before the impact", xy=(-0.42, -0.465), **text)
    handles = [
        ax.plot([], [], color=A_COLOUR, linewidth=1.8, label="A acts")[0],
        ax.plot([], [], color=B_COLOUR, linewidth=1.8, label="B acts")[0],
        ax.plot([], [], color=style.YELLOW, linewidth=7, label="both act")[0],
    ]
    ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3, frameon=False
    )


def search_at_work() -> Figure:
    """Draw the search: within a cell, its faces, the cells entered from there."""
    block = Block()
    figure = Figure(figsize=(10.5, 3.9), layout="constrained")
    axes = [figure.add_subplot(1, 3, i + 1) for i in range(3)]
    (first,) = block.reached((-1, -1))
    second = block.reached((1, -1), (-1, 1))
    ends = block.reached((1, 0), (0, 1), (0, 0))
    faces = [face(first, axis) for axis in (0, 1)]
    for ax, title in zip(
        axes,
        ("1  straight within the cell", "2  enter from its faces", "3  the list is empty"),
        strict=True,
    ):
        frame(ax)
        ax.set_title(title, fontsize=11)
        fill(ax, first, style.SKY if ax is axes[0] else style.LIGHT)
        before(ax, block)
    for corners in faces:
        thick(axes[0], corners, style.VERMILLION)
        thick(axes[1], corners, style.VERMILLION)
    for corners in second:
        fill(axes[1], corners, style.SKY)
        fill(axes[2], corners)
    for corners in ends:
        thick(axes[2], corners, style.BLUE)
    detour(axes[0], block)
    note = {"fontsize": 9, "zorder": 5.0}
    axes[0].text(0.02, -0.1, "face\nA = 0", va="center", color=style.VERMILLION, **note)
    axes[0].text(-0.1, 0.02, "face B = 0", ha="center", color=style.VERMILLION, **note)
    axes[1].text(0.07, -0.12, "B acts\nalone", va="center", **note)
    axes[1].text(-0.13, 0.11, "A acts\nalone", ha="center", **note)
    axes[2].text(0.02, 0.05, "the set", color=style.BLUE, fontweight="bold", **note)
    return figure


def face(corners: np.ndarray, axis: int) -> np.ndarray:
    """Return the two corners on which one normal velocity is zero."""
    return corners[np.abs(corners[:, axis]) < 1e-12]


def detour(ax: Axes, block: Block) -> None:
    """Draw a motion with turns and the straight one that replaces it."""
    a, b = block.rate_a, block.rate_b
    moves = [0.12 * a, 0.1 * b, 0.06 * a, 0.12 * b, 0.05 * a]
    path = block.start + np.vstack([np.zeros(2), np.cumsum(moves, axis=0)])
    ax.plot(*path.T, color=style.DARK, linewidth=1.2, zorder=2.0)
    ax.plot(*path[[0, -1]].T, color=style.DARK, linewidth=1.2, linestyle="--", zorder=2.0)
    ax.text(-0.28, -0.12, "with turns", ha="right", fontsize=9)
    ax.text(-0.19, -0.33, "straight\n(dashed)", fontsize=9)


def walker() -> Figure:
    """Draw the exact set of the compass gait with samples over it."""
    problem = carom.scenes.load("compass-gait").problem
    figure = Figure(figsize=(6.0, 5.6), layout="constrained")
    plot_outcomes(
        carom.Routh().resolve(problem),
        figure.add_subplot(),
        exact=carom.RouthExact().resolve(problem),
        x=("B", 1),
        y=("B", 0),
        num_paths=0,
    )
    return figure


if __name__ == "__main__":
    for name, draw in (
        ("exact-cells", cells_and_rates),
        ("exact-search", search_at_work),
        ("exact-compass", walker),
    ):
        path = DOCS / f"{name}.png"
        draw().savefig(path, dpi=110)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
