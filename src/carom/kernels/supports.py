"""Find all solutions of a small LCP by trying every support of x."""

import numpy as np

from carom.kernels.jit import kernel
from carom.kernels.lemke import residual
from carom.kernels.linear import eliminate
from carom.kernels.tolerances import RESIDUAL


@kernel
def solutions(W, w, most):
    """Return the solutions (count, n) whose support has a nonsingular block of W."""
    n = w.shape[0]
    found = np.empty((most, n))
    count = 0
    support = np.empty(n, np.int64)
    block = np.empty((n, n))
    rhs = np.empty((n, 1))
    x = np.empty(n)
    for code in range(2**n):
        size = 0
        for i in range(n):
            if (code >> i) & 1:
                support[size] = i
                size += 1
        for a in range(size):
            for b in range(size):
                block[a, b] = W[support[a], support[b]]
            rhs[a, 0] = -w[support[a]]
        if size > 0 and eliminate(block, rhs, size, 1) == 0:
            continue
        x[:] = 0.0
        for a in range(size):
            x[support[a]] = rhs[a, 0]
        if residual(W, w, x) <= RESIDUAL and count < most:
            found[count] = x
            count += 1
    return found[:count]
