"""Run motions at random, or in search of the one whose impulse goes furthest in one direction.

A search changes plans. A population of the best ones so far begins with random motions. Each new
motion follows the plan of one of them with a change: how far a stretch goes, who acts and how fast,
a stretch more or less, the rest of another plan. It joins the population if it is better than the
worst. Every motion is exact, whatever its plan, so each of them is an outcome. A motion follows
from its plan alone, not from how it is integrated.
"""

import numpy as np

from carom.kernels.jit import ONE, ZERO, filling, inlined, lean
from carom.kernels.motions import EXTRA, FINISHED, LENGTH, begin, resume, run_motion
from carom.kernels.random import stream, uniform

LONGEST = 48
"""Number of stretches of a plan that are kept; beyond, motions go on at random."""

SAME = 1e-7
"""Difference of values below which plans count as one, to keep a population mixed; as a share of
the terms whose sum a value is. What is below is not worth the ever longer plans that it takes."""

FINEST = 5.0
"""A change of how far a stretch goes is 10 to minus this at the least, so that ends are met."""


@lean
def _change_row(plan, r, mu, key, draw, m):
    """Change one row of a plan: its length, a rate, or everything."""
    kind, a, b = uniform(key, draw), uniform(key, draw + 1), uniform(key, draw + 2)
    i = int(uniform(key, draw + 3) * m)
    if kind < 0.5:
        column = m + LENGTH
        step = (2.0 * b - 1.0) * 10.0 ** (-FINEST * uniform(key, draw + 4))
        if a < 0.2:
            plan[r, column] = 1.0
        elif plan[r, column] < 0.0:
            plan[r, column] *= 1.0 + step
        else:
            plan[r, column] = min(max(plan[r, column] + step, 0.0), 1.0)
    elif kind < 0.7:
        step = (2.0 * b - 1.0) * 10.0 ** (-FINEST * uniform(key, draw + 4))
        if a < 0.2:
            plan[r, i] = 0.0
        elif a < 0.4:
            plan[r, i] = 1.0 / (1.0 + mu[i]) if b < 0.5 else 1.0
        else:
            plan[r, i] = max(plan[r, i] * (1.0 + step), 0.0)
    elif kind < 0.9:
        for j in range(m):
            plan[r, j] = 0.0
        plan[r, i] = 1.0
        plan[r, m] = 1.0 if a < 0.5 else b
        plan[r, m + 1] = 0.0
    else:
        plan[r, m + 1] = 0.0 if plan[r, m + 1] > 0.0 else 1.0


@inlined
def _copy_rows(plans, source, first, count, plan, at, m):
    """Copy rows of a plan of the population; return the number of rows that there are then."""
    rows = min(count, LONGEST - at)
    for r in range(rows):
        for j in range(m + EXTRA):
            plan[at + r, j] = plans[source, first + r, j]
    return at + max(rows, 0)


@inlined
def _make_child(plans, order, lengths, mu, plan, key, m):
    """Write a changed plan.

    Returns:
        Its number of rows, beyond which it goes on at random, the plan that was changed, and the
        first row that is another.
    """
    count = 0
    while count < len(lengths) and lengths[count] > 0:
        count += 1
    chance = uniform(key, ZERO)
    rank = int(chance * chance * count)
    kind, where = uniform(key, ONE), uniform(key, ONE + 1)
    best, length = order[rank], lengths[rank]
    r = int(where * length)
    planned, changes, first = _copy_rows(plans, best, ZERO, length, plan, ZERO, m), 0, r
    if kind < 0.55:
        changes = 2 if kind < 0.2 else 1
    elif kind < 0.65:
        planned = _copy_rows(plans, best, r + 1, length - r - 1, plan, r, m)
    elif kind < 0.8:
        planned = _copy_rows(plans, best, r, length - r, plan, r + 1, m)
        changes = 1
    elif kind < 0.9:
        other = int(uniform(key, ONE + 2) * count)
        s = int(uniform(key, ONE + 3) * lengths[other])
        planned = _copy_rows(plans, order[other], s, lengths[other] - s, plan, r, m)
    else:
        planned = r
    for change in range(changes):
        row = r if change == 0 else int(uniform(key, ONE + 2) * length)
        first = min(first, row)
        _change_row(plan, row, mu, key, 8 * (ONE + change), m)
    return planned, best, first


@inlined
def _place(values, lengths, value, length, same):
    """Return where a motion belongs among values that fall, or -1 if it is known or too bad."""
    if values[len(values) - 1] - value > same:
        return -1
    for k in range(len(values)):
        if abs(value - values[k]) <= same:
            # Of plans that lead as far, the shortest takes the least time to vary.
            return k if length < lengths[k] else -1
        if value > values[k]:
            return k
    return -1


@inlined
def join(q, plans, lengths, values, order, states, plan, trail, length, m, c, work):
    """Let a motion join the population in place of the worst, or of a longer one of its value."""
    value, size = 0.0, 0.0
    for k in range(c):
        value += q[k] * work.total[k]
        size += abs(q[k] * work.total[k])
    same = SAME * size
    place = _place(values, lengths, value, length, same)
    if place < 0:
        return
    last = place if abs(value - values[place]) <= same else len(values) - 1
    own = order[last]
    for k in range(last, place, -1):
        values[k], lengths[k], order[k] = values[k - 1], lengths[k - 1], order[k - 1]
    values[place], lengths[place], order[place] = value, length, own
    for r in range(length):
        for j in range(m + EXTRA):
            plans[own, r, j] = plan[r, j]
        for j in range(trail.shape[1]):
            states[own, r, j] = trail[r, j]


@inlined
def plan_motion(
    e, seed, first, elite, known, lengths_known, plans, lengths, order, states, mu, plan, trail, m
):  # fmt: skip
    """Write the plan of motion e: random ones, then known plans, then changed or random ones.

    Returns:
        The key of its random numbers, its number of rows, and the number of stretches that another
        motion has gone before; where that one was is written into `trail`.
    """
    own = e - len(elite) - len(known)
    if e < len(elite):
        return stream(seed, elite[e]), 0, 0
    key = stream(seed, first + max(own, 0))
    if own < 0:
        number = e - len(elite)
        return key, _copy_rows(known, number, ZERO, lengths_known[number], plan, ZERO, m), 0
    if len(lengths) == 0 or lengths[0] == 0:
        return key, 0, 0
    planned, parent, same = _make_child(plans, order, lengths, mu, plan, key, m)
    if states[parent, same, 0] < 0.0:
        return key, planned, 0
    for r in range(same + 1):
        for j in range(trail.shape[1]):
            trail[r, j] = states[parent, r, j]
    return key, planned, same


@inlined
def write(own, status, totals, statuses, events, c, work):
    """Write down the end of a new motion."""
    if own >= 0:
        for k in range(c):
            # What overflowed is no impulse; the motion is not finished.
            totals[own, k] = work.total[k] if abs(work.total[k]) < np.inf else 0.0
        statuses[own], events[own] = status, work.events


@filling
def find_best(totals, statuses, q, numbers, values):
    """Fill in which motions have the largest q . impulse, the best first, and these values.

    Of equal ones the first count. Return how many there are.
    """
    count = 0
    for number in range(len(statuses)):
        if statuses[number] != FINISHED:
            continue
        value = 0.0
        for k in range(len(q)):
            value += q[k] * totals[number, k]
        if count < len(values):
            count += 1
        elif value <= values[count - 1]:
            continue
        place = count - 1
        while place > 0 and values[place - 1] < value:
            values[place], numbers[place] = values[place - 1], numbers[place - 1]
            place -= 1
        values[place], numbers[place] = value, number
    return count


@filling
def run(
    A, mu, start, seed, first, q, elite, known, lengths_known, plans, lengths, values, order,
    states, totals, statuses, events, log_last, log, logged, plan, trail, room,
):  # fmt: skip
    """Run motions, numbered from `first` on: at random, or to find the largest q . impulse.

    A motion that follows another for some stretches starts where that one was after them.

    Args:
        A, mu, start: The contact space and the start.
        seed: Seed of all motions.
        first: Number of the first new motion.
        q: (c,) the objective.
        elite: (k,) numbers of random motions to begin with.
        known: (p, rows, m + 2) plans to begin with as well.
        lengths_known: (p,) their numbers of rows.
        plans, lengths, values: (size, rows, m + 2), (size,), (size,) the population, changed in
            place; values are -inf and lengths 0 where there is none yet. If there is no room in
            it, all motions are random.
        order: (size,) the plans that lengths and values belong to, the best first.
        states: (size, rows, 2 c + 2) where their motions were before each stretch, in the first
            column of which a negative number means that it is not known; see `run_motion`.
        totals, statuses, events: (n, c), (n,), (n,) impulse, status and number of events of each
            new motion, written.
        log_last: Whether to log the last motion, and no other.
        log, logged: Impulses (rows, c) of its straight pieces, as far as there is room, and their
            number (1,).
        plan, trail: (rows, m + 2), (rows, 2 c + 2) to work with.
        room: From `make_room`.
    """
    work = room[0]
    c, m = len(start), work.m
    no_log, no_trail = log[:0], trail[:0]
    num_first = len(elite) + len(known)
    for e in range(num_first + len(statuses)):
        key, planned, same = plan_motion(
            e, seed, first, elite, known, lengths_known, plans, lengths, order, states, mu, plan,
            trail, m,
        )  # fmt: skip
        is_logged = log_last and e == num_first + len(statuses) - 1
        if is_logged or same == 0:
            same = 0
            begin(start, work)
        else:
            resume(trail[same], work)
        status, length = run_motion(
            A, mu, start, key, plan, planned, same, trail if len(lengths) > 0 else no_trail,
            work, log if is_logged else no_log, logged
        )  # fmt: skip
        # The plan of a longer motion is not known to its end.
        if len(lengths) > 0 and status == FINISHED and length <= LONGEST:
            join(q, plans, lengths, values, order, states, plan, trail, length, m, c, work)
        write(e - num_first, status, totals, statuses, events, c, work)
