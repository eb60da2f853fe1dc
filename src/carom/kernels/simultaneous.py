"""Solve the simultaneous impact with energy coordinates, in which ill-conditioned masses do no harm.

With M = L L^T, y = L^T v / |v|_M and R = L^-1 J^T (columns scaled as in `ContactSpace`), impulses
act by y' = y + R lambda and contact velocities are R^T y. The Delassus matrix R^T R squares the
condition number of R; here it is never formed. In a choice of modes lambda = B xi and the
velocities E R^T y' vanish: y' is y, projected along span(R B) onto the complement of span(R E^T).
"""

import numpy as np

from carom.kernels.jit import kernel
from carom.kernels.linear import eliminate
from carom.kernels.pieces import num_frictions, parametrize, read_code
from carom.kernels.tolerances import DEPENDENT, NEARLY_DEPENDENT, RESIDUAL


@kernel
def violation(R, mu, D, y, impulse):
    """Return by how much an outcome violates the impact law, free of units: 0 for a solution.

    Impulses are >= 0 and within the friction polygon, normal velocities are >= 0 and complementary
    to the impulses, friction dissipates most, and energy does not rise. y is that after the impact.
    """
    k, d = D.shape
    worst = 0.0
    for i in range(mu.shape[0]):
        n = i * (1 + d)
        tangent = R[:, n + 1 : n + 1 + d]
        size = max(1.0, np.sqrt(np.sum(tangent * tangent)))
        v_n, v_t = R[:, n] @ y, tangent.T @ y
        lambda_n, lambda_t = impulse[n], impulse[n + 1 : n + 1 + d]
        worst = max(worst, max(-lambda_n, max(-v_n, min(lambda_n, v_n))))
        slack = 0.0
        for a in range(k):
            slack = max(slack, -(D[a] @ v_t))
            # The edge from corner a on; in the plane the corner itself.
            if d == 2:
                b = (a + 1) % k
                x, z = D[b, 1] - D[a, 1], D[a, 0] - D[b, 0]
                load = x * lambda_t[0] + z * lambda_t[1]
                limit = mu[i] * lambda_n * (x * D[a, 0] + z * D[a, 1])
            else:
                load, limit = D[a, 0] * lambda_t[0], mu[i] * lambda_n
            worst = max(worst, (load - limit) / max(1.0, mu[i]))
        lost = mu[i] * lambda_n * slack + lambda_t @ v_t
        worst = max(worst, abs(lost) / (size * max(1.0, mu[i])))
    return worst


@kernel
def _orthonormalize(columns, size, triangle):
    """Factorize columns = Q triangle in place, twice for accuracy; return the smallest share kept.

    The share of a column that earlier ones do not explain is 0 where it depends on them.
    """
    smallest = 1.0
    for s in range(size):
        length = np.sqrt(np.sum(columns[:, s] * columns[:, s]))
        for r in range(size):
            triangle[r, s] = 0.0
        if length == 0.0:
            return 0.0
        for _ in range(2):
            for r in range(s):
                along = columns[:, r] @ columns[:, s]
                triangle[r, s] += along
                columns[:, s] -= along * columns[:, r]
        kept = np.sqrt(np.sum(columns[:, s] * columns[:, s]))
        smallest = min(smallest, kept / length)
        if kept <= DEPENDENT * length:
            return smallest
        triangle[s, s] = kept
        columns[:, s] /= kept
    return smallest


@kernel
def _solve_modes(R, y, basis, equations, size, after, impulse):
    """Fill y' and the impulse of one choice of modes; return how independent its columns are."""
    P = np.ascontiguousarray(R @ np.ascontiguousarray(equations[:size].T))
    Q = np.ascontiguousarray(R @ np.ascontiguousarray(basis[:, :size]))
    triangle = np.zeros((size, size))
    smallest = _orthonormalize(P, size, triangle)
    smallest = min(smallest, _orthonormalize(Q, size, triangle))
    if smallest <= DEPENDENT:
        return smallest
    system, z = P.T @ Q, np.empty((size, 1))
    z[:, 0] = -(P.T @ y)
    if eliminate(system, z, size, 1) == 0:
        return 0.0
    after[:] = y + Q @ np.ascontiguousarray(z[:, 0])
    for r in range(size - 1, -1, -1):
        for s in range(r + 1, size):
            z[r, 0] -= triangle[r, s] * z[s, 0]
        z[r, 0] /= triangle[r, r]
    impulse[:] = np.ascontiguousarray(basis[:, :size]) @ np.ascontiguousarray(z[:, 0])
    return smallest


@kernel
def solutions(R, mu, D, y, velocities, impulses):
    """Try every choice of modes without caps, and list the solutions.

    Returns:
        (number of solutions, whether digits did not suffice for some choice). More solutions than
        rows of `velocities` (most, nv) and `impulses` (most, c) are counted and left out.
    """
    k, d = D.shape
    m, c = mu.shape[0], R.shape[1]
    base = 1 + num_frictions(d, k)
    modes = np.empty(m, np.int64)
    basis, caps, equations = np.empty((c, c)), np.empty((c, m)), np.empty((c, c))
    after, impulse = np.empty(y.shape[0]), np.empty(c)
    count, doubtful = 0, False
    for code in range(base**m):
        read_code(code, base, modes)
        size = parametrize(mu, D, modes, basis, caps, equations)
        after[:], impulse[:] = y, 0.0
        smallest = _solve_modes(R, y, basis, equations, size, after, impulse) if size else 1.0
        if smallest <= DEPENDENT:
            doubtful = doubtful or smallest > NEARLY_DEPENDENT
            continue
        wrong = violation(R, mu, D, after, impulse)
        largest = max(1.0, np.max(np.abs(impulse)))
        if wrong <= RESIDUAL:
            if count < velocities.shape[0]:
                velocities[count], impulses[count] = after, impulse
            count += 1
        elif wrong <= RESIDUAL * largest:
            doubtful = True
    return count, doubtful
