"""A polytope by its conditions alone, for those with too many vertices to list.

A box in ten dimensions has 1,024 vertices, and a few more conditions make thousands of it. Linear
programs and projections onto the polytope need none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from carom.errors import CaromError
from carom.outcomes.least_squares import nonnegative_least_squares
from carom.typing import FloatArray

SHARP = 1e-10
"""Tolerance of linear programs, relative to the size of the polytope: the least of HiGHS."""

ROOM = 1e-10
"""Room that is added to conditions in searches for a nearest point, relative to the size of the
polytope. Two opposite conditions may leave no room at all, and rounding errors less than none."""

DEPENDENT = 1e-9
"""Length below which nothing is left of a condition of unit length where the equations hold."""

AT_ONCE = 8
"""Number of linear programs that are solved as one, side by side: to call the solver takes several
times as long as a program with a few dozen conditions."""

STEPS = 100
"""Number of steps of a random walk."""

POOL = 64
"""Number of walks that tell in which directions the polytope is wide."""

FLAT = 1e-9
"""Share of the size of an outline by which a corner must stand out to count."""

MOST_CORNERS = 200
"""Maximum number of corners of an outline."""


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    """The bounded set of v = origin + size * basis x with A x <= b.

    In these coordinates the polytope has a size of about one, and no equations.
    """

    origin: FloatArray  # (nv,)
    basis: FloatArray  # (nv, d) orthonormal
    size: float
    A: FloatArray  # (r, d) rows of unit length
    b: FloatArray  # (r,)

    @classmethod
    def of(cls, inequalities: FloatArray, equalities: FloatArray) -> HalfSpaces:
        """Return the set of rows (a, b) of a . v <= b and of a . v = b."""
        nv = inequalities.shape[1] - 1
        origin, basis = np.zeros(nv), np.eye(nv)
        if len(equalities):
            rows, right = equalities[:, :-1], equalities[:, -1]
            origin = np.linalg.lstsq(rows, right, rcond=None)[0]
            basis = np.linalg.svd(rows)[2][len(rows) :].T
        A, b = inequalities[:, :-1] @ basis, inequalities[:, -1] - inequalities[:, :-1] @ origin
        lengths = np.linalg.norm(A, axis=1)
        # Conditions that follow from the equations are nothing but rounding errors here.
        kept = lengths > DEPENDENT
        A, b = A[kept] / lengths[kept, None], b[kept] / lengths[kept]
        size = float(np.abs(b).max(initial=0.0)) or 1.0
        return cls(origin, basis, size, A, b / size)

    def velocities(self, x: FloatArray) -> FloatArray:
        """Return the velocities (..., nv) of points (..., d)."""
        return np.asarray(self.origin + self.size * (x @ self.basis.T))

    def maximizers(self, directions: FloatArray) -> FloatArray:
        """Return the vertices (n, nv) that are farthest along directions (n, nv)."""
        along = directions @ self.basis
        lengths = np.linalg.norm(along, axis=1, keepdims=True)
        along = along / np.where(lengths > 0.0, lengths, 1.0)
        parts = [self._farthest(along[i : i + AT_ONCE]) for i in range(0, len(along), AT_ONCE)]
        return self.velocities(np.vstack([np.empty((0, along.shape[1])), *parts]))

    def _farthest(self, along: FloatArray) -> FloatArray:
        """Return the vertices (n, d) that are farthest along unit vectors (n, d)."""
        n = len(along)
        rows: Any = sparse.kron(sparse.identity(n), self.A, format="csr")
        found = linprog(
            -along.ravel(),
            rows,
            np.tile(self.b, n),
            bounds=(None, None),
            method="highs",
            options={"primal_feasibility_tolerance": SHARP, "dual_feasibility_tolerance": SHARP},
        )
        if found.x is None:
            raise CaromError(f"no extreme point of a polytope was found: {found.message}")
        return np.asarray(found.x).reshape(along.shape)

    def nearest(self, v: FloatArray) -> FloatArray:
        """Return the point (nv,) nearest to a velocity (nv,)."""
        # Least-distance programming as non-negative least squares [Lawson and Hanson, ch. 23].
        x = (v - self.origin) @ self.basis / self.size
        missing = self.A @ x - self.b - ROOM
        if missing.max() <= 0.0:
            return self.velocities(x)
        rows = np.vstack([-self.A.T, missing])
        target = np.append(np.zeros(len(x)), 1.0)
        weights, _ = nonnegative_least_squares(rows, target)
        left = rows @ weights - target
        return self.velocities(x - left[:-1] / left[-1])

    def walk(self, corners: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        """Return the ends (n, nv) of walks that go to random points of random chords.

        Args:
            corners: (k, nv) points of the polytope whose hull has the same dimension.
            n: Number of walks.
            rng: Random generator.
        """
        points = (corners - self.origin) @ self.basis / self.size
        x = rng.dirichlet(np.ones(len(points)), size=n) @ points
        for _ in range(STEPS):
            # Combinations of points inside are long where the polytope is, and short where it is
            # thin; those that walk spread further than a few corners do.
            inside = np.vstack([points, x[:POOL]])
            steps = rng.normal(size=(n, len(inside))) @ (inside - inside.mean(axis=0))
            rises, room = steps @ self.A.T, np.maximum(self.b - x @ self.A.T, 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.where(rises > 0.0, room / rises, np.inf).min(axis=1, initial=np.inf)
                least = np.where(rises < 0.0, room / rises, -np.inf).max(axis=1, initial=-np.inf)
            share = least + rng.random(n) * (most - least)
            x = x + np.where(np.isfinite(share), share, 0.0)[:, None] * steps
        return self.velocities(x)


def outline_of(farthest: Callable[[FloatArray], FloatArray], points: FloatArray) -> FloatArray:
    """Return points of a polygon (k, 2), all of its corners among them.

    Args:
        farthest: Function that returns the corner (2,) farthest along a direction (2,).
        points: (n, 2) points of the polygon.
    """
    size = float(np.ptp(points, axis=0).max())
    first = [farthest(np.array(d, dtype=np.float64)) for d in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    corners = list(first)
    # Beyond each side there is a corner, or else it is a side of the polygon.
    sides = list(zip(first, [*first[1:], first[0]], strict=True))
    while sides and len(corners) < MOST_CORNERS:
        one, two = sides.pop()
        along = two - one
        outwards = np.array([along[1], -along[0]])
        length = float(np.linalg.norm(along))
        if length <= FLAT * size:
            continue
        corner = farthest(outwards / length)
        if (corner - one) @ outwards > FLAT * size * length:
            corners.append(corner)
            sides += [(one, corner), (corner, two)]
    return np.array(corners)
