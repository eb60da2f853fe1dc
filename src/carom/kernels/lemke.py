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

from carom.kernels.jit import ONE, ZERO, expanded, kernel, lean
from carom.kernels.linear import eliminate, norm_inf
from carom.kernels.tolerances import HUGE, LARGE, PIVOT, POLISH, RESIDUAL, TIE, VANISHING

SOLVED, RAY, PIVOT_LIMIT, INACCURATE = range(4)


BASIC, NONBASIC, PLACE, TIED = range(4)
"""Rows of the numbers to work with: variables of rows and columns; where each is; tied rows."""


@kernel
def make_work(n):
    """Allocate what `lemke` needs for problems of order n, to be used again in loops.

    That is a dictionary, a right side and whole numbers.
    """
    return np.empty((n, n + 2)), np.empty((n, 1)), np.empty((4, 2 * n + 1), np.int64)


@kernel
def equilibrate(W):
    """Scale rows and columns of W to a largest entry near 1; return scaled W, rows and columns.

    Large friction coefficients (1e5 is in use) otherwise spread a tableau over ten decades.
    LCP(W, w) is solved by columns * x where x solves LCP(scaled W, rows * w).
    """
    n = W.shape[0]
    scaled, scales = W.copy(), np.ones((2, n))
    for turn in range(8):
        # Rows and columns in turn, each divided by the root of its largest entry.
        side = turn % 2
        for i in range(n):
            largest = 0.0
            for j in range(n):
                largest = max(largest, abs(scaled[i, j] if side == 0 else scaled[j, i]))
            factor = 1.0 / np.sqrt(largest) if largest > 0.0 else 1.0
            scales[side, i] *= factor
            for j in range(n):
                if side == 0:
                    scaled[i, j] *= factor
                else:
                    scaled[j, i] *= factor
    return scaled, scales[0], scales[1]


@lean
def _largest_negative(w):
    """Return the largest of -w, or 0."""
    largest = 0.0
    for i in range(w.shape[0]):
        largest = max(largest, -w[i])
    return largest


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
        y, scale = w[i], abs(w[i])
        for j in range(n):
            y += W[i, j] * x[j]
            scale += abs(W[i, j]) * X
        error = abs(min(x[i] / X, y / scale)) if scale > 0.0 else 0.0
        if not error <= worst:
            worst = error
    return worst


@expanded
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


@expanded
def _leaving_row(T, basic, place, tied, col):
    """Choose the row that blocks the entering variable first; -1 if none does."""
    n = T.shape[0]
    rhs, best = n + 1, np.inf
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


@expanded
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


@expanded
def _start(W, w, d, work):
    """Fill the dictionary, with w scaled to 1; return z0's row and the scale.

    An entry of w that is huge beside the negative ones (a cap that is meant as none) is cut: no
    solution of acceptable size comes near it, and it would drown the others in rounding.
    """
    T, _, index = work
    basic, nonbasic, place = index[BASIC], index[NONBASIC], index[PLACE]
    n = w.shape[0]
    highest = HUGE * _largest_negative(w)
    scale = min(norm_inf(w), highest)
    worst, row = 0.0, -1
    for i in range(n):
        for j in range(n):
            T[i, j] = W[i, j]
        T[i, n] = d[i]
        T[i, n + 1] = min(w[i], highest) / scale
        basic[i], nonbasic[i] = i, n + i
        place[i], place[n + i] = -1 - i, i
        if w[i] < 0.0 and w[i] <= worst * d[i]:
            worst, row = w[i] / d[i], i
    nonbasic[n], place[2 * n] = 2 * n, n
    return row, scale


@lean
def lemke(W, w, d, work, x, max_pivots):
    """Fill the solution x of LCP(W, w), on the path of the covering vector d > 0.

    Return SOLVED, RAY (no solution was found on this path; for copositive-plus W there is none) or
    PIVOT_LIMIT. The accuracy of x is for the caller to judge, by `residual`.
    """
    T, _, index = work
    basic, nonbasic, place, tied = index[BASIC], index[NONBASIC], index[PLACE], index[TIED]
    n = w.shape[0]
    x[:] = 0.0
    if _largest_negative(w) == 0.0:
        return SOLVED
    row, scale = _start(W, w, d, work)
    col = n
    for _ in range(max_pivots):
        leaving, entering = basic[row], nonbasic[col]
        _pivot(T, row, col)
        basic[row], nonbasic[col] = entering, leaving
        place[entering], place[leaving] = -1 - row, col
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


@lean
def _solve_support(W, w, support, size, block, rhs, x):
    """Solve for the entries of x in its support, and return whether they are unique."""
    for a in range(size):
        for b in range(size):
            block[a, b] = W[support[a], support[b]]
        rhs[a, 0] = -w[support[a]]
    if size > 0 and eliminate(block, rhs, size, ONE) == 0:
        return False
    for a in range(size):
        x[support[a]] = rhs[a, 0]
    return True


@lean
def polish(W, w, work, x):
    """Compute x again from its support and the original data, undoing drift of the tableau."""
    block, rhs, index = work
    support, size = index[TIED], ZERO
    for i in range(len(x)):
        if x[i] > 0.0:
            support[size] = i
            size += 1
    _solve_support(W, w, support, size, block, rhs, x)


@expanded
def run_accurately(W, w, d, work, x, trial, max_pivots):
    """Run `lemke`, polish if needed, and judge the result by its residual alone."""
    status = lemke(W, w, d, work, x, max_pivots)
    error = residual(W, w, x)
    if status == SOLVED and error > POLISH:
        for i in range(len(x)):
            trial[i] = x[i]
        polish(W, w, work, trial)
        polished = residual(W, w, trial)
        if polished < error:
            error = polished
            for i in range(len(x)):
                x[i] = trial[i]
    if error <= RESIDUAL:
        return SOLVED, error
    return (INACCURATE if status == SOLVED else status), error


@kernel
def solve_accurately(W, w, d, work, x, trial, max_pivots):
    """Call `run_accurately` from Python."""
    return run_accurately(W, w, d, work, x, trial, max_pivots)


@kernel
def solutions_by_supports(W, w, most):
    """Return the solutions (count, n) whose support has a nonsingular block of W."""
    n = w.shape[0]
    found, count = np.empty((most, n)), 0
    support, block, rhs = np.empty(n, np.int64), np.empty((n, n)), np.empty((n, 1))
    x = np.empty(n)
    for code in range(2**n):
        x[:] = 0.0
        size = ZERO
        for i in range(n):
            if (code >> i) & 1:
                support[size] = i
                size += 1
        unique = _solve_support(W, w, support, size, block, rhs, x)
        if unique and residual(W, w, x) <= RESIDUAL and count < most:
            for i in range(n):
                found[count, i] = x[i]
            count += 1
    return found[:count]
