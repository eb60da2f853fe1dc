"""Run motions of two planar contacts, eight at a time; otherwise as `carom.kernels.plans` does.

Where a motion ends, the next one takes its lane. So a search makes a plan from the best of those
motions that have ended, while up to seven others are under way.
"""

import numpy as np

from carom.kernels.abreast_step import GOES_ON, LANES, RARE, advance
from carom.kernels.jit import ZERO, expanded, filling, inlined
from carom.kernels.motions import (
    AIMS,
    FAILED,
    FINISHED,
    LENGTH,
    MOST_STARTS,
    PERIOD,
    UNFINISHED,
    begin,
    draw_row,
    is_physical,
    resume,
)
from carom.kernels.plans import LONGEST, join, plan_motion, write
from carom.kernels.stored import goes_on
from carom.kernels.stretches import MOST_STRETCHES, follow_stretch

TWO, FOUR = np.int64(2), np.int64(4)
"""Numbers of contacts and of velocities; known in advance, they shorten loops."""

MOST_KEPT = np.int64(10)
"""Maximum number of stretches of a plan that joins a population. Two contacts that take turns for
longer converge to where they stop together, which takes one stretch if they aim at it."""


@inlined
def _enter(w, k, e, key, planned, stretch, work):
    """Let motion e take lane k, at a stretch."""
    for j in range(4):
        w.u[j, k], w.total[j, k] = work.u[j], work.total[j]
    w.motion[k], w.key[k], w.planned[k] = e, key, planned
    w.events[k], w.begun[k] = work.events, work.begun
    w.stretch[k], w.turn[k], w.is_new[k], w.is_planned[k] = stretch, stretch % PERIOD, 1, 0
    w.lifts[0, k], w.lifts[1, k] = 0, 0


@inlined
def _leave(w, k, u, total, work):
    """Read where the motion in lane k is, or was."""
    for j in range(4):
        work.u[j], work.total[j] = u[j, k], total[j, k]
    work.events, work.begun = w.events[k], w.begun[k]


@inlined
def _begin_stretches(w):
    """Hand over rows of plans, and note where motions are.

    Who begins a stretch cannot be foreseen. So there is no branch: the others write into a row that
    nobody reads.
    """
    for k in range(LANES):
        stretch = w.stretch[k]
        r = min(stretch, LONGEST)
        row = r if w.is_new[k] != 0 else LONGEST
        w.trail[k, row, 0], w.trail[k, row, 1] = w.events[k], w.begun[k]
        for j in range(4):
            w.trail[k, row, 2 + j], w.trail[k, row, 6 + j] = w.u[j, k], w.total[j, k]
            w.row[j, k] = w.plan[k, r, j]
        is_planned = stretch < w.planned[k]
        w.is_planned[k] = int(is_planned)
        w.drawn[k] = LONGEST if is_planned else row


@inlined
def _keep_drawn(w):
    """Add the rows that lanes have drawn to their plans."""
    for k in range(LANES):
        row = LONGEST if w.code[k] == RARE else w.drawn[k]
        for j in range(4):
            w.plan[k, row, j] = w.row[j, k]


@inlined
def _find_free(w):
    """List the lanes without a motion, and count them."""
    count = 0
    for k in range(LANES):
        w.chosen[count] = k
        count += int(w.motion[k] < 0)
    return count


@inlined
def _find_ended(w):
    """List the lanes in which more has happened than an event, and count them."""
    count = 0
    for k in range(LANES):
        w.chosen[count] = k
        count += int((w.motion[k] >= 0) & (w.code[k] != GOES_ON))
    return count


@inlined
def _is_over(w, k):
    """Return whether the motion in lane k has begun, and no contact approaches."""
    has_acted = (w.total[0, k] > 0.0) | (w.total[2, k] > 0.0)
    return has_acted & (w.u[0, k] >= 0.0) & (w.u[2, k] >= 0.0)


@inlined
def _log_piece(w, k, log, logged):
    """Log the impulse of the piece that lane k has gone, if any."""
    moves = False
    for j in range(4):
        moves = moves or w.step[j, k] != 0.0
    if moves and logged[0] < len(log):
        for j in range(4):
            log[logged[0], j] = w.step[j, k]
        logged[0] += 1


@expanded
def _follow_alone(A, mu, w, k, work, log, logged):
    """Follow the stretch of lane k from its start by the code for any number of contacts.

    Return whether the motion goes on; see `run_motion`.
    """
    stretch, plan = w.stretch[k], w.plan[k]
    _leave(w, k, w.u_before, w.total_before, work)
    if not goes_on(work):
        w.begun[k] = stretch
    is_late = stretch - w.begun[k] == MOST_STRETCHES or work.events > work.most_events
    if is_late or stretch == MOST_STRETCHES + MOST_STARTS:
        return False
    r = min(stretch, LONGEST - 1)
    if stretch >= w.planned[k]:
        draw_row(w.key[k], stretch, mu, plan, r, work)
    work.rates[0], work.rates[1] = plan[r, 0], plan[r, 1]
    _, count = follow_stretch(A, mu, plan[r, 2 + LENGTH], int(plan[r, 2 + AIMS]), work, log, logged)
    work.events, work.begun = work.events + count, w.begun[k]
    _enter(w, k, w.motion[k], w.key[k], w.planned[k], stretch + 1, work)
    return True


@filling
def run(
    A, mu, start, seed, first, q, elite, known, lengths_known, plans, lengths, values, order,
    states, totals, statuses, events, log_last, log, logged, room, lanes,
):  # fmt: skip
    """Run motions of two contacts; see `carom.kernels.plans.run`.

    `lanes` holds one `carom.kernels.abreast_step.RECORD`.
    """
    work, w = room[0], lanes[0]
    for i in range(4):
        w.start[i] = start[i]
        for j in range(4):
            w.A[i, j] = A[i, j]
    for k in range(LANES):
        w.motion[k] = -1
    w.mu[0], w.mu[1] = mu[0], mu[1]
    no_log = log[:0]
    num_first = len(elite) + len(known)
    number = num_first + len(statuses)
    searches = len(lengths) > 0
    entered, left = ZERO, ZERO
    # The lane of the motion that is logged, and the number of pieces of its complete stretches.
    logging, complete = -1, 0
    while left < number:
        # Changed plans are made when all of those that are given have been tried.
        last = number if left >= num_first else num_first
        if entered < last and entered - left < LANES:
            for free in range(min(_find_free(w), last - entered)):
                k = w.chosen[free]
                key, planned, same = plan_motion(
                    entered, seed, first, elite, known, lengths_known, plans, lengths, order,
                    states, mu, w.plan[k], w.trail[k], TWO,
                )  # fmt: skip
                begin(start, work)
                is_logged = log_last and entered == number - 1
                same = 0 if is_logged else same
                if same > 0:
                    resume(w.trail[k, same], work)
                _enter(w, k, entered, key, planned, same, work)
                logging = k if is_logged else logging
                entered += 1
        if searches:
            _begin_stretches(w)
        if logging >= 0 and w.is_new[logging]:
            complete = logged[0]
        advance(w)
        if logging >= 0 and w.code[logging] == RARE:
            logged[0] = complete
        elif logging >= 0:
            _log_piece(w, logging, log, logged)
        if searches:
            _keep_drawn(w)
        for ended in range(_find_ended(w)):
            k = w.chosen[ended]
            is_on = True
            if w.code[k] == RARE:
                rows = log if k == logging else no_log
                is_on = _follow_alone(A, mu, w, k, work, rows, logged)
            if is_on and not _is_over(w, k):
                continue
            _leave(w, k, w.u, w.total, work)
            status = UNFINISHED
            if is_on:
                status = FINISHED if is_physical(w.A, w.start, FOUR, work) else FAILED
            if searches and status == FINISHED and w.stretch[k] <= MOST_KEPT:
                join(
                    q, plans, lengths, values, order, states, w.plan[k], w.trail[k], w.stretch[k],
                    TWO, FOUR, work,
                )  # fmt: skip
            write(w.motion[k] - num_first, status, totals, statuses, events, FOUR, work)
            w.motion[k] = -1
            logging = -1 if k == logging else logging
            left += 1
