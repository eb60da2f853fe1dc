"""Choose multipliers that bound a direction at the end of an impact, in floats.

An impact that passes through c ends at y with separation (no contact approaches), momentum
(g . y >= g . c for every form g that no rate lowers) and energy (|y|_E <= |c|_E). For multipliers
s >= 0 of the normal velocities N and p = direction + s N + g this gives
direction . y <= |p|_A |c|_E - g . c. The bound is convex in c, so its maximum over a polytope is at
a vertex.

The best multipliers solve a small cone program; any others are valid too, so nothing depends on the
accuracy of its solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import ppl
from gmpy2 import mpq
from scipy.optimize import linprog

from carom.proofs.cones import minimize
from carom.reach.flow import expression
from carom.reach.inclusion import Inclusion
from carom.reach.rational import ONE, ZERO, Exact, identity, null_space
from carom.typing import FloatArray

DIGITS = 9
"""Decimals to which multipliers are rounded."""

INTERIOR = 1e-7
"""Least rise of an interior form along all rates, relative to their lengths."""

LARGEST = 1e4
"""Largest multiplier, relative to the direction: some bounds are approached only at infinity."""


class Multipliers(NamedTuple):
    """Multipliers of separation and momentum, rounded; their signs are to be checked."""

    separation: Exact  # (m,) >= 0
    momentum: Exact  # (d,) a form that no rate lowers


@dataclass(frozen=True, eq=False)
class Chooser:
    """Data of an impact in coordinates x = y / L with A = L L^T, divided by the impact's speed."""

    inclusion: Inclusion

    @property
    def nothing(self) -> Multipliers:
        """Return multipliers that leave energy alone."""
        rows, d = self.normals.shape
        return Multipliers(np.full(rows, ZERO), np.full(d, ZERO))

    @cached_property
    def normals(self) -> Exact:
        """Return the normal velocities (m, d) as forms."""
        return self.inclusion.rows[:: self.inclusion.width]

    @cached_property
    def to_energy(self) -> FloatArray:
        """Return the matrix (d, d) that maps y to x, whose length is at most 1."""
        return np.asarray(np.linalg.inv(self.inclusion.reach))

    @cached_property
    def forms(self) -> tuple[Exact, FloatArray]:
        """Return a basis (b, d) of the forms that no rate lowers, and an interior one in it (b,).

        Rates that cancel leave a subspace of such forms, whose basis must be exact.
        """
        basis = identity(self.inclusion.dimension)
        inside = self._interior(basis)
        if inside is None:
            polar = ppl.C_Polyhedron(self.inclusion.dimension, "universe")
            for rate in self.inclusion.extreme_rates:
                polar.add_constraint(expression(rate) >= 0)
            flat = [c.coefficients() for c in polar.minimized_constraints() if c.is_equality()]
            rows = np.full((len(flat), self.inclusion.dimension), ZERO)
            for row, numbers in zip(rows, flat, strict=True):
                row[: len(numbers)] = [mpq(x) for x in numbers]
            basis = null_space(rows) if flat else basis
            basis = np.array([row / max(map(abs, row)) for row in basis]).reshape(-1, rows.shape[1])
            inside = self._interior(basis) if len(basis) else None
        if inside is None:
            return basis[:0], np.empty(0)
        return basis, inside

    def _interior(self, basis: Exact) -> FloatArray | None:
        """Return the combination (b,) of forms that rises fastest along all rates, or None."""
        rises = self._rises(basis)
        if not len(rises):
            return None
        cost = np.append(np.zeros(len(basis)), -1.0)
        bounds = [(-1.0, 1.0)] * len(basis) + [(0.0, 1.0)]
        rows = np.hstack([-rises, np.ones((len(rises), 1))])
        found = linprog(cost, rows, np.zeros(len(rises)), bounds=bounds, method="highs")
        best = np.zeros(len(cost)) if found.x is None else found.x
        return best[:-1] / self._lengths(basis) if best[-1] >= INTERIOR else None

    def _lengths(self, basis: Exact) -> FloatArray:
        scaled = basis.astype(np.float64) @ self.inclusion.reach
        return np.asarray(np.linalg.norm(scaled, axis=1))

    def _rises(self, basis: Exact) -> FloatArray:
        """Return the rises (r, b) of forms of length 1 along rates of length 1, without zeros."""
        forms = basis.astype(np.float64) @ self.inclusion.reach
        rates = self.inclusion.extreme_rates.astype(np.float64) @ self.to_energy.T
        lengths = np.linalg.norm(rates, axis=1, keepdims=True)
        rates = rates / np.where(lengths > 0.0, lengths, 1.0)
        rises = rates @ (forms / self._lengths(basis)[:, None]).T
        return np.asarray(rises[np.abs(rises).max(axis=1) > INTERIOR])

    def choose(
        self, direction: Exact, points: FloatArray, deadline: float = math.inf
    ) -> Multipliers:
        """Return good multipliers for a polytope with vertices (n, d) in coordinates x.

        After the deadline, a value of `time.monotonic`, they are as good as found so far. The
        program minimizes b over weights w >= 0 of separation, weights g of forms, and b and t
        with t >= |p| and b >= t |c| - g . c for all vertices c.
        """
        basis, _ = self.forms
        reach = self.inclusion.reach
        target = direction.astype(np.float64) @ reach
        size = float(np.linalg.norm(target)) or 1.0
        rows = np.vstack([self.normals, basis]).astype(np.float64) @ reach
        units = np.linalg.norm(rows, axis=1)
        units[units == 0.0] = 1.0
        rows = rows / units[:, None]
        m, k = len(self.normals), len(rows)
        signs = np.hstack([np.eye(m), np.zeros((m, k - m))])
        if len(basis):
            rises = self._rises(basis)
            signs = np.vstack([signs, np.hstack([np.zeros((len(rises), m)), rises])])
        gains = np.hstack([np.zeros((len(points), m)), points @ rows[m:].T])
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        # Columns: weights, t, b. Rows: length of p, the largest multiplier, signs, vertices.
        G = -np.block(
            [
                [np.zeros((1, k)), np.ones((1, 1)), np.zeros((1, 1))],
                [rows.T, np.zeros((len(target), 2))],
                [np.zeros((1, k + 2))],
                [np.eye(k), np.zeros((k, 2))],
                [signs, np.zeros((len(signs), 2))],
                [gains, -lengths, np.ones((len(points), 1))],
            ]
        )
        h = np.zeros(len(G))
        h[1 : 1 + len(target)] = target / size
        h[1 + len(target)] = LARGEST
        sizes = [1 + len(target), 1 + k] + [1] * (len(signs) + len(points))
        found = minimize(np.append(np.zeros(k + 1), 1.0), G, h, sizes, deadline).x[:k]
        return self._exact(size * found / units, m)

    def _exact(self, weights: FloatArray, m: int) -> Multipliers:
        """Round weights; a form that some rate lowers by rounding is moved inwards."""
        basis, inside = self.forms
        separation = _rounded(np.maximum(weights[:m], 0.0))
        if not len(basis):
            return Multipliers(separation, np.full(self.inclusion.dimension, ZERO))
        inward = float(np.abs(weights[m:]).max() / max(np.abs(inside).max(), 1e-300))
        for share in (0.0, 1e-8, 1e-6, 1e-4):
            momentum = _rounded(weights[m:] + share * inward * inside) @ basis
            if all(momentum @ rate >= 0 for rate in self.inclusion.extreme_rates):
                return Multipliers(separation, momentum)
        return Multipliers(separation, np.full(self.inclusion.dimension, ZERO))


def _rounded(numbers: FloatArray) -> Exact:
    """Round to decimals of the largest number."""
    largest = float(np.abs(numbers).max(initial=0.0))
    unit = mpq(10) ** (int(np.floor(np.log10(largest))) - DIGITS) if largest > 0.0 else ONE
    return np.array([round(mpq(float(x)) / unit) * unit for x in numbers], dtype=object)
