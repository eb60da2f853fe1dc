"""Follow one stretch of a planar impact in which one contact acts and returns energy.

As `carom.kernels.stretch_alone`: what happens next depends on the contact's own two velocities and
its energy only.
"""

import numpy as np

from carom.kernels.jit import inlined
from carom.kernels.stored import DEAD, PHASE, WHOLE, exchanged, log_energies, phase_end
from carom.kernels.stretch_aim import NOISE, STILL
from carom.kernels.stretch_alone import (
    ENDLESS,
    JAMMED,
    MOST_EVENTS,
    OK,
    friction_alone,
    is_jammed,
    log_piece,
    way_without_stop,
)


@inlined
def follow_alone(A, mu, i, share, work, log, logged):
    """Let contact i act until its phases are over or a share of the way is gone.

    See `carom.kernels.bounce.follow_stretch`.
    """
    u, total, push, energy = work.u, work.total, work.push, work.energy
    rate, j = work.rates[i], 2 * i
    if len(log) > 0:
        for k in range(2 * work.m):
            push[k] = 0.0
    left = np.inf
    for event in range(MOST_EVENTS):
        n, t = u[j], u[j + 1]
        friction = friction_alone(A, mu, i, t, rate)
        dn = A[j, j] * rate + A[j + 1, j] * friction
        dt = A[j, j + 1] * rate + A[j + 1, j + 1] * friction
        if n == 0.0 and energy[i] == 0.0 and dn > STILL * rate:
            return OK, event
        if abs(dn) < STILL and is_jammed(A, j, rate, friction):
            return JAMMED, event
        end = phase_end(n, dn, energy[i], rate)
        s = min(end, -t / dt if t * dt < 0.0 else np.inf)
        if n > 0.0 and dn < 0.0 and end == np.inf:
            # Friction pushes it back before it has returned its energy.
            s = min(s, -n / dn)
        if event == 0 and share < PHASE:
            way = end if end < np.inf else way_without_stop(A, j, rate, friction, work)
            left = share * way
        s = min(s, left)
        if s == np.inf:
            return JAMMED, event
        energy[i] = exchanged(energy[i], work.returned[i], rate * s * (n + 0.5 * s * dn))
        for k in range(A.shape[1]):
            du = A[j, k] * rate + A[j + 1, k] * friction
            after = u[k] + s * du
            # A contact that sticks goes on to do so, free of rounding.
            stays = (u[k] == 0.0) & (abs(du) < STILL)
            u[k] = 0.0 if (abs(after) < NOISE) | stays else after
        total[j] += s * rate
        total[j + 1] += s * friction
        push[j], push[j + 1] = rate, friction
        has_ended = end <= s
        if has_ended:
            # What compression leaves of its velocity is rounding.
            u[j] = 0.0 if n < 0.0 else u[j]
            energy[i] = 0.0 if n >= 0.0 or energy[i] < DEAD else energy[i]
        log_energies(work, 2 * work.m, logged[0], log)
        log_piece(s, work, log, logged)
        left -= s
        if left <= 0.0 or (has_ended and (share < WHOLE or energy[i] == 0.0)):
            return OK, event + 1
    return ENDLESS, MOST_EVENTS
