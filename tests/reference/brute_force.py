"""All solutions of a small LCP by every one of its 2^n supports: a reference for `solve_all`.

A support S says which x_i may be positive; then W_SS x_S = -w_S. Nothing is known here about
contacts or modes, and no code is shared with the library.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SINGULAR = 1e-10
"""A block W_SS that, equilibrated, has a smaller determinant is left out: rounding then decides
which of infinitely many points it gives. The ends of such a continuum belong to other supports."""

ROUNDING = 1e-13
"""What rounding does to a sum, as a share of its largest terms, with a wide margin."""


def natural_residual(W: FloatArray, w: FloatArray, x: FloatArray) -> FloatArray:
    """Return |min(x, y)| (...,) at its worst component, relative, for x (..., n); y = W x + w.

    x is measured against X = max |x| or, where that is more, |w| / |W|, and y_i against
    |w_i| + sum_j |W_ij| X.
    """
    x = np.asarray(x, dtype=np.float64)
    largest = np.abs(W).max()
    X = np.maximum(np.abs(x).max(axis=-1), np.abs(w).max() / (largest if largest > 0.0 else 1.0))
    X = np.where(X > 0.0, X, 1.0)[..., None]
    scale = np.abs(w) + np.abs(W).sum(axis=1) * X
    y = x @ W.T + w
    relative = np.divide(y, scale, out=np.zeros_like(y), where=scale > 0.0)
    return np.abs(np.minimum(x / X, relative)).max(axis=-1)


def unit_residual(
    W: FloatArray, w: FloatArray, x: FloatArray, x_unit: FloatArray, y_unit: FloatArray
) -> FloatArray:
    """Return |min(x, y)| (...,) at its worst component, in given units, for x (..., n).

    Unlike `natural_residual` it does not forgive more where x is large: two friction impulses of
    1e9 that cancel hide no error. Only the rounding of such sums is subtracted.
    """
    y = x @ W.T + w
    noise = ROUNDING * (np.abs(x) @ np.abs(W).T + np.abs(w))
    least = np.minimum(x / x_unit, y / y_unit)
    return np.maximum(0.0, np.abs(least) - noise / y_unit).max(axis=-1)


def all_solutions(
    W: FloatArray, w: FloatArray, x_unit: FloatArray, y_unit: FloatArray, tolerance: float
) -> FloatArray:
    """Return the basic solutions x (count, n), with repetitions.

    Args:
        W: (n, n) matrix.
        w: (n,) vector.
        x_unit: (n,) what counts as 1 in x.
        y_unit: (n,) what counts as 1 in y.
        tolerance: Largest residual in these units.
    """
    n = len(w)
    support = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    blocks = np.where(support[:, :, None] & support[:, None, :], W, 0.0)
    blocks[:, np.arange(n), np.arange(n)] += ~support
    rows, columns = np.ones((2**n, n)), np.ones((2**n, n))
    for _ in range(2):
        rows *= _scales(rows[:, :, None] * blocks * columns[:, None, :], axis=2)
        columns *= _scales(rows[:, :, None] * blocks * columns[:, None, :], axis=1)
    blocks *= rows[:, :, None] * columns[:, None, :]
    regular = np.abs(np.linalg.det(blocks)) > SINGULAR
    right = np.where(support, -w, 0.0) * rows
    x = np.linalg.solve(blocks[regular], right[regular][..., None])[..., 0] * columns[regular]
    return x[unit_residual(W, w, x, x_unit, y_unit) <= tolerance]


def _scales(blocks: FloatArray, axis: int) -> FloatArray:
    """Return the factors that bring rows or columns halfway to a largest entry of 1."""
    largest = np.abs(blocks).max(axis=axis)
    return 1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0))


def contact_units(
    A: FloatArray, mu: FloatArray, d: int, k: int, speed: float, *, capped: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the natural units (n,) of x and y of an impact LCP.

    Contact i's velocities are measured in speed sqrt(A_ii) and its impulses in speed / sqrt(A_ii),
    where A_ii belongs to its normal and speed is |v|_M; the row of the friction cone, which is an
    impulse times mu, in that too.
    """
    root = np.sqrt(np.diag(A)[:: 1 + d])
    velocity, impulse = speed * root, speed / root
    x_unit = [impulse, np.repeat(impulse, k), velocity]
    y_unit = [velocity, np.repeat(velocity, k), impulse * np.maximum(1.0, mu)]
    if capped:
        x_unit.insert(0, velocity)
        y_unit.insert(0, impulse)
    return np.concatenate(x_unit), np.concatenate(y_unit)
