"""Forces of many contacts in space by sweeps over round cones."""

from carom.kernels.discs import disc_minimum
from carom.kernels.jit import kernel

SETTLED = 1e-14
"""Changes of forces below this share of the largest are rounding, and sweeps end."""
MOST_SWEEPS = 5000


@kernel
def sweep_cones(A, b, mu, slip, x):
    """Change forces x (3 c,) until contacts accelerate as they must; return the last change.

    Contact i accelerates by a = A x + b, normal first. It has 0 <= x_n, 0 <= a_n and x_n a_n = 0.
    Friction is -mu x_n times its direction of slip, or, where that is zero, what takes most power
    out of the slip that begins. Sweeps in the manner of Gauss and Seidel: they end near a solution,
    of which only the modes are meant.

    Args:
        A: (3 c, 3 c) Delassus matrix.
        b: (3 c,) accelerations without contact forces.
        mu: (c,) friction coefficients, zero where there is none.
        slip: (c, 2) directions of slip, zero where there is none.
        x: (3 c,) forces to start from, which are overwritten.
    """
    count, change = len(mu), 0.0
    for _ in range(MOST_SWEEPS):
        change, size = 0.0, 0.0
        for i in range(count):
            n = 3 * i
            if not A[n, n] > 0.0:
                x[n] = 0.0
                continue
            old_0, old_1, old_2 = x[n], x[n + 1], x[n + 2]
            a_0, a_1, a_2 = b[n], b[n + 1], b[n + 2]
            for k in range(3 * count):
                if k < n or k > n + 2:
                    a_0 += A[n, k] * x[k]
                    a_1 += A[n + 1, k] * x[k]
                    a_2 += A[n + 2, k] * x[k]
            if slip[i, 0] != 0.0 or slip[i, 1] != 0.0:
                along = A[n, n + 1] * slip[i, 0] + A[n, n + 2] * slip[i, 1]
                own = A[n, n] - mu[i] * along
                x[n] = max(0.0, -a_0 / (own if own > 0.1 * A[n, n] else A[n, n]))
                x[n + 1] = -mu[i] * x[n] * slip[i, 0]
                x[n + 2] = -mu[i] * x[n] * slip[i, 1]
            else:
                pull = A[n, n + 1] * x[n + 1] + A[n, n + 2] * x[n + 2]
                x[n] = max(0.0, -(a_0 + pull) / A[n, n])
                if mu[i] * x[n] > 0.0:
                    x[n + 1], x[n + 2] = disc_minimum(
                        *(A[n + 1, n + 1], A[n + 1, n + 2], A[n + 2, n + 2]),
                        *(a_1 + A[n + 1, n] * x[n], a_2 + A[n + 2, n] * x[n], mu[i] * x[n]),
                    )
                else:
                    x[n + 1] = x[n + 2] = 0.0
            moved = max(abs(x[n] - old_0), abs(x[n + 1] - old_1), abs(x[n + 2] - old_2))
            change = max(change, moved)
            size = max(size, abs(x[n]))
        if not change > SETTLED * size:
            break
    return change
