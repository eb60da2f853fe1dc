"""A bounded convex polyhedron of velocities, in exact numbers and in floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.spatial import ConvexHull, Delaunay

from carom.errors import CaromError
from carom.outcomes.half_spaces import HalfSpaces, outline_of
from carom.outcomes.least_squares import nonnegative_least_squares
from carom.typing import FloatArray

Exact = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, eq=False)
class Polytope:
    """Polytope of velocities, by its vertices and as A v <= b and A_eq v = b_eq.

    Attributes:
        corners: (k, nv) vertices, exact.
        conditions: (r, nv + 1) rows (a, b) of a . v <= b, exact.
        equations: (e, nv + 1) rows (a, b) of a . v = b, exact.
        kind: What every contact does in its interior, e.g. "A sticks, B lifts".
        has_all_corners: Whether all vertices are listed. In many dimensions they can be thousands;
            then `corners` are some of them, rounded, at which contact velocities are extreme, and
            linear programs over the conditions answer all questions.

    Examples:
        A block lands flat with 1 m/s. The outcomes in which corner A lifts are a segment.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> polytopes = carom.RouthExact().resolve(block).polytopes
        >>> (lifts,) = [each for each in polytopes if each.kind == "A lifts, B sticks"]
        >>> lifts.dimension, lifts.vertices.shape, lifts.corners[0]
        (1, (2, 3), (Fraction(0, 1), Fraction(0, 1), Fraction(0, 1)))
        >>> lifts.A.shape, lifts.b.shape, lifts.A_eq.shape, lifts.b_eq.shape
        ((2, 3), (2,), (2, 3), (2,))
    """

    corners: Exact
    conditions: Exact
    equations: Exact
    kind: str
    has_all_corners: bool = True

    @cached_property
    def vertices(self) -> FloatArray:
        """Return the vertices (k, nv), or those of them that are listed."""
        return _floats(self.corners)

    @cached_property
    def _half_spaces(self) -> HalfSpaces:
        return HalfSpaces.of(self._inequalities, self._equalities)

    @property
    def A(self) -> FloatArray:
        """Return the rows (r, nv) of A v <= b, of unit length."""
        return self._inequalities[:, :-1]

    @property
    def b(self) -> FloatArray:
        """Return the right side (r,) of A v <= b."""
        return self._inequalities[:, -1]

    @property
    def A_eq(self) -> FloatArray:
        """Return the rows (e, nv) of A_eq v = b_eq, of unit length."""
        return self._equalities[:, :-1]

    @property
    def b_eq(self) -> FloatArray:
        """Return the right side (e,) of A_eq v = b_eq."""
        return self._equalities[:, -1]

    @cached_property
    def _inequalities(self) -> FloatArray:
        return _unit_rows(self.conditions, len(self.corners[0]))

    @cached_property
    def _equalities(self) -> FloatArray:
        return _unit_rows(self.equations, len(self.corners[0]))

    @property
    def dimension(self) -> int:
        """Return the dimension: 0 for a point, 1 for a segment, and so on."""
        return len(self.corners[0]) - len(self.equations)

    def violation(self, v: FloatArray) -> FloatArray:
        """Return the largest violation (n,) of a condition, a lower bound on the distance.

        Args:
            v: (n, nv) velocities.
        """
        worst = np.zeros(len(v))
        if len(self.b):
            worst = np.maximum(worst, (v @ self.A.T - self.b).max(axis=1))
        if len(self.b_eq):
            worst = np.maximum(worst, np.abs(v @ self.A_eq.T - self.b_eq).max(axis=1))
        return worst

    def nearest(self, v: FloatArray) -> FloatArray:
        """Return the point of the polytope nearest to a velocity.

        Args:
            v: (nv,) velocity.
        """
        if self.has_all_corners:
            return nearest_in_hull(self.vertices, v)
        return self._half_spaces.nearest(v)

    def maximizers(self, directions: FloatArray) -> FloatArray:
        """Return the points (n, nv) of the polytope that are farthest along directions.

        Args:
            directions: (n, nv) directions.
        """
        if self.has_all_corners:
            return self.vertices[(directions @ self.vertices.T).argmax(axis=1)]
        return self._half_spaces.maximizers(directions)

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return points (n, nv) drawn uniformly from the polytope.

        If not all vertices are listed, the points are the ends of random walks, which are uniform
        in the limit of many steps.

        Args:
            n: Number of points.
            rng: Random generator.
        """
        if not self.has_all_corners:
            return self._half_spaces.walk(self.vertices, n, rng)
        simplices, volumes = self._simplices
        chosen = rng.choice(len(volumes), size=n, p=volumes / volumes.sum())
        weights = rng.dirichlet(np.ones(simplices.shape[1]), size=n)
        return np.einsum("nk,nkj->nj", weights, simplices[chosen])

    @cached_property
    def _simplices(self) -> tuple[FloatArray, FloatArray]:
        """Return a triangulation (s, dimension + 1, nv) and the volumes (s,) of its simplices."""
        if not self.has_all_corners:
            raise CaromError("this polytope has too many vertices to be divided into simplices")
        vertices = self.vertices
        if self.dimension <= 1 or len(vertices) == self.dimension + 1:
            return vertices[None], np.ones(1)
        flat = self._flat
        corners = Delaunay(flat, qhull_options="QJ").simplices
        edges = flat[corners[:, 1:]] - flat[corners[:, :1]]
        volumes = np.abs(np.linalg.det(edges))
        return vertices[corners], volumes

    @property
    def _flat(self) -> FloatArray:
        """Return the vertices (k, dimension) in orthonormal coordinates of their affine span."""
        centred = self.vertices - self.vertices.mean(axis=0)
        _, _, basis = np.linalg.svd(centred, full_matrices=False)
        return centred @ basis[: self.dimension].T

    def outline(self, rows: FloatArray, thin: float) -> FloatArray:
        """Return the corners (k, 2) of the projection onto two rows, in order.

        Args:
            rows: (2, nv) matrix.
            thin: Width up to which a projection counts as a segment, or a segment as a point.
        """
        points = self.projected(rows)
        centred = points - points.mean(axis=0)
        if np.abs(centred).max() <= thin:
            return points[:1]
        along = np.linalg.svd(centred, full_matrices=False)[2]
        wide = centred @ along.T
        if np.abs(wide[:, -1]).max() <= thin:
            return points[[wide[:, 0].argmin(), wide[:, 0].argmax()]]
        return points[ConvexHull(points).vertices]

    def projected(self, rows: FloatArray) -> FloatArray:
        """Return the projections (k, r) of vertices, among them all corners of the projection.

        If not all vertices are listed and r > 2, corners of the projection can be missing.

        Args:
            rows: (r, nv) matrix.
        """
        points = self.vertices @ rows.T
        if self.has_all_corners:
            return points
        if len(rows) == 2:
            return outline_of(lambda d: self.maximizers(d[None] @ rows)[0] @ rows.T, points)
        return np.vstack([points, self.maximizers(np.vstack([rows, -rows])) @ rows.T])


def nearest_in_hull(corners: FloatArray, point: FloatArray) -> FloatArray:
    """Return the point (k,) of the hull of corners (n, k) nearest to a point (k,)."""
    reach = corners - point
    scale = float(np.abs(reach).max()) or 1.0
    rows = np.vstack([reach.T / scale, np.ones(len(reach))])
    target = np.append(np.zeros(len(point)), 1.0)
    weights, _ = nonnegative_least_squares(rows, target)
    return np.asarray(weights @ corners / weights.sum())


def _floats(rows: Sequence[Sequence[Fraction]]) -> FloatArray:
    return np.array([[float(x) for x in row] for row in rows])


def _unit_rows(rows: Exact, nv: int) -> FloatArray:
    """Return rows (a, b) as floats, with a of unit length."""
    if not rows:
        return np.empty((0, nv + 1))
    # Scaled before the conversion, because exact numbers may exceed the range of floats.
    small = [[x / max(map(abs, row[:-1])) for x in row] for row in rows]
    array = _floats(small)
    return array / np.linalg.norm(array[:, :-1], axis=1, keepdims=True)
