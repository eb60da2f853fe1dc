"""Advance a phase of an impact in space by one step, at most to its next event."""

import numpy as np

from carom.kernels.discs import disc_minimum
from carom.kernels.jit import expanded, inlined, lean
from carom.kernels.slip_bounce import go_straight, release_share
from carom.kernels.slip_phase import IDLE, OUTSIDE, sticks_hold
from carom.kernels.slip_root import NONE, root
from carom.kernels.slip_steps import explicit_step, implicit_step, length
from carom.kernels.stored import stored

STIFF = 4.0
"""Explicit steps are stable up to about 5 for the fastest rate times their length."""

WORTHWHILE = 8.0
"""Implicit steps cost several explicit ones: they are taken if so many times as long."""

NEGLIGIBLE = 0.1
"""Slip and friction below this share of the accuracy do not matter by themselves."""

LANDING = 0.1
"""Slip is taken to zero in a straight line if this bends it by less, as a share of the accuracy."""

STRAIGHT = 0.01
"""Slip that turns by less than this share of the accuracy goes straight."""

LATE = 1e-6
"""Contacts may start to slip once their friction is beyond its limit by this share: the error is
its square."""

FIRST_TRY = 0.5
"""Length of the first step of a phase, times the rate at which friction turns slip. Steps keep this
product rather than their length, because slip that shrinks turns faster."""

GROWTH = 100.0
"""Slip may grow by this factor in a step: implicit steps judge by the slip that they start from."""

MOST_TRIALS = 300
"""Lengths to try for one step: each is a fraction of the one before."""

FIRST = 1e-7
"""Contacts slip by no more than this, as a share of the speed, in the direction they start in."""


@lean
def advance(phase, fastest, to_stop, room, to_aim, attempt, work):
    """Choose a step and write its friction impulse and slip; leave u as it is.

    Args:
        phase: How many contacts slip, start to, and stick.
        fastest: Largest rate of change of u.
        to_stop: Impulse after which the first contact stops at present rates.
        room: Most impulse.
        to_aim: Impulse after which rates are to be aimed again, infinite if they are not aimed.
        attempt: Impulse to try, times the rate at which friction turns slip.
        work: With present rates.

    Returns:
        The impulse of the step, 0 if a contact stops acting instead, or not a number if no step
        is good enough; what to attempt next; whether a new phase begins.
    """
    num_slips, num_starting, _ = phase
    most = min(room, to_stop)
    if num_slips == 0:
        return most, attempt, False
    # Rates that were aimed with present directions are aimed again before contacts stop.
    most = min(most, to_aim)
    if num_starting > 0:
        h = min(most, _first_length(num_slips - num_starting, fastest, work))
        _go_straight(h, num_slips, work)
        return h, attempt, False
    ending, to_rest, across, own, turning = _next_rest(num_slips, work)
    bend = to_rest * (across + to_rest * (turning - own))
    is_small = to_rest < most and _is_small(ending, to_rest, work)
    if is_small or (to_rest < most and bend < LANDING * work.accuracy):
        _go_straight(to_rest, num_slips, work)
        if _come_to_rest(ending, to_rest, num_slips, work) or is_small:
            return to_rest, attempt, True
    if to_rest > most and most * most * turning < STRAIGHT * work.accuracy:
        _go_straight(most, num_slips, work)
        return most, attempt, False
    return _turn(phase, min(most, 0.95 * to_rest), attempt, work)


@inlined
def _first_length(num_before, fastest, work):
    """Return the impulse during which slip starts in a straight line and no other slip turns."""
    h = FIRST / fastest
    for x in range(num_before):
        p = 2 * x
        slip = length(work.t[p], work.t[p + 1])
        rate = length(work.slope[p], work.slope[p + 1])
        if rate * h > 1e-3 * slip:
            h = 1e-3 * slip / rate
    return h


@inlined
def _go_straight(h, num_slips, work):
    """Write a step in which no slip turns."""
    for x in range(2 * num_slips):
        work.F[x] = h * work.f[x]
        work.t_next[x] = work.t[x] + h * work.slope[x]
    go_straight(work, h, 2 * num_slips)


@expanded
def _next_rest(num_slips, work):
    """Return whose slip ends first, after which impulse, how it veers, how fast friction turns.

    The latter for its own friction and for all. A step of length h in a straight line errs by h^2
    times that; one that ends a slip instead by h times what it veers.
    """
    ending, to_rest, veering, turning, own = -1, np.inf, 0.0, 0.0, 0.0
    for x in range(num_slips):
        p, q = 2 * x, 2 * x + 1
        t0, t1, v0, v1 = work.t[p], work.t[q], work.slope[p], work.slope[q]
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
    slip = length(work.t[2 * x], work.t[2 * x + 1])
    rate = length(work.slope[2 * x], work.slope[2 * x + 1])
    return slip < NEGLIGIBLE * work.accuracy and to_rest * rate < 10.0 * slip


@expanded
def _come_to_rest(ending, h, num_slips, work):
    """Let the slip that ends in a straight step be zero; return whether friction does that.

    If not, since A hardly moves the contact across its slip, what is left is dropped.
    """
    p, q = 2 * ending, 2 * ending + 1
    B, F, t = work.B, work.F, work.t_next
    more0, more1 = disc_minimum(B[p, p], B[p, q], B[q, q], t[p], t[q], np.inf)
    excess = length(F[p] + more0, F[q] + more1) - h * work.slip_limit[ending]
    is_able = excess <= NEGLIGIBLE * work.accuracy
    if is_able:
        for x in range(2 * num_slips):
            t[x] += B[p, x] * more0 + B[q, x] * more1
        F[p], F[q] = F[p] + more0, F[q] + more1
        go_straight(work, h, 2 * num_slips)
    t[p] = t[q] = 0.0
    return is_able


@expanded
def _turn(phase, most, attempt, work):
    """Take a step of curved slip, at most to where a contact stops or starts to slip."""
    num_slips, _, num_sticks = phase
    stiffness = _stiffness(num_slips, work)
    stable = STIFF / stiffness
    tried = attempt / stiffness
    if stable < tried < WORTHWHILE * stable:
        tried = stable
    h = min(most, tried, _longest(num_slips, work))
    is_cut = h < tried
    beyond = sticks_hold(num_slips, num_sticks, work.f, work)
    for _ in range(MOST_TRIALS):
        growth = _controlled_step(h, h > stable, num_slips, work)
        if growth < 1.0:
            h *= growth
            is_cut = False
            continue
        grown = h * growth * stiffness
        attempt = max(attempt, grown) if is_cut else grown
        share = _first_crossing(h, num_slips, work)
        if share == 0.0:
            return 0.0, attempt, True
        if share < 1.0:
            h, is_cut = h * share, True
            continue
        late = sticks_hold(num_slips, num_sticks, work.f_next, work)
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
        slip = length(work.t[p], work.t[q])
        rate = length(work.slope[p], work.slope[q])
        if rate * h > GROWTH * slip:
            h = GROWTH * slip / rate
    return h


@inlined
def _stiffness(num_slips, work):
    """Return the fastest rate at which friction turns some slip."""
    stiffness = 0.0
    for x in range(num_slips):
        p, q = 2 * x, 2 * x + 1
        slip = length(work.t[p], work.t[q])
        stiffness = max(stiffness, work.slip_limit[x] * (work.B[p, p] + work.B[q, q]) / slip)
    return stiffness


@expanded
def _controlled_step(h, is_stiff, num_slips, work):
    """Take a step with the method that suits it; return by which factor its length may grow.

    Below one, the step is not good enough.
    """
    if is_stiff:
        ratio, power = implicit_step(h, num_slips, work), -0.25
    else:
        ratio, power = explicit_step(h, num_slips, work), -0.125
    for x in range(num_slips):
        excess = length(work.F[2 * x], work.F[2 * x + 1]) - h * work.slip_limit[x]
        if excess > NEGLIGIBLE * work.accuracy:
            return 0.2
    if ratio < 1e-4:
        return 2.0 * WORTHWHILE
    if not ratio < np.inf:
        return 0.1
    growth = 0.9 * ratio**power
    return max(growth, 0.1) if ratio > 1.0 else max(growth, 1.0)


@expanded
def _first_crossing(h, num_slips, work):
    """Return the share of a step after which a contact stops, or turns; 1 if none does.

    0 if a contact that just touches parts: then it does not act any more.
    """
    n, u, first = 2 * num_slips, work.u, 1.0
    for i in range(work.m):
        if work.mode[i] == IDLE:
            continue
        a = 3 * i
        if stored(work, i) > 0.0 and u[a] >= -NONE:
            first = min(first, release_share(work, i, h, n))
            continue
        after, rate = u[a] + h * work.R[n, a], work.R[n, a]
        for j in range(n):
            after += work.F[j] * work.R[j, a]
            rate += work.f_next[j] * work.R[j, a]
        if after > NONE:
            share = root(u[a], h * work.du[a], after, h * rate)
            if share * h * abs(rate) < 1e-3 * NONE and u[a] >= -NONE:
                work.mode[i] = IDLE
                work.held[i] = 1
                return 0.0
            first = min(first, share)
    return first
