"""Follow one stretch of an impact in space against Coulomb's round friction cone.

While contacts act at fixed rates w_i, the motion is the gradient flow of a convex function. It is
unique, and errors do not grow. It is a sequence of phases (`slip_phase`): contacts stop acting,
slip ends, or sticking contacts start to slip. Without slip a phase is straight; else its slip
turns by Keller's equation, which `slip_steps` follows with error control.
"""

import numpy as np

from carom.kernels.jit import expanded, inlined
from carom.kernels.slip_advance import FIRST_TRY, advance
from carom.kernels.slip_aim import aim
from carom.kernels.slip_bounce import (
    ends_with_phase,
    exchange,
    goes_on_to_return,
    has_returned,
    settle,
    to_release,
)
from carom.kernels.slip_phase import IDLE, SMOOTH, begin_phase, scratch
from carom.kernels.slip_root import NONE
from carom.kernels.slip_steps import friction_against, length, respond
from carom.kernels.stored import log_energies, stored

__all__ = ["ACCURACY", "JAMMED", "OK", "TOO_LONG", "follow_stretch", "scratch"]

OK, JAMMED, TOO_LONG = 0, 1, 2

ACCURACY = 3e-9
"""Largest estimated error of a step, as a share of the impact's speed. The true one can be some
times as large, and errors do not grow."""

JAM = 1e-11
"""Rates of change below this, for normal rates that sum up to one, are none."""

AT_REST = 1e-10
"""Slip below this share of the impact's speed has ended when a phase begins: contacts that depend
on others come to rest with them, but for errors. If it has not, it starts anew."""

REST = 1e-7
"""Normal velocities below this share of the impact's speed are errors if nothing moves."""

AIM_AFTER, LAST_AIM = 0.8, 1e-6
"""Rates are aimed again after this share of the impulse to the next stop, as long as that is above
this share of the first one. Neither depends on steps, so that motions do not."""

MOST_STEPS = 1000


@expanded
def follow_stretch(A, mu, share, aims, work, log, logged):
    """Let contacts act at their rates until they have stopped; return status and number of steps.

    Args:
        A: (c, c) Delassus matrix, c = 3 m, contact by contact, normal first.
        mu: (m,) friction coefficients.
        share: Part of the impulse after which the first contact would stop at the present rates
            of change; from 1 on, all contacts stop. If negative, minus the impulse to go.
        aims: Not 0 to choose rates with which contacts with rates > 0 stop together.
        work: From `make_work`, with contact velocities u and impulses so far, which change, and
            rates of the normal impulses; those with n_i > 0 do not act.
        log: (K, c) becomes the impulses of consecutive pieces, as long as there is room.
        logged: (1,) number of rows in use.

    Returns:
        0 if the stretch is over, 1 if contacts press against each other and nothing moves, or 2
        if there are too many steps; and the number of steps.
    """
    _drop_noise(NONE, work)
    settle(work)
    _choose(aims > 0, work)
    status, num_steps = _follow_phases(A, mu, share, aims > 0, work, log, logged)
    _drop_noise(NONE, work)
    return status, num_steps


@expanded
def _follow_phases(A, mu, share, aims, work, log, logged):
    """Go from phase to phase until the stretch ends, as `follow_stretch` does."""
    u = work.u
    # How many contacts slip, start to, and stick; impulse so far, to end at, of a step to try.
    phase, position, end, attempt = (0, 0, 0), 0.0, np.inf, FIRST_TRY
    is_new, is_first, last_aim = True, True, np.inf
    aim_at = aim_again = 0.0 if aims else np.inf
    for step in range(MOST_STEPS):
        if position >= aim_at * (1.0 - 1e-14):
            # Slip that has ended has no direction for its friction.
            _drop_noise(AT_REST, work)
            aim(A, mu, work)
            is_new = True
        if not _acts(work):
            return OK, step
        if is_new:
            _drop_noise(AT_REST, work)
            phase, attempt = begin_phase(A, mu, work), FIRST_TRY
        fastest = _present_rates(phase, work)
        to_stop = _next_stop(work)
        if to_stop == 0.0:
            # A contact parted at once: without it, others may stick or slip in other ways.
            is_new, aim_at = True, position if aims else np.inf
            continue
        if fastest <= JAM or (phase[0] == 0 and to_stop == np.inf):
            if not _stop_at_rest(work):
                if aim_at == np.inf:
                    return JAMMED, step
                # Aimed rates left out all that moves: until the next event, drawn ones count.
                _choose(aims, work)
                aim_at = aim_again = np.inf
            elif aims:
                aim_at = position
            is_new = True
            continue
        if is_first and share < 1.0:
            whole = to_stop if to_stop < np.inf else _largest(u, work.m) / fastest
            end = share * whole if share >= 0.0 else -share
        is_first = False
        if position >= aim_at * (1.0 - 1e-14):
            aim_at, aim_again = position + AIM_AFTER * to_stop, position + 0.05 * to_stop
            last_aim = LAST_AIM * to_stop if last_aim == np.inf else last_aim
        room, to_aim = end - position, aim_at - position if to_stop > last_aim else np.inf
        h, attempt, is_new = advance(phase, fastest, to_stop, room, to_aim, attempt, work)
        phase = (phase[0], 0, phase[2])
        if is_new:
            aim_at = min(aim_at, aim_again)
        if h > 0.0:
            position += h
            if _commit(h, phase[0], work, log, logged):
                is_new, aim_at = True, position if aims else np.inf
                if ends_with_phase(work, share):
                    return OK, step + 1
        elif h == 0.0:
            aim_at = position if aims else np.inf
        else:
            return TOO_LONG, step
        if position >= end * (1.0 - 1e-15):
            return OK, step + 1
    return TOO_LONG, MOST_STEPS


@inlined
def _choose(aims, work):
    """Let contacts with n_i <= 0 and a rate act, at rates that sum up to one.

    Contacts that aim to stop have nothing to do at n_i = 0.
    """
    u, rates, total = work.u, work.rates, 0.0
    for i in range(work.m):
        work.held[i] = 0
        may_act = u[3 * i] < 0.0 or (not aims and (u[3 * i] == 0.0 or stored(work, i) > 0.0))
        work.mode[i] = SMOOTH if rates[i] > 0.0 and may_act else IDLE
        work.weight[i] = rates[i] if work.mode[i] == SMOOTH else 0.0
        total += work.weight[i]
    for i in range(work.m):
        if work.mode[i] == SMOOTH:
            work.weight[i] /= total
    for a in range(3 * work.m):
        work.g[a] = 0.0


@inlined
def _acts(work):
    """Return whether any contact acts."""
    for i in range(work.m):
        if work.mode[i] != IDLE:
            return True
    return False


@expanded
def _present_rates(phase, work):
    """Write friction and the rates of slip and of u; return the largest rate."""
    num_slips, num_starting, _ = phase
    n = 2 * num_slips
    friction_against(work.t, work.slip_limit, num_slips, work.f)
    respond(work.B, work.drive, 1.0, work.f, n, work.slope)
    # Contacts that start to slip had a direction, but are at rest.
    for x in range(n - 2 * num_starting, n):
        work.t[x] = 0.0
    du, R = work.du, work.R
    for a in range(3 * work.m):
        du[a] = R[n, a]
    for j in range(n):
        for a in range(3 * work.m):
            du[a] += work.f[j] * R[j, a]
    return _largest(du, work.m)


@inlined
def _largest(velocities, m):
    """Return the largest normal velocity or slip, which tangents do not change."""
    largest = 0.0
    for p in range(0, 3 * m, 3):
        slip = length(velocities[p + 1], velocities[p + 2])
        largest = max(largest, max(abs(velocities[p]), slip))
    return largest


@expanded
def _next_stop(work):
    """Return the impulse after which the first contact stops at present rates of change.

    Contacts with n_i = 0 that part stop acting at once; the impulse is then zero.
    """
    u, soonest = work.u, np.inf
    for i in range(work.m):
        if work.mode[i] == IDLE:
            continue
        if stored(work, i) > 0.0 and u[3 * i] >= -NONE:
            soonest = min(soonest, to_release(work, i))
        elif work.du[3 * i] > 0.0:
            if u[3 * i] < -NONE:
                soonest = min(soonest, -u[3 * i] / work.du[3 * i])
            elif work.du[3 * i] > JAM:
                work.mode[i] = IDLE
                work.held[i] = 1
                soonest = 0.0
    return soonest


@inlined
def _stop_at_rest(work):
    """Stop contacts that approach although nothing moves; return whether there are any.

    Power p' u = sum w_i (n_i - mu_i |t_i|) is zero where A p = 0: such n_i are errors of the steps
    before, which contacts have in common whose normals depend on what sticks.
    """
    u, has_stopped = work.u, False
    for i in range(work.m):
        if work.mode[i] != IDLE and -REST < u[3 * i] < 0.0:
            u[3 * i] = 0.0
            work.mode[i] = IDLE
            has_stopped = True
    return has_stopped


@expanded
def _commit(h, num_slips, work, log, logged):
    """Add a step to the motion, and return whether contacts have stopped."""
    n, c, u, P, R, F = 2 * num_slips, 3 * work.m, work.u, work.P, work.R, work.F
    row = logged[0]
    is_logged = row < log.shape[0]
    has_stopped = False
    exchange(work, h, n)
    log_energies(work, c, row, log)
    moved, impulse = work.du, work.b
    for a in range(c):
        moved[a], impulse[a] = h * R[n, a], h * P[n, a]
    # Row by row, which is vectorized.
    for j in range(n):
        for a in range(c):
            moved[a] += F[j] * R[j, a]
            impulse[a] += F[j] * P[j, a]
    for a in range(c):
        work.total[a] += impulse[a]
        if is_logged:
            log[row, a] = impulse[a]
        u[a] += moved[a]
    for i in range(work.m):
        work.held[i] = 0
        n_after = u[3 * i]
        if work.mode[i] != IDLE and n_after - moved[3 * i] < -NONE <= n_after:
            u[3 * i] = 0.0
            has_stopped = True
            if not goes_on_to_return(work, i):
                work.mode[i] = IDLE
        elif has_returned(work, i):
            work.mode[i] = IDLE
            has_stopped = True
    if is_logged:
        logged[0] = row + 1
    for x in range(n):
        work.t[x] = work.t_next[x]
        u[3 * work.slips[x // 2] + 1 + x % 2] = work.t_next[x]
    return has_stopped


@inlined
def _drop_noise(slip, work):
    """Set velocities that are none to zero: normal ones, and tangential ones below `slip`."""
    u = work.u
    for p in range(0, 3 * work.m, 3):
        if abs(u[p]) < NONE:
            u[p] = 0.0
        if u[p + 1] * u[p + 1] + u[p + 2] * u[p + 2] < slip * slip:
            u[p + 1] = u[p + 2] = 0.0
