"""Find which affine pieces overlap, so that all solutions of a step are found by few tests.

Two pieces overlap if some u lies strictly inside both. Since the pieces are cones, that is
R u >= 1 for the rows R of both and the caps' signs; the least such u, if any, is R^T y where
y >= 0, R R^T y - 1 >= 0, y . (R R^T y - 1) = 0: an LCP with a positive semidefinite matrix, which
Lemke's algorithm decides.
"""

import numpy as np

from carom.kernels.jit import kernel
from carom.kernels.lemke import SOLVED, lemke, make_work
from carom.kernels.random import stream, uniform
from carom.kernels.tolerances import MATCH

ATTEMPTS = 4
"""Covering vectors to try before two pieces count as apart: rounding may end a path too early."""


@kernel
def _are_separated(C, num_conditions, p, q):
    """Return whether a facet of one piece is the opposite of a facet of the other."""
    for r in range(num_conditions[p]):
        for s in range(num_conditions[q]):
            total = 0.0
            for j in range(C.shape[2]):
                total += abs(C[p, r, j] + C[q, s, j])
            if total <= MATCH:
                return True
    return False


@kernel
def _gather(C, num_conditions, pieces, num_caps, rows):
    """Stack the conditions of some pieces and the signs of the caps; count the rows."""
    count = 0
    size = C.shape[2]
    for t in range(pieces.shape[0]):
        for r in range(num_conditions[pieces[t]]):
            for j in range(size):
                rows[count, j] = C[pieces[t], r, j]
            count += 1
    for i in range(num_caps):
        for j in range(size):
            rows[count, j] = 0.0
        rows[count, size - num_caps + i] = 1.0
        count += 1
    return count


@kernel
def interior_point(C, num_conditions, pieces, num_caps, u):
    """Look for a u strictly inside all of some pieces, with caps > 0; tell whether there is one."""
    most = num_caps
    for t in range(pieces.shape[0]):
        most += num_conditions[pieces[t]]
    rows = np.empty((most, C.shape[2]))
    count = _gather(C, num_conditions, pieces, num_caps, rows)
    gram = np.empty((count, count))
    for a in range(count):
        for b in range(count):
            total = 0.0
            for j in range(C.shape[2]):
                total += rows[a, j] * rows[b, j]
            gram[a, b] = total
    y = np.empty(count)
    work = make_work(count)
    covering = np.ones(count)
    for attempt in range(ATTEMPTS):
        for a in range(count):
            covering[a] = 1.0 if attempt == 0 else 0.1 + uniform(stream(attempt, a), 0)
        status = lemke(gram, np.full(count, -1.0), covering, work, y, 50 * count)
        if status == SOLVED and _is_inside(rows[:count], y, u):
            return True
    return False


@kernel
def _is_inside(rows, y, u):
    """Compute u = R^T y and tell whether R u is well above zero."""
    inside = True
    for j in range(rows.shape[1]):
        u[j] = 0.0
        for a in range(rows.shape[0]):
            u[j] += rows[a, j] * y[a]
    for a in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            total += rows[a, j] * u[j]
        inside = inside and total > 0.5
    return inside


@kernel
def find_overlaps(C, num_conditions, num_caps):
    """Return for every pair of pieces (pieces, pieces) whether they overlap."""
    count = num_conditions.shape[0]
    overlapping = np.zeros((count, count), np.bool_)
    pair = np.empty(2, np.int64)
    u = np.empty(C.shape[2])
    for p in range(count):
        for q in range(p):
            if not _are_separated(C, num_conditions, p, q):
                pair[0] = p
                pair[1] = q
                overlapping[p, q] = interior_point(C, num_conditions, pair, num_caps, u)
                overlapping[q, p] = overlapping[p, q]
    return overlapping
