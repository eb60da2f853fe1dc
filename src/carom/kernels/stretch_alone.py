"""Follow one stretch of a planar impact in which one contact acts.

Most stretches are such. What happens next depends on two numbers only, the normal and tangential
velocity of the contact, so there is nothing to look for among the others. The arithmetic is that
of `carom.kernels.stretch`, operation by operation.
"""

import numpy as np

from carom.kernels.jit import inlined, lean
from carom.kernels.stretch_aim import NOISE, STILL

OK, JAMMED, ENDLESS = range(3)

MOST_EVENTS = 200
"""Maximum number of events of one stretch. Slip that ends and starts again needs several."""


@inlined
def log_piece(s, work, log, logged):
    """Log the impulse of a straight piece, if there is room."""
    if logged[0] < len(log):
        for k in range(2 * work.m):
            log[logged[0], k] = s * work.push[k]
        logged[0] += 1


@inlined
def friction_alone(A, mu, i, t, rate):
    """Return the friction of a contact that acts alone."""
    limit, own = mu[i] * rate, A[2 * i + 1, 2 * i + 1]
    held = min(max(-(A[2 * i, 2 * i + 1] * rate) * (1.0 / own), -limit), limit)
    held = held if own > STILL else 0.0
    # As a choice of values: which way a contact slides cannot be foreseen.
    return held if t == 0.0 else (-limit if t > 0.0 else limit)


@lean
def is_jammed(A, j, rate, friction):
    """Return whether no velocity changes."""
    for k in range(A.shape[1]):
        if abs(A[j, k] * rate + A[j + 1, k] * friction) >= STILL:
            return False
    return True


@lean
def way_without_stop(A, j, rate, friction, work):
    """Return what counts as the way of a contact that does not stop."""
    velocity, change = 0.0, 0.0
    for k in range(A.shape[1]):
        velocity = max(velocity, abs(work.u[k]))
        change = max(change, abs(A[j, k] * rate + A[j + 1, k] * friction))
    return velocity / change


@inlined
def follow_alone(A, mu, i, share, work, log, logged):
    """Let contact i act until it stops or a share of the way is gone.

    See `carom.kernels.stretch.follow_stretch`.
    """
    u, total, push, rate, j = work.u, work.total, work.push, work.rates[i], 2 * i
    if len(log) > 0:
        for k in range(2 * work.m):
            push[k] = 0.0
    left = np.inf
    for event in range(MOST_EVENTS):
        n, t = u[j], u[j + 1]
        friction = friction_alone(A, mu, i, t, rate)
        dn = A[j, j] * rate + A[j + 1, j] * friction
        dt = A[j, j + 1] * rate + A[j + 1, j + 1] * friction
        if n == 0.0 and dn > STILL * rate:
            return OK, event
        if abs(dn) < STILL and is_jammed(A, j, rate, friction):
            return JAMMED, event
        stop = -n / dn if (n < 0.0) & (dn > 0.0) else np.inf
        s = min(stop, -t / dt if t * dt < 0.0 else np.inf)
        if event == 0 and share < 1.0:
            way = stop if stop < np.inf else way_without_stop(A, j, rate, friction, work)
            left = share * way
        s = min(s, left)
        if s == np.inf:
            return JAMMED, event
        for k in range(A.shape[1]):
            du = A[j, k] * rate + A[j + 1, k] * friction
            after = u[k] + s * du
            # A contact that sticks goes on to do so, free of rounding.
            stays = (u[k] == 0.0) & (abs(du) < STILL)
            u[k] = 0.0 if (abs(after) < NOISE) | stays else after
        total[j] += s * rate
        total[j + 1] += s * friction
        push[j], push[j + 1] = rate, friction
        log_piece(s, work, log, logged)
        left -= s
        if u[j] >= 0.0 and dn > 0.0:
            u[j] = 0.0
            return OK, event + 1
        if left <= 0.0:
            return OK, event + 1
        if u[j] >= 0.0:
            # It rests, and is pressed on; others may approach.
            approaches = False
            for other in range(work.m):
                approaches = approaches or u[2 * other] < 0.0
            if not approaches:
                return OK, event + 1
    return ENDLESS, MOST_EVENTS
