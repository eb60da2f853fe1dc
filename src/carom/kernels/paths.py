"""Run many impacts to their end [HalmPosa, Algorithms 1 and 2].

Everything is in the dimensionless contact coordinates of `carom.contact_space.ContactSpace`: an
impact is v_c (contact velocities), a step adds A lambda to them, and the sum of the lambda is all
that the caller needs to know the velocity of the robot.

Arguments are gathered in named tuples:

    Space   A (c, c), mu (m,), D (k, d), W (n, n) the equilibrated step LCP with its row and
            column scales `rows` and `columns` (n,)
    Table   the known pieces; see `carom.kernels.search`
    Singles a Table of the pieces of every contact alone, for steps in which only one contact acts;
            its `guesses` have NUM_GLANCES rows for each contact, its `info` ends with a row for
            each
    Rule    v_c (c,) at the start, `caps` (m,) the largest caps, `last_caps` (m,) those of one more
            step after max_steps, max_steps, draw, selection, seed, and
            `points` (samples, max_steps * m), empty unless draw is POINTS

Loops over contacts run over `extents`, sequences of lengths c, m and c + m + 1; `single_extents`
are those of one contact. Tuples have a length that the compiler knows: it then unrolls the
innermost loops and keeps a row in one register, which makes a step several times faster. For many
contacts they are arrays.
"""

from collections import namedtuple

import numpy as np

from carom.kernels.draws import POINTS, draw_caps
from carom.kernels.jit import ONE, ZERO, inlined, kernel, lean
from carom.kernels.lanes import add_rows
from carom.kernels.lemke import SOLVED, make_work
from carom.kernels.modes import lemke_step, read_modes
from carom.kernels.random import stream
from carom.kernels.search import (
    MOST_SOLUTIONS,
    NUM_ETAS,
    apply_piece,
    context,
    direction,
    find_piece,
    set_zeros,
    single_context,
)
from carom.kernels.tolerances import COLLIDING, MATCH

Space = namedtuple("Space", "A mu D W rows columns")
Rule = namedtuple("Rule", "v_c caps last_caps max_steps draw selection seed points")

RANDOM, LEMKE = range(2)
FINISHED, UNFINISHED, FAILED = range(3)
MOST_FAILURES = 50
"""Maximum number of a sample's steps without an accurate solution. Where contacts nearly rest,
rounding of what is large can count as much as what is left to do; other caps then lead on."""


@inlined
def _is_colliding(u, m, width):
    """Return whether some contact still approaches."""
    colliding = False
    for i in range(len(m)):
        colliding = colliding or u[i * width] < -COLLIDING
    return colliding


@inlined
def _only_acting(u, c, m):
    """Return the only contact that has a cap above zero, or -1."""
    acting, last = 0, -1
    for i in range(len(m)):
        if u[len(c) + i] > 0.0:
            acting += 1
            last = i
    return last if acting == 1 else -1


@inlined
def _write_single(u, i, c, width, alone):
    """Copy the velocities and the cap of contact i."""
    for a in range(len(width)):
        alone[a] = u[i * len(width) + a]
    alone[len(width)] = u[len(c) + i]


@inlined
def _take(A, info, piece, first, part, width, u, impulse, totals, sample, c):
    """Add an impulse of as many coordinates as `part`, from `first` on; return whether it pushed.

    That is an impulse of all contacts, or of the only one that acts.
    """
    moved = False
    for b in range(0, len(part), len(width)):
        moved = moved or impulse[b] > MATCH
    for b in range(len(part)):
        totals[sample, first + b] += impulse[b]
    # A is symmetric: its rows are its columns.
    add_rows(A, first * len(c), impulse, part, u, c)
    if piece >= 0:
        set_zeros(info, piece, u, first, part)
    return moved


@lean
def _write_record(row, A, D, before, u, impulse, modes, single, only, piece, c, m):
    """Note what a step did in a row of the record."""
    if single >= 0:
        # The impulse of one contact alone moves to its place among all.
        width = len(c) // len(m)
        for a in range(len(c) - 1, -1, -1):
            own = a - only * width
            impulse[a] = impulse[own] if 0 <= own < width else 0.0
    read_modes(A, D, before, impulse, modes)
    for a in range(len(c)):
        row[a], row[len(c) + a] = u[a], impulse[a]
    for i in range(len(m)):
        row[2 * len(c) + i], row[2 * len(c) + len(m) + i] = u[len(c) + i], modes[i]
    row[-1] = -1 if single >= 0 else piece


@inlined
def _write_caps(kind, step, max_steps, caps, last_caps, points, number, u, c, m):
    """Write the caps of the last step, or those that points give; return whether either was so."""
    if step == max_steps:
        for i in range(len(m)):
            u[len(c) + i] = last_caps[i]
    elif kind == POINTS:
        for i in range(len(m)):
            u[len(c) + i] = caps[i] * points[number, step * len(m) + i]
    return step == max_steps or kind == POINTS


@inlined
def _stand_still(u, impulse, c, m):
    """Turn a step without an accurate solution into one with caps of zero, in which none acts."""
    for a in range(len(c)):
        impulse[a] = 0.0
    for i in range(len(m)):
        u[len(c) + i] = 0.0


@kernel
def run_chunk(
    space, table, singles, rule, extents, single_extents, first, totals, statuses, steps, record
):
    """Run the samples numbered first, first + 1, ...; the module describes the other inputs.

    Fill the sums of all impulses `totals` (n, c), statuses (n,) FINISHED, UNFINISHED (more steps
    needed) or FAILED (no solution), numbers of steps (n,), and what each step did in `record`
    (n, steps, 2 c + 2 m + 1): v_c after it, impulse, caps, modes, and the piece if it was found in
    `table` (else -1). Steps beyond its length, which may be 0, are not recorded.
    """
    # One long function: a dozen variables go from step to step, and what could be split off without
    # handing them over and back is split off already, into inlined parts.
    # Tuples are unpacked once: each access in the loop would count references.
    c, m, extent = extents
    width, _, extent1 = single_extents
    A, D = space.A, space.D
    data, info, links, hints, guesses = table
    data1, info1, links1, hints1, guesses1 = singles
    everyone, everyone1 = info.shape[0] - 1, info1.shape[0] - len(m)
    start, caps, last_caps, max_steps, kind, selection, seed, points = rule
    n = space.W.shape[0]
    work, buffers = make_work(n), np.empty((4, n))
    found = np.empty(MOST_SOLUTIONS, np.int64)
    impulse, before = np.empty(len(c)), np.empty(len(extent))
    u, alone = np.full(len(extent), -1.0), np.full(len(extent1), -1.0)
    rates, modes = np.zeros(len(m)), np.zeros(len(m), np.int64)
    random = selection == RANDOM
    # Samples of one direction follow each other, so that its part of the data stays at hand.
    eta, sample = 0, -1
    for _ in range(NUM_ETAS * totals.shape[0]):
        sample += 1
        if sample == totals.shape[0]:
            eta, sample = eta + 1, 0
        key = stream(seed, first + sample)
        if direction(key) != eta:
            continue
        for a in range(len(c)):
            u[a] = start[a]
            totals[sample, a] = 0.0
        left, piece, step, status, failures = 0.0, -ONE, ZERO, FINISHED, 0
        while _is_colliding(u, m, len(width)):
            if step > max_steps:
                status = UNFINISHED
                break
            number = first + sample
            if not _write_caps(kind, step, max_steps, caps, last_caps, points, number, u, c, m):
                left = draw_caps(kind, caps, key, step, left, rates, u, c, m)
            at = step * (len(m) + 4) + len(m) + 2
            only = _only_acting(u, c, m) if random else -1
            single = -1
            if only >= 0:
                _write_single(u, only, c, width, alone)
                row, all1 = single_context(alone, only, width), everyone1 + only
                # fmt: off
                single = find_piece(
                    data1, info1, links1, hints1, guesses1, all1, eta, row, alone, key, at, found,
                    extent1,
                )
                # fmt: on
            if single >= 0:
                apply_piece(data1, single, alone, impulse, width, extent1)
            elif random:
                row = context(u, piece, c, m) if guesses.shape[0] > 1 else 0
                # fmt: off
                piece = find_piece(
                    data, info, links, hints, guesses, everyone, eta, row, u, key, at, found, extent
                )
                # fmt: on
                if piece >= 0:
                    apply_piece(data, piece, u, impulse, c, extent)
            if single < 0 and piece < 0:
                if lemke_step(space, u, key, at, random, work, buffers, impulse) != SOLVED:
                    failures += 1
                    if failures > MOST_FAILURES:
                        status = FAILED
                        break
                    _stand_still(u, impulse, c, m)
            if step < record.shape[1]:
                for a in range(len(extent)):
                    before[a] = u[a]
            if single >= 0:
                own = only * len(width)
                moved = _take(A, info1, single, own, width, width, u, impulse, totals, sample, c)
            else:
                moved = _take(A, info, piece, ZERO, c, width, u, impulse, totals, sample, c)
            if not moved:
                # What does not push now would not in the rest of the stretch.
                left = 0.0
            if step < record.shape[1]:
                log = record[sample, step]
                _write_record(log, A, D, before, u, impulse, modes, single, only, piece, c, m)
            step += 1
        statuses[sample] = status
        steps[sample] = step
