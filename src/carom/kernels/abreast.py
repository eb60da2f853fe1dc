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
    MOST_STRETCHES,
    PERIOD,
    UNFINISHED,
    approaches,
    begin,
    draw_row,
    has_acted,
    is_physical,
    resume,
)
from carom.kernels.plans import LONGEST, join, plan_motion, write
from carom.kernels.stretches import follow_stretch

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
def _begin_stretches(w, plan, trail):
    """Hand over rows of plans, and note where motions are."""
    for k in range(LANES):
        w.drawn[k] = -1
        if w.motion[k] < 0 or not w.is_new[k]:
            continue
        r = w.stretch[k]
        if r < LONGEST:
            trail[k, r, 0], trail[k, r, 1] = w.events[k], w.begun[k]
            for j in range(4):
                trail[k, r, 2 + j], trail[k, r, 6 + j] = w.u[j, k], w.total[j, k]
        w.is_planned[k] = int(r < w.planned[k])
        if r < w.planned[k]:
            for j in range(4):
                w.row[j, k] = plan[k, r, j]
        elif r < LONGEST:
            w.drawn[k] = r


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
def _follow_alone(A, mu, w, k, plan, work, log, logged):
    """Follow the stretch of lane k from its start by the code for any number of contacts.

    Return whether the motion goes on; see `run_motion`.
    """
    stretch = w.stretch[k]
    _leave(w, k, w.u_before, w.total_before, work)
    if not approaches(work):
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
    states, totals, statuses, events, log_last, log, logged, plan, trail, room, lanes,
):  # fmt: skip
    """Run motions of two contacts; see `carom.kernels.plans.run`.

    There are eight of `plan` and `trail`; `lanes` holds one `carom.kernels.abreast_step.RECORD`.
    """
    work, w = room[0], lanes[0]
    for i in range(4):
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
            for k in range(LANES):
                if w.motion[k] >= 0 or entered == last:
                    continue
                key, planned, same = plan_motion(
                    entered, seed, first, elite, known, lengths_known, plans, lengths, order,
                    states, mu, plan[k], trail[k], TWO, FOUR,
                )  # fmt: skip
                begin(start, work)
                is_logged = log_last and entered == number - 1
                same = 0 if is_logged else same
                if same > 0:
                    resume(trail[k, same], work)
                _enter(w, k, entered, key, planned, same, work)
                logging = k if is_logged else logging
                entered += 1
        if searches:
            _begin_stretches(w, plan, trail)
        if logging >= 0 and w.is_new[logging]:
            complete = logged[0]
        advance(w)
        if logging >= 0 and w.code[logging] == RARE:
            logged[0] = complete
        elif logging >= 0:
            _log_piece(w, logging, log, logged)
        for k in range(LANES):
            if w.motion[k] < 0:
                continue
            code, goes_on = w.code[k], True
            if code == RARE:
                rows = log if k == logging else no_log
                goes_on = _follow_alone(A, mu, w, k, plan[k], work, rows, logged)
            elif searches and w.drawn[k] >= 0:
                for j in range(4):
                    plan[k, w.drawn[k], j] = w.row[j, k]
            if code == GOES_ON:
                continue
            _leave(w, k, w.u, w.total, work)
            if goes_on and (approaches(work) or not has_acted(work)):
                continue
            status = UNFINISHED
            if goes_on:
                status = FINISHED if is_physical(A, start, FOUR, work) else FAILED
            if searches and status == FINISHED and w.stretch[k] <= MOST_KEPT:
                join(
                    q, plans, lengths, values, order, states, plan[k], trail[k], w.stretch[k],
                    TWO, FOUR, work,
                )  # fmt: skip
            write(w.motion[k] - num_first, status, totals, statuses, events, FOUR, work)
            w.motion[k] = -1
            logging = -1 if k == logging else logging
            left += 1
