"""Where velocities go in the paper's five impacts: its evolution plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from carom.laws.anitescu_potra import AnitescuPotra
from carom.laws.routh import Routh
from carom.laws.routh_exact import RouthExact
from carom.laws.sequential import Sequential
from carom.paper.exhibit import Effort, Progress, Table
from carom.plots.contact_velocities import Drawing
from carom.scenes import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from carom.outcomes.outcome_set import OutcomeSet
    from carom.outcomes.polyhedral import PolyhedralSet
    from carom.outcomes.sampled import SampledSet
    from carom.plots.contact_velocities import Coordinate
    from carom.problem import ImpactProblem
    from carom.scenes import Scene
    from carom.typing import FloatArray

COMPONENTS = ("normal", "tangential")
MOST_ROWS = 4000
"""So many samples are written as data; the others come back with the same seed."""
EXACT_UP_TO = 3
"""Contacts of which the exact set can be had."""


@dataclass(frozen=True, eq=False)
class Evolution:
    """All that is known about the impact of a scene.

    Attributes:
        scene: The scene.
        outcomes: As many samples as in the paper, with its step, by carom's own draws.
        papers: As many samples as in the paper, by its draws and by Lemke's solution of each step.
        exact: The exact set, where it can be had.
        simultaneous: Every solution of the simultaneous law.
        sequential: One contact after another, in every order.
    """

    scene: Scene
    outcomes: SampledSet
    papers: SampledSet
    exact: PolyhedralSet | None
    simultaneous: SampledSet
    sequential: SampledSet

    @classmethod
    def of(cls, name: str, effort: Effort, progress: Progress, **parameters: float) -> Evolution:
        """Resolve a scene's impact with every law."""
        scene = load(name, **parameters)
        problem = scene.problem
        count, step = effort.samples(scene.num_samples), scene.step_impulse
        small = problem.num_contacts <= EXACT_UP_TO
        outcomes = Routh(count, step, progress=progress).resolve(problem)
        papers = Routh(
            count, step, max_steps=scene.max_steps, draw="uniform", selection="lemke"
        ).resolve(problem)
        return cls(
            scene=scene,
            outcomes=outcomes,
            papers=papers,
            exact=RouthExact().resolve(problem) if small else None,
            simultaneous=AnitescuPotra().resolve(problem),
            sequential=Sequential().resolve(problem),
        )

    @property
    def problem(self) -> ImpactProblem:
        """Return the impact."""
        return self.outcomes.problem

    def figure(self, views: Sequence[tuple[Coordinate, Coordinate]]) -> Figure:
        """Draw pairs of contact velocities side by side, as the paper does."""
        columns = min(len(views), 3)
        rows = math.ceil(len(views) / columns)
        size = (5.2 * columns, 4.4 * rows + 0.8)
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.1))
        sets = (self.outcomes, self.exact, self.simultaneous, self.sequential)
        drawing = Drawing(*sets, num_paths=1000)
        for i, (x, y) in enumerate(views):
            drawing.draw(figure.add_subplot(rows, columns, i + 1), x, y)
        axes: list[Axes] = figure.axes
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        return figure

    def tables(self) -> dict[str, Table]:
        """Return the data of the figure, and how far each way of computing reaches."""
        tables = {
            "ranges": self.ranges(),
            "samples": outcome_table(self.outcomes, MOST_ROWS),
            "paths": self.paths(),
            "simultaneous": outcome_table(self.simultaneous),
            "sequential": outcome_table(self.sequential),
        }
        if self.exact is not None:
            tables["exact"] = exact_table(self.exact)
        return tables

    def paths(self) -> Table:
        """Return velocities on the way of some samples."""
        rows = []
        for i in range(min(200, len(self.outcomes))):
            v_c = self.problem.contact_velocity(self.outcomes.path(i).v)
            rows += [[i, k, *values] for k, values in enumerate(flat(v_c))]
        return Table(("sample", "step", *headings(self.problem)), rows)

    def ranges(self) -> Table:
        """Return the least and the largest of each contact velocity, by each way of computing."""
        sets: dict[str, OutcomeSet] = {"paper's draws": self.papers, "carom's draws": self.outcomes}
        if self.exact is not None:
            sets["exact"] = self.exact
        columns = [f"{name}, {end} [m/s]" for name in sets for end in ("least", "largest")]
        bounds = [outcomes.contact_bounds() for outcomes in sets.values()]
        rows = [
            [name, component, *(float(value) for each in bounds for value in each[i, j])]
            for i, name in enumerate(self.problem.contacts)
            for j, component in enumerate(COMPONENTS)
        ]
        return Table(("contact", "velocity", *columns), rows, shown=True)


def headings(problem: ImpactProblem) -> tuple[str, ...]:
    """Return headings of contact velocities."""
    return tuple(f"{name} {part} [m/s]" for name in problem.contacts for part in COMPONENTS)


def flat(v_c: FloatArray) -> list[list[float]]:
    """Return contact velocities (n, m, 2) as rows (n, 2 m)."""
    return v_c.reshape(len(v_c), -1).tolist()


def outcome_table(outcomes: SampledSet, most: int | None = None) -> Table:
    """Return the contact velocities of outcomes, the first `most` of them."""
    rows = flat(outcomes.contact_velocities[:most])
    columns = headings(outcomes.problem)
    if outcomes.labels is None:
        return Table(columns, rows)
    labels = outcomes.labels[:most]
    return Table(("outcome", *columns), [[a, *row] for a, row in zip(labels, rows, strict=True)])


def exact_table(exact: PolyhedralSet) -> Table:
    """Return the vertices of the pieces of an exact set."""
    rows: list[list[object]] = []
    for number, piece in enumerate(exact.pieces, 1):
        corners = flat(exact.problem.contact_velocity(piece.vertices))
        rows += [[number, piece.kind, *row] for row in corners]
    return Table(("piece", "kind", *headings(exact.problem)), rows)
