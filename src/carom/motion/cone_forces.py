"""Forces of contacts in space that depend on each other: of all that do the same, ones in cones.

Four corners of a box that stands leave open how they share its weight, and whether they pull at
each other sideways. Forces of least norm are taken while they lie in their cones; else the nearest
ones that lie so deep in them that they stay there for a while.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carom.kernels.sustained import HOLDS
from carom.typing import FloatArray, IntArray

DEPTHS = (*(0.3 / 3.0**k for k in range(20)), -0.5 * HOLDS)
"""Depths in the cones that are tried, as shares of the forces at hand. Where there are not even
forces of the last one, which is rounding, contacts give way."""
OUTSIDE = 1e-11
"""Share of the forces at hand by which those found may lie outside of their cones."""
REST = 1e-14
"""The same of what no other forces mend."""
MOST_STEPS = 150
"""Maximum number of Newton's steps."""
DAMPING, LEAST_DAMPING = 1e-3, 1e-9
"""Curvature that is added at first, and at least: that of cones is from 0 to 1."""


class Cones(NamedTuple):
    """Hold cones of k closed contacts: forces x (n,) have k normal ones first, then friction.

    Contacts `stick` (s,), by their place among the k, have two entries of friction each, with
    coefficients `mu` (s,); `unit` (k,) is the force that each has to cope with [N].
    """

    stick: IntArray
    mu: FloatArray
    unit: FloatArray

    def outside(self, x: FloatArray, depth: float) -> tuple[FloatArray, FloatArray]:
        """Return how far x is outside, x - P(x) (n,), and the derivative of that, (n, n)."""
        k = len(self.unit)
        normal = x[:k] - depth * self.unit
        off, slope = np.zeros(len(x)), np.zeros((len(x), len(x)))
        alone = np.setdiff1d(np.arange(k), self.stick)
        pulls = alone[normal[alone] < 0.0]
        off[pulls], slope[pulls, pulls] = normal[pulls], 1.0
        for j, (i, mu) in enumerate(zip(self.stick, self.mu, strict=True)):
            at = np.array([i, k + 2 * j, k + 2 * j + 1])
            n, t = normal[i], x[at[1:]]
            size = float(np.hypot(*t))
            if size <= mu * n:
                continue
            if mu * size <= -n:
                off[at] = n, *t
                slope[np.ix_(at, at)] = np.eye(3)
                continue
            # The nearest point is on the side of the cone, along g, with the normal outwards h.
            u = t / size
            h = np.array([-mu, *u]) / np.sqrt(1.0 + mu * mu)
            distance = float(h @ [n, *t])
            across = np.array([0.0, -u[1], u[0]])
            off[at] = distance * h
            turn = distance / (size * np.sqrt(1.0 + mu * mu))
            slope[np.ix_(at, at)] = np.outer(h, h) + turn * np.outer(across, across)
        return off, slope

    def deepest(self, x: FloatArray, kept: FloatArray) -> FloatArray:
        """Return forces that differ from x by what is not `kept` (n, r), deep in their cones.

        Return x where there are none.
        """
        n = len(x)
        if n == kept.shape[1]:
            return x
        free = np.linalg.svd(np.eye(n) - kept @ kept.T)[0][:, : n - kept.shape[1]]
        # From outside inwards: where forces of little depth are not to be found, no others are.
        best = x
        for depth in reversed(DEPTHS):
            found = self._nearest(best, free, depth)
            if found is None:
                break
            best = found
        return best

    def _nearest(self, x: FloatArray, free: FloatArray, depth: float) -> FloatArray | None:
        """Return the nearest forces in cones of some depth, by Newton's method, if it finds any."""
        size = float(self.unit.max())
        off, slope = self.outside(x, depth)
        damping = DAMPING
        for _ in range(MOST_STEPS):
            if np.abs(off).max() <= OUTSIDE * size:
                return x
            steepest = free.T @ off
            if np.abs(steepest).max() <= REST * size:
                return None
            curvature = free.T @ slope @ free
            curvature[np.diag_indices_from(curvature)] += damping
            trial = x - free @ np.linalg.solve(curvature, steepest)
            there = self.outside(trial, depth)
            is_better = there[0] @ there[0] < off @ off
            if is_better:
                x, (off, slope) = trial, there
            damping = max(LEAST_DAMPING, damping / 6.0) if is_better else 4.0 * damping
        return None
