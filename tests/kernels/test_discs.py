"""Friction of contacts at rest: the minimum over discs, where supports are almost one as well."""

from __future__ import annotations

import numpy as np
import pytest

from carom.kernels.discs import solve_discs
from carom.kernels.jit import interpreted
from carom.kernels.stretches import make_work

solve = interpreted(solve_discs)


def residual(A, b, g, limit):
    """Return how far friction changes if it follows the slip that is left, back into its discs."""
    moved = (g - (b + A @ g) / np.linalg.norm(A, 2)).reshape(-1, 2)
    size = np.linalg.norm(moved, axis=1)
    drawn = moved * np.minimum(1.0, limit / size)[:, None]
    return np.abs(drawn.ravel() - g).max()


@pytest.mark.parametrize("share", [1.0, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("seed", range(3))
def test_friction_is_the_best_in_its_discs(share, seed):
    """Each seed has contacts inside their discs and on their circles, at any of the shares."""
    rng = np.random.default_rng([20261119, seed])
    m = 3
    work = make_work(m, 3)
    tangents = [3 * i + 1 + k for i in range(m) for k in range(2)]
    # One change of friction, in which all contacts have a part, hardly moves them.
    axes = np.linalg.qr(rng.normal(size=(2 * m, 2 * m)))[0]
    sizes = np.append(rng.uniform(0.1, 1.0, 2 * m - 1), share)
    A, b, g = np.zeros((3 * m, 3 * m)), np.zeros(3 * m), np.zeros(3 * m)
    A[np.ix_(tangents, tangents)] = (axes * sizes) @ axes.T
    # It would have to be large.
    b[tangents] = axes @ (sizes * rng.normal(size=2 * m)) + 5.0 * share * axes[:, -1]
    limit = np.array([0.5, 5.0, 2.0])
    solve(A, np.arange(m), m, limit, b, g, work)
    inner = A[np.ix_(tangents, tangents)], b[tangents], g[tangents]
    assert residual(*inner, limit) < 1e-11
    sizes = np.linalg.norm(g[tangents].reshape(m, 2), axis=1)
    assert (sizes <= limit * (1.0 + 1e-12)).all()
