"""Where an impact takes the velocities of its contacts and bodies."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Polygon

from carom.errors import CaromError, InvalidOption
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.points import PointSet
from carom.plots import style
from carom.systems.names import Name, names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.problem import ImpactProblem
    from carom.systems.system import System
    from carom.typing import FloatArray, IntArray

Coordinate = tuple[str, int] | int
"""A contact's name, and 0 for its normal velocity, 1 (in space also 2) for a tangential one; or the
index of a velocity of the problem."""

FEW = 20
GRID = 1500
# Number of samples that are drawn over an exact set, which more of them would hide.
OVER_EXACT = 4000
NOISE = 1e-12
# A polytope that is smaller than this share of the largest velocity is a point.
FLAT = 1e-9
# Outcomes that take a smaller share of a view than this are drawn once more, larger.
SMALL = 0.12


def plot_outcomes(
    outcomes: OutcomeSet | None,
    ax: Axes,
    *,
    exact: OutcomeSet | None = None,
    simultaneous: OutcomeSet | None = None,
    sequential: OutcomeSet | None = None,
    x: Coordinate | None = None,
    y: Coordinate | None = None,
    system: System | None = None,
    num_paths: int = 1000,
    zoom: bool = False,
) -> Axes:
    """Draw a set of outcomes, paths to them, and the outcomes of classical laws.

    Args:
        outcomes: Set to draw. Samples are dark points, with light lines through the velocities on
            the way; polytopes are blue areas. None if only sets below are drawn.
        ax: Where to draw; contact velocities are in [m/s].
        exact: Set of `RouthExact` on the same problem, drawn below the points, of which there are
            then fewer.
        simultaneous: Outcomes of `AnitescuPotra` on the same problem.
        sequential: Outcomes of `Sequential` on the same problem.
        x: Velocity on the horizontal axis: a contact's name with 0 for its normal velocity or 1 (in
            space also 2) for a tangential one, or the index of a body velocity, such as a rotation
            rate. Default: the first contact's normal velocity, or the tangential one if there is
            one contact.
        y: The same for the vertical axis. Default: the second contact's normal velocity, or the
            only one's.
        system: System of the impact, which names its body velocities.
        num_paths: Maximum number of paths.
        zoom: Whether the view is that of the outcomes alone; the paths reach into it.

    Examples:
        >>> import carom
        >>> from matplotlib.figure import Figure
        >>> block = carom.scenes.load("rocking-block").problem
        >>> outcomes = carom.Routh(num_samples=100).resolve(block)
        >>> carom.plots.plot_outcomes(outcomes, Figure().subplots()).get_xlabel()
        'normal velocity of A [m/s]'
    """
    drawing = Drawing(outcomes, exact, simultaneous, sequential, num_paths, system)
    default = default_coordinates(drawing.problem)
    drawing.draw(ax, default[0] if x is None else x, default[1] if y is None else y, zoom=zoom)
    style.legend_below(ax)
    return ax


def default_coordinates(problem: ImpactProblem) -> tuple[Coordinate, Coordinate]:
    """Return the normal velocities of the first two contacts, or tangent and normal of one."""
    first = problem.contacts[0]
    if problem.num_contacts == 1:
        return (first, 1), (first, 0)
    return (first, 0), (problem.contacts[1], 0)


@dataclass(eq=False)
class Drawing:
    """The sets of one impact, ready to be drawn in any pair of coordinates."""

    outcomes: OutcomeSet | None
    exact: OutcomeSet | None = None
    simultaneous: OutcomeSet | None = None
    sequential: OutcomeSet | None = None
    num_paths: int = 0
    system: System | None = None

    def __post_init__(self) -> None:
        given = (self.outcomes, self.exact, self.simultaneous, self.sequential)
        self.sets = [each for each in given if each is not None]
        if not self.sets:
            raise InvalidOption("outcomes: expected at least one set to draw, got none")
        for each in self.sets:
            if not isinstance(each, OutcomeSet):
                raise InvalidOption(f"outcomes: expected sets, got a {type(each).__name__}")
        self.problem = self.sets[0].problem
        for other in (each.problem for each in self.sets[1:]):
            if other.J.shape != self.problem.J.shape or other.contacts != self.problem.contacts:
                raise InvalidOption(
                    f"outcomes: expected sets of one impact, got some with the contacts "
                    f"{', '.join(self.problem.contacts)} and some with {', '.join(other.contacts)}"
                )
        first = [each for each in (self.exact, self.outcomes) if each is not None]
        self.areas = [each for each in first if not isinstance(each, PointSet)]
        # An outer set brings its own samples.
        found = [self.outcomes, *(getattr(each, "inner", None) for each in self.areas)]
        self.samples = next((each for each in found if isinstance(each, PointSet)), None)
        self.names = names(self.system, self.problem.num_velocities, "v")
        if len(self.names) != self.problem.num_velocities:
            raise InvalidOption("system: expected the system of the impact, got another one")
        self.paths: list[FloatArray] = []
        # Where the law is not known, there are none.
        with suppress(CaromError):
            if self.samples is not None:
                chosen = self.samples.v_post[_choose(self.samples, self.num_paths)]
                self.paths = [self.samples.path_to(v).v for v in chosen]

    def draw(self, ax: Axes, x: Coordinate, y: Coordinate, *, zoom: bool = False) -> None:
        """Draw all but a legend; with `zoom`, the view is that of the outcomes."""
        view = View(self.problem, self.names, x, y)
        way = [view.points(path) for path in self.paths]
        if way:
            ax.add_collection(LineCollection(way, **style.PATHS))
            # A line that is wide enough to be seen in the legend.
            ax.plot([], [], color=style.LIGHT, linewidth=4, label="velocities on the way")
        ends = [outline for area in self.areas for outline in _draw_area(ax, view, area)]
        if self.samples is not None:
            ends.append(_draw_samples(ax, view, self.samples, OVER_EXACT if self.areas else None))
        if not zoom:
            # Marks are drawn beyond the ax as well, and this one may lie far off.
            before = view.points(self.problem.v_pre)
            _plot(ax, before, style.BEFORE, "before the impact")
            way.append(before)
        for points, marks, label in self._classical():
            ends.append(view.points(points))
            _plot(ax, ends[-1], marks, label)
        _frame(ax, view, np.concatenate(ends if zoom else ends + way))

    def draw_velocities(self, ax: Axes) -> None:
        """Draw the range of each body velocity, one row each."""
        rows = np.arange(self.problem.num_velocities)
        for each in [*self.areas, *([] if self.samples is None else [self.samples])]:
            v, is_area = each.v_post, each is not self.samples
            if is_area or len(v) > FEW:
                marks = style.SEGMENT if is_area else style.SAMPLED_BAR
                ax.plot([v.min(axis=0), v.max(axis=0)], [rows, rows], **marks)
            else:
                ax.plot(v, np.broadcast_to(rows, v.shape), **style.SET | {"markersize": 7})
        ax.plot(self.problem.v_pre, rows, **style.BEFORE)
        for points, marks, _ in self._classical():
            ax.plot(points, np.broadcast_to(rows, points.shape), **marks)
        ax.axvline(0.0, **style.ZERO)
        ax.set_yticks(rows, [style.literal(name.word) for name in self.names])
        label = f"body velocities [{style.units(self.names) or 'm/s, rad/s'}]"
        ax.set(xlabel=label, ylim=(len(rows) - 0.5, -0.5), box_aspect=1.0)

    def _classical(self) -> list[tuple[FloatArray, style.Marks, str]]:
        """Return velocities (n, nv), marks and label of each classical law."""
        found = []
        if self.sequential is not None:
            v, labels = self.sequential.v_post, getattr(self.sequential, "labels", None) or ()
            if len(v) == len(labels) <= 2:
                looks = zip(v[:, None], (style.FIRST, style.SECOND), labels, strict=False)
                found += [(a, b, style.literal(f"sequential, {c}")) for a, b, c in looks]
            else:
                found.append((v, style.FIRST, f"sequential, {len(v)} sequences"))
        if self.simultaneous is not None:
            v = self.simultaneous.v_post
            count = "" if len(v) == 1 else f", {len(v)} outcomes"
            found.append((v, style.SIMULTANEOUS, f"simultaneous{count}"))
        return found

    def is_small(self, x: Coordinate, y: Coordinate) -> bool:
        """Return whether outcomes, if they differ, are hard to see beside the paths."""
        view = View(self.problem, self.names, x, y)
        ends = np.vstack([view.points(each.v_post) for each in self.sets])
        way = [view.points(path) for path in [self.problem.v_pre, *self.paths]]
        all_of_it = np.ptp(np.vstack([ends, *way]), axis=0).max()
        return bool(FLAT < np.ptp(ends, axis=0).max() / (all_of_it or 1.0) < SMALL)


class View:
    """Two velocities of a problem, of contacts or of bodies: rows (2, nv) and their labels."""

    def __init__(self, problem: ImpactProblem, found: list[Name], *both: Coordinate) -> None:
        rows, self.labels = zip(*(_coordinate(problem, found, each) for each in both), strict=True)
        self.rows = np.array(rows)
        self.unit = float(problem.space.velocity_unit.max())

    def points(self, v: FloatArray) -> FloatArray:
        """Return the coordinates (n, 2) of velocities (n, nv) or (nv,), free of rounding noise."""
        return self.without_noise(np.atleast_2d(v) @ self.rows.T)

    def without_noise(self, points: FloatArray) -> FloatArray:
        """Return points whose rounding errors about zero are zero."""
        return np.where(np.abs(points) < NOISE * self.unit, 0.0, points)


def _coordinate(
    problem: ImpactProblem, found: list[Name], coordinate: Coordinate
) -> tuple[FloatArray, str]:
    """Return the row (nv,) of a velocity and the label of its axis."""
    contacts, width = problem.contacts, 1 + problem.num_tangents
    if isinstance(coordinate, int) and coordinate in range(len(found)):
        word, unit = found[coordinate]
        row = np.eye(len(found))[coordinate]
        return row, style.literal(f"{word} [{unit or 'm/s or rad/s'}]")
    if isinstance(coordinate, tuple) and len(coordinate) == 2:
        name, component = coordinate
        if name in contacts and component in range(width):
            number = f" {component}" if problem.num_tangents > 1 else ""
            what = f"tangential velocity{number}" if component else "normal velocity"
            row = problem.J[contacts.index(name) * width + component]
            return row, style.of_contact(what, name)
    raise InvalidOption(
        f"coordinate: expected one of {', '.join(contacts)} with a number from 0 (normal) to "
        f"{width - 1}, or the index of a velocity from 0 to {len(found) - 1}, got {coordinate!r}"
    )


def _choose(samples: PointSet, count: int) -> IntArray:
    """Return indices of outcomes, with rare kinds of endings as often as common ones."""
    _, slides, lifts = samples.contact_states
    codes = (slides + 2 * lifts) @ 3 ** np.arange(slides.shape[1])
    order = np.argsort(codes, kind="stable")
    _, sizes = np.unique(codes, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[np.argsort(rank, kind="stable")][:count]


def _plot(ax: Axes, points: FloatArray, marks: style.Marks, label: str) -> None:
    ax.plot(points[:, 0], points[:, 1], label=label, **marks)


def _draw_area(ax: Axes, view: View, area: OutcomeSet) -> list[FloatArray]:
    """Draw polytopes; return their outlines."""
    found = area.project(view.rows).polytopes
    flat = [np.ptp(each, axis=0).max() < FLAT * view.unit for each in found]
    pairs = zip(found, flat, strict=True)
    outlines = [view.without_noise(each[:1] if is_point else each) for each, is_point in pairs]
    for outline in outlines:
        if len(outline) > 2:
            ax.add_patch(Polygon(outline, **style.POLYGON))
        else:
            _plot(ax, outline, style.SEGMENT if len(outline) == 2 else style.POINT, "")
    label = "exact set" if area.is_complete else "outer set"
    ax.plot([], [], label=label, **style.POINT | {"marker": "s"})
    return outlines


def _draw_samples(ax: Axes, view: View, samples: PointSet, most: int | None) -> FloatArray:
    """Draw outcomes, up to a maximum number, and return where they are."""
    shown = samples.v_post if most is None else samples.v_post[_choose(samples, most)]
    points = view.points(shown)
    if len(points) > GRID:
        # One point per cell of a grid that is finer than eyes see.
        cell = (float(np.ptp(points, axis=0).max()) or 1.0) / GRID
        points = points[np.unique(np.round(points / cell), axis=0, return_index=True)[1]]
    large = style.SET | {"markersize": 7}
    _plot(ax, points, large if len(points) <= FEW else style.SET, "")
    total = len(samples)
    some = f"{len(shown):,} of " if len(shown) < total else ""
    ax.plot([], [], **large, label=f"{some}{total:,} outcome{'s' if total > 1 else ''}")
    return points


def _frame(ax: Axes, view: View, points: FloatArray) -> None:
    """Set labels and limits, and mark zero, where a contact neither approaches nor parts."""
    ax.axhline(0.0, **style.ZERO)
    ax.axvline(0.0, **style.ZERO)
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    largest = float(span.max()) or view.unit
    if largest < 3.0 * span.min():
        span = np.full(2, largest)
    # A coordinate that does not change gets an axis that people can read.
    span = np.where(span > 1e-9 * view.unit, span, 0.5 * largest)
    xlim, ylim = 0.5 * (low + high)[:, None] + 0.56 * np.outer(span, [-1.0, 1.0])
    ax.set(xlabel=view.labels[0], ylabel=view.labels[1], xlim=xlim, ylim=ylim, box_aspect=1.0)
    ax.locator_params(nbins=6)
