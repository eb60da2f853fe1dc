"""Forces of contacts that depend on each other: of all with one acceleration, the best.

Two corners of a block that stands can press against each other or pull apart, which moves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from carom.kernels.least_norm import DEPENDENT
from carom.kernels.tolerances import VANISHING
from carom.typing import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Conditions:
    """What friction asks of forces x: rows @ x <= 0, with margins in `units` (r,) [N].

    The acceleration is kept: `span` (n, rank) is a basis of the forces that have an effect.
    """

    rows: FloatArray
    units: FloatArray
    span: FloatArray

    def deepest(self, x: FloatArray, centered: bool) -> FloatArray:
        """Return the forces whose least margin is largest, or x where there are none better."""
        levels = np.zeros(len(self.rows))
        active = np.ones(len(self.rows), np.bool_)
        if centered:
            # A margin that no inner force changes would hide all others.
            moved = self.rows - self.rows @ self.span @ self.span.T
            active = np.linalg.norm(moved, axis=1) > DEPENDENT * np.linalg.norm(self.rows, axis=1)
            levels[~active] = self.rows[~active] @ x / -self.units[~active]
        while active.any():
            has_line = len(x) == self.span.shape[1] + 1
            found = (self._raise_along_line if has_line else self._raise)(x, levels, active)
            if found is None:
                break
            x, level, binding = found
            if not centered or level >= 1.0 or not binding.any():
                break
            # Relaxed by rounding, so that the next search has a solution.
            levels[binding] = level - DEPENDENT
            active &= ~binding
        return x

    def _raise_along_line(
        self, x: FloatArray, levels: FloatArray, active: BoolArray
    ) -> tuple[FloatArray, float, BoolArray] | None:
        """Do as `_raise` where inner forces have one degree of freedom, as of a block that stands.

        Margins are then linear in one number z, and the least of them is largest where two cross,
        where one reaches 1, or where one of the others would fall below its level.
        """
        line = np.linalg.svd(self.span.T)[2][-1]
        start, slope = (-(self.rows @ each) / self.units for each in (x, line))
        slope[np.abs(slope) <= DEPENDENT * np.linalg.norm(self.rows, axis=1) / self.units] = 0.0
        a, b = start[active], slope[active]
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = (a[:, None] - a) / (b - b[:, None])
            ends = (np.where(active, 1.0, levels) - start) / slope
        z = np.concatenate([[0.0], crossings.ravel(), ends])
        z = z[np.isfinite(z)]
        margins = start + z[:, None] * slope
        keeps = (active | (margins >= levels - DEPENDENT)).all(axis=1)
        least = np.where(keeps, margins[:, active].min(axis=1).clip(max=1.0), -np.inf)
        # Of equal ones, the forces that change least.
        best = np.flatnonzero(least >= least.max() - VANISHING)
        k = best[np.abs(z[best]).argmin()]
        level = float(least[k])
        return x + z[k] * line, level, active & (margins[k] <= level + VANISHING)

    def _raise(
        self, x: FloatArray, levels: FloatArray, active: BoolArray
    ) -> tuple[FloatArray, float, BoolArray] | None:
        """Raise the least of the active margins; return forces, that margin, and what binds it."""
        n = self.rows.shape[1]
        # In the span of the forces alone, so that rounding leaves no equation without a solution.
        result = linprog(
            np.append(np.zeros(n), -1.0),
            np.column_stack([self.rows, np.where(active, self.units, 0.0)]),
            np.where(active, 0.0, -levels * self.units),
            np.column_stack([self.span.T, np.zeros(self.span.shape[1])]),
            self.span.T @ x,
            bounds=[(None, None)] * n + [(None, 1.0)],
        )
        if not result.success or result.x is None:
            return None
        binding = active & (np.asarray(result.ineqlin.marginals) < -DEPENDENT)
        return np.asarray(result.x[:n]), float(result.x[n]), binding


def span(G: FloatArray) -> FloatArray:
    """Return an orthonormal basis (k, rank) of the weights of rows G that have an effect."""
    basis = np.linalg.svd(G, full_matrices=False)
    return np.asarray(basis.U[:, DEPENDENT * basis.S[0] < basis.S])
