"""Union of polytopes: the exact set of outcomes, or an outer set that contains them all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from carom import checks
from carom.errors import CaromError, InvalidOption
from carom.kernels.tolerances import STICKING, VANISHING
from carom.outcomes.distances import farthest
from carom.outcomes.outcome_set import OutcomeSet, Projection, checked_rows
from carom.outcomes.path import ImpactPath, Origin
from carom.outcomes.polytope import Polytope
from carom.outcomes.sampled import SampledSet
from carom.outcomes.summary import describe_polyhedral, polyhedral_title
from carom.problem import ImpactProblem
from carom.typing import ArrayLike, FloatArray


@final
@dataclass(frozen=True, eq=False, repr=False)
class PolyhedralSet(OutcomeSet):
    """Post-impact velocities as a union of polytopes.

    Attributes:
        problem: The impact.
        law: Name of the law that computed the set.
        polytopes: The polytopes.
        kinds: What contacts do after the impact, one sentence per combination that occurs.
        is_complete: Whether this is exactly the set of outcomes. Otherwise it is an outer set,
            which contains all outcomes and possibly more.
        notes: Remarks on how the set was found, rounded and snapped to zero, one sentence each.
        num_polyhedra: Number of polyhedra that the search kept, intermediate ones included.
        inner: Samples inside an outer set, by exact motions.
        origin: Record of the search, from which paths to outcomes are computed.
        v_post: (n, nv) vertices of all polytopes; of an outer polytope with very many vertices,
            those at which contact velocities are extreme.

    Examples:
        A block lands flat with 1 m/s.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.RouthExact().resolve(block)
        >>> outcomes.kinds
        ('A lifts, B sticks', 'A sticks, B lifts', 'A sticks, B sticks')
        >>> fastest = outcomes.maximizer(block.J_n[0])
        >>> round(outcomes.support(block.J_n[0]), 9), fastest.round(3).tolist()
        (0.21, [0.21, 0.105, -0.21])
        >>> print(outcomes.path_to(fastest))
        1. A pushes 0.85 N s (compressing, sticking)
        2. B pushes 0.255 N s (compressing, sticking)
        then A lifts, B sticks
        >>> outcomes.contact_bounds()[:, 0, 1].round(9).tolist(), outcomes.outer_excess
        ([0.21, 0.21], None)
        >>> rest = carom.AnitescuPotra().resolve(block)
        >>> round(outcomes.hausdorff(rest), 3)
        0.315
    """

    problem: ImpactProblem
    law: str
    polytopes: tuple[Polytope, ...]
    kinds: tuple[str, ...]
    is_complete: bool
    notes: tuple[str, ...] = ()
    num_polyhedra: int = 0
    inner: SampledSet | None = None
    origin: Origin | None = None
    v_post: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        if not self.polytopes:
            raise InvalidOption("polytopes: expected at least one, got none")
        vertices = np.concatenate([polytope.vertices for polytope in self.polytopes])
        if vertices.shape[1] != self.problem.num_velocities or not np.isfinite(vertices).all():
            raise InvalidOption(
                f"polytopes: expected finite vertices in {self.problem.num_velocities} dimensions"
            )
        object.__setattr__(self, "v_post", vertices)

    def __repr__(self) -> str:
        kind = "complete" if self.is_complete else "outer"
        count = len(self.polytopes)
        what = f"{count} polytope{'s' if count > 1 else ''}"
        return f"PolyhedralSet({kind}, {what} in {self.problem.num_velocities} dimensions)"

    def _distances(self, points: FloatArray, enough: float) -> FloatArray:
        # The largest violation of a condition is a cheap lower bound on the distance.
        least = np.array([polytope.violation(points) for polytope in self.polytopes])
        return np.array(
            [self._least(point, own, enough) for point, own in zip(points, least.T, strict=True)]
        )

    def _least(self, point: FloatArray, least: FloatArray, enough: float) -> float:
        """Return the distance of a point, given a lower bound for every polytope."""
        best = np.inf
        for i in np.argsort(least):
            if least[i] >= best or best <= enough:
                break
            best = min(best, float(np.linalg.norm(self.polytopes[i].nearest(point) - point)))
        return best

    def support(self, direction: ArrayLike) -> Any:
        rows = checks.vectors("direction", direction, self.problem.num_velocities)
        most = (rows * self.maximizer(rows)).sum(axis=-1)
        return float(most) if rows.ndim == 1 else most

    def maximizer(self, direction: ArrayLike) -> FloatArray:
        if all(polytope.has_all_corners for polytope in self.polytopes):
            return super().maximizer(direction)
        rows = checks.vectors("direction", direction, self.problem.num_velocities)
        flat = rows.reshape(-1, rows.shape[-1])
        found = np.array([polytope.maximizers(flat) for polytope in self.polytopes])
        best = np.einsum("pnj,nj->pn", found, flat).argmax(axis=0)
        return np.asarray(found[best, np.arange(len(flat))].reshape(rows.shape))

    def contact_bounds(self) -> FloatArray:
        # Smaller bounds are rounding errors of sums of floats.
        noise = VANISHING * self.problem.space.velocity_unit[:, None, None]
        bounds = super().contact_bounds()
        return np.where(np.abs(bounds) <= noise, 0.0, bounds)

    @property
    def outer_excess(self) -> FloatArray | None:
        """Return the excess (m, 1 + d, 2) of the bounds over those of `inner` [m/s], or None."""
        if self.inner is None:
            return None
        beyond = self.contact_bounds() - self.inner.contact_bounds()
        return np.maximum(beyond * np.array([-1.0, 1.0]), 0.0)

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> FloatArray:
        checks.integer("n", n, 0)
        generator = np.random.default_rng(rng)
        chosen = generator.integers(len(self.polytopes), size=n)
        out = np.empty((n, self.problem.num_velocities))
        for i, polytope in enumerate(self.polytopes):
            out[chosen == i] = polytope.sample(int((chosen == i).sum()), generator)
        return out

    def project(self, rows: ArrayLike) -> Projection:
        matrix = checked_rows(rows, self.problem.num_velocities)
        if len(matrix) == 2:
            thin = STICKING * float(np.abs(matrix @ self.v_post.T).max(initial=0.0))
            thin = max(thin, STICKING * float(self.problem.space.velocity_unit.min()) * 1e-3)
            outlines = tuple(polytope.outline(matrix, thin) for polytope in self.polytopes)
        else:
            outlines = tuple(polytope.projected(matrix) for polytope in self.polytopes)
        return Projection(np.empty((0, len(matrix))), outlines)

    def path_to(self, v: ArrayLike, tol: float = 1e-6) -> ImpactPath:
        point = checks.vector("v", v, self.problem.num_velocities)
        if self.origin is not None:
            return self.origin.path_to(self.problem, point, tol)
        if self.inner is None or self.inner.distance(point) > tol:
            raise CaromError(
                "path_to: points of an outer set need not be outcomes; ask for one of inner.v_post"
            )
        return self.inner.path_to(point, tol)

    def hausdorff(self, other: OutcomeSet, tol: float = 1e-3) -> float:
        """Return the Hausdorff distance to another set, in Euclidean distance of velocities.

        Args:
            other: Set of the same problem.
            tol: Accuracy, as a share of the size of the sets.
        """
        return max(farthest(self, other, tol), farthest(other, self, tol))

    def summary(self) -> str:
        return describe_polyhedral(self)

    def _title(self) -> str:
        return polyhedral_title(self)

    def _columns(self) -> dict[str, Any]:
        counts = [len(polytope.vertices) for polytope in self.polytopes]
        kinds = [polytope.kind for polytope in self.polytopes]
        return {
            "kind": np.repeat(kinds, counts),
            "polytope": np.repeat(np.arange(len(counts)), counts),
        }
