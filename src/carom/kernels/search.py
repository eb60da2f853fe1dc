"""Find the affine pieces that hold a step.

A table is laid out for the hardware: what is tested together lies side by side, in blocks of
eight conditions that `carom.kernels.lanes` multiplies at once. The step is given as
u = (v_c, caps, -1), so that a condition, with the value that it must exceed as last entry, holds if
its product with u is positive.

    data    (NUM_ETAS * pieces, blocks * 8 * (c + m + 1) + c * (c + m + 1)) for each piece its
            conditions in blocks, and then its impulse map, column by column; once for each of
            NUM_ETAS directions off the faces (see `find_piece`)
    info    (pieces + 1, 6) the blocks of links in which its rivals (the pieces that overlap it)
            start, in which those of positive sign start, and where they end; its sign; its number
            of blocks of conditions; and which contact velocities vanish after it, as bits. The
            last row tells where all pieces are linked.
    links   (blocks, 8) pieces
    hints   (NUM_ETAS * blocks, 8 * (c + m + 1)) for each of links the condition that most likely
            excludes it; for each direction
    guesses (contexts, few) pieces to try first, by what a glance at the step tells; see `context`
            and `single_context`. One row serves all contexts.

In a block, the eight first entries of its conditions come first, then the second ones, and so on.
Blocks are filled up: with conditions that always hold in data, that never hold in hints.
"""

from collections import namedtuple

import numpy as np

from carom.kernels.jit import inlined
from carom.kernels.lanes import ALL, LANES, add_rows, signs
from carom.kernels.random import uniform
from carom.kernels.tolerances import MATCH

Table = namedtuple("Table", "data info links hints guesses")

NUM_ETAS = 4  # number of directions in which a step on a face may be moved off it
NUM_GLANCES = 8  # number of contexts of a step after each piece

MOST_SOLUTIONS = 64

START, MIDDLE, END, SIGN, NUM_BLOCKS, ZEROS = range(6)
"""Columns of info."""

SEARCH, NEGATIVES, POSITIVES = range(3)
"""Stages of `find_piece`."""


@inlined
def direction(key):
    """Return the number of the direction in which a sample moves off faces, random by its key."""
    return np.int64(key >> np.uint64(62)) % NUM_ETAS


@inlined
def context(u, before, c, m):
    """Return a step's context: the piece before it (-1 at first), and who seems to stop."""
    width = len(c) // len(m)
    bits = 0
    if len(m) > 1:
        bits = 4 * (u[len(c)] > u[len(c) + 1]) + 2 * (u[len(c) + 1] > -u[width])
    bits += u[len(c)] > -u[0]
    return (before + 1) * NUM_GLANCES + bits


@inlined
def single_context(alone, i, width):
    """Return the context of a step in which contact i acts alone: does it stop, does it slide?"""
    bits = 4 * (alone[len(width)] > -alone[0]) + 2 * (alone[1] > MATCH) + (alone[1] < -MATCH)
    return i * NUM_GLANCES + bits


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


@inlined
def _holds(data, info, p, shift, u, extent):
    """Return whether all conditions of piece p hold."""
    inside = True
    for b in range(info[np.uintp(p), NUM_BLOCKS]):
        inside = inside and signs(data, shift + p, b * LANES * len(extent), u, extent) == ALL
    return inside


@inlined
def find_piece(data, info, links, hints, guesses, everyone, eta, row, u, key, draw, found, extent):
    """Find a piece that holds u, chosen at random among all that do; -1 if none is known.

    Contacts that rest or stick put u on faces where many pieces meet and agree. An infinitesimal
    move along one of a few directions takes it off them; then as many positive pieces hold u as
    negative ones, and one more. So there is nothing to choose where no negative piece holds u, and
    the search may end at the right count.

    A few likely pieces are tried first. SEARCH, if none of them holds u, goes through all pieces;
    NEGATIVES through the negative pieces that overlap the one found; POSITIVES, if there were
    any, through the positive ones. Eight pieces at a time are tested by the condition that most
    likely excludes each, and only those that pass it by all.

    The module describes the table; `everyone` is the row of info that tells where all pieces are
    linked, `eta` the number of the direction, `row` that of the guesses, and `draw` of the random
    number that decides where there is a choice.
    """
    # No index is negative here. Casts to uintp say so, which spares a check at each access.
    shift = eta * (data.shape[0] // NUM_ETAS)
    hint_shift = eta * links.shape[0]
    first, count, negative, stage = -1, 0, 0, SEARCH
    block, end = info[np.uintp(everyone), START], info[np.uintp(everyone), END]
    for t in range(guesses.shape[1]):
        p = guesses[np.uintp(row), t]
        if _holds(data, info, p, shift, u, extent):
            first, count, stage = p, 1, NEGATIVES
            found[0] = p
            negative = int(info[np.uintp(p), SIGN] < 0)
            block, end = info[np.uintp(p), START], info[np.uintp(p), MIDDLE]
            break
    while True:
        if block == end or (stage == POSITIVES and count > 2 * negative):
            if stage != NEGATIVES or negative == 0:
                break
            stage = POSITIVES
            block, end = info[np.uintp(first), MIDDLE], info[np.uintp(first), END]
            continue
        mask = signs(hints, hint_shift + block, 0, u, extent)
        for r in range(LANES):
            if not (mask >> r) & 1:
                continue
            p = links[np.uintp(block), r]
            if p == first or count == MOST_SOLUTIONS or not _holds(data, info, p, shift, u, extent):
                continue
            found[np.uintp(count)] = p
            count += 1
            negative += info[np.uintp(p), SIGN] < 0
            if stage == SEARCH:
                first, stage = p, NEGATIVES
                block, end = info[np.uintp(p), START] - 1, info[np.uintp(p), MIDDLE]
                break
        block += 1
    if count <= 1:
        return first
    return _smallest(found, count, int(count * uniform(key, draw)))


@inlined
def apply_piece(data, p, u, impulse, c, extent):
    """Compute the impulse of a piece."""
    for a in range(len(c)):
        impulse[a] = 0.0
    add_rows(data, (p + 1) * data.shape[1] - len(c) * len(extent), u, extent, impulse, c)


@inlined
def set_zeros(info, p, u, first, c):
    """Set to zero, free of rounding, what the modes of a piece say is zero."""
    bits = info[p, ZEROS]
    for a in range(min(len(c), 62)):
        if (bits >> a) & 1:
            u[first + a] = 0.0
