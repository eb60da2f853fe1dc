"""Run many impacts to their end [HalmPosa, Algorithms 1 and 2].

Everything is in the dimensionless contact coordinates of `carom.friction.ContactSpace`: an impact
is v_c (contact velocities), a step adds A lambda to them, and the sum of the lambda is all that
the caller needs to know the velocity of the robot.

Arguments are gathered in named tuples:

    Space   A (c, c), mu (m,), D (k, d), W (n, n) the equilibrated step LCP with its row and
            column scales `rows` and `columns` (n,)
    Table   the known pieces: L (pieces, c, c + m), sign and modes as in `carom.kernels.pieces`;
            C (pieces, c + m, rows), their conditions transposed and filled up with zeros, and
            `least` (NUM_ETAS, pieces, rows) what C u must reach;
            `zeros` (pieces, c) which contact velocities vanish after a step;
            `order` (pieces + 1, pieces) in which to try them after each piece, and at first;
            the pieces that may overlap piece p, those of negative sign
            rivals[bounds[p, 0] : bounds[p, 1]], the others rivals[bounds[p, 1] : bounds[p, 2]];
            `hints`, for each rival, which of its conditions most likely excludes it
    Rule    v_c (c,) at the start, `caps` (m,) the largest caps, `last_caps` (m,) those of one more
            step after max_steps, max_steps, draw, selection, seed, and
            `points` (samples, max_steps * m), empty unless draw is POINTS

Loops over contacts run over `extents`, sequences of lengths c, m, c + m and rows. For few contacts
these are tuples, whose length the compiler knows: it then unrolls the innermost loops, which makes
a step several times faster; for many contacts they are arrays.
"""

from collections import namedtuple

import numpy as np

from carom.kernels.draws import draw_caps
from carom.kernels.jit import inlined, kernel
from carom.kernels.lemke import SOLVED, make_work
from carom.kernels.modes import lemke_step, read_modes
from carom.kernels.random import stream, uniform
from carom.kernels.search import MOST_SOLUTIONS, find_piece
from carom.kernels.tolerances import COLLIDING, MATCH

Space = namedtuple("Space", "A mu D W rows columns")
Table = namedtuple("Table", "L C least sign modes zeros order bounds rivals hints")
Rule = namedtuple("Rule", "v_c caps last_caps max_steps draw selection seed points")

RANDOM, LEMKE = 0, 1
FINISHED, UNFINISHED, FAILED = 0, 1, 2


@inlined
def _is_colliding(v_c, m, width):
    """Tell whether some contact still approaches."""
    for i in range(len(m)):
        if v_c[i * width] < -COLLIDING:
            return True
    return False


@inlined
def _impulse_of(L, piece, u, impulse, c, extent):
    """Compute the impulse of a piece."""
    for a in range(len(c)):
        total = 0.0
        for j in range(len(extent)):
            total += L[piece, a, j] * u[j]
        impulse[a] = total


@inlined
def _advance(A, impulse, zeros, piece, u, totals, sample, c, m):
    """Add a step to velocities and totals; tell whether some contact pushed.

    What a known mode says is zero is set to zero, free of rounding.
    """
    moved = False
    for i in range(len(m)):
        moved = moved or impulse[i * (len(c) // len(m))] > MATCH
    for a in range(len(c)):
        totals[sample, a] += impulse[a]
        change = 0.0
        for b in range(len(c)):
            change += A[a, b] * impulse[b]
        u[a] = 0.0 if piece >= 0 and zeros[piece, a] else u[a] + change
    return moved


@kernel
def _write_record(record, sample, step, u, impulse, modes, c, m):
    """Note what a step did."""
    for a in range(len(c)):
        record[sample, step, a] = u[a]
        record[sample, step, len(c) + a] = impulse[a]
    for i in range(len(m)):
        record[sample, step, 2 * len(c) + i] = u[len(c) + i]
        record[sample, step, 2 * len(c) + len(m) + i] = modes[i]


@kernel
def run_chunk(space, table, rule, extents, first, totals, statuses, steps, record):
    """Run the samples numbered first, first + 1, ... one after another.

    Args:
        space, table, rule, extents: See the module.
        first: Number of the first sample; with the seed it decides every draw.
        totals: (n, c) result, the sum of all impulses.
        statuses: (n,) result, FINISHED, UNFINISHED (more steps needed) or FAILED (no solution).
        steps: (n,) result, number of steps.
        record: (n, steps, 2 c + 2 m) result, what each step did: v_c after it, impulse, caps,
            modes. Steps beyond its length are not recorded; it may have length 0.
    """
    c, m, extent, rows = extents
    A, D = space.A, space.D
    L, C, least, sign, piece_modes, zeros, order, bounds, rivals, hints = table
    start, caps, last_caps, max_steps, kind, selection, seed, points = rule
    n = space.W.shape[0]
    work, buffers = make_work(n), (np.empty(n), np.empty(n), np.empty(n), np.empty(n))
    found = np.empty(MOST_SOLUTIONS, np.int64)
    u, impulse = np.empty(len(extent)), np.empty(len(c))
    rates, modes = np.zeros(len(m)), np.zeros(len(m), np.int64)
    random = selection == RANDOM
    for sample in range(totals.shape[0]):
        key = stream(seed, first + sample)
        for a in range(len(c)):
            u[a] = start[a]
            totals[sample, a] = 0.0
        left, moved, piece, step, status = 0.0, True, -1, 0, FINISHED
        while _is_colliding(u, m, len(c) // len(m)):
            if step > max_steps:
                status = UNFINISHED
                break
            if step < max_steps:
                left = draw_caps(
                    kind, caps, points, key, first + sample, step, moved, left, rates, u, c, m
                )
            else:
                for i in range(len(m)):
                    u[len(c) + i] = last_caps[i]
            draw = step * (len(m) + 4) + len(m) + 2
            if random:
                # Before the first step piece is -1, and the last row of order is meant.
                number = uniform(key, draw)
                piece = find_piece(
                    C,
                    least,
                    sign,
                    order,
                    piece,
                    bounds,
                    rivals,
                    hints,
                    u,
                    number,
                    found,
                    extent,
                    rows,
                )
            if piece >= 0:
                _impulse_of(L, piece, u, impulse, c, extent)
            elif lemke_step(space, u, key, draw, random, work, buffers, impulse) != SOLVED:
                status = FAILED
                break
            if step < record.shape[1]:
                if piece >= 0:
                    modes[:] = piece_modes[piece]
                else:
                    read_modes(A, D, u, impulse, modes)
            moved = _advance(A, impulse, zeros, piece, u, totals, sample, c, m)
            if step < record.shape[1]:
                _write_record(record, sample, step, u, impulse, modes, c, m)
            step += 1
        statuses[sample] = status
        steps[sample] = step
