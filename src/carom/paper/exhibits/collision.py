"""The impact of a scene by every law, posed and resolved once for all exhibits of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from carom.laws.anitescu_potra import AnitescuPotra
from carom.laws.routh import Routh
from carom.laws.routh_exact import RouthExact
from carom.laws.sequential import Sequential
from carom.outcomes.distances import sample_error
from carom.outcomes.finite import FiniteSet
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.points import PointSet
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.sampled import SampledSet
from carom.paper.exhibit import Effort, Finding, Made, Progress, Table
from carom.plots.contact_velocities import Coordinate, Drawing
from carom.problem import ImpactProblem
from carom.scenes import Scene, load
from carom.typing import FloatArray

View = tuple[Coordinate, Coordinate]
NORMALS: View = (("A", 0), ("B", 0))
COMPONENTS = ("normal", "tangential")
EXACT_UP_TO = 3
"""Number of contacts up to which the exact set is computed."""
SAME = 1e-9
"""Velocities that differ by less than this share of the impact's are the same."""
MOST_ROWS = 4000
"""Number of samples that are written as data; the others come back with the same seed."""


@dataclass(frozen=True, eq=False)
class Collision:
    """The impact of a scene, with the sets that no effort changes: every outcome of each law."""

    scene: Scene

    @cached_property
    def problem(self) -> ImpactProblem:
        return self.scene.problem

    @cached_property
    def simultaneous(self) -> FiniteSet:
        return AnitescuPotra().resolve(self.problem)

    @cached_property
    def sequential(self) -> FiniteSet:
        return Sequential().resolve(self.problem)

    @cached_property
    def exact(self) -> PolyhedralSet:
        return RouthExact().resolve(self.problem)

    @property
    def exact_if_few(self) -> PolyhedralSet | None:
        """Return the exact set where there are few contacts."""
        return self.exact if self.problem.num_contacts <= EXACT_UP_TO else None


@cache
def collide(name: str, mass: float | None = None) -> Collision:
    """Return the collision of a scene, always the same one."""
    return Collision(load(name) if mass is None else load(name, mass=mass))


@dataclass(frozen=True, eq=False)
class Evolution:
    """As many samples of a collision as in the paper, beside its exact set and the classical laws.

    `outcomes` are by carom's own draws; `papers` by its draws and Lemke's solution of each step.
    """

    collision: Collision
    outcomes: SampledSet
    papers: SampledSet

    @classmethod
    def of(cls, collision: Collision, effort: Effort, progress: Progress) -> Evolution:
        scene, problem = collision.scene, collision.problem
        count, step = effort.samples(scene.num_samples), scene.step_impulse
        own = Routh(count, step, progress=progress)
        papers = Routh(count, step, scene.max_steps, draw="uniform", selection="lemke")
        return cls(collision, own.resolve(problem), papers.resolve(problem))

    def figure(self, views: Sequence[View]) -> Figure:
        """Draw pairs of contact velocities side by side, as the paper does."""
        columns, rows = min(len(views), 3), math.ceil(len(views) / 3)
        size = (5.2 * columns, 4.4 * rows + 0.8)
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.1))
        known = self.collision
        classical = known.simultaneous, known.sequential
        drawing = Drawing(self.outcomes, known.exact_if_few, *classical, num_paths=1000)
        for i, (x, y) in enumerate(views):
            drawing.draw(figure.add_subplot(rows, columns, i + 1), x, y)
        legend = figure.axes[0].get_legend_handles_labels()
        figure.legend(*legend, loc="outside lower center", ncols=4, frameon=False)
        return figure

    def tables(self) -> dict[str, Table]:
        """Return the data of the figure, and how far each way of computing reaches."""
        problem, paths = self.collision.problem, []
        for i in range(min(200, len(self.outcomes))):
            v_c = flat(problem.contact_velocity(self.outcomes.path(i).v))
            paths += [[i, k, *values] for k, values in enumerate(v_c)]
        tables = {
            "ranges": self.ranges(),
            "samples": point_table(self.outcomes, MOST_ROWS),
            "paths": Table(("sample", "step", *headings(problem)), paths),
            "simultaneous": point_table(self.collision.simultaneous),
            "sequential": point_table(self.collision.sequential),
        }
        exact = self.collision.exact_if_few
        return tables if exact is None else tables | {"exact": exact_table(exact)}

    def ranges(self) -> Table:
        """Return the least and the largest of each contact velocity, by each way of computing."""
        sets: dict[str, OutcomeSet] = {"paper's draws": self.papers, "carom's draws": self.outcomes}
        if self.collision.exact_if_few is not None:
            sets["exact"] = self.collision.exact
        columns = [f"{name}, {end} [m/s]" for name in sets for end in ("least", "largest")]
        bounds = np.concatenate([one.contact_bounds() for one in sets.values()], axis=-1)
        rows = [
            [name, component, *bounds[i, j].tolist()]
            for i, name in enumerate(self.collision.problem.contacts)
            for j, component in enumerate(COMPONENTS)
        ]
        return Table(("contact", "velocity", *columns), rows, shown=True)

    def made(self, remarks: str, findings: tuple[Finding, ...], *views: View) -> Made:
        """Gather what the paper shows: of two contacts three plots, if not told otherwise."""
        views = views or (of_contact("A"), NORMALS, of_contact("B"))
        return Made(remarks, {"evolution": self.figure(views)}, self.tables(), findings)

    def holds_all(self, sentence: str) -> Finding:
        """Judge whether the outcomes of classical laws are in the exact set."""
        known = self.collision
        classical = np.vstack([known.simultaneous.v_post, known.sequential.v_post])
        farthest = float(known.exact.distance(classical).max())
        return Finding(
            sentence,
            farthest <= SAME * float(np.linalg.norm(known.problem.v_pre)),
            f"{len(classical)} outcomes of the simultaneous and sequential laws, all within "
            f"{farthest:.1e} of the exact set",
        )

    def beyond(self) -> str:
        """Return in words how far samples leave the exact set."""
        error = sample_error(self.outcomes, self.collision.exact)
        return f"none is farther from it than {error:.1e} m/s"

    def reached(self, samples: PointSet) -> str:
        """Return what share of the exact range of the first normal velocity samples reach."""
        most = self.collision.exact.contact_bounds()[0, 0, 1]
        return f"{100 * samples.contact_bounds()[0, 0, 1] / most:.1f} %"


def of_contact(name: str) -> View:
    """Return a contact's tangential and normal velocity."""
    return ((name, 1), (name, 0))


def headings(problem: ImpactProblem) -> tuple[str, ...]:
    """Return headings of contact velocities."""
    return tuple(f"{name} {part} [m/s]" for name in problem.contacts for part in COMPONENTS)


def flat(v_c: FloatArray) -> list[list[float]]:
    """Return contact velocities (n, m, 2) as rows (n, 2 m)."""
    return v_c.reshape(len(v_c), -1).tolist()


def point_table(outcomes: PointSet, most: int | None = None) -> Table:
    """Return the contact velocities of outcomes, the first `most` of them."""
    rows, columns = flat(outcomes.contact_velocities[:most]), headings(outcomes.problem)
    if not isinstance(outcomes, FiniteSet):
        return Table(columns, rows)
    named = zip(outcomes.labels[:most], rows, strict=True)
    return Table(("outcome", *columns), [[label, *row] for label, row in named])


def exact_table(exact: PolyhedralSet) -> Table:
    """Return the vertices of the polytopes of an exact set."""
    rows = [
        [number, polytope.kind, *row]
        for number, polytope in enumerate(exact.polytopes, 1)
        for row in flat(exact.problem.contact_velocity(polytope.vertices))
    ]
    return Table(("polytope", "kind", *headings(exact.problem)), rows)
