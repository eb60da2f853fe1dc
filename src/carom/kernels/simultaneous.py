"""Solve the simultaneous impact in energy coordinates, where ill-conditioned masses do no harm.

With M = L L^T, y = L^T v / |v|_M and R = J L^-T (rows scaled as in `ContactSpace`), impulses act by
y' = y + R^T lambda and contact velocities are R y. The Delassus matrix R R^T squares the condition
number of R; here it is never formed. In a choice of modes lambda = B xi and velocities E R y'
vanish: y' is y, moved within the rows Q = B^T R to the complement of the rows P = E R.
"""

import numpy as np

from carom.kernels.jit import ONE, kernel, lean
from carom.kernels.linear import dot, eliminate, norm_inf
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
    for i in range(mu.shape[0]):
        n = i * (1 + d)
        v_n, lambda_n, v_x, lambda_x = dot(R[n], y), impulse[n], dot(R[n + 1], y), impulse[n + 1]
        v_y, lambda_y = (dot(R[n + 2], y), impulse[n + 2]) if d == 2 else (0.0, 0.0)
        size = 1.0
        for j in range(d):
            size = max(size, np.sqrt(dot(R[n + 1 + j], R[n + 1 + j])))
        worst = max(worst, max(-lambda_n, max(-v_n, min(lambda_n, v_n))))
        slack = 0.0
        for a in range(k):
            slack = max(slack, -(D[a, 0] * v_x + (D[a, 1] * v_y if d == 2 else 0.0)))
            x, z, offset = edge(D, a)
            load = x * lambda_x + z * lambda_y
            worst = max(worst, (load - mu[i] * lambda_n * offset) / max(1.0, mu[i]))
        lost = mu[i] * lambda_n * slack + (lambda_x * v_x + lambda_y * v_y)
        worst = max(worst, abs(lost) / (size * max(1.0, mu[i])))
    return worst


@lean
def _orthonormalize(rows, size, triangle):
    """Factorize rows = triangle Q in place, twice for accuracy; return the smallest share kept.

    The share of a row that earlier ones do not explain is 0 where it depends on them.
    """
    smallest = 1.0
    for s in range(size):
        length = np.sqrt(dot(rows[s], rows[s]))
        if length == 0.0:
            return 0.0
        for r in range(s):
            triangle[s, r] = 0.0
        for _ in range(2):
            for r in range(s):
                along = dot(rows[r], rows[s])
                triangle[s, r] += along
                for j in range(rows.shape[1]):
                    rows[s, j] -= along * rows[r, j]
        kept = np.sqrt(dot(rows[s], rows[s]))
        smallest = min(smallest, kept / length)
        if smallest <= DEPENDENT:
            return smallest
        triangle[s, s] = kept
        for j in range(rows.shape[1]):
            rows[s, j] /= kept
    return smallest


@lean
def _solve_modes(R, basis, equations, size, rows, square, z, after, impulse):
    """Add to y, that of before, and to impulses of zero what one choice of modes does.

    Return how independent its rows are. Arrays to work with are rows (2, c, nv), square (2, c, c)
    and z (c, 1).
    """
    P, Q, triangle, system = rows[0], rows[1], square[0], square[1]
    for s in range(size):
        for j in range(len(after)):
            P[s, j], Q[s, j] = 0.0, 0.0
        for a in range(len(R)):
            for j in range(len(after)):
                P[s, j] += equations[s, a] * R[a, j]
                Q[s, j] += basis[a, s] * R[a, j]
    smallest = _orthonormalize(P, size, triangle)
    if smallest > DEPENDENT:
        smallest = min(smallest, _orthonormalize(Q, size, triangle))
    if smallest <= DEPENDENT:
        return smallest
    for r in range(size):
        z[r, 0] = -dot(P[r], after)
        for s in range(size):
            system[r, s] = dot(P[r], Q[s])
    if eliminate(system, z, size, ONE) == 0:
        return 0.0
    # y' needs no more than orthonormal rows; only the impulse feels how dependent they were.
    for s in range(size):
        for j in range(len(after)):
            after[j] += z[s, 0] * Q[s, j]
    for r in range(size - 1, -1, -1):
        for s in range(r + 1, size):
            z[r, 0] -= triangle[s, r] * z[s, 0]
        z[r, 0] /= triangle[r, r]
        for a in range(len(impulse)):
            impulse[a] += z[r, 0] * basis[a, r]
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
    rows, square, z = np.empty((2, c, len(y))), np.empty((2, c, c)), np.empty((c, 1))
    after, impulse = np.empty(len(y)), np.empty(c)
    count, doubtful = 0, False
    for code in range(base**m):
        read_code(code, base, modes)
        size = parametrize(mu, D, modes, basis, caps, equations)
        impulse[:] = 0.0
        for j in range(len(y)):
            after[j] = y[j]
        smallest = _solve_modes(R, basis, equations, size, rows, square, z, after, impulse)
        if smallest <= DEPENDENT:
            doubtful = doubtful or smallest > NEARLY_DEPENDENT
            continue
        wrong = max(violation(R, mu, D, after, impulse), dot(after, after) - dot(y, y))
        if wrong <= RESIDUAL:
            if count < impulses.shape[0]:
                for a in range(c):
                    impulses[count, a] = impulse[a]
            count += 1
        elif wrong <= RESIDUAL * norm_inf(impulse):
            # A huge impulse of nearly dependent contacts: it may be rounding alone that is wrong.
            doubtful = True
    return count, doubtful
