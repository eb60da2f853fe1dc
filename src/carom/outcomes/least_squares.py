"""Least squares with weights >= 0, to the last digits."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import lsq_linear, nnls

from carom.typing import FloatArray


def nonnegative_least_squares(A: FloatArray, b: FloatArray) -> tuple[FloatArray, float]:
    """Return the x >= 0 that minimizes |A x - b|, and that distance."""
    found = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found.append(nnls(A, b, maxiter=100 * A.shape[1])[0])
    except (RuntimeError, np.linalg.LinAlgError, RuntimeWarning):
        # SciPy 1.12 to 1.14 have an implementation that cycles, or divides by singular matrices.
        pass
    # It also takes a gradient of 1e-14 for none, which hides whether a short distance is zero.
    if not found or 1e-12 < np.linalg.norm(A @ found[0] - b) < 1e-6:
        found.append(lsq_linear(A, b, (0.0, np.inf), method="bvls", tol=1e-16).x)
    x = min(found, key=lambda each: float(np.linalg.norm(A @ each - b)))
    return np.asarray(x), float(np.linalg.norm(A @ x - b))
