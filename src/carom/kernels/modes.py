"""Solve a step by pivoting, and read off the contacts' modes."""

import numpy as np

from carom.kernels.jit import kernel, lean
from carom.kernels.lemke import SOLVED, run_accurately
from carom.kernels.linear import dot
from carom.kernels.pieces import num_frictions
from carom.kernels.random import uniform
from carom.kernels.tolerances import MATCH, STICKING

LEMKE_TRIALS = 8


@lean
def lemke_step(space, u, key, draw, random, work, buffers, impulse):
    """Solve the step LCP by pivoting; return its status. `carom.contact_space` tells its layout.

    With `random`, the covering vector is random too, which chooses among several solutions.
    """
    w, d, x, trial = buffers[0], buffers[1], buffers[2], buffers[3]
    k, dim = space.D.shape
    m, n, width = space.mu.shape[0], w.shape[0], 1 + dim
    w[:] = 0.0
    for i in range(m):
        w[i], w[m + i] = u[m * width + i], u[i * width]
        v_t = u[i * width + 1 : (i + 1) * width]
        for a in range(k):
            w[2 * m + i * k + a] = dot(space.D[a], v_t)
    for a in range(n):
        w[a] *= space.rows[a]
    status = -1
    for attempt in range(LEMKE_TRIALS):
        for a in range(n):
            d[a] = 1.0
            if random or attempt > 0:
                d[a] = 0.1 + uniform(key, draw + (attempt * n + a + 1) * 65536)
        status, _ = run_accurately(space.W, w, d, work, x, trial, 50 * n)
        if status == SOLVED:
            break
    for a in range(n):
        x[a] *= space.columns[a]
    for i in range(m):
        impulse[i * width] = x[m + i]
        for j in range(dim):
            lambda_D = x[2 * m + i * k : 2 * m + (i + 1) * k]
            impulse[i * width + 1 + j] = dot(space.D[:, j], lambda_D)
    return status


@kernel
def read_modes(A, D, u, impulse, modes):
    """Read the contacts' modes off a solution; see `carom.kernels.pieces` for their numbers."""
    k, dim = D.shape
    F = num_frictions(dim, k)
    for i in range(modes.shape[0]):
        n = i * (1 + dim)
        modes[i] = 0
        if impulse[n] <= MATCH:
            continue
        v_n, x = dot(A[n], impulse, u[n]), dot(A[n + 1], impulse, u[n + 1])
        y = dot(A[n + 2], impulse, u[n + 2]) if dim == 2 else 0.0
        modes[i] = 1 + _friction_state(D, x, y) + (F if v_n < -MATCH else 0)


@lean
def _friction_state(D, x, y):
    """Return the friction state of a tangential velocity."""
    k, dim = D.shape
    corner, lowest = 0, np.inf
    for a in range(k):
        along = D[a, 0] * x + (D[a, 1] * y if dim == 2 else 0.0)
        if along < lowest:
            corner, lowest = a, along
    if lowest > -STICKING:
        return 0
    if dim == 2:
        for turn in range(2):
            a = (corner - turn) % k
            b = (a + 1) % k
            along = (D[b, 0] - D[a, 0]) * x + (D[b, 1] - D[a, 1]) * y
            if abs(along) < STICKING:
                return 1 + k + a
    return 1 + corner
