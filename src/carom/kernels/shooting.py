"""Follow stretches in which contacts have given impulses, and see on what their ends depend."""

import numpy as np

from carom.kernels.jit import inlined, kernel, lean
from carom.kernels.motions import is_physical
from carom.kernels.stored import goes_on
from carom.kernels.stretches import follow_stretch

MOST_AIMS = 8
"""Maximum number of stretches that end a motion, in which contacts aim to stop together."""


@inlined
def _dot(x, y):
    value = 0.0
    for k in range(len(x)):
        value += x[k] * y[k]
    return value


@lean
def _follow_row(A, mu, row, work, log, logged):
    """Let contacts push by the normal impulses of a row, as long as they do not part."""
    length = 0.0
    for i in range(work.m):
        work.rates[i] = row[i]
        if work.u[i * work.width] <= 0.0:
            length += row[i]
    if length > 0.0:
        follow_stretch(A, mu, -length, 0, work, log, logged)


@kernel
def shoot(A, mu, start, rows, velocities, work, log, logged):
    """Follow a motion row by row, and then until no contact approaches; return whether it ends.

    A motion whose impulse does not lead to its velocity counts as one that does not end.

    Args:
        A, mu, start: The contact space and the start.
        rows: (K, m) normal impulses of the contacts, one row per stretch.
        velocities: (K + 1, c) contact velocities before each row and after the last one, written.
        work: From `make_work`; its `u` and `total` are those of the end.
        log, logged: Impulses of straight pieces, and their number.
    """
    c, m = len(start), work.m
    for k in range(c):
        velocities[0, k] = work.u[k] = start[k]
        work.total[k] = 0.0
    for r in range(len(rows)):
        _follow_row(A, mu, rows[r], work, log, logged)
        for k in range(c):
            velocities[r + 1, k] = work.u[k]
    for _ in range(MOST_AIMS):
        if not goes_on(work):
            break
        for i in range(m):
            work.rates[i] = 1.0
        follow_stretch(A, mu, 1.0, 1, work, log, logged)
    return not goes_on(work) and is_physical(A, start, len(start), work)


@lean
def _impulse(A, mu, begin, row, impulse, work, log, logged):
    """Write the impulse (c,) of a row that begins with a velocity."""
    for k in range(len(begin)):
        work.u[k] = begin[k]
        work.total[k] = 0.0
    _follow_row(A, mu, row, work, log, logged)
    for k in range(len(begin)):
        impulse[k] = work.total[k]


@kernel
def linearize(A, mu, velocities, rows, basis, away, q, step, F, G, work, log):
    """Differentiate the end of each row by where it begins and by its impulses.

    The impulse of a row depends on the slip of the contacts that push, and on nothing else of the
    velocity as long as they do. Contacts that act often stop just where a row begins or ends. What
    counts is what happens while they act, so derivatives are taken at velocities that approach a
    little faster.

    Args:
        A, mu: The contact space.
        velocities: (K + 1, c) contact velocities from `shoot`.
        rows: (K, m) normal impulses.
        basis: (r, c) orthonormal basis of possible velocities.
        away: (c,) velocity, in steps, by which all contacts approach faster.
        q: (c,) the objective.
        step: Difference of velocities and of impulses.
        F, G: (K, r + 1, r), (K, r + 1, m) derivatives of the coordinates of the velocity and of
            q . impulse by the coordinates before and by the impulses, written.
        work: From `make_work`.
        log: (0, c) no log.
    """
    (r, c), m, width = basis.shape, rows.shape[1], work.width
    base, row, logged = np.empty(c), np.empty(m), np.zeros(1, np.int64)
    impulse, moved, rate = np.empty(c), np.empty(c), np.empty(r + 1)
    # What an impulse changes: coordinates of the velocity, and the objective.
    response = np.empty((r + 1, c))
    for b in range(r):
        for a in range(c):
            response[b, a] = _dot(basis[b], A[a])
    for a in range(c):
        response[r, a] = q[a]
    for k in range(len(rows)):
        for a in range(c):
            base[a] = velocities[k, a] + step * away[a]
        for b in range(r + 1):
            for j in range(r):
                F[k, b, j] = 1.0 if b == j else 0.0
        _impulse(A, mu, base, rows[k], impulse, work, log, logged)
        for a in range(c):
            if a % width == 0 or rows[k, a // width] == 0.0:
                continue
            begin = base[a]
            base[a] += step
            _impulse(A, mu, base, rows[k], moved, work, log, logged)
            base[a] = begin
            _differ(response, moved, impulse, step, rate)
            for b in range(r + 1):
                for j in range(r):
                    F[k, b, j] += rate[b] * basis[j, a]
        for i in range(m):
            for j in range(m):
                row[j] = rows[k, j] + (step if j == i else 0.0)
            _impulse(A, mu, base, row, moved, work, log, logged)
            _differ(response, moved, impulse, step, rate)
            for b in range(r + 1):
                G[k, b, i] = rate[b]


@lean
def _differ(response, moved, impulse, step, rate):
    """Write the rates at which coordinates and objective change from one impulse to another."""
    for b in range(len(rate)):
        rate[b] = 0.0
        for a in range(len(impulse)):
            rate[b] += response[b, a] * (moved[a] - impulse[a]) / step
