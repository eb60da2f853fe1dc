"""Find the affine pieces that hold a step.

A table is laid out for the hardware: what belongs to one piece lies side by side.

    data    (NUM_ETAS * pieces, rows * (c + m + 1) + c * (c + m)) for each piece its conditions, one
            after another, each with the value that it must exceed as last entry, and then its
            impulse map L; once for each of NUM_ETAS directions off the faces (see `find_piece`)
    info    (pieces, 6) where its rivals (the pieces that overlap it) start, where those of positive
            sign start, where they end, its sign, its number of conditions, and which contact
            velocities vanish after it, as bits
    links   (rivals, 2) a rival, and which of its conditions most likely excludes it
    order   (contexts, pieces) in which to try all pieces, by what a glance at the step tells; see
            `context` and `single_context`. One row serves all contexts.

The step is given as u = (v_c, caps, -1), so that a condition holds if its product with u is
positive.
"""

from collections import namedtuple

import numpy as np

from carom.kernels.jit import inlined, inlined_sums, kernel
from carom.kernels.random import uniform
from carom.kernels.tolerances import MATCH

Table = namedtuple("Table", "data info links order")

NUM_ETAS = 4
"""Number of directions in which a step on a face may be moved off it."""

NUM_GLANCES = 8
"""Number of contexts of a step after each piece."""

MOST_SOLUTIONS = 64

START, MIDDLE, END, SIGN, NUM_CONDITIONS, ZEROS = 0, 1, 2, 3, 4, 5


@inlined
def context(u, before, c, m):
    """Tell a step's context: the piece before it (-1 at first), and who seems to stop."""
    width = len(c) // len(m)
    bits = 0
    if len(m) > 1:
        bits = 4 * (u[len(c)] > u[len(c) + 1]) + 2 * (u[len(c) + 1] > -u[width])
    bits += u[len(c)] > -u[0]
    return (before + 1) * NUM_GLANCES + bits


@inlined
def single_context(alone, i, width):
    """Tell the context of a step in which contact i acts alone: does it stop, does it slide?"""
    bits = 4 * (alone[len(width)] > -alone[0]) + 2 * (alone[1] > MATCH) + (alone[1] < -MATCH)
    return i * NUM_GLANCES + bits


@kernel
def contexts(u, before, c, m):
    """Return the contexts (n,) of steps u (n, c + m) after the pieces before (n,)."""
    rows = np.empty(u.shape[0], np.int64)
    for k in range(u.shape[0]):
        rows[k] = context(u[k], before[k], c, m)
    return rows


@kernel
def single_contexts(u, width):
    """Return the contexts (n,) of steps u (n, 2 + d) of one contact alone."""
    rows = np.empty(u.shape[0], np.int64)
    for k in range(u.shape[0]):
        rows[k] = single_context(u[k], 0, width)
    return rows


@inlined
def _smallest(found, count, k):
    """Return the k-th smallest of some numbers, whatever their order."""
    if count == 3:
        low = min(found[0], min(found[1], found[2]))
        high = max(found[0], max(found[1], found[2]))
        middle = found[0] + found[1] + found[2] - low - high
        return low if k == 0 else (high if k == 2 else middle)
    for i in range(1, count):
        for j in range(i, 0, -1):
            if found[j - 1] > found[j]:
                found[j - 1], found[j] = found[j], found[j - 1]
    return found[k]


@inlined_sums
def find_piece(data, info, links, order, eta, row, u, key, draw, found, extent):
    """Find a piece that holds u, chosen at random among all that do; -1 if none is known.

    Contacts that rest or stick put u on faces where many pieces meet and agree. An infinitesimal
    move along one of a few directions takes it off them; then as many positive pieces hold u as
    negative ones, and one more. So there is nothing to choose where no negative piece holds u, and
    the search may end at the right count.

    Stage 0 looks for a first piece, stage 1 for negative pieces that overlap it, stage 2 for the
    positive ones. A rival is first tested by the condition that most likely excludes it.

    Args:
        data, info, links, order: See the module.
        eta: Number of the direction.
        row: Which row of order to follow.
        u: (c + m + 1,) the step.
        key, draw: The random number that decides where there is a choice.
        found: Work array.
        extent: A sequence as long as u; see `carom.kernels.paths`.
    """
    shift = eta * info.shape[0]
    first = -1
    count = 0
    negative = 0
    stage = 0
    t = 0
    end = order.shape[1]
    while True:
        if t >= end or (stage == 2 and count > 2 * negative):
            if stage != 1 or negative == 0:
                break
            stage = 2
            t = info[first, MIDDLE]
            end = info[first, END]
            continue
        if stage == 0:
            p = order[row, t]
            t += 1
        else:
            p = links[t, 0]
            place = links[t, 1] * len(extent)
            t += 1
            value = 0.0
            for j in range(len(extent)):
                value += data[shift + p, place + j] * u[j]
            if value <= 0.0 or p == first:
                continue
        place = 0
        value = 1.0
        for _ in range(info[p, NUM_CONDITIONS]):
            value = 0.0
            for j in range(len(extent)):
                value += data[shift + p, place + j] * u[j]
            if value <= 0.0:
                break
            place += len(extent)
        if value > 0.0 and count < MOST_SOLUTIONS:
            found[count] = p
            count += 1
            negative += info[p, SIGN] < 0
            if stage == 0:
                first = p
                stage = 1
                t = info[p, START]
                end = info[p, MIDDLE]
    if count <= 1:
        return first
    return _smallest(found, count, int(count * uniform(key, draw)))


@inlined
def apply_piece(data, p, u, impulse, c, extent):
    """Compute the impulse of a piece."""
    place = data.shape[1] - len(c) * (len(extent) - 1)
    for a in range(len(c)):
        total = 0.0
        for j in range(len(extent) - 1):
            total += data[p, place + j] * u[j]
        place += len(extent) - 1
        impulse[a] = total


@inlined
def set_zeros(info, p, u, first, c):
    """Set to zero, free of rounding, what the modes of a piece say is zero."""
    bits = info[p, ZEROS]
    for a in range(min(len(c), 62)):
        if (bits >> a) & 1:
            u[first + a] = 0.0
