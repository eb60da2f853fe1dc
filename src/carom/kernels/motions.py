"""Run exact motions of an impact: random ones, and ones that search for extremes.

A motion follows a *plan*, one row per stretch: the rates of the m contacts, the share of the way
to go (in space also, negative, the impulse), and whether the contacts aim to stop together. Random
plans are drawn as the motion goes on; a search for an extreme changes the plans of the best motions
so far.
"""

import numpy as np

from carom.kernels.jit import expanded, inlined
from carom.kernels.random import bits, halves, two_uniforms
from carom.kernels.stored import (
    begin_without_energy,
    goes_on,
    is_pending,
    keep_energies,
    resume_energies,
    stored,
    way_to_end,
)
from carom.kernels.stretch import KEEP_REST
from carom.kernels.stretches import follow_stretch

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

MOST_STARTS = 2000
"""Maximum number of tries to begin where no contact approaches: perhaps only a few rates in a
hundred let contacts at rest act."""

STRIDE = 64
"""Random numbers per stretch; more than 120 contacts share some."""

LENGTH, AIMS, EXTRA = 0, 1, 2
"""Columns of a plan, after the m rates; and their number."""

ONE_BIT = np.uint64(1)


@inlined
def draw_row(key, stretch, mu, plan, r, work):
    """Draw a row of a plan; the contact that must act if none is drawn depends on u."""
    draw, m, width, row = stretch * STRIDE, work.m, work.width, np.uintp(r)
    pending = 0
    for i in range(m):
        pending += int(is_pending(work, i))
    # Where no contact approaches, contacts at rest must act first.
    idle = FIRST_IDLE if stretch % PERIOD == 0 or pending == 0 else IDLE
    lot, length = two_uniforms(key, draw + STRIDE - 4)
    chance = bits(key, draw + STRIDE - 3)
    aims, way = halves(chance)
    useful, number, spare = 0.0, 0.0, 0.0
    for i in range(m):
        if i % 2 == 0:
            number, spare = two_uniforms(key, draw + (i // 2) % (STRIDE - 4))
        else:
            number = spare
        # Half of the contacts have about as much friction as others have normal impulse: where
        # friction is large, contacts that barely push decide who slips. Which half cannot be
        # foreseen, so there is no branch.
        weight = 1.0 / (1.0 + mu[i] * np.int64((chance >> np.uint64(i % 32)) & ONE_BIT))
        rate = max(1.0 - idle * number, 0.0) * weight
        # No index is negative here. Casts to uintp say so, which spares a check at each access.
        plan[row, np.uintp(i)] = rate
        useful += rate if is_pending(work, i) else 0.0
    if useful == 0.0 and pending > 0:
        turn, chosen = int(pending * lot), 0
        for i in range(m):
            is_next = is_pending(work, i)
            chosen = i if is_next & (turn == 0) else chosen
            turn -= int(is_next)
        plan[row, np.uintp(chosen)] = 1.0
    # Half of the later stretches go on until contacts stop; in space, where they cost more, three
    # quarters of them.
    stretched = length * (2.0 if width == 2 else 4.0)
    share = min(stretched, 1.0) if stretch > 0 else length
    plan[r, m + LENGTH] = way_to_end(work, share, way)
    plan[r, m + AIMS] = 1.0 if aims < AIMING else 0.0
    if stretch >= PATIENCE and stretch % 2 == 0:
        # Contacts that press against each other without approaching may end their impact anywhere.
        plan[r, m + LENGTH] = 1.0 if pending > 0 else length
        # Where contacts that aim alone set back others that rest, those have to hold against it.
        plan[r, m + AIMS] = 1.0 if stretch % 4 == 0 else KEEP_REST
        for i in range(m):
            plan[r, i] = 1.0


@inlined
def has_acted(work):
    """Return whether a contact has pushed."""
    for i in range(work.m):
        if work.total[i * work.width] > 0.0:
            return True
    return False


@inlined
def is_physical(A, start, c, work):
    """Return whether a motion ends where its impulse leads, and energy has not risen."""
    u, total = work.u, work.total
    gain, error, size = 0.0, 0.0, 0.0
    for k in range(c):
        end = start[k]
        for j in range(c):
            end += A[k, j] * total[j]
        error = max(error, abs(end - u[k]))
        # The work of an impulse is its product with the mean of velocities before and after.
        gain += 0.5 * total[k] * (start[k] + end)
        size = max(size, abs(end))
    for i in range(work.m):
        gain += stored(work, i)
    return error <= work.residual * (1.0 + size) and gain <= work.residual


@inlined
def begin(start, work):
    """Let a motion begin."""
    for k in range(len(start)):
        work.u[k] = start[k]
        work.total[k] = 0.0
    begin_without_energy(work)
    work.events, work.begun = 0, 0


@inlined
def keep(work, state):
    """Write down where a motion is: events, the first stretch, u, total, and energies if any."""
    c = work.m * work.width
    state[0], state[1] = work.events, work.begun
    for k in range(c):
        state[2 + k], state[2 + c + k] = work.u[k], work.total[k]
    keep_energies(work, state, 2 + 2 * c)


@inlined
def resume(state, work):
    """Go back to where a motion was."""
    c = work.m * work.width
    work.events, work.begun = int(state[0]), int(state[1])
    for k in range(c):
        work.u[k], work.total[k] = state[2 + k], state[2 + c + k]
    resume_energies(work, state, 2 + 2 * c)


@expanded
def run_motion(A, mu, start, key, plan, planned, first, trail, work, log, logged):
    """Run a motion by the first rows of its plan, and beyond them by random ones, which are added.

    It goes on from stretch `first`, in the state that `begin` or `resume` has set. Where it is
    before each stretch is written into `trail` (rows, 2 c + 2), with m energies more if contacts
    bounce, as far as there is room.

    Returns:
        Status and number of stretches.
    """
    m = work.m
    for stretch in range(first, work.most_stretches + MOST_STARTS):
        if not goes_on(work):
            if has_acted(work):
                is_right = is_physical(A, start, len(start), work)
                return FINISHED if is_right else FAILED, stretch
            work.begun = stretch
        if stretch - work.begun == work.most_stretches or work.events > work.most_events:
            break
        if stretch < len(trail):
            keep(work, trail[stretch])
        r = min(stretch, len(plan) - 1)
        if stretch >= planned:
            draw_row(key, stretch, mu, plan, r, work)
        for i in range(m):
            work.rates[i] = plan[r, i]
        share, aims = plan[r, m + LENGTH], int(plan[r, m + AIMS])
        _, count = follow_stretch(A, mu, share, aims, work, log, logged)
        work.events += count
    return UNFINISHED, work.most_stretches
