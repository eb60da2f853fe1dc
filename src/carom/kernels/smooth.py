"""Smooth motion of a planar system with contacts in given modes: its rates, and what may end it.

A state y holds q, v and the contact impulses, (2 n + 2 m,). Nothing depends on time.
"""

from typing import NamedTuple

import numpy as np

from carom.kernels.jit import expanded, lean
from carom.kernels.linear import dot
from carom.kernels.planar import Tree, inertia, place, touch
from carom.kernels.sustained import (
    FREE,
    HOLDS,
    NO_INERTIA,
    UNIQUE,
    margins,
    scales,
    slip_sign,
    solve,
)

SLIP_ROUNDING = 1e-12
"""Slip against its direction that counts as rounding [m/s]."""

SLIP, PRESSES, GRIPS, GAP, RATE = np.arange(5)
"""Columns of a sight (m, 5): three conditions that end a segment below zero (slip along its
direction, the normal force, friction within its cone), the gap of an open contact, its rate."""

RATES, MARGINS, CLOSURE, REST, SIGHT, GAPS = np.arange(6)
"""What to examine at a state: its derivative; the margins of modes whose forces are unique; the
smallest changes that take the gaps, or the velocities, out of closed contacts; a sight; the last
two columns of a sight alone. As the columns, these are numbers of NumPy: for each of Python,
functions would be compiled anew."""


INNER, BIAS, FORCE, UNIT, MARGIN, MOTION, NUM_PAIRS = range(7)
"""Layers of a course's pairs: inner forces, where contacts depend on each other; biases; contact
forces; units; margins; how contacts move before modes are chosen."""


class Course(NamedTuple):
    """A planar system with its contacts in given modes, and arrays to work with.

    Few arrays, of which each is several: every one costs time to compile wherever it is handed on.
    """

    tree: Tree
    mu: np.ndarray  # (m,) friction coefficients
    modes: np.ndarray  # (m,) modes
    resting: np.ndarray  # (m,) contacts that, if free or sliding, only begin to
    slack: np.ndarray  # (m, 4) by how much conditions and gaps may fall below zero
    frames: np.ndarray  # (b + 2, 3, 2 + n) frame of every body, and two to work with
    rows: np.ndarray  # (n + 2 m + 3, n) mass matrix, J_n, J_t, smooth force, acceleration, zeros
    phi: np.ndarray  # (m,) gaps
    pairs: np.ndarray  # (6, m, 2) numbers of a normal and a tangent
    work: np.ndarray


@lean
def examine(course, y, what, out, sight):
    """Fill the derivative `out` of a state, or a sight (m, 5); False if there is none.

    Columns of a sight that do not apply are 1. Other answers are left in the course: margins, and
    changes in place of the acceleration. It is one function for all questions, because each that
    calls it takes as long to compile as all that it calls.
    """
    modes, frames, phi, rows = course.modes, course.frames, course.phi, course.rows
    pairs = course.pairs
    n, m = rows.shape[1], len(modes)
    M, J_n, J_t = rows[:n], rows[n : n + m], rows[n + m : n + 2 * m]
    force, acceleration, bias = rows[n + 2 * m], rows[n + 2 * m + 1], pairs[BIAS]
    q, v = y[:n], y[n : 2 * n]
    for i in range(len(y)):
        if not np.isfinite(y[i]):
            return False
    place(course.tree, q, v, frames)
    if touch(course.tree, v, frames, phi, J_n, J_t, bias) >= 0:
        return False
    is_closed = False
    for i in range(len(modes)):
        is_closed = is_closed or modes[i] != FREE
        if what >= SIGHT:
            slip = slip_sign(modes[i])
            for column in range(5):
                sight[i, column] = 1.0
            if modes[i] == FREE:
                sight[i, GAP] = phi[i] + course.slack[i, GAP]
                sight[i, RATE] = dot(J_n[i], v)
            if slip != 0.0:
                sight[i, SLIP] = slip * dot(J_t[i], v) + SLIP_ROUNDING + course.slack[i, SLIP]
    if what == GAPS or (what == SIGHT and not is_closed):
        return True
    inertia(course.tree, frames, M, force)
    if what == CLOSURE or what == REST:
        v = _pose_correction(what, phi, J_n, J_t, v, force, bias, rows[n + 2 * m + 2])
    status = solve(
        *(M, force, phi, J_n, J_t, bias, v, modes, course.mu, pairs[INNER], course.work),
        *(pairs[FORCE], acceleration),
    )
    if status == NO_INERTIA or (what == MARGINS and status != UNIQUE):
        return False
    if what == RATES:
        _fill_rates(v, acceleration, pairs[FORCE], out)
    if what == RATES or what == CLOSURE or what == REST:
        return True
    unit, margin = pairs[UNIT], pairs[MARGIN]
    scales(M, force, J_n, J_t, bias, course.work, unit)
    margins(
        *(J_n, J_t, bias, modes, course.mu, course.resting),
        *(pairs[FORCE], acceleration, unit, margin),
    )
    for i in range(len(modes)):
        if what == SIGHT and modes[i] != FREE:
            sight[i, PRESSES] = margin[i, 0] + HOLDS + course.slack[i, PRESSES]
            # Slip has a condition of its own, which does not end when it has begun.
            if slip_sign(modes[i]) == 0.0:
                sight[i, GRIPS] = margin[i, 1] + HOLDS + course.slack[i, GRIPS]
    return True


@expanded
def _pose_correction(what, phi, J_n, J_t, v, force, bias, still):
    """Let the acceleration be the smallest change, by energy, that undoes gaps or velocities.

    It is that of contacts at rest and without forces, with what is to be undone for a bias.
    """
    for i in range(len(phi)):
        bias[i, 0] = phi[i] if what == CLOSURE else dot(J_n[i], v)
        bias[i, 1] = 0.0 if what == CLOSURE else dot(J_t[i], v)
        phi[i] = 0.0
    for a in range(len(v)):
        force[a] = still[a] = 0.0
    return still


@lean
def _fill_rates(v, acceleration, force, out):
    """Fill the derivative of a state."""
    n = len(v)
    for a in range(n):
        out[a], out[n + a] = v[a], acceleration[a]
    for i in range(len(force)):
        out[2 * n + 2 * i], out[2 * n + 2 * i + 1] = force[i, 0], force[i, 1]
