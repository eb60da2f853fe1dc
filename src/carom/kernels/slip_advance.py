"""Advance a phase of an impact in space by one step, at most to its next event."""

import numpy as np

from carom.kernels.discs import disc_minimum
from carom.kernels.jit import inlined
from carom.kernels.slip_phase import IDLE, OUTSIDE, sticks_hold
from carom.kernels.slip_steps import ACCURACY, explicit_step, implicit_step

NONE = 1e-12
"""Velocities below this share of the impact's speed are none."""

STIFF = 2.5
"""Explicit steps are stable up to about 3 for the fastest rate times their length."""

LANDING = 1e-10
"""Slip is taken to zero in a straight line if this bends it by less."""

LATE = 1e-6
"""Contacts may start to slip once their friction is beyond its limit by this share: the error is
its square."""

GROWTH = 100.0
"""Slip may grow by this factor in a step: implicit steps judge by the slip that they start from."""

MOST_TRIALS = 300
"""Lengths to try for one step: each is a fraction of the one before."""

FIRST = 1e-7
"""Contacts slip by no more than this, as a share of the speed, in the direction they start in."""


@inlined
def advance(u, phase, fastest, to_stop, room, attempt, aims, work):
    """Choose a step and write its friction impulse and slip; leave u as it is.

    Args:
        u: (c,) contact velocities.
        phase: How many contacts slip, start to, and stick.
        fastest: Largest rate of change of u.
        to_stop: Impulse after which the first contact stops at present rates.
        room: Most impulse.
        attempt: Impulse to try.
        aims: 1 if contacts are to stop together.
        work: With present rates.

    Returns:
        The impulse of the step, 0 if a contact stops acting instead, or not a number if no step
        is good enough; the impulse to try next; whether a new phase begins.
    """
    num_slips, num_starting, _ = phase
    most = min(room, to_stop)
    if num_slips == 0:
        return most, np.inf, False
    if num_starting > 0:
        h = min(most, _first_length(num_slips - num_starting, fastest, work))
        _go_straight(h, num_slips, work)
        return h, attempt, False
    ending, to_rest, across, own, turning = _next_rest(num_slips, work)
    bend = to_rest * (across + to_rest * (turning - own))
    is_small = to_rest < most and _is_small(ending, to_rest, work)
    if is_small or (to_rest < most and bend < LANDING):
        _go_straight(to_rest, num_slips, work)
        if _come_to_rest(ending, to_rest, num_slips, work) or is_small:
            return to_rest, attempt, True
    # Rates that were aimed with present directions are aimed again before contacts stop.
    if aims == 1 and to_stop * to_stop * turning > 0.1 * NONE:
        most = min(room, 0.8 * to_stop)
    if to_rest > most and most * most * turning < NONE:
        _go_straight(most, num_slips, work)
        return most, attempt, False
    return _turn(u, phase, min(most, 0.95 * to_rest), attempt, work)


@inlined
def _first_length(num_before, fastest, work):
    """Return the impulse during which slip starts in a straight line and no other slip turns."""
    h = FIRST / fastest
    for x in range(num_before):
        p = 2 * x
        slip = np.hypot(work.t[p], work.t[p + 1])
        rate = np.hypot(work.slope[0, p], work.slope[0, p + 1])
        if rate * h > 1e-3 * slip:
            h = 1e-3 * slip / rate
    return h


@inlined
def _go_straight(h, num_slips, work):
    """Write a step in which no slip turns."""
    for x in range(2 * num_slips):
        work.F[x] = h * work.f[0, x]
        work.t_next[x] = work.t[x] + h * work.slope[0, x]


@inlined
def _next_rest(num_slips, work):
    """Return whose slip ends first, after which impulse, how it veers, how fast friction turns.

    The latter for its own friction and for all. A step of length h in a straight line errs by h^2
    times that; one that ends a slip instead by h times what it veers.
    """
    ending, to_rest, veering, turning, own = -1, np.inf, 0.0, 0.0, 0.0
    for x in range(num_slips):
        p, q = 2 * x, 2 * x + 1
        t0, t1, v0, v1 = work.t[p], work.t[q], work.slope[0, p], work.slope[0, q]
        along, square = t0 * v0 + t1 * v1, t0 * t0 + t1 * t1
        across = abs(t0 * v1 - t1 * v0)
        turn = (
            work.slip_limit[x] * (work.B[p, p] + work.B[q, q]) * across / (square * np.sqrt(square))
        )
        turning += turn
        if along < 0.0 and -square / along < to_rest:
            ending, to_rest, veering, own = x, -square / along, across / np.sqrt(square), turn
    return ending, to_rest, veering, own, turning


@inlined
def _is_small(x, to_rest, work):
    """Return whether slip that nears its end is too small to matter, even if it would veer."""
    slip = np.hypot(work.t[2 * x], work.t[2 * x + 1])
    rate = np.hypot(work.slope[0, 2 * x], work.slope[0, 2 * x + 1])
    return slip < ACCURACY and to_rest * rate < 10.0 * slip


@inlined
def _come_to_rest(ending, h, num_slips, work):
    """Let the slip that ends in a straight step be zero; return whether friction does that.

    If not, since A hardly moves the contact across its slip, what is left is dropped.
    """
    p, q = 2 * ending, 2 * ending + 1
    B, F, t = work.B, work.F, work.t_next
    more0, more1 = disc_minimum(B[p, p], B[p, q], B[q, q], t[p], t[q], np.inf)
    is_able = np.hypot(F[p] + more0, F[q] + more1) <= h * work.slip_limit[ending] + ACCURACY
    if is_able:
        for x in range(2 * num_slips):
            t[x] += B[p, x] * more0 + B[q, x] * more1
        F[p], F[q] = F[p] + more0, F[q] + more1
    t[p] = t[q] = 0.0
    return is_able


@inlined
def _turn(u, phase, most, attempt, work):
    """Take a step of curved slip, at most to where a contact stops or starts to slip."""
    num_slips, _, num_sticks = phase
    h = min(most, attempt, _longest(num_slips, work))
    is_cut = h < attempt
    beyond = sticks_hold(num_slips, num_sticks, work.f[0], work)
    for _ in range(MOST_TRIALS):
        growth = _controlled_step(h, num_slips, work)
        if growth < 1.0:
            h *= growth
            is_cut = False
            continue
        attempt = max(attempt, h * growth) if is_cut else h * growth
        share = _first_crossing(u, h, num_slips, work)
        if share == 0.0:
            return 0.0, attempt, True
        if share < 1.0:
            h, is_cut = h * share, True
            continue
        late = sticks_hold(num_slips, num_sticks, work.f[6], work)
        if late > max(LATE, 2.0 * beyond):
            h, is_cut = h * min(0.95, max(0.05, beyond / (beyond - late))), True
            continue
        return h, attempt, late > 10.0 * OUTSIDE
    return np.nan, attempt, True


@inlined
def _longest(num_slips, work):
    """Return the impulse in which no slip grows more than `GROWTH` times."""
    h = np.inf
    for x in range(num_slips):
        p, q = 2 * x, 2 * x + 1
        slip = np.hypot(work.t[p], work.t[q])
        rate = np.hypot(work.slope[0, p], work.slope[0, q])
        if rate * h > GROWTH * slip:
            h = GROWTH * slip / rate
    return h


@inlined
def _controlled_step(h, num_slips, work):
    """Take a step with the method that suits it; return by which factor its length may grow.

    Below one, the step is not good enough.
    """
    stiffness = 0.0
    for x in range(num_slips):
        p, q = 2 * x, 2 * x + 1
        slip = np.hypot(work.t[p], work.t[q])
        stiffness = max(stiffness, work.slip_limit[x] * (work.B[p, p] + work.B[q, q]) / slip)
    B, drive, limit, t, F = work.B, work.drive, work.slip_limit, work.t, work.F
    if h * stiffness < STIFF:
        ratio = explicit_step(h, num_slips, limit, B, drive, t, work.f, work.slope, work.t_next, F)
        power = -0.2
    else:
        ratio = implicit_step(
            h,
            num_slips,
            limit,
            B,
            drive,
            t,
            work.f,
            work.slope,
            work.t_next,
            F,
            work.past,
            work.shift,
            work.system,
            work.order,
        )
        power = -0.25
    for x in range(num_slips):
        excess = np.hypot(F[2 * x], F[2 * x + 1]) - h * limit[x]
        if excess > ACCURACY:
            return 0.2
    if ratio < 1e-4:
        return 5.0
    if not ratio < np.inf:
        return 0.1
    growth = 0.9 * ratio**power
    return max(growth, 0.1) if ratio > 1.0 else max(growth, 1.0)


@inlined
def _first_crossing(u, h, num_slips, work):
    """Return the share of a step after which a contact stops; 1 if none does.

    0 if a contact that just touches parts: then it does not act any more.
    """
    n, first = 2 * num_slips, 1.0
    for i in range(work.mode.shape[0]):
        if work.mode[i] == IDLE:
            continue
        a = 3 * i
        after, rate = u[a] + h * work.R[n, a], work.R[n, a]
        for j in range(n):
            after += work.F[j] * work.R[j, a]
            rate += work.f[6, j] * work.R[j, a]
        if after > NONE:
            share = _root(u[a], h * work.du[a], after, h * rate)
            if share * h * abs(rate) < 1e-3 * NONE and u[a] >= -NONE:
                work.mode[i] = IDLE
                work.held[i] = 1
                return 0.0
            first = min(first, share)
    return first


@inlined
def _root(start, slope, end, end_slope):
    """Return where in 0 to 1 the cubic through start <= 0 and end > 0 becomes zero."""
    third = slope + end_slope - 2.0 * (end - start)
    second = end - start - slope - third
    low, high = 0.0, 1.0
    if start >= -NONE:
        # It rests or leaves downward: look for a place where it is below zero.
        low = 0.5
        while low > 1e-9 and start + low * (slope + low * (second + low * third)) >= 0.0:
            high = low
            low *= 0.5
        if low <= 1e-9:
            return 0.0
    x = 0.5 * (low + high)
    for _ in range(60):
        value = start + x * (slope + x * (second + x * third))
        if value > 0.0:
            high = x
        else:
            low = x
        fall = slope + x * (2.0 * second + 3.0 * x * third)
        step = value / fall if fall != 0.0 else 2.0
        guess = x - step
        if abs(step) < 1e-15 and low <= guess <= high:
            return guess
        x = guess if low < guess < high else 0.5 * (low + high)
    return x
