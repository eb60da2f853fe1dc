"""Choose multipliers that bound a direction at the end of an impact, in floats.

An impact that passes through c ends at y with separation (no contact approaches), momentum
(g . y >= g . c for every form g that no rate lowers) and energy (|y|_E <= |c|_E). For multipliers
s >= 0 of the normal velocities N and p = direction + s N + g this gives
direction . y <= |p|_A |c|_E - g . c. The bound is convex in c, so its maximum over a polytope is at
a vertex.

The best multipliers solve a small conic program, here by an interior-point method; any others are
valid too, so nothing depends on its accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import ppl
from gmpy2 import mpq
from scipy.optimize import linprog

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

NEWTON_STEPS = 60
SHARPER = 20.0
"""Factor by which the weight of the objective grows from one centre to the next."""

ACCURATE = 1e-6
"""Share of the impact's speed to which a bound is minimized."""


class Multipliers(NamedTuple):
    """Multipliers of separation and momentum, rounded; their signs are to be checked."""

    separation: Exact  # (m,) >= 0
    momentum: Exact  # (d,) a form that no rate lowers


@dataclass(frozen=True, eq=False)
class Chooser:
    """Data of an impact in coordinates x = y / L with A = L L^T, divided by the impact's speed."""

    inclusion: Inclusion

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
        rises = rises[np.abs(rises).max(axis=1) > INTERIOR]
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
        """Return the rises (r, b) of forms of length 1 along rates of length 1."""
        forms = basis.astype(np.float64) @ self.inclusion.reach
        rates = self.inclusion.extreme_rates.astype(np.float64) @ self.to_energy.T
        lengths = np.linalg.norm(rates, axis=1, keepdims=True)
        rates = rates / np.where(lengths > 0.0, lengths, 1.0)
        return np.asarray(rates @ (forms / self._lengths(basis)[:, None]).T)

    def choose(self, direction: Exact, points: FloatArray) -> Multipliers:
        """Return good multipliers for a polytope with vertices (n, d) in coordinates x."""
        basis, inside = self.forms
        reach = self.inclusion.reach
        target = direction.astype(np.float64) @ reach
        size = float(np.linalg.norm(target)) or 1.0
        units = np.concatenate(
            [np.linalg.norm(self.normals.astype(np.float64) @ reach, axis=1), self._lengths(basis)]
        )
        units[units == 0.0] = 1.0
        rows = np.vstack([self.normals, basis]).astype(np.float64) @ reach / units[:, None]
        m = len(self.normals)
        rises = self._rises(basis) if len(basis) else np.empty((0, 0))
        kept = rises[np.abs(rises).max(axis=1, initial=0.0) > INTERIOR] if rises.size else rises
        begin = np.concatenate([np.full(m, 0.1), 0.1 * inside * units[m:]])
        found = size * _minimize(target / size, rows, points, kept, m, begin) / units
        return self._exact(found, m)

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


def _minimize(
    target: FloatArray,  # (d,) of length 1
    rows: FloatArray,  # (k, d): normals, then forms, of length 1
    points: FloatArray,  # (n, d)
    rises: FloatArray,  # (r, k - m) of the forms along the rates
    m: int,
    begin: FloatArray,  # (k,) strictly feasible
) -> FloatArray:
    """Return weights (k,) that minimize the largest bound over points, by a barrier method."""
    k = len(rows)
    gains = np.zeros((len(points), k))
    gains[:, m:] = points @ rows[m:].T
    lengths = np.linalg.norm(points, axis=1)
    z = begin.copy()
    p = target + z @ rows
    # The last variable is the bound itself.
    top = float((lengths * np.linalg.norm(p) - gains @ z).max()) + 1.0
    z = np.append(z, top)
    linear = np.zeros((m + len(rises), k + 1))
    linear[:m, :m] = np.eye(m)
    linear[m:, m:k] = rises
    lead = np.hstack([gains, np.ones((len(points), 1))])
    cone = np.hstack([rows.T, np.zeros((len(target), 1))])
    num_terms = 2 * len(points) + len(linear) + 1
    weight = float(num_terms)
    for _ in range(NEWTON_STEPS):
        slope, curvature = _barrier(z, target, lead, cone, lengths, linear)
        slope[-1] += weight
        try:
            step = np.asarray(-np.linalg.solve(curvature, slope), dtype=np.float64)
        except np.linalg.LinAlgError:
            break
        fall = float(-slope @ step)
        if not np.isfinite(fall):
            break
        if fall < 0.1:
            if num_terms < ACCURATE * weight:
                break
            weight *= SHARPER
            continue
        z = z + _length(z, step, target, lead, cone, lengths, linear, fall) * step
    return z[:k]


def _barrier(
    z: FloatArray,
    target: FloatArray,
    lead: FloatArray,
    cone: FloatArray,
    lengths: FloatArray,
    linear: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return gradient and Hessian of -sum log of all that must stay positive."""
    p, u, w = target + cone @ z, lead @ z, linear @ z
    square = lengths**2
    left = u**2 - square * (p @ p)
    inner = 2.0 * u[:, None] * lead - 2.0 * square[:, None] * (p @ cone)
    share = inner / left[:, None]
    scaled = linear / w[:, None]
    room = LARGEST**2 - z @ z
    slope = -share.sum(axis=0) - scaled.sum(axis=0) + 2.0 * z / room
    curvature = share.T @ share - 2.0 * (lead / left[:, None]).T @ lead
    curvature += 2.0 * float((square / left).sum()) * cone.T @ cone + scaled.T @ scaled
    curvature += 2.0 * np.eye(len(z)) / room + 4.0 * np.outer(z, z) / room**2
    return slope, curvature


def _length(
    z: FloatArray,
    step: FloatArray,
    target: FloatArray,
    lead: FloatArray,
    cone: FloatArray,
    lengths: FloatArray,
    linear: FloatArray,
    fall: float,
) -> float:
    """Return a length of a Newton step that stays strictly feasible, damped far from the centre."""
    length = 1.0 if fall < 0.25 else 1.0 / (1.0 + np.sqrt(fall))
    # Damped steps of a self-concordant barrier are always feasible; longer ones are tried first.
    trial = 1.0
    while trial > length:
        at = z + 0.95 * trial * step
        inside = lead @ at > lengths * np.linalg.norm(target + cone @ at)
        if inside.all() and (linear @ at > 0.0).all() and at @ at < LARGEST**2:
            return 0.95 * trial if trial < 1.0 else trial * 0.95
        trial *= 0.5
    return float(length)
