"""Solve small linear systems that may be singular, by one-sided Jacobi rotations.

Leading blocks of the arrays count, (r, k) or (k, k).
"""

import math

from carom.kernels.jit import expanded, lean

DEPENDENT = 1e-10
"""Singular values below this share of the largest count as zero."""
ORTHOGONAL = 1e-15
"""Cosine of the angle between columns that count as orthogonal."""
MOST_SWEEPS = 30
"""Maximum number of sweeps over all pairs of columns; convergence is quadratic after a few."""


@lean
def orthogonalize(A, V, length, r, k):
    """Turn the columns of A (r, k) until they are orthogonal: A becomes A V, V (k, k) is filled.

    Their lengths, the singular values of A, fill `length` (k,). Return the one below which they
    count as zero.
    """
    for i in range(k):
        for j in range(k):
            V[i, j] = 1.0 if i == j else 0.0
    for _ in range(MOST_SWEEPS):
        is_done = True
        for p in range(k):
            for q in range(p + 1, k):
                own, other, both = 0.0, 0.0, 0.0
                for i in range(r):
                    own += A[i, p] * A[i, p]
                    other += A[i, q] * A[i, q]
                    both += A[i, p] * A[i, q]
                if abs(both) <= ORTHOGONAL * math.sqrt(own * other):
                    continue
                is_done = False
                cotangent = 0.5 * (other - own) / both
                tangent = 1.0 / (abs(cotangent) + math.sqrt(1.0 + cotangent * cotangent))
                _turn(A, r, p, q, tangent if cotangent >= 0.0 else -tangent)
                _turn(V, k, p, q, tangent if cotangent >= 0.0 else -tangent)
        if is_done:
            break
    largest = 0.0
    for j in range(k):
        total = 0.0
        for i in range(r):
            total += A[i, j] * A[i, j]
        length[j] = math.sqrt(total)
        largest = max(largest, length[j])
    return DEPENDENT * largest


@expanded
def _turn(A, r, p, q, tangent):
    """Turn columns p and q of A by an angle."""
    cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
    sine = cosine * tangent
    for i in range(r):
        own, other = A[i, p], A[i, q]
        A[i, p], A[i, q] = cosine * own - sine * other, sine * own + cosine * other


@expanded
def least_norm(A, V, length, k, b, x):
    """Fill the x (k,) of least norm that solves A x = b best; A, V and length are overwritten."""
    zero = orthogonalize(A, V, length, k, k)
    for i in range(k):
        x[i] = 0.0
    for j in range(k):
        if length[j] <= zero:
            continue
        weight = 0.0
        for i in range(k):
            weight += A[i, j] * b[i]
        weight /= length[j] * length[j]
        for i in range(k):
            x[i] += weight * V[i, j]
