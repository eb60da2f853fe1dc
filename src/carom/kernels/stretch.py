"""Follow one stretch of a planar impact exactly, from event to event.

In a stretch, contacts act at fixed relative rates. Velocities then change at constant rates until
something happens: slip ends at a contact that acts, a contact that acts stops approaching, or the
stretch is over. So a motion is a sequence of straight pieces, and has no error but rounding.

At fixed rates the motion is unique: it is the gradient flow, in the norm of M, of the convex
function sum_i rate_i (mu_i |t_i| - n_i). Friction of contacts that stick minimizes a convex
quadratic function over a box.

Velocities u and impulses are dimensionless contact coordinates, contact by contact, normal first.
What is zero is exactly 0.0: a contact sticks while t_i == 0.0.
"""

import numpy as np

from carom.kernels.jit import ZERO, expanded, inlined, lean
from carom.kernels.stretch_aim import NOISE, STILL, aim, eliminate, sign
from carom.kernels.stretch_alone import (
    ENDLESS,
    JAMMED,
    MOST_EVENTS,
    OK,
    follow_alone,
    log_piece,
)

MOST_AIMS = 16
"""Maximum number of times that a stretch aims anew. Aims can make slip end and start again at once;
at fixed rates that cannot go on."""

DISTINCT = 1e-6
"""Share of a determinant above which 2 x 2 equations are solved as they stand."""

ALIKE = 1e-9
"""Pivots below this belong to contacts that slip alike: one of them takes all the friction that it
can, so that equal problems share it equally. Velocities do not depend on the share."""

KEEP_REST = 2
"""Aim of a stretch in which contacts at rest act as well."""


def scratch(m: int) -> list[tuple[str, type, tuple[int, ...]]]:
    """Return the fields of the record that motions of up to m planar contacts work with.

    With c = 2 m:
        push: (c,) rates of impulses, friction included.
        du: (c,) rates of change of u.
        mask: (m,) rates at the start of the stretch; 0 for contacts that part.
        friction: (m,) friction over normal impulse.
        matrix: (c, c + 1) equations.
        index: (c,) numbers of contacts that stick, and how they do.
        acting: (m,) numbers of the contacts that act.
    """
    c = 2 * m
    real = {"push": (c,), "du": (c,), "mask": (m,), "friction": (m,), "matrix": (c, c + 1)}
    whole = [("index", np.int64, (c,)), ("acting", np.int64, (m,))]
    return [*whole, *((name, np.float64, of) for name, of in real.items())]


@lean
def _share_friction(A, mu, num_stuck, work):
    """Find the friction of the contacts index[:num_stuck], which act and have no slip.

    Friction g minimizes 1/2 g' A g + b' g over |g_i| <= mu_i rate_i. An active set is tried: what
    exceeds its limit is set to it, what would then slip along with its friction is freed.
    """
    m, c, rates, push, matrix = work.m, 2 * work.m, work.rates, work.push, work.matrix
    index = work.index
    # index[m + k]: 0 free, -1 or 1 at a limit.
    for k in range(num_stuck):
        index[m + k] = 0
        push[2 * index[k] + 1] = 0.0
    for _ in range(20 + 4 * num_stuck):
        free = ZERO
        for k in range(num_stuck):
            i = index[k]
            if index[m + k] != 0:
                push[2 * i + 1] = index[m + k] * mu[i] * rates[i]
            else:
                push[2 * i + 1] = 0.0
                free += 1
        row = 0
        for k in range(num_stuck):
            if index[m + k] != 0:
                continue
            i = index[k]
            drive = 0.0
            for j in range(c):
                drive += A[2 * i + 1, j] * push[j]
            column = 0
            for n in range(num_stuck):
                if index[m + n] == 0:
                    matrix[row, column] = A[2 * i + 1, 2 * index[n] + 1]
                    column += 1
            matrix[row, free] = -drive
            row += 1
        eliminate(work, free, ALIKE)
        worst, excess, row = -1, 1e-12, 0
        for k in range(num_stuck):
            if index[m + k] != 0:
                continue
            i = index[k]
            over = abs(matrix[row, free]) - mu[i] * rates[i]
            push[2 * i + 1] = matrix[row, free]
            if over > excess * rates[i] and (worst < 0 or over > excess):
                worst, excess = k, over
            row += 1
        if worst >= 0:
            index[m + worst] = 1 if push[2 * index[worst] + 1] > 0.0 else -1
            continue
        excess = STILL
        for k in range(num_stuck):
            if index[m + k] == 0:
                continue
            i = index[k]
            slip = 0.0
            for j in range(c):
                slip += A[2 * i + 1, j] * push[j]
            if slip * index[m + k] > excess:
                worst, excess = k, slip * index[m + k]
        if worst < 0:
            return
        index[m + worst] = 0


@inlined
def hold_two(drive_a, drive_b, own_a, own_b, both, limit_a, limit_b):
    """Return the friction of two contacts without slip, and whether it is right.

    `own_a`, `own_b` and `both` are their part of A. If friction of a had no limit, that of b would
    be the unlimited one, limited; the rest follows, because the function to minimize is convex.
    Divisors are constants of an impact: as factors, eight motions abreast have them only once.
    """
    determinant = own_a * own_b - both * both
    inverse = 1.0 / max(determinant, STILL)
    free_a = (both * drive_b - own_b * drive_a) * inverse
    free_b = (both * drive_a - own_a * drive_b) * inverse
    is_plain = determinant > DISTINCT * own_a * own_b
    is_free = is_plain & (abs(free_a) <= limit_a) & (abs(free_b) <= limit_b)
    # Of contacts that slip alike, one takes all that it can.
    given = min(max(free_b, -limit_b), limit_b) if is_plain else 0.0
    push_a = min(max(-(drive_a + both * given) * (1.0 / own_a), -limit_a), limit_a)
    push_b = min(max(-(drive_b + both * push_a) * (1.0 / own_b), -limit_b), limit_b)
    slip = drive_a + own_a * push_a + both * push_b
    is_right = ((slip <= STILL) | (push_a <= -limit_a)) & ((slip >= -STILL) | (push_a >= limit_a))
    is_right = is_free | (is_right & (own_a > STILL) & (own_b > STILL))
    return free_a if is_free else push_a, free_b if is_free else push_b, is_right


@inlined
def _drive(A, k, count, work):
    """Return the rate of velocity k due to the contacts that act."""
    rate = 0.0
    for each in range(count):
        j = 2 * work.acting[each]
        rate = rate + A[j, k] * work.push[j] + A[j + 1, k] * work.push[j + 1]
    return rate


@inlined
def _both_stick(A, mu, count, work):
    """Write the friction of two contacts without slip, if that is simple."""
    rates, push, i, j = work.rates, work.push, work.index[0], work.index[1]
    a, b = 2 * i + 1, 2 * j + 1
    drives = _drive(A, a, count, work), _drive(A, b, count, work)
    limits = mu[i] * rates[i], mu[j] * rates[j]
    push_a, push_b, is_right = hold_two(*drives, A[a, a], A[b, b], A[a, b], *limits)
    if is_right:
        push[a], push[b] = push_a, push_b
    return is_right


@inlined
def push_rates(A, mu, work):
    """Write the rates of all impulses, friction included; return how many contacts act."""
    u, rates, push, index = work.u, work.rates, work.push, work.index
    count, num_stuck = ZERO, ZERO
    for i in range(work.m):
        push[2 * i], push[2 * i + 1] = rates[i], 0.0
        if rates[i] == 0.0:
            continue
        work.acting[count] = i
        count += 1
        push[2 * i + 1] = -mu[i] * rates[i] * sign(u[2 * i + 1])
        index[num_stuck] = i
        num_stuck += int(u[2 * i + 1] == 0.0)
    if num_stuck == 1:
        i = index[0]
        limit, own = mu[i] * rates[i], A[2 * i + 1, 2 * i + 1]
        friction = -_drive(A, 2 * i + 1, count, work) * (1.0 / own)
        push[2 * i + 1] = min(max(friction, -limit), limit) if own > STILL else 0.0
    elif num_stuck > 1 and not (num_stuck == 2 and _both_stick(A, mu, count, work)):
        _share_friction(A, mu, num_stuck, work)
    return count


@inlined
def approaches(work):
    """Return whether a contact approaches."""
    for i in range(work.m):
        if work.u[2 * i] < 0.0:
            return True
    return False


@inlined
def change_rates(A, count, work):
    """Write the rates of all velocities."""
    push, du = work.push, work.du
    for k in range(A.shape[1]):
        du[k] = 0.0
    for each in range(count):
        # Row by row, since A is symmetric.
        j = 2 * work.acting[each]
        for k in range(A.shape[1]):
            du[k] = du[k] + A[j, k] * push[j] + A[j + 1, k] * push[j + 1]


@inlined
def _lifting(count, work):
    """Return the contact at rest that lifts fastest although it acts, or -1."""
    u, du, rates = work.u, work.du, work.rates
    fastest, rise, rate = -1, STILL, 1.0
    for each in range(count):
        i = work.acting[each]
        if u[2 * i] == 0.0 and du[2 * i] * rate > rise * rates[i]:
            fastest, rise, rate = i, du[2 * i], rates[i]
    return fastest


@inlined
def _length(count, work):
    """Return the impulse until a contact that acts stops, and until an event."""
    u, du = work.u, work.du
    stop, event = np.inf, np.inf
    for each in range(count):
        k = 2 * work.acting[each]
        if u[k] < 0.0 and du[k] > 0.0:
            stop = min(stop, -u[k] / du[k])
        if u[k + 1] * du[k + 1] < 0.0:
            event = min(event, -u[k + 1] / du[k + 1])
    return stop, min(stop, event)


@inlined
def _move(s, size, count, work):
    """Go on straight, and set to zero what has reached it."""
    u, du, rates = work.u, work.du, work.rates
    for k in range(size):
        after = u[k] + s * du[k]
        # A contact that sticks goes on to do so, free of rounding.
        stays = (u[k] == 0.0) & (abs(du[k]) < STILL)
        u[k] = 0.0 if (abs(after) < NOISE) | stays else after
    for each in range(count):
        i = work.acting[each]
        work.total[2 * i] += s * work.push[2 * i]
        work.total[2 * i + 1] += s * work.push[2 * i + 1]
        if u[2 * i] >= 0.0 and du[2 * i] > 0.0:
            u[2 * i] = 0.0
            rates[i] = 0.0


@inlined
def largest(x, count):
    """Return the largest magnitude of the first entries of a vector."""
    largest = 0.0
    for k in range(count):
        largest = max(largest, abs(x[k]))
    return largest


@expanded
def follow_stretch(A, mu, share, aims, work, log, logged):
    """Let contacts act until all of them have stopped, or a share of the way is gone.

    Args:
        A, mu: The contact space. A may have columns of zeros at its end, up to as many as there
            is room for: loops over velocities then have a length that suits vector registers.
        share: If below 1, how far to go, as a share of the way to where the first contact stops.
        aims: 1 to replace the rates by those with which all contacts stop together, KEEP_REST if
            contacts at rest shall act too.
        work: From `make_work`, with velocities u and impulses so far, which change, and rates of
            normal impulse, which are overwritten; those of contacts that part are ignored.
        log: (rows, c) impulses of the straight pieces, as far as there is room.
        logged: (1,) number of rows in use, changed in place.

    Returns:
        Status and number of events.
    """
    m, u, du, rates, mask = work.m, work.u, work.du, work.rates, work.mask
    able, acting, last = 0, 0, 0
    keeps_rest = aims == KEEP_REST
    for i in range(m):
        mask[i] = rates[i]
        rates[i] = 0.0 if u[2 * i] > 0.0 else rates[i]
        acts = rates[i] > 0.0
        able += int(acts & ((u[2 * i] < 0.0) | keeps_rest))
        acting += int(acts)
        last = i if acts else last
    if acting <= 1:
        return follow_alone(A, mu, last, share, work, log, logged) if acting else (OK, 0)
    # A contact that acts alone always stops as it should, and contacts that all rest have no aim.
    aims = aims if able > 1 and approaches(work) else 0
    left, is_first = np.inf, True
    for event in range(MOST_EVENTS):
        if aims and event < MOST_AIMS:
            aim(A, mu, aims == KEEP_REST, work)
        fastest = 0
        while fastest >= 0:
            count = push_rates(A, mu, work)
            if count == 0:
                return OK, event
            change_rates(A, count, work)
            fastest = _lifting(count, work)
            if fastest >= 0:
                rates[fastest] = 0.0
                mask[fastest] = 0.0
        # A contact that acts usually changes its own normal velocity.
        if abs(du[2 * work.acting[0]]) < STILL and largest(du, 2 * m) < STILL:
            return JAMMED, event
        stop, s = _length(count, work)
        if is_first and share < 1.0:
            way = stop if stop < np.inf else largest(u, 2 * m) / largest(du, 2 * m)
            left, is_first = share * way, False
        s = min(s, left)
        if s == np.inf:
            return JAMMED, event
        _move(s, A.shape[1], count, work)
        log_piece(s, work, log, logged)
        left -= s
        if left <= 0.0 or not approaches(work):
            return OK, event + 1
    return ENDLESS, MOST_EVENTS
