"""Run exact motions of an impact: random ones, and ones that search for extremes.

A motion follows a *plan*, one row per stretch: the rates of the m contacts, the share of the way
to go, and whether the contacts aim to stop together. Random plans are drawn as the motion goes on;
a search for an extreme changes the plans of the best motions so far.

Sizes are the lengths of `m` and `width`: tuples, which make loops as fast as written out, or for
many contacts an array, so that one compilation serves all of them.
"""

import numpy as np

from carom.kernels.jit import inlined, kernel
from carom.kernels.random import stream, two_uniforms
from carom.kernels.stretch import KEEP_REST
from carom.kernels.stretches import approaches, follow_stretch, make_work
from carom.kernels.tolerances import RESIDUAL

FINISHED, UNFINISHED, FAILED = range(3)

FIRST_IDLE = 1.5
"""In the first stretch, the probability that a contact acts is one over this, two thirds. Several
act at the same time, each at its own rate, which fills the inside of the set."""

IDLE = 20.0
"""The same in later stretches; if no contact is drawn, one that approaches acts. Usually one
contact acts at a time, which reaches far."""

PERIOD = 6
"""A stretch whose number is a multiple of this is drawn like the first."""

AIMING = 0.15
"""Probability that contacts aim to stop together."""

PATIENCE = 24
"""After so many stretches, contacts that approach aim to stop together in every other one. Contacts
that take turns may set each other back for ever; where they converge to, all stop at once."""

MOST_STRETCHES = 200

INTEGRATED = 1e-7
"""Largest relative residual with which a motion in space is accepted, where slip is integrated."""

MOST_STARTS = 2000
"""Maximum number of tries to begin where no contact approaches: perhaps only a few rates in a
hundred let contacts at rest act."""

STRIDE = 64
"""Random numbers per stretch; more than 120 contacts share some."""

LENGTH, AIMS, EXTRA = 0, 1, 2
"""Columns of a plan, after the m rates; and their number."""

BITS = 2.0**32


@inlined
def _draw_row(key, stretch, mu, u, plan, r, width, m):
    """Draw a row of a plan; the contact that must act if none is drawn depends on u."""
    draw = stretch * STRIDE
    # Where no contact approaches, contacts at rest must act first.
    idle = FIRST_IDLE if stretch % PERIOD == 0 or not approaches(u, width, m) else IDLE
    useful, approaching, spare = 0.0, 0, 0.0
    aims, weak = two_uniforms(key, draw + STRIDE - 3)
    bits = int(weak * BITS)
    for i in range(len(m)):
        if i % 2 == 0:
            number, spare = two_uniforms(key, draw + (i // 2) % (STRIDE - 4))
        else:
            number = spare
        plan[r, i] = max(1.0 - idle * number, 0.0)
        # Half of the contacts have about as much friction as others have normal impulse: where
        # friction is large, contacts that barely push decide who slips.
        if (bits >> (i % 32)) & 1:
            plan[r, i] /= 1.0 + mu[i]
        if u[i * len(width)] < 0.0:
            approaching += 1
            useful += plan[r, i]
    lot, length = two_uniforms(key, draw + STRIDE - 4)
    if useful == 0.0:
        turn = int(approaching * lot)
        for i in range(len(m)):
            if u[i * len(width)] < 0.0:
                if turn == 0:
                    plan[r, i] = 1.0
                turn -= 1
    # Half of the later stretches go on until contacts stop; in space, where they cost more, three
    # quarters of them.
    stretched = length * (2.0 if len(width) == 2 else 4.0)
    plan[r, len(m) + LENGTH] = min(stretched, 1.0) if stretch > 0 else length
    plan[r, len(m) + AIMS] = 1.0 if aims < AIMING else 0.0
    if stretch >= PATIENCE and stretch % 2 == 0:
        # Contacts that press against each other without approaching may end their impact anywhere.
        plan[r, len(m) + LENGTH] = 1.0 if approaching > 0 else length
        # Where contacts that aim alone set back others that rest, those have to hold against it.
        plan[r, len(m) + AIMS] = 1.0 if stretch % 4 == 0 else KEEP_REST
        for i in range(len(m)):
            plan[r, i] = 1.0


@inlined
def has_acted(total, width, m):
    """Return whether a contact has pushed."""
    for i in range(len(m)):
        if total[i * len(width)] > 0.0:
            return True
    return False


@inlined
def _is_physical(A, start, u, total, width, m):
    """Return whether a motion ends where its impulse leads, and energy has not risen."""
    gain, error, size = 0.0, 0.0, 0.0
    for k in range(len(m) * len(width)):
        end = start[k]
        for j in range(len(m) * len(width)):
            end += A[k, j] * total[j]
        error = max(error, abs(end - u[k]))
        # The work of an impulse is its product with the mean of velocities before and after.
        gain += 0.5 * total[k] * (start[k] + end)
        size = max(size, abs(end))
    limit = RESIDUAL if len(width) == 2 else INTEGRATED
    return error <= limit * (1.0 + size) and gain <= limit


@inlined
def run_motion(A, mu, start, key, plan, planned, state, work, log, logged, width, m):
    """Run a motion by the first rows of its plan, and beyond them by random ones, which are added.

    Returns:
        Status, number of events and number of stretches.
    """
    rates, u, total = state
    for k in range(len(m) * len(width)):
        u[k] = start[k]
        total[k] = 0.0
    events, begun = 0, 0
    for stretch in range(MOST_STRETCHES + MOST_STARTS):
        if not approaches(u, width, m):
            if has_acted(total, width, m):
                status = FINISHED if _is_physical(A, start, u, total, width, m) else FAILED
                return status, events, stretch
            begun = stretch
        if stretch - begun == MOST_STRETCHES:
            break
        r = min(stretch, len(plan) - 1)
        if stretch >= planned:
            _draw_row(key, stretch, mu, u, plan, r, width, m)
        for i in range(len(m)):
            rates[i] = plan[r, i]
        share, aims = plan[r, len(m) + LENGTH], int(plan[r, len(m) + AIMS])
        _, count = follow_stretch(A, mu, u, total, rates, share, aims, work, log, logged, width, m)
        events += count
    return UNFINISHED, events, MOST_STRETCHES


@kernel
def run_random(A, mu, start, seed, first, totals, statuses, events, log, logged, width, m):
    """Run random motions, numbered from `first` on.

    Writes their impulses (n, c), statuses (n,) and numbers of events (n,), and the impulses of
    straight pieces into log (rows, c), from row logged[0] on, as far as there is room.
    """
    c = len(m) * len(width)
    work = make_work(width, m)
    state = np.zeros(len(m)), np.zeros(c), np.zeros(c)
    plan = np.zeros((1, len(m) + EXTRA))
    for sample in range(len(statuses)):
        key = stream(seed, first + sample)
        status, count, _ = run_motion(
            A, mu, start, key, plan, 0, state, work, log, logged, width, m
        )
        for k in range(c):
            totals[sample, k] = state[2][k]
        statuses[sample] = status
        events[sample] = count
