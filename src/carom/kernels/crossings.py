"""Find what ends a stretch of smooth planar motion, and when.

`carom.motion.events` does the same for systems written in Python, and tells why.
"""

from typing import NamedTuple

import numpy as np

from carom.kernels.dop853 import interpolate
from carom.kernels.jit import expanded, lean
from carom.kernels.smooth import (
    GAP,
    GAPS,
    GRIPS,
    PRESSES,
    RATE,
    SIGHT,
    SLIP,
    examine,
)
from carom.kernels.sustained import FREE

LOOKS = 4
"""Number of parts into which a step is divided to look for events."""
MOST_HALVINGS = 12
"""Maximum number of times that a part of a step is halved where gaps turn too quickly."""
GAP_ROUNDING = 2e-16
"""A gap closes when it falls below zero, or below where it started, by more than this [m]."""
DEEP = 1e-12
"""A gap that is below zero while it rises is rounding, unless it is as deep as this [m]."""
TIME_ROUNDING = 4e-15
"""Accuracy of the moment of an event, as a share of the time or of a second."""
RELATIVE = 8.9e-16
"""The same as a share of the time alone: what a number can hold."""
MOST_TRIALS = 100
"""Maximum number of trials for one root."""
NEVER = np.inf
COLUMNS = np.array([SLIP, PRESSES, GRIPS, RATE, GAP])
"""Columns of a sight as crossings are looked for: rates that vanish say where a gap is lowest."""


class Step(NamedTuple):
    """A step of the integrator, and arrays to look at it."""

    start: float
    end: float
    y: np.ndarray  # (size,) state at the start
    F: np.ndarray  # (7, size) interpolation
    state: np.ndarray  # (size,) state that is looked at
    times: np.ndarray  # (2, MOST_HALVINGS + 2) moments ahead, the next one last; halvings left
    sights: np.ndarray  # (MOST_HALVINGS + 2, m, 5) what is seen then
    trial: np.ndarray  # (m, 5) what is seen in search of a root


@lean
def state_at(step, t):
    """Fill the state at a time."""
    interpolate(step.F, step.y, (t - step.start) / (step.end - step.start), step.state)


@expanded
def first_event(course, step, before):
    """Return the earliest time in a step that ends the stretch, `NEVER`, or NaN if it is broken.

    `before` (m, 5) is what is seen at the start, and is overwritten.
    """
    has_gaps = False
    for i in range(len(before)):
        has_gaps = has_gaps or course.modes[i] == FREE
    left, part, last = step.start, 0, -1
    while part < LOOKS or last >= 0:
        if last < 0:
            part += 1
            last = 0
            share = part / LOOKS
            step.times[0, 0] = (1.0 - share) * step.start + share * step.end
            step.times[1, 0] = MOST_HALVINGS
            state_at(step, step.times[0, 0])
            if not examine(course, step.state, SIGHT, step.state, step.sights[0]):
                return np.nan
        right, after = step.times[0, last], step.sights[last]
        middle, halvings = 0.5 * (left + right), step.times[1, last]
        if has_gaps and halvings > 0 and left < middle < right:
            # A body that spins while it flies makes gaps wave within one long step: where a gap in
            # the middle is not what the ends let expect, both halves are looked at in turn.
            between = step.sights[last + 1]
            state_at(step, middle)
            if not examine(course, step.state, SIGHT, step.state, between):
                return np.nan
            if not _is_plain(course.modes, right - left, before, between, after):
                step.times[1, last] = step.times[1, last + 1] = halvings - 1
                last += 1
                step.times[0, last] = middle
                continue
        found = _first_crossing(course, step, left, before, right, after)
        if found < NEVER:
            return found
        left = right
        for i in range(len(before)):
            for column in range(5):
                before[i, column] = after[i, column]
        last -= 1
    return NEVER


@lean
def _is_plain(modes, duration, before, between, after):
    """Return whether gaps move as cubics do, or keep too far from zero for it to matter."""
    for i in range(len(modes)):
        if modes[i] != FREE:
            continue
        change = duration * (before[i, RATE] - after[i, RATE]) / 8.0
        surprise = abs(between[i, GAP] - 0.5 * (before[i, GAP] + after[i, GAP]) - change)
        lowest = min(before[i, GAP], after[i, GAP], between[i, GAP])
        path = duration * (abs(before[i, RATE]) + abs(after[i, RATE]))
        if not surprise <= max(0.1 * lowest, 2e-3 * path + DEEP):
            return False
    return True


@expanded
def _first_crossing(course, step, left, before, right, after):
    """Return when the first condition fails or gap closes between two moments, or `NEVER`."""
    found, trial = NEVER, step.trial
    for i in range(len(before)):
        start, gap, end, end_gap = left, before[i, GAP], right, after[i, GAP]
        is_below = end_gap < 0.0 and (after[i, RATE] < 0.0 or end_gap < -DEEP)
        is_hop = False
        # One loop for all columns, so that the search for a root is written out only once.
        for column in COLUMNS:
            first, last = before[i, column], after[i, column]
            if column < GAP:
                if not last < 0.0:
                    continue
                if first <= 0.0:
                    return left
            elif course.modes[i] != FREE:
                continue
            elif column == RATE:
                is_hop = is_below and first > 0.0 > last
                if not is_hop and (is_below or not first < 0.0 < last):
                    continue
            elif not is_below:
                continue
            elif gap <= 0.0:
                found = min(found, start)
                continue
            else:
                first, last = gap, end_gap
            root = _root(course, step, i, column, start, first, end, last)
            if column == RATE and is_hop:
                # A hop; on its way up, low above the ground, its gap may be rounding.
                start, gap = root, trial[i, GAP]
            elif column == RATE:
                # It may have dipped below zero.
                end, end_gap = root, trial[i, GAP]
                is_below = end_gap < 0.0 <= gap
            else:
                if column == GAP and trial[i, RATE] < 0.0:
                    # Without the rounding that was allowed for.
                    root = max(start, root + GAP_ROUNDING / trial[i, RATE])
                found = min(found, root)
    return found


@expanded
def _root(course, step, i, column, left, f_left, right, f_right):
    """Return where an entry of a sight, of different sign at both ends, is zero [Brent].

    What is seen there of contact i is left in `step.trial`.
    """
    rounding = TIME_ROUNDING * max(1.0, abs(left), abs(right))
    what = SIGHT if column < GAP else GAPS
    previous, f_previous, current, f_current = left, f_left, right, f_right
    opposite, f_opposite, change, last_change = left, f_left, right - left, right - left
    for _ in range(MOST_TRIALS):
        if f_previous * f_current < 0.0:
            opposite, f_opposite = previous, f_previous
            change = last_change = current - previous
        if abs(f_opposite) < abs(f_current):
            previous, current, opposite = current, opposite, current
            f_previous, f_current, f_opposite = f_current, f_opposite, f_current
        delta = 0.5 * (rounding + RELATIVE * abs(current))
        half = 0.5 * (opposite - current)
        is_found = f_current == 0.0 or abs(half) < delta
        if not is_found:
            trial = np.inf
            if abs(last_change) > delta and abs(f_current) < abs(f_previous):
                trial = _guess(
                    *(previous, f_previous, current, f_current, opposite, f_opposite),
                )
            if 2.0 * abs(trial) < min(abs(last_change), 3.0 * abs(half) - delta):
                last_change, change = change, trial
            else:
                change = last_change = half
            previous, f_previous = current, f_current
            if abs(change) > delta:
                current += change
            else:
                current += delta if half > 0.0 else -delta
        state_at(step, current)
        examine(course, step.state, what, step.state, step.trial)
        if is_found:
            break
        f_current = step.trial[i, column]
    return current


@lean
def _guess(a, f_a, b, f_b, c, f_c):
    """Return how far from b a secant or, of three points, the inverse of a parabola is zero."""
    if a == c:
        return -f_b * (b - a) / (f_b - f_a)
    slope, other = (f_a - f_b) / (a - b), (f_c - f_b) / (c - b)
    return -f_b * (f_c * other - f_a * slope) / (other * slope * (f_c - f_a))
