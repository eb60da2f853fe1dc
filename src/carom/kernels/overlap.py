"""Find which affine pieces overlap, so that all solutions of a step are found by few tests.

Two pieces overlap if some u lies strictly inside both. Since the pieces are cones, that is
R u >= 1 for the rows R of both and the caps' signs; the least such u, if any, is R^T y where
y >= 0, R R^T y - 1 >= 0, y . (R R^T y - 1) = 0: an LCP with a positive semidefinite matrix, which
Lemke's algorithm decides.
"""

import numpy as np

from carom.kernels.jit import kernel
from carom.kernels.lemke import SOLVED, lemke, make_work
from carom.kernels.linear import dot
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
def interior_point(C, num_conditions, pieces, num_caps, u):
    """Look for a u strictly inside all of some pieces, with caps > 0; return whether there is."""
    count, size = num_conditions[pieces].sum() + num_caps, C.shape[2]
    rows, end = np.zeros((count, size)), 0
    for p in pieces:
        start, end = end, end + num_conditions[p]
        rows[start:end] = C[p, : num_conditions[p]]
    for i in range(num_caps):
        rows[end + i, size - num_caps + i] = 1.0
    gram = np.empty((count, count))
    for a in range(count):
        for b in range(count):
            gram[a, b] = dot(rows[a], rows[b])
    y, covering, work = np.empty(count), np.ones(count), make_work(count)
    for attempt in range(ATTEMPTS):
        for a in range(count):
            covering[a] = 1.0 if attempt == 0 else 0.1 + uniform(stream(attempt, a), 0)
        status = lemke(gram, np.full(count, -1.0), covering, work, y, 50 * count)
        if status == SOLVED and _is_inside(rows, y, u):
            return True
    return False


@kernel
def _is_inside(rows, y, u):
    """Fill u = R^T y and return whether R u is well above zero."""
    for j in range(rows.shape[1]):
        u[j] = dot(rows[:, j], y)
    inside = True
    for a in range(rows.shape[0]):
        inside = inside and dot(rows[a], u) > 0.5
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
                pair[0], pair[1] = p, q
                overlapping[p, q] = interior_point(C, num_conditions, pair, num_caps, u)
                overlapping[q, p] = overlapping[p, q]
    return overlapping
