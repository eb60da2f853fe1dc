"""Where an impact takes the velocities of its contacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Polygon

from carom.errors import InvalidProblem
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.sampled import SampledSet
from carom.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.outcomes.outcome_set import OutcomeSet
    from carom.problem import ImpactProblem
    from carom.typing import FloatArray, IntArray

Coordinate = tuple[str, int]
"""A contact's name, and 0 for its normal velocity, 1 (in space also 2) for a tangential one."""

BEFORE = "before the impact"
FEW = 20
GRID = 1500
# So many samples are drawn over an exact set, which more of them would hide.
OVER_EXACT = 4000
NOISE = 1e-12
# A piece that is smaller than this share of the largest velocity is a point.
FLAT = 1e-9
# Outcomes that take a smaller share of a view than this are drawn once more, larger.
SMALL = 0.12


def plot_outcomes(
    outcomes: OutcomeSet | None,
    ax: Axes,
    *,
    exact: PolyhedralSet | None = None,
    simultaneous: SampledSet | None = None,
    sequential: SampledSet | None = None,
    x: Coordinate | None = None,
    y: Coordinate | None = None,
    num_paths: int = 1000,
    zoom: bool = False,
) -> Axes:
    """Draw a set of outcomes, the ways there, and what classical laws say instead.

    Args:
        outcomes: The set. Samples are dark points, with light lines through the velocities on the
            way; an exact set is drawn as `exact` is, and an outer one with its samples. None if
            there is none, but another set below.
        ax: Where to draw; velocities are in [m/s].
        exact: The set on the same problem by `RouthExact`, as blue polygons below the points,
            of which there are then fewer.
        simultaneous: Outcomes of `AnitescuPotra` on the same problem.
        sequential: Outcomes of `Sequential` on the same problem.
        x: Contact velocity on the horizontal axis: a contact's name, and 0 for its normal
            velocity, 1 (in space also 2) for a tangential one. Default: the first contact's normal
            velocity, or the tangential one if there is one contact.
        y: The same for the vertical axis: the second contact's normal velocity, or the only one's.
        num_paths: Most paths to draw.
        zoom: Whether the view is that of the outcomes alone; the ways there reach into it.

    Returns:
        The same ax.

    Raises:
        InvalidProblem: No set was given or two exact ones, they are not of one impact, or there is
            no such coordinate.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> block = carom.scenes.load("rocking-block").problem
        >>> outcomes = carom.Routh(num_samples=100).resolve(block)
        >>> sequential = carom.Sequential().resolve(block)
        >>> ax = carom.plots.plot_outcomes(outcomes, Figure().subplots(), sequential=sequential)
        >>> ax.get_xlabel()
        'normal velocity of A [m/s]'
    """
    drawing = Drawing.prepare(outcomes, exact, simultaneous, sequential, num_paths)
    default = default_coordinates(drawing.problem)
    drawing.draw(ax, x or default[0], y or default[1], zoom=zoom)
    style.legend_below(ax)
    return ax


def default_coordinates(problem: ImpactProblem) -> tuple[Coordinate, Coordinate]:
    """Return the normal velocities of the first two contacts, or tangent and normal of one."""
    first = problem.contacts[0]
    if problem.num_contacts == 1:
        return (first, 1), (first, 0)
    return (first, 0), (problem.contacts[1], 0)


@dataclass(frozen=True, eq=False)
class Drawing:
    """The sets of one impact, ready to be drawn in any pair of coordinates."""

    problem: ImpactProblem
    outcomes: SampledSet | None
    exact: PolyhedralSet | None
    simultaneous: SampledSet | None
    sequential: SampledSet | None
    paths: list[FloatArray]

    @classmethod
    def prepare(
        cls,
        outcomes: OutcomeSet | None,
        exact: PolyhedralSet | None,
        simultaneous: SampledSet | None,
        sequential: SampledSet | None,
        num_paths: int,
    ) -> Drawing:
        """Choose paths, and refuse what cannot be drawn together."""
        sampled, polyhedral = _told_apart(outcomes, exact)
        given = (sampled, polyhedral, simultaneous, sequential)
        problems = [item.problem for item in given if item is not None]
        if not problems:
            raise InvalidProblem("outcomes: expected at least one set to draw, got none")
        for other in problems[1:]:
            if other.J.shape != problems[0].J.shape or other.contacts != problems[0].contacts:
                raise InvalidProblem(
                    f"outcomes: expected sets of one impact, got some with the contacts "
                    f"{', '.join(problems[0].contacts)} and some with {', '.join(other.contacts)}"
                )
        paths = [] if sampled is None else _paths(sampled, num_paths)
        return cls(problems[0], sampled, polyhedral, simultaneous, sequential, paths)

    def draw(self, ax: Axes, x: Coordinate, y: Coordinate, *, zoom: bool = False) -> None:
        """Draw all but a legend; with `zoom`, the view is that of the outcomes."""
        view = View(self.problem, x, y)
        way = [] if not self.paths else _draw_paths(ax, view, self.paths)
        ends = []
        if self.exact is not None:
            ends += _draw_exact(ax, view, self.exact)
        if self.outcomes is not None:
            most = None if self.exact is None else OVER_EXACT
            ends.append(_draw_set(ax, view, self.outcomes, most))
        if not zoom:
            # Marks are drawn beyond the ax as well, and this one may lie far off.
            before = view.points(self.problem.v_pre)
            _plot(ax, before, style.BEFORE, BEFORE)
            way.append(before)
        if self.sequential is not None:
            ends.append(_draw_sequential(ax, view, self.sequential))
        if self.simultaneous is not None:
            ends.append(_draw_simultaneous(ax, view, self.simultaneous))
        _frame(ax, view, np.concatenate(ends if zoom else ends + way))

    def is_small(self, x: Coordinate, y: Coordinate) -> bool:
        """Tell whether outcomes, if they differ, are hard to see beside the ways there."""
        view = View(self.problem, x, y)
        sets = (self.outcomes, self.exact, self.sequential, self.simultaneous)
        ends = np.concatenate([view.points(one.v_post) for one in sets if one is not None])
        way = [view.points(path) for path in [self.problem.v_pre, *self.paths]]
        everything = np.concatenate([ends, *way])
        share = np.ptp(ends, axis=0).max() / (np.ptp(everything, axis=0).max() or 1.0)
        return bool(FLAT < share < SMALL)


class View:
    """Two of the contact velocities of a problem."""

    def __init__(self, problem: ImpactProblem, x: Coordinate, y: Coordinate) -> None:
        self.problem = problem
        self.columns = [self._column(coordinate) for coordinate in (x, y)]
        self.labels = [self._label(coordinate) for coordinate in (x, y)]
        self.unit = float(problem.space.velocity_unit.max())

    def points(self, v: FloatArray) -> FloatArray:
        """Return the coordinates (n, 2) of velocities (n, nv) or (nv,), free of rounding noise."""
        return self._without_noise(np.atleast_2d(v) @ self.problem.J[self.columns].T)

    def outlines(self, exact: PolyhedralSet) -> list[FloatArray]:
        """Return the corners (k, 2) of every piece, in order: a polygon, a segment or a point."""
        outlines = exact.project(self.problem.J[self.columns])
        return [self._without_noise(_merged(each, FLAT * self.unit)) for each in outlines]

    def _without_noise(self, points: FloatArray) -> FloatArray:
        return np.where(np.abs(points) < NOISE * self.unit, 0.0, points)

    def _column(self, coordinate: Coordinate) -> int:
        name, component = coordinate
        contacts, width = self.problem.contacts, 1 + self.problem.num_tangents
        if name not in contacts or component not in range(width):
            raise InvalidProblem(
                f"coordinate: expected one of {', '.join(contacts)} with a number from 0 (normal) "
                f"to {width - 1}, got {coordinate!r}"
            )
        return contacts.index(name) * width + component

    def _label(self, coordinate: Coordinate) -> str:
        name, component = coordinate
        if component == 0:
            return f"normal velocity of {name} [m/s]"
        number = "" if self.problem.num_tangents == 1 else f" {component}"
        return f"tangential velocity{number} of {name} [m/s]"


def thin(points: FloatArray, grid: int = GRID) -> FloatArray:
    """Keep one of the points (n, 2) in each cell of a grid that is finer than what eyes see.

    Points with the least and the largest coordinates are kept.
    """
    if len(points) <= grid:
        return points
    low = points.min(axis=0)
    span = np.maximum(points.max(axis=0) - low, np.finfo(float).tiny)
    cells = np.floor((points - low) / span * grid).astype(np.int64)
    _, kept = np.unique(cells @ np.array([grid + 1, 1]), return_index=True)
    extremes = np.concatenate([points.argmin(axis=0), points.argmax(axis=0)])
    return points[np.union1d(kept, extremes)]


def _told_apart(
    outcomes: OutcomeSet | None, exact: PolyhedralSet | None
) -> tuple[SampledSet | None, PolyhedralSet | None]:
    """Return samples and polytopes; an outer set brings its own samples."""
    if isinstance(outcomes, PolyhedralSet):
        if exact is not None:
            raise InvalidProblem("exact: expected none, since outcomes is such a set itself")
        return outcomes.inner, outcomes
    if outcomes is not None and not isinstance(outcomes, SampledSet):
        kind = type(outcomes).__name__
        raise InvalidProblem(f"outcomes: expected samples or polytopes, got a {kind}")
    return outcomes, exact


def _merged(outline: FloatArray, tiny: float) -> FloatArray:
    """Return an outline (k, 2), or one point of it if there is no more to see."""
    return outline[:1] if np.ptp(outline, axis=0).max() < tiny else outline


def _paths(outcomes: SampledSet, num_paths: int) -> list[FloatArray]:
    """Return the velocities (steps + 1, nv) of some paths; none for a law that does not step."""
    if not outcomes.has_paths:
        return []
    return [outcomes.path(int(i)).v for i in _choose(outcomes, num_paths)]


def _choose(outcomes: SampledSet, count: int) -> IntArray:
    """Return indices of outcomes, with rare kinds of endings as often as common ones."""
    _, slides, lifts = outcomes.kinds()
    codes = (slides + 2 * lifts) @ 3 ** np.arange(slides.shape[1])
    order = np.argsort(codes, kind="stable")
    _, sizes = np.unique(codes, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[np.argsort(rank, kind="stable")][:count]


def _plot(ax: Axes, points: FloatArray, marks: style.Marks, label: str) -> None:
    ax.plot(points[:, 0], points[:, 1], label=label, **marks)


def _draw_paths(ax: Axes, view: View, paths: list[FloatArray]) -> list[FloatArray]:
    lines = [view.points(path) for path in paths]
    ax.add_collection(LineCollection(lines, **style.PATHS))
    # A line that is wide enough to be seen in the legend.
    ax.plot([], [], color=style.LIGHT, linewidth=4, label="velocities on the way")
    return lines


def _draw_exact(ax: Axes, view: View, exact: PolyhedralSet) -> list[FloatArray]:
    outlines = view.outlines(exact)
    for outline in outlines:
        if len(outline) > 2:
            ax.add_patch(Polygon(outline, **style.POLYGON))
        elif len(outline) == 2:
            _plot(ax, outline, style.SEGMENT, "")
        else:
            _plot(ax, outline, style.POINT, "")
    key = style.POINT | {"marker": "s"}
    ax.plot([], [], **key, label="outer set" if exact.is_outer else "exact set")
    return outlines


def _draw_set(ax: Axes, view: View, outcomes: SampledSet, most: int | None) -> FloatArray:
    v_post = outcomes.v_post if most is None else outcomes.v_post[_choose(outcomes, most)]
    points = thin(view.points(v_post))
    large = style.SET | {"markersize": 7}
    _plot(ax, points, large if len(points) <= FEW else style.SET, "")
    shown = f"{len(v_post):,} of " if len(v_post) < len(outcomes) else ""
    label = f"{shown}{len(outcomes):,} outcome{'s' if len(outcomes) > 1 else ''}"
    ax.plot([], [], **large, label=label)
    return points


def _draw_simultaneous(ax: Axes, view: View, simultaneous: SampledSet) -> FloatArray:
    points = view.points(simultaneous.v_post)
    count = "" if len(points) == 1 else f", {len(points)} outcomes"
    _plot(ax, points, style.SIMULTANEOUS, f"simultaneous{count}")
    return points


def _draw_sequential(ax: Axes, view: View, sequential: SampledSet) -> FloatArray:
    """Draw up to two sequences in the colour of the contact that goes first, more in one."""
    points = view.points(sequential.v_post)
    labels = sequential.labels or ()
    if len(points) == len(labels) <= 2:
        for point, label in zip(points, labels, strict=True):
            leads = label.split(" → ")[0] == view.problem.contacts[0]
            marks = style.FIRST if leads else style.SECOND
            _plot(ax, point[None, :], marks, f"sequential, {label}")
    else:
        _plot(ax, points, style.FIRST, f"sequential, {len(points)} sequences")
    return points


def _frame(ax: Axes, view: View, points: FloatArray) -> None:
    """Set labels and limits, and mark zero, where a contact neither approaches nor parts."""
    ax.axhline(0.0, **style.ZERO)
    ax.axvline(0.0, **style.ZERO)
    ax.set_xlabel(view.labels[0])
    ax.set_ylabel(view.labels[1])
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    largest = float(span.max()) or view.unit
    if largest < 3.0 * span.min():
        span = np.full(2, largest)
    # A coordinate that does not change gets an axis that people can read.
    span = np.where(span > 1e-9 * view.unit, span, 0.5 * largest)
    start, end = 0.5 * (low + high) - 0.56 * span, 0.5 * (low + high) + 0.56 * span
    ax.set_xlim(start[0], end[0])
    ax.set_ylim(start[1], end[1])
    ax.set_box_aspect(1.0)
    ax.locator_params(nbins=6)
