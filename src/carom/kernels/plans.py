"""Search for the motion whose impulse goes furthest in one direction, by changing plans.

A population of the best plans so far begins with random motions. Each new motion follows the plan
of one of them with a change: how far a stretch goes, who acts and how fast, a stretch more or less,
the rest of another plan. It joins the population if it is better than the worst. Every motion is
exact, whatever its plan, so each of them is an outcome.
"""

import numpy as np

from carom.kernels.jit import inlined, kernel
from carom.kernels.motions import EXTRA, FINISHED, LENGTH, run_motion
from carom.kernels.random import stream, uniform
from carom.kernels.stretches import make_work

LONGEST = 48
"""Number of stretches of a plan that are kept; beyond, motions go on at random."""

FIRST_NUMBER = 2**44
"""Number of the first motion of the first search; random motions have smaller ones."""

NUM_PER_SEARCH = 2**32

SAME = 1e-9
"""Relative difference of values below which plans count as one, to keep a population mixed."""

FINEST = 5.0
"""A change of how far a stretch goes is 10 to minus this at the least, so that ends are met."""


@inlined
def _change_row(plan, r, mu, key, draw, m):
    """Change one row of a plan: its length, a rate, or everything."""
    kind, a, b = uniform(key, draw), uniform(key, draw + 1), uniform(key, draw + 2)
    i = int(uniform(key, draw + 3) * len(m))
    if kind < 0.5:
        column = len(m) + LENGTH
        step = (2.0 * b - 1.0) * 10.0 ** (-FINEST * uniform(key, draw + 4))
        plan[r, column] = 1.0 if a < 0.2 else min(max(plan[r, column] + step, 0.0), 1.0)
    elif kind < 0.7:
        step = (2.0 * b - 1.0) * 10.0 ** (-FINEST * uniform(key, draw + 4))
        if a < 0.2:
            plan[r, i] = 0.0
        elif a < 0.4:
            plan[r, i] = 1.0 / (1.0 + mu[i]) if b < 0.5 else 1.0
        else:
            plan[r, i] = max(plan[r, i] * (1.0 + step), 0.0)
    elif kind < 0.9:
        for j in range(len(m)):
            plan[r, j] = 0.0
        plan[r, i] = 1.0
        plan[r, len(m)] = 1.0 if a < 0.5 else b
        plan[r, len(m) + 1] = 0.0
    else:
        plan[r, len(m) + 1] = 0.0 if plan[r, len(m) + 1] > 0.0 else 1.0


@inlined
def _copy_rows(plans, source, first, count, plan, at, m):
    """Copy rows of a plan of the population; return the number of rows that there are then."""
    rows = min(count, LONGEST - at)
    for r in range(rows):
        for j in range(len(m) + EXTRA):
            plan[at + r, j] = plans[source, first + r, j]
    return at + max(rows, 0)


@inlined
def _make_child(plans, lengths, mu, plan, key, m):
    """Write a changed plan; return its number of rows, beyond which it goes on at random."""
    count = 0
    while count < len(lengths) and lengths[count] > 0:
        count += 1
    best = int(uniform(key, 0) ** 2 * count)
    kind, where = uniform(key, 1), uniform(key, 2)
    length = lengths[best]
    r = int(where * length)
    planned = _copy_rows(plans, best, 0, length, plan, 0, m)
    if kind < 0.55:
        _change_row(plan, r, mu, key, 8, m)
        if kind < 0.2:
            _change_row(plan, int(uniform(key, 3) * length), mu, key, 16, m)
    elif kind < 0.65:
        planned = _copy_rows(plans, best, r + 1, length - r - 1, plan, r, m)
    elif kind < 0.8:
        planned = _copy_rows(plans, best, r, length - r, plan, r + 1, m)
        _change_row(plan, r, mu, key, 8, m)
    elif kind < 0.9:
        other = int(uniform(key, 3) * count)
        s = int(uniform(key, 4) * lengths[other])
        planned = _copy_rows(plans, other, s, lengths[other] - s, plan, r, m)
    else:
        planned = r
    return planned


@inlined
def _place(values, value):
    """Return where a value belongs among values that fall, or -1 if it is there or too small."""
    for k in range(len(values)):
        if abs(value - values[k]) <= SAME * abs(value):
            return -1
        if value > values[k]:
            return k
    return -1


@inlined
def _join(plans, lengths, values, plan, length, value, m):
    """Let a motion join the population in place of the worst, if it is better."""
    place = _place(values, value)
    if place < 0:
        return
    for k in range(len(values) - 1, place, -1):
        values[k] = values[k - 1]
        lengths[k] = lengths[k - 1]
        for r in range(lengths[k]):
            for j in range(len(m) + EXTRA):
                plans[k, r, j] = plans[k - 1, r, j]
    values[place] = value
    lengths[place] = length
    for r in range(length):
        for j in range(len(m) + EXTRA):
            plans[place, r, j] = plan[r, j]


@kernel
def search(
    A, mu, start, seed, number, q, elite, known, lengths_known, size, totals, statuses, events,
    log_last, log, logged, width, m,
):  # fmt: skip
    """Search for the largest q . impulse.

    Args:
        A, mu, start: The contact space and the start.
        seed: Seed of all motions.
        number: Number of this search, by which its motions differ from those of others.
        q: (c,) the objective.
        elite: (k,) numbers of the random motions to begin with.
        known: (p, rows, m + 2) plans to begin with as well.
        lengths_known: (p,) their numbers of rows.
        size: Number of plans in the population.
        totals, statuses, events: As of `run_random`, one row per new motion.
        log_last: Whether to log the last motion, and no other.
        log, logged: Impulses (rows, c) of its straight pieces, and their number (1,).
        width, m: Sizes.
    """
    c = len(m) * len(width)
    work = make_work(width, m)
    state = np.zeros(len(m)), np.zeros(c), np.zeros(c)
    plan = np.zeros((LONGEST, len(m) + EXTRA))
    plans, lengths = np.zeros((size, LONGEST, len(m) + EXTRA)), np.zeros(size, np.int64)
    values = np.full(size, -np.inf)
    no_log = log[:0]
    first = FIRST_NUMBER + number * NUM_PER_SEARCH
    num_first = len(elite) + len(known)
    for e in range(num_first + len(statuses)):
        own = e - num_first
        key, planned = stream(seed, elite[e] if e < len(elite) else first + max(own, 0)), 0
        if own < 0 and e >= len(elite):
            planned = _copy_rows(
                known, e - len(elite), 0, lengths_known[e - len(elite)], plan, 0, m
            )
        elif own >= 0 and lengths[0] > 0:
            planned = _make_child(plans, lengths, mu, plan, key, m)
        is_logged = log_last and own == len(statuses) - 1
        status, count, length = run_motion(
            A, mu, start, key, plan, planned, state, work, log if is_logged else no_log, logged,
            width, m,
        )  # fmt: skip
        value = 0.0
        for k in range(c):
            value += q[k] * state[2][k]
        if status == FINISHED:
            _join(plans, lengths, values, plan, min(length, LONGEST), value, m)
        if own >= 0:
            for k in range(c):
                totals[own, k] = state[2][k]
            statuses[own] = status
            events[own] = count
