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

from collections import namedtuple

import numpy as np

from carom.kernels.jit import inlined, kernel

OK, JAMMED, ENDLESS = range(3)

NOISE = 1e-12
"""Velocities below this are zero: rounding of some hundred events leaves less, and nothing in an
outcome moves by more."""

STILL = 1e-13
"""Rates below this, per unit of impulse, are zero."""

MOST_EVENTS = 200
"""Maximum number of events of one stretch. Slip that ends and starts again needs several."""

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

Work = namedtuple("Work", "push du mask friction matrix index")


@kernel
def make_work(m, width):
    """Make the work arrays of `follow_stretch`."""
    c = width * m
    return Work(
        np.zeros(c),
        np.zeros(c),
        np.zeros(m),
        np.zeros(m),
        np.zeros((c, c + 1)),
        np.zeros(c + m, np.int64),
    )


@inlined
def _sign(x):
    # Not a difference of booleans, which NumPy refuses where code is not compiled.
    return int(x > 0.0) - int(x < 0.0)


@kernel
def eliminate(a, n, least):
    """Solve the n equations in the rows of a (n, n + 1) in place; the solution is a[:n, n].

    Unknowns with no pivot above `least` depend on others and are set to zero.
    """
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        if abs(a[best, k]) < least:
            for i in range(n):
                a[i, k] = 0.0
            for j in range(n + 1):
                a[k, j] = 0.0
            a[k, k] = 1.0
            continue
        if best != k:
            for j in range(k, n + 1):
                a[k, j], a[best, j] = a[best, j], a[k, j]
        inverse = 1.0 / a[k, k]
        for j in range(k, n + 1):
            a[k, j] *= inverse
        for i in range(n):
            factor = a[i, k]
            if i != k and factor != 0.0:
                for j in range(k, n + 1):
                    a[i, j] -= factor * a[k, j]


@kernel
def _share_friction(A, mu, rates, push, matrix, index, num_stuck):
    """Find the friction of the contacts index[:num_stuck], which act and have no slip.

    Friction g minimizes 1/2 g' A g + b' g over |g_i| <= mu_i rate_i. An active set is tried: what
    exceeds its limit is set to it, what would then slip along with its friction is freed.
    """
    c = len(push)
    m = len(mu)
    # index[m + k]: 0 free, -1 or 1 at a limit.
    for k in range(num_stuck):
        index[m + k] = 0
        push[2 * index[k] + 1] = 0.0
    for _ in range(20 + 4 * num_stuck):
        free = 0
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
        eliminate(matrix, free, ALIKE)
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
def _both_stick(A, mu, rates, push, index, num_stuck, m):
    """Write the friction of two contacts that can stick both, the most frequent case."""
    a, b = 2 * index[0] + 1, 2 * index[1] + 1
    drive_a, drive_b = 0.0, 0.0
    for j in range(2 * len(m)):
        drive_a += A[a, j] * push[j]
        drive_b += A[b, j] * push[j]
    own_a, own_b = A[a, a], A[b, b]
    determinant = own_a * own_b - A[a, b] * A[a, b]
    inverse = 1.0 / max(determinant, STILL)
    push_a = (A[a, b] * drive_b - own_b * drive_a) * inverse
    push_b = (A[a, b] * drive_a - own_a * drive_b) * inverse
    i, j = index[0], index[1]
    # Contacts that slip alike need an elimination with pivots.
    is_plain = num_stuck == 2 and determinant > DISTINCT * own_a * own_b
    if not is_plain or abs(push_a) > mu[i] * rates[i] or abs(push_b) > mu[j] * rates[j]:
        return False
    push[a], push[b] = push_a, push_b
    return True


@inlined
def _push(A, mu, u, rates, push, matrix, index, m):
    """Write the rates of all impulses, friction included; return how many contacts stick or try."""
    num_stuck = 0
    for i in range(len(m)):
        push[2 * i] = rates[i]
        push[2 * i + 1] = -mu[i] * rates[i] * _sign(u[2 * i + 1])
        if rates[i] > 0.0 and u[2 * i + 1] == 0.0:
            index[num_stuck] = i
            num_stuck += 1
    if num_stuck == 1:
        i = index[0]
        drive = 0.0
        for j in range(2 * len(m)):
            drive += A[2 * i + 1, j] * push[j]
        limit = mu[i] * rates[i]
        own = A[2 * i + 1, 2 * i + 1]
        push[2 * i + 1] = min(max(-drive / own, -limit), limit) if own > STILL else 0.0
    elif num_stuck > 1 and not _both_stick(A, mu, rates, push, index, num_stuck, m):
        _share_friction(A, mu, rates, push, matrix, index, num_stuck)
    return num_stuck


@kernel
def _aim(A, mu, u, mask, keeps_rest, rates, friction, matrix, index):
    """Set the rates of contacts, among those in the mask, so that all stop together.

    If it keeps rest, contacts at rest act as well, so that others do not set them back. Contacts
    that slide keep their friction; those that do not are taken to stick, or to slip
    where that takes more than the cone has. Contacts that would have to pull are left out.
    """
    m = len(mu)
    for i in range(m):
        may_act = u[2 * i] < 0.0 or (keeps_rest and u[2 * i] == 0.0)
        rates[i] = 1.0 if mask[i] > 0.0 and may_act else 0.0
        # Friction over normal impulse; 2 stands for friction that is an unknown of its own.
        friction[i] = -mu[i] * _sign(u[2 * i + 1])
        index[i] = int(u[2 * i + 1] == 0.0)
    for _ in range(4 * m + 4):
        size = 0
        for i in range(m):
            size += int(rates[i] > 0.0) * (1 + index[i])
        if size == 0:
            return
        row = 0
        for i in range(m):
            for part in range(1 + index[i]):
                if rates[i] == 0.0:
                    continue
                column = 0
                for j in range(m):
                    if rates[j] == 0.0:
                        continue
                    matrix[row, column] = A[2 * i + part, 2 * j]
                    if index[j]:
                        matrix[row, column + 1] = A[2 * i + part, 2 * j + 1]
                    else:
                        matrix[row, column] += friction[j] * A[2 * i + part, 2 * j + 1]
                    column += 1 + index[j]
                matrix[row, size] = -u[2 * i + part]
                row += 1
        eliminate(matrix, size, STILL)
        least, pull, slipping, excess, row = -1, 0.0, -1, 1e-12, 0
        for i in range(m):
            if rates[i] == 0.0:
                continue
            normal = matrix[row, size]
            if normal <= pull:
                least, pull = i, normal
            if index[i]:
                over = abs(matrix[row + 1, size]) - mu[i] * normal
                if over > excess:
                    slipping, excess = i, over
                    friction[i] = mu[i] * _sign(matrix[row + 1, size])
            row += 1 + index[i]
        if least >= 0:
            rates[least] = 0.0
        elif slipping >= 0:
            index[slipping] = 0
        else:
            break
    row, largest = 0, 0.0
    for i in range(m):
        if rates[i] > 0.0:
            rates[i] = max(matrix[row, size], 0.0)
            largest = max(largest, rates[i])
            row += 1 + index[i]
    for i in range(m):
        rates[i] /= max(largest, NOISE)


@inlined
def _approaches(u, m):
    for i in range(len(m)):
        if u[2 * i] < 0.0:
            return True
    return False


@inlined
def _change(A, push, du, m):
    size = 0.0
    for k in range(2 * len(m)):
        rate = 0.0
        for j in range(2 * len(m)):
            rate += A[k, j] * push[j]
        du[k] = rate
        size = max(size, abs(rate))
    return size


@inlined
def _lifting(u, du, rates, m):
    """Return the contact at rest that lifts fastest although it acts, or -1."""
    fastest, rate = -1, STILL
    for i in range(len(m)):
        if rates[i] > 0.0 and u[2 * i] == 0.0 and du[2 * i] > rate * rates[i]:
            fastest, rate = i, du[2 * i] / rates[i]
    return fastest


@inlined
def _length(u, du, rates, m):
    """Return the impulse until a contact that acts stops, and until an event."""
    stop, event = np.inf, np.inf
    for i in range(len(m)):
        if rates[i] <= 0.0:
            continue
        if u[2 * i] < 0.0 and du[2 * i] > 0.0:
            stop = min(stop, -u[2 * i] / du[2 * i])
        if u[2 * i + 1] * du[2 * i + 1] < 0.0:
            event = min(event, -u[2 * i + 1] / du[2 * i + 1])
    return stop, min(stop, event)


@inlined
def _move(u, total, push, du, rates, s, m):
    """Go on straight, and set to zero what has reached it."""
    for k in range(2 * len(m)):
        before = u[k]
        u[k] += s * du[k]
        total[k] += s * push[k]
        if abs(u[k]) < NOISE:
            u[k] = 0.0
        # A contact that sticks goes on to do so, free of rounding.
        if before == 0.0 and abs(du[k]) < STILL:
            u[k] = 0.0
    for i in range(len(m)):
        if rates[i] > 0.0 and u[2 * i] >= 0.0 and du[2 * i] > 0.0:
            u[2 * i] = 0.0
            rates[i] = 0.0


@inlined
def follow_stretch(A, mu, u, total, rates, share, aims, work, log, logged, m):
    """Let contacts act until all of them have stopped, or a share of the way is gone.

    Args:
        A, mu: The contact space.
        u, total: Velocities (c,) and impulses so far (c,), changed in place.
        rates: (m,) rates of normal impulse, overwritten; those of contacts that part are ignored.
        share: If below 1, how far to go, as a share of the way to where the first contact stops.
        aims: 1 to replace the rates by those with which all contacts stop together, KEEP_REST if
            contacts at rest shall act too.
        work: Work arrays.
        log: (rows, c) impulses of the straight pieces, as far as there is room.
        logged: (1,) number of rows in use, changed in place.

    Returns:
        Status and number of events.
    """
    push, du, mask, friction, matrix, index = work
    for i in range(len(m)):
        mask[i] = rates[i]
        if u[2 * i] > 0.0:
            rates[i] = 0.0
    able = 0
    for i in range(len(m)):
        able += int(mask[i] > 0.0 and (u[2 * i] < 0.0 or (aims == KEEP_REST and u[2 * i] == 0.0)))
    # A contact that acts alone always stops as it should, and contacts that all rest have no aim.
    aims = aims if able > 1 and _approaches(u, m) else 0
    left, is_first = np.inf, True
    for event in range(MOST_EVENTS):
        if aims and event < MOST_AIMS:
            _aim(A, mu, u, mask, aims == KEEP_REST, rates, friction, matrix, index)
        fastest = 0
        while fastest >= 0:
            acting = 0
            for i in range(len(m)):
                acting += int(rates[i] > 0.0)
            if acting == 0:
                return OK, event
            _push(A, mu, u, rates, push, matrix, index, m)
            size = _change(A, push, du, m)
            fastest = _lifting(u, du, rates, m)
            if fastest >= 0:
                rates[fastest] = 0.0
                mask[fastest] = 0.0
        if size < STILL:
            return JAMMED, event
        stop, s = _length(u, du, rates, m)
        if is_first and share < 1.0:
            largest = 0.0
            for k in range(2 * len(m)):
                largest = max(largest, abs(u[k]))
            left = share * (stop if stop < np.inf else largest / size)
            is_first = False
        s = min(s, left)
        if s == np.inf:
            return JAMMED, event
        _move(u, total, push, du, rates, s, m)
        if logged[0] < len(log):
            for k in range(2 * len(m)):
                log[logged[0], k] = s * push[k]
            logged[0] += 1
        left -= s
        if left <= 0.0 or not _approaches(u, m):
            return OK, event + 1
    return ENDLESS, MOST_EVENTS
