"""Solve one linear complementarity problem by lexicographic pivoting.

    y = W x + w,   x >= 0,   y >= 0,   x . y = 0.

Lemke's algorithm adds d z0 (d > 0) to make the start feasible and pivots until z0 leaves. The
tableau is kept as a dictionary (basic variables as affine functions of the n + 1 nonbasic
ones), which halves the work of the textbook tableau that carries unit columns along.

Impact LCPs are degenerate by construction (zero right-hand sides in the friction rows), so ties
are the rule. Two rules keep the path finite and right: a tie that z0 takes part in is won by z0,
and every other tie is broken lexicographically, as if w were w + (e, e^2, ..., e^n) for an
infinitesimal e [CottlePangStone, section 4.9].
"""

import numpy as np

from carom.kernels.jit import kernel
from carom.kernels.linear import eliminate, norm_inf
from carom.kernels.tolerances import HUGE, LARGE, PIVOT, POLISH, RESIDUAL, TIE, VANISHING

SOLVED = 0
RAY = 1
PIVOT_LIMIT = 2
INACCURATE = 3


@kernel
def make_work(n):
    """Allocate what `lemke` needs for problems of order n, to be used again in loops."""
    tableau = np.empty((n, n + 2))
    basic = np.empty(n, np.int64)
    nonbasic = np.empty(n + 1, np.int64)
    place = np.empty(2 * n + 1, np.int64)
    tied = np.empty(n, np.int64)
    return tableau, basic, nonbasic, place, tied


@kernel
def equilibrate(W):
    """Scale rows and columns of W to a largest entry near 1; solutions are kept.

    Large friction coefficients (1e5 is in use) otherwise spread a tableau over ten decades.

    Returns:
        (scaled W, row scales, column scales): LCP(W, w) is solved by columns * x where x solves
        LCP(scaled W, rows * w).
    """
    n = W.shape[0]
    scaled = W.copy()
    rows = np.ones(n)
    columns = np.ones(n)
    for _ in range(4):
        for i in range(n):
            largest = norm_inf(scaled[i])
            if largest > 0.0:
                factor = 1.0 / np.sqrt(largest)
                rows[i] *= factor
                for j in range(n):
                    scaled[i, j] *= factor
        for j in range(n):
            largest = 0.0
            for i in range(n):
                largest = max(largest, abs(scaled[i, j]))
            if largest > 0.0:
                factor = 1.0 / np.sqrt(largest)
                columns[j] *= factor
                for i in range(n):
                    scaled[i, j] *= factor
    return scaled, rows, columns


@kernel
def _largest_negative(w):
    """Return the largest of -w, or 0."""
    largest = 0.0
    for i in range(w.shape[0]):
        largest = max(largest, -w[i])
    return largest


@kernel
def _scale(w):
    """Return the size of w, without what is huge beside its negative entries."""
    return min(norm_inf(w), HUGE * _largest_negative(w))


@kernel
def residual(W, w, x):
    """Return the relative residual of a candidate x: 0 exactly at solutions.

    It is the largest component of the natural map min(x, y), y = W x + w, with x measured against
    X = |x| and y_i against |w_i| + sum_j |W_ij| X, that is, against what rounding of the data
    alone could do to it. X is kept between 1 and `LARGE` times the largest of -w, which is what
    makes x move at all, so that neither noise nor a huge x along an almost-kernel of W passes for a
    solution. Meant for equilibrated W, |W| = 1.
    """
    n = w.shape[0]
    natural = _largest_negative(w)
    X = min(max(norm_inf(x), natural), LARGE * natural)
    if X == 0.0:
        X = 1.0
    worst = 0.0
    for i in range(n):
        y = w[i]
        scale = abs(w[i])
        for j in range(n):
            y += W[i, j] * x[j]
            scale += abs(W[i, j]) * X
        error = abs(min(x[i] / X, y / scale)) if scale > 0.0 else 0.0
        if not error <= worst:
            worst = error
    return worst


@kernel
def _pivot(T, row, col):
    """Exchange the basic variable of `row` with the nonbasic variable of `col`."""
    n, width = T.shape
    source = T[row]
    inverse = 1.0 / source[col]
    for j in range(width):
        source[j] *= -inverse
    source[col] = inverse
    for i in range(n):
        target = T[i]
        factor = target[col]
        if i != row and factor != 0.0:
            target[col] = 0.0
            for j in range(width):
                target[j] += factor * source[j]


@kernel
def _leaving_row(T, basic, place, tied, col):
    """Choose the row that blocks the entering variable first; -1 if none does."""
    n = T.shape[0]
    rhs = n + 1
    best = np.inf
    for i in range(n):
        if T[i, col] < -PIVOT:
            best = min(best, max(T[i, rhs], 0.0) / -T[i, col])
    if best == np.inf:
        return -1
    count = 0
    slack = best * (1.0 + TIE) + VANISHING
    for i in range(n):
        if T[i, col] < -PIVOT and T[i, rhs] <= slack * -T[i, col]:
            if basic[i] == 2 * n:
                return i
            tied[count] = i
            count += 1
    k = 0
    while count > 1 and k < n:
        count = _keep_lexicographic_least(T, place[k], tied, count, col)
        k += 1
    return tied[0]


@kernel
def _keep_lexicographic_least(T, where, tied, count, col):
    """Keep the tied rows whose ratio is least in one infinitesimal; return how many.

    The coefficient of the infinitesimal e^(k+1) in a row's constant is 1 if y_k is basic in that
    row, 0 if y_k is basic in another, and minus the entry of its column if y_k is nonbasic.
    """
    kept = 0
    if where < 0:
        for t in range(count):
            if tied[t] != -1 - where:
                tied[kept] = tied[t]
                kept += 1
        return kept
    best = np.inf
    for t in range(count):
        best = min(best, T[tied[t], where] / T[tied[t], col])
    slack = best + TIE * (1.0 + abs(best))
    for t in range(count):
        if T[tied[t], where] / T[tied[t], col] <= slack:
            tied[kept] = tied[t]
            kept += 1
    return kept


@kernel
def _start(W, w, d, work):
    """Fill the dictionary, with w scaled to 1; return z0's row, or -1 if w is not negative.

    An entry of w that is huge beside the negative ones (a cap that is meant as none) is cut: no
    solution of acceptable size comes near it, and it would drown the others in rounding.
    """
    T, basic, nonbasic, place, _ = work
    n = w.shape[0]
    highest = HUGE * _largest_negative(w)
    scale = _scale(w)
    worst = 0.0
    row = -1
    for i in range(n):
        for j in range(n):
            T[i, j] = W[i, j]
        T[i, n] = d[i]
        T[i, n + 1] = min(w[i], highest) / scale
        basic[i] = i
        nonbasic[i] = n + i
        place[i] = -1 - i
        place[n + i] = i
        if w[i] < 0.0 and w[i] <= worst * d[i]:
            worst = w[i] / d[i]
            row = i
    nonbasic[n] = 2 * n
    place[2 * n] = n
    return row


@kernel
def lemke(W, w, d, work, x, max_pivots):
    """Solve LCP(W, w) with the covering vector d > 0.

    Args:
        W: (n, n) matrix.
        w: (n,) vector.
        d: (n,) positive covering vector; another one may lead to another solution.
        work: From `make_work(n)`.
        x: (n,) result.
        max_pivots: Limit on pivots.

    Returns:
        SOLVED, RAY (no solution was found on this path; for copositive-plus W there is none) or
        PIVOT_LIMIT. The accuracy of x is for the caller to judge, by `residual`.
    """
    T, basic, nonbasic, place, tied = work
    n = w.shape[0]
    for i in range(n):
        x[i] = 0.0
    if _largest_negative(w) == 0.0:
        return SOLVED
    row = _start(W, w, d, work)
    scale = _scale(w)
    col = n
    for _ in range(max_pivots):
        leaving = basic[row]
        entering = nonbasic[col]
        _pivot(T, row, col)
        basic[row] = entering
        nonbasic[col] = leaving
        place[entering] = -1 - row
        place[leaving] = col
        # A z0 of nothing but rounding has left in all but name; pivoting on leads to a false ray.
        z0_row = -1 - place[2 * n]
        if leaving == 2 * n or T[z0_row, n + 1] <= VANISHING:
            for i in range(n):
                if n <= basic[i] < 2 * n:
                    x[basic[i] - n] = scale * max(T[i, n + 1], 0.0)
            return SOLVED
        # The complement of what has just left comes in.
        col = place[leaving + n if leaving < n else leaving - n]
        row = _leaving_row(T, basic, place, tied, col)
        if row < 0:
            return RAY
    return PIVOT_LIMIT


@kernel
def _solve_support(W, w, support, size, block, rhs, x):
    """Solve for the entries of x in its support, and return whether they are unique."""
    for a in range(size):
        for b in range(size):
            block[a, b] = W[support[a], support[b]]
        rhs[a, 0] = -w[support[a]]
    if size > 0 and eliminate(block, rhs, size, 1) == 0:
        return False
    for a in range(size):
        x[support[a]] = rhs[a, 0]
    return True


@kernel
def polish(W, w, x):
    """Compute x again from its support and the original data, undoing drift of the tableau."""
    support = np.flatnonzero(x > 0.0)
    size = len(support)
    _solve_support(W, w, support, size, np.empty((size, size)), np.empty((size, 1)), x)


@kernel
def solve_accurately(W, w, d, work, x, trial, max_pivots):
    """Run `lemke`, polish if needed, and judge the result by its residual alone."""
    status = lemke(W, w, d, work, x, max_pivots)
    error = residual(W, w, x)
    if status == SOLVED and error > POLISH:
        trial[:] = x
        polish(W, w, trial)
        polished = residual(W, w, trial)
        if polished < error:
            x[:] = trial
            error = polished
    if error <= RESIDUAL:
        return SOLVED, error
    return (INACCURATE if status == SOLVED else status), error


@kernel
def solutions_by_supports(W, w, most):
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
            x[i] = 0.0
            if (code >> i) & 1:
                support[size] = i
                size += 1
        unique = _solve_support(W, w, support, size, block, rhs, x)
        if unique and residual(W, w, x) <= RESIDUAL and count < most:
            found[count] = x
            count += 1
    return found[:count]
