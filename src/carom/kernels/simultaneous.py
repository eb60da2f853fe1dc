"""Solve the simultaneous impact in energy coordinates, where ill-conditioned masses do no harm.

With M = L L^T, y = L^T v / |v|_M and R = J L^-T (rows scaled as in `ContactSpace`), impulses act by
y' = y + R^T lambda and contact velocities are R y. The Delassus matrix R R^T squares the condition
number of R; here it is never formed. In a choice of modes lambda = B xi and velocities E R y'
vanish: y' is y, moved within the rows Q = B^T R to the complement of the rows P = E R.
"""

import numpy as np

from carom.kernels.jit import kernel
from carom.kernels.linear import dot, eliminate
from carom.kernels.pieces import edge, num_modes, parametrize, read_code
from carom.kernels.tolerances import DEPENDENT, NEARLY_DEPENDENT, RESIDUAL


@kernel
def violation(R, mu, D, y, impulse):
    """Return by how much an outcome violates the impact law, free of units: 0 for a solution.

    Impulses are >= 0 and within the friction polygon, normal velocities are >= 0 and complementary
    to the impulses, and friction dissipates most. y is that after the impact.
    """
    k, d = D.shape
    worst = 0.0
    v_t = np.empty(d)
    for i in range(mu.shape[0]):
        n = i * (1 + d)
        v_n, lambda_n, lambda_t = dot(R[n], y), impulse[n], impulse[n + 1 : n + 1 + d]
        size = 1.0
        for j in range(d):
            v_t[j] = dot(R[n + 1 + j], y)
            size = max(size, np.sqrt(dot(R[n + 1 + j], R[n + 1 + j])))
        worst = max(worst, max(-lambda_n, max(-v_n, min(lambda_n, v_n))))
        slack = 0.0
        for a in range(k):
            slack = max(slack, -dot(D[a], v_t))
            x, z, offset = edge(D, a)
            load = x * lambda_t[0] + (z * lambda_t[1] if d == 2 else 0.0)
            worst = max(worst, (load - mu[i] * lambda_n * offset) / max(1.0, mu[i]))
        lost = mu[i] * lambda_n * slack + dot(lambda_t, v_t)
        worst = max(worst, abs(lost) / (size * max(1.0, mu[i])))
    return worst


@kernel
def _orthonormalize(rows, size, triangle):
    """Factorize rows = triangle Q in place, twice for accuracy; return the smallest share kept.

    The share of a row that earlier ones do not explain is 0 where it depends on them.
    """
    smallest = 1.0
    for s in range(size):
        length = np.sqrt(dot(rows[s], rows[s]))
        if length == 0.0:
            return 0.0
        triangle[s, :s] = 0.0
        for _ in range(2):
            for r in range(s):
                along = dot(rows[r], rows[s])
                triangle[s, r] += along
                rows[s] -= along * rows[r]
        kept = np.sqrt(dot(rows[s], rows[s]))
        smallest = min(smallest, kept / length)
        if smallest <= DEPENDENT:
            return smallest
        triangle[s, s] = kept
        rows[s] /= kept
    return smallest


@kernel
def _multiply(weights, R, size, rows):
    """Write the first `size` rows of weights R."""
    for s in range(size):
        rows[s] = 0.0
        for a in range(R.shape[0]):
            if weights[s, a] != 0.0:
                rows[s] += weights[s, a] * R[a]


@kernel
def _solve_modes(R, y, basis, equations, size, after, impulse):
    """Fill y' and the impulse of one choice of modes; return how independent its rows are."""
    P, Q, triangle = np.empty((size, len(y))), np.empty((size, len(y))), np.zeros((size, size))
    _multiply(equations, R, size, P)
    _multiply(basis.T, R, size, Q)
    smallest = _orthonormalize(P, size, triangle)
    if smallest > DEPENDENT:
        smallest = min(smallest, _orthonormalize(Q, size, triangle))
    if smallest <= DEPENDENT:
        return smallest
    system, z = np.empty((size, size)), np.empty((size, 1))
    for r in range(size):
        z[r, 0] = -dot(P[r], y)
        for s in range(size):
            system[r, s] = dot(P[r], Q[s])
    if eliminate(system, z, size, 1) == 0:
        return 0.0
    # y' needs no more than orthonormal rows; only the impulse feels how dependent they were.
    for s in range(size):
        after += z[s, 0] * Q[s]
    for r in range(size - 1, -1, -1):
        for s in range(r + 1, size):
            z[r, 0] -= triangle[s, r] * z[s, 0]
        z[r, 0] /= triangle[r, r]
        impulse += z[r, 0] * basis[:, r]
    return smallest


@kernel
def solutions(R, mu, D, y, impulses):
    """Try every choice of modes without caps, and list the solutions in `impulses` (most, c).

    Return their number, beyond `most` too, and whether digits did not suffice for some choice.
    """
    k, d = D.shape
    m, c = mu.shape[0], R.shape[0]
    base = num_modes(d, k, False)
    modes = np.empty(m, np.int64)
    basis, caps, equations = np.empty((c, c)), np.empty((c, m)), np.empty((c, c))
    after, impulse = np.empty(y.shape[0]), np.empty(c)
    count, doubtful = 0, False
    for code in range(base**m):
        read_code(code, base, modes)
        size = parametrize(mu, D, modes, basis, caps, equations)
        after[:], impulse[:] = y, 0.0
        smallest = _solve_modes(R, y, basis, equations, size, after, impulse)
        if smallest <= DEPENDENT:
            doubtful = doubtful or smallest > NEARLY_DEPENDENT
            continue
        wrong = max(violation(R, mu, D, after, impulse), dot(after, after) - dot(y, y))
        if wrong <= RESIDUAL:
            if count < impulses.shape[0]:
                impulses[count] = impulse
            count += 1
        elif wrong <= RESIDUAL * np.max(np.abs(impulse)):
            # A huge impulse of nearly dependent contacts: it may be rounding alone that is wrong.
            doubtful = True
    return count, doubtful
