"""Check the arrays of an impact and write it in contact coordinates, in one pass.

A simulation makes a new problem of every impact. What takes NumPy dozens of calls is here some
hundred operations. Where a number is near a limit, or beyond it, the pass gives up, and the checks
of `carom.problem` say what is wrong.
"""

import numpy as np

from carom.kernels.jit import filling, lean
from carom.kernels.tolerances import COLLIDING

LARGEST_MASS = 1e100
LARGEST_JACOBIAN = 1e60
"""Largest allowed entries, and the inverse of the smallest; beyond, J M^-1 J^T may overflow."""

SMALLEST_SQUARE = 1e-200
"""Square of |v_pre|_M above which no digit of it is lost to underflow."""

SINGULAR = 1e-12
"""Share of a diagonal entry of M below which its pivot may be a rounding error."""

TINY = float(np.finfo(np.float64).tiny)

DOUBTFUL = -1.0


@lean
def _decompose(M, v_pre, root):
    """Write D and L of M = L D L^T; return |v_pre|_M. Comparisons are such that NaN fails them.

    L has ones on its diagonal, where D is stored. There are no roots, so that masses of single
    bodies stay what they are.
    """
    nv = len(v_pre)
    for j in range(nv):
        own = M[j, j]
        if not 1.0 / LARGEST_MASS <= own <= LARGEST_MASS or not abs(v_pre[j]) < np.inf:
            return DOUBTFUL
        for i in range(j, nv):
            entry = M[i, j]
            if not entry == M[j, i]:
                return DOUBTFUL
            for k in range(j):
                entry -= root[i, k] * root[k, k] * root[j, k]
            if i > j:
                root[i, j] = entry / root[j, j]
            elif entry > SINGULAR * own:
                root[j, j] = entry
            else:
                return DOUBTFUL
    square = 0.0
    for j in range(nv):
        part = v_pre[j]
        for i in range(j + 1, nv):
            part += root[i, j] * v_pre[i]
        square += root[j, j] * part * part
    return np.sqrt(square) if SMALLEST_SQUARE < square < np.inf else DOUBTFUL


@lean
def _project(J_n, J_t, root, J, response, A):
    """Write J, L^-1 J^T as rows of the response, and A; return whether all numbers are valid."""
    width, nv = 1 + J_t.shape[1], len(root)
    for k in range(len(J)):
        i, axis, size = k // width, k % width, 0.0
        for j in range(nv):
            entry = J_n[i, j] if axis == 0 else J_t[i, axis - 1, j]
            if not abs(entry) <= LARGEST_JACOBIAN:
                return False
            size = max(size, abs(entry))
            J[k, j] = entry
            for other in range(j):
                entry -= root[j, other] * response[k, other]
            response[k, j] = entry
        if size < 1.0 / LARGEST_JACOBIAN and (axis == 0 or size > 0.0):
            return False
        for other in range(k + 1):
            entry = 0.0
            for j in range(nv):
                entry += response[k, j] * response[other, j] / root[j, j]
            if not abs(entry) < np.inf:
                return False
            A[k, other] = entry
            A[other, k] = entry
    return True


@filling
def to_contact_coordinates(M, J_n, J_t, mu, v_pre, root, J, response, A, units, start):
    """Write an impact in contact coordinates, as `carom.contact_space` defines them.

    Args:
        M, J_n, J_t, mu, v_pre: The fields of `ImpactProblem`, all in C order.
        root: (nv, nv) work array: D and L of M = L D L^T.
        J: (c, nv) contact Jacobian, contact by contact, normal first; written.
        response: (c, nv) change of the velocity per unit of each contact impulse, written.
        A: (c, c) dimensionless Delassus matrix, written.
        units: (2, m) units of velocity [m/s] and of impulse [N s], written.
        start: (c,) dimensionless contact velocities, tiny ones as zero; written.

    Returns:
        |v_pre|_M, or `DOUBTFUL` if a number may be invalid; then nothing that was written counts.
    """
    m, nv, width = len(mu), len(v_pre), 1 + J_t.shape[1]
    norm = _decompose(M, v_pre, root)
    if norm == DOUBTFUL or not _project(J_n, J_t, root, J, response, A):
        return DOUBTFUL
    for i in range(m):
        own = A[i * width, i * width]
        if not 0.0 <= mu[i] < np.inf or not own >= TINY:
            return DOUBTFUL
        units[0, i] = norm * np.sqrt(own)
        units[1, i] = norm / np.sqrt(own)
    for k in range(len(start)):
        velocity = 0.0
        for j in range(nv):
            velocity += J[k, j] * v_pre[j]
        velocity /= units[0, k // width]
        start[k] = velocity if abs(velocity) >= COLLIDING else 0.0
        for other in range(k + 1):
            # An impulse is measured in units of |v|_M / sqrt(A_ii).
            A[k, other] *= units[1, k // width] / norm * (units[1, other // width] / norm)
            A[other, k] = A[k, other]
        # From L^-1 J^T to M^-1 J^T.
        for j in range(nv - 1, -1, -1):
            entry = response[k, j] / root[j, j]
            for i in range(j + 1, nv):
                entry -= root[i, j] * response[k, i]
            response[k, j] = entry
    return norm
