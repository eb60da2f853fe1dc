"""Follow one stretch of a planar impact in which contacts return energy.

As `carom.kernels.stretch`, but a contact that stops approaching goes on to act until it has
returned the energy E_i that it stored, e_i^2 of the work of its compression. Velocities change at
constant rates between events, so E_i is a quadratic function of the impulse, and its end is known
in closed form.
"""

import numpy as np

from carom.kernels.bounce_alone import follow_alone
from carom.kernels.bounce_hold import hold
from carom.kernels.jit import expanded, inlined
from carom.kernels.stored import DEAD, PHASE, WHOLE, exchanged, goes_on, log_energies, phase_end
from carom.kernels.stretch import (
    KEEP_REST,
    approaches,
    change_rates,
    largest,
    push_rates,
)
from carom.kernels.stretch_aim import NOISE, STILL, aim
from carom.kernels.stretch_alone import ENDLESS, JAMMED, MOST_EVENTS, OK, log_piece

MOST_AIMED = 100
"""Maximum number of times that a stretch aims anew: contacts stop, hold and return energy."""


@expanded
def follow_stretch(A, mu, share, aims, work, log, logged):
    """Let contacts act until a share of the way, a phase of one, or all of their phases are over.

    As `carom.kernels.stretch.follow_stretch`, with the energies of `carom.kernels.stored`. A share
    from `PHASE` on ends with the first phase of a contact, from `WHOLE` on with the last. Contacts
    that aim to stop together end the stretch when they do; if they keep rest, they go on to return
    their energies while those at rest hold.
    """
    m, u, du, rates, mask = work.m, work.u, work.du, work.rates, work.mask
    acting, last = _choose(work)
    if acting <= 1:
        return follow_alone(A, mu, last, share, work, log, logged) if acting else (OK, 0)
    keeps_rest = aims == KEEP_REST
    aims = aims if keeps_rest or approaches(work) else 0
    left, is_first = np.inf, True
    for event in range(MOST_EVENTS):
        holds = False
        if aims and event < MOST_AIMED:
            holds = not approaches(work)
            if holds:
                hold(A, mu, work)
            else:
                aim(A, mu, keeps_rest, work)
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
        if abs(du[2 * work.acting[0]]) < STILL and largest(du, 2 * m) < STILL:
            return JAMMED, event
        stop, s = _length(count, holds, work)
        if is_first and share < PHASE:
            way = stop if stop < np.inf else largest(u, 2 * m) / largest(du, 2 * m)
            left, is_first = share * way, False
        s = min(s, left)
        if s == np.inf:
            return JAMMED, event
        has_ended = _move(s, A.shape[1], count, work)
        log_energies(work, 2 * m, logged[0], log)
        log_piece(s, work, log, logged)
        left -= s
        is_over = left <= 0.0 or not goes_on(work)
        if is_over or (has_ended and share < WHOLE and not keeps_rest):
            return OK, event + 1
        if aims and not keeps_rest and not approaches(work):
            return OK, event + 1
    return ENDLESS, MOST_EVENTS


@inlined
def _choose(work):
    """Let contacts act that may; return how many do, and the last of them."""
    u, rates, acting, last = work.u, work.rates, 0, 0
    for i in range(work.m):
        work.mask[i] = rates[i]
        rates[i] = rates[i] if (u[2 * i] <= 0.0) | (work.energy[i] > 0.0) else 0.0
        acts = rates[i] > 0.0
        acting += int(acts)
        last = i if acts else last
    return acting, last


@inlined
def _lifting(count, work):
    """Return the contact at rest, without energy, that lifts fastest although it acts, or -1."""
    u, du, rates = work.u, work.du, work.rates
    fastest, rise, rate = -1, STILL, 1.0
    for each in range(count):
        i = work.acting[each]
        rests = (u[2 * i] == 0.0) & (work.energy[i] == 0.0)
        if rests and du[2 * i] * rate > rise * rates[i]:
            fastest, rise, rate = i, du[2 * i], rates[i]
    return fastest


@inlined
def _length(count, holds, work):
    """Return the impulse until the phase of a contact ends, and until an event.

    If contacts at rest hold, those that come to rest are an event, because they hold then as well.
    The end of each contact's own phase is left in `work.friction`.
    """
    u, du = work.u, work.du
    stop, event = np.inf, np.inf
    for each in range(count):
        i = work.acting[each]
        k = 2 * i
        end = phase_end(u[k], du[k], work.energy[i], work.rates[i])
        work.friction[i] = end
        stop = min(stop, end)
        if u[k] > 0.0 and du[k] < 0.0 and end == np.inf:
            # It is pushed back before it has returned its energy.
            event = min(event, -u[k] / du[k])
        if u[k + 1] * du[k + 1] < 0.0:
            event = min(event, -u[k + 1] / du[k + 1])
    if holds:
        for i in range(work.m):
            if work.energy[i] == 0.0 and u[2 * i] > 0.0 and du[2 * i] < 0.0:
                event = min(event, -u[2 * i] / du[2 * i])
    return stop, min(stop, event)


@inlined
def _move(s, size, count, work):
    """Go on straight, exchange energy, and return whether the phase of a contact has ended."""
    u, du, energy, has_ended = work.u, work.du, work.energy, False
    for each in range(count):
        i = work.acting[each]
        work.total[2 * i] += s * work.push[2 * i]
        work.total[2 * i + 1] += s * work.push[2 * i + 1]
        done = work.rates[i] * s * (u[2 * i] + 0.5 * s * du[2 * i])
        energy[i] = exchanged(energy[i], work.returned[i], done)
        if work.friction[i] <= s:
            has_ended = True
            if u[2 * i] >= 0.0 or energy[i] < DEAD:
                energy[i] = 0.0
                work.rates[i] = 0.0
            # What compression leaves of its velocity is rounding.
            work.friction[i] = 0.0 if u[2 * i] < 0.0 else np.inf
    for k in range(size):
        after = u[k] + s * du[k]
        # A contact that sticks goes on to do so, free of rounding.
        stays = (u[k] == 0.0) & (abs(du[k]) < STILL)
        u[k] = 0.0 if (abs(after) < NOISE) | stays else after
    for each in range(count):
        i = work.acting[each]
        u[2 * i] = u[2 * i] if work.friction[i] > 0.0 else 0.0
    return has_ended
