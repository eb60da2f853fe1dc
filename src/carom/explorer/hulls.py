"""Points of a convex hull that are nearest to something, by weights of its vertices."""

from __future__ import annotations

import numpy as np

from carom.outcomes.least_squares import nonnegative_least_squares
from carom.typing import FloatArray


def nearest_weights(points: FloatArray) -> FloatArray:
    """Return weights (k,) of the point of least norm in the convex hull of points (k, n).

    The w >= 0 that minimize |P^T w|^2 + (Σ w - 1)^2 are, scaled to the sum one, its weights
    [Lawson and Hanson 1974, chapter 23].
    """
    scale = float(np.abs(points).max(initial=0.0)) or 1.0
    system = np.vstack([points.T / scale, np.ones(len(points))])
    weights, _ = nonnegative_least_squares(system, np.append(np.zeros(points.shape[1]), 1.0))
    total = float(weights.sum())
    # The hull is never further away than scale sqrt(n), so the sum is never zero but by rounding.
    return weights / total if total > 0.0 else np.full(len(points), 1.0 / len(points))
