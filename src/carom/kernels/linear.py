"""Solve small dense linear systems without leaving compiled code."""

from carom.kernels.jit import inlined, lean
from carom.kernels.tolerances import SINGULAR


@lean
def eliminate(A, B, n, num_rhs):
    """Solve A X = B in place by Gaussian elimination with partial pivoting.

    Leading blocks count: (n, n) of A, which is destroyed, and (n, num_rhs) of B, which becomes X.
    Return the sign of det A, or 0 where A is singular to working accuracy.
    """
    largest = 0.0
    for i in range(n):
        for j in range(n):
            largest = max(largest, abs(A[i, j]))
    sign = 1
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if abs(A[p, k]) <= SINGULAR * largest:
            return 0
        if p != k:
            sign = -sign
            for j in range(k, n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
            for j in range(num_rhs):
                B[k, j], B[p, j] = B[p, j], B[k, j]
        if A[k, k] < 0.0:
            sign = -sign
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
                for j in range(num_rhs):
                    B[i, j] -= factor * B[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(num_rhs):
            total = B[k, j]
            for i in range(k + 1, n):
                total -= A[k, i] * B[i, j]
            B[k, j] = total / A[k, k]
    return sign


@lean
def norm_inf(x):
    """Return the largest magnitude in a vector."""
    largest = 0.0
    for i in range(x.shape[0]):
        largest = max(largest, abs(x[i]))
    return largest


@inlined
def dot(x, y, total=0.0):
    """Return the sum of products of two vectors, whatever their layout, added to a total."""
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total
