"""Follow one stretch of an impact in space against Coulomb's round friction cone.

While contacts act at fixed rates w_i, the motion is the gradient flow of a convex function. It is
unique, and errors do not grow. It is a sequence of phases (`slip_phase`): contacts stop acting,
slip ends, or sticking contacts start to slip. Without slip a phase is straight; else its slip
turns by Keller's equation, which `slip_steps` follows with error control.
"""

import numpy as np

from carom.kernels.jit import inlined, kernel
from carom.kernels.linear import norm_inf
from carom.kernels.slip_advance import NONE, advance
from carom.kernels.slip_aim import aim
from carom.kernels.slip_phase import IDLE, SMOOTH, Work, begin_phase
from carom.kernels.slip_steps import friction_against, respond

OK, JAMMED, TOO_LONG = 0, 1, 2

JAM = 1e-11
"""Rates of change below this, for normal rates that sum up to one, are none."""

AT_REST = 1e-10
"""Slip below this share of the impact's speed has ended when a phase begins: contacts that depend
on others come to rest with them, but for errors. If it has not, it starts anew."""

REST = 1e-7
"""Normal velocities below this share of the impact's speed are errors if nothing moves."""

MOST_STEPS = 1000


@kernel
def make_work(m, width):
    """Allocate what `follow_stretch` needs for m contacts of three coordinates."""
    c, t = width * m, 2 * m
    return Work(
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(c, np.int64),
        np.zeros(m),
        np.zeros(m),
        np.zeros(m),
        np.zeros(c),
        np.zeros(c),
        np.zeros(c),
        np.zeros(t),
        np.zeros(t),
        np.zeros(t),
        np.zeros(t),
        np.zeros((7, t)),
        np.zeros((7, t)),
        np.zeros((7, t)),
        np.zeros((7, t)),
        np.zeros((t + 1, c)),
        np.zeros((t + 1, c)),
        np.zeros((t, t)),
        np.zeros((c, c)),
        np.zeros((m, c)),
    )


@kernel
def follow_stretch(A, mu, u, total, rates, share, aims, work, log, num_logged):
    """Let contacts act at their rates until they have stopped; return status and number of steps.

    Args:
        A: (c, c) Delassus matrix, c = 3 m, contact by contact, normal first.
        mu: (m,) friction coefficients.
        u: (c,) contact velocities, changed in place.
        total: (c,) impulse so far, changed in place.
        rates: (m,) rates of the normal impulses; those with n_i > 0 do not act.
        share: Part of the impulse after which the first contact would stop at the present rates
            of change; from 1 on, all contacts stop.
        aims: 1 to choose rates with which contacts with rates > 0 stop together, else 0.
        work: From `make_work`.
        log: (K, c) becomes the impulses of consecutive pieces, as long as there is room.
        num_logged: (1,) number of rows in use.

    Returns:
        0 if the stretch is over, 1 if contacts press against each other and nothing moves, or 2
        if there are too many steps; and the number of steps.
    """
    _drop_noise(u, NONE)
    _choose(u, rates, aims, work)
    status, num_events = _follow_phases(A, mu, u, total, rates, share, aims, work, log, num_logged)
    _drop_noise(u, NONE)
    return status, num_events


@inlined
def _follow_phases(A, mu, u, total, rates, share, aims, work, log, num_logged):
    """Go from phase to phase until the stretch ends, as `follow_stretch` does."""
    # How many contacts slip, start to, and stick; impulse so far, to end at, of a step to try.
    phase, position, length, attempt = (0, 0, 0), 0.0, np.inf, np.inf
    is_new, is_first = True, True
    aim_at = aim_again = 0.0 if aims == 1 else np.inf
    for step in range(MOST_STEPS):
        if position >= aim_at:
            aim(A, mu, u, rates, work)
            is_new = True
        if not _acts(work):
            return OK, step
        if is_new:
            _drop_noise(u, AT_REST)
            phase, attempt = begin_phase(A, mu, u, work), np.inf
        fastest = _present_rates(phase, work)
        to_stop = _next_stop(u, work)
        if to_stop == 0.0:
            # A contact parted at once: without it, others may stick or slip in other ways.
            is_new, aim_at = True, position if aims == 1 else np.inf
            continue
        if fastest <= JAM or (phase[0] == 0 and to_stop == np.inf):
            if not _stop_at_rest(u, work):
                if aim_at == np.inf:
                    return JAMMED, step
                # Aimed rates left out all that moves: until the next event, drawn ones count.
                _choose(u, rates, aims, work)
                aim_at = aim_again = np.inf
            elif aims == 1:
                aim_at = position
            is_new = True
            continue
        if is_first and share < 1.0:
            length = share * (to_stop if to_stop < np.inf else norm_inf(u) / fastest)
        is_first = False
        if position >= aim_at:
            aim_at, aim_again = position + 0.5 * to_stop, position + 0.05 * to_stop
        room = length - position
        h, attempt, is_new = advance(u, phase, fastest, to_stop, room, attempt, aims, work)
        phase = (phase[0], 0, phase[2])
        if is_new:
            aim_at = min(aim_at, aim_again)
        if h > 0.0:
            position += h
            work.held[:] = 0
            if _commit(h, u, total, phase[0], work, log, num_logged):
                is_new, aim_at = True, position if aims == 1 else np.inf
        elif h == 0.0:
            aim_at = position if aims == 1 else np.inf
        else:
            return TOO_LONG, step
        if position >= length * (1.0 - 1e-15):
            return OK, step + 1
    return TOO_LONG, MOST_STEPS


@inlined
def _choose(u, rates, aims, work):
    """Let contacts with n_i <= 0 and a rate act, at rates that sum up to one.

    Contacts that aim to stop have nothing to do at n_i = 0.
    """
    total = 0.0
    for i in range(rates.shape[0]):
        work.held[i] = 0
        may_act = u[3 * i] < 0.0 or (u[3 * i] == 0.0 and aims == 0)
        work.mode[i] = SMOOTH if rates[i] > 0.0 and may_act else IDLE
        work.weight[i] = rates[i] if work.mode[i] == SMOOTH else 0.0
        total += work.weight[i]
    for i in range(rates.shape[0]):
        if work.mode[i] == SMOOTH:
            work.weight[i] /= total
    work.g[:] = 0.0


@inlined
def _acts(work):
    """Return whether any contact acts."""
    for i in range(work.mode.shape[0]):
        if work.mode[i] != IDLE:
            return True
    return False


@inlined
def _present_rates(phase, work):
    """Write friction and the rates of slip and of u; return the largest rate."""
    num_slips, num_starting, _ = phase
    n = 2 * num_slips
    friction_against(work.t, work.slip_limit, num_slips, work.f[0])
    respond(work.B, work.drive, 1.0, work.f[0], n, work.slope[0])
    # Contacts that start to slip had a direction, but are at rest.
    for x in range(n - 2 * num_starting, n):
        work.t[x] = 0.0
    du, R = work.du, work.R
    for a in range(du.shape[0]):
        du[a] = R[n, a]
    for j in range(n):
        for a in range(du.shape[0]):
            du[a] += work.f[0, j] * R[j, a]
    fastest = 0.0
    for a in range(du.shape[0]):
        fastest = max(fastest, abs(du[a]))
    return fastest


@inlined
def _next_stop(u, work):
    """Return the impulse after which the first contact stops at present rates of change.

    Contacts with n_i = 0 that part stop acting at once; the impulse is then zero.
    """
    soonest = np.inf
    for i in range(work.mode.shape[0]):
        if work.mode[i] != IDLE and work.du[3 * i] > 0.0:
            if u[3 * i] < -NONE:
                soonest = min(soonest, -u[3 * i] / work.du[3 * i])
            elif work.du[3 * i] > JAM:
                work.mode[i] = IDLE
                work.held[i] = 1
                soonest = 0.0
    return soonest


@inlined
def _stop_at_rest(u, work):
    """Stop contacts that approach although nothing moves; return whether there are any.

    Power p' u = sum w_i (n_i - mu_i |t_i|) is zero where A p = 0: such n_i are errors of the steps
    before, which contacts have in common whose normals depend on what sticks.
    """
    has_stopped = False
    for i in range(work.mode.shape[0]):
        if work.mode[i] != IDLE and -REST < u[3 * i] < 0.0:
            u[3 * i] = 0.0
            work.mode[i] = IDLE
            has_stopped = True
    return has_stopped


@inlined
def _commit(h, u, total, num_slips, work, log, num_logged):
    """Add a step to the motion, and return whether contacts have stopped."""
    n, P, R, F = 2 * num_slips, work.P, work.R, work.F
    row = num_logged[0]
    is_logged = row < log.shape[0]
    has_stopped = False
    for a in range(u.shape[0]):
        moved, impulse = h * R[n, a], h * P[n, a]
        for j in range(n):
            moved += F[j] * R[j, a]
            impulse += F[j] * P[j, a]
        total[a] += impulse
        if is_logged:
            log[row, a] = impulse
        before = u[a]
        u[a] += moved
        if a % 3 == 0 and work.mode[a // 3] != IDLE and before < -NONE <= u[a]:
            u[a] = 0.0
            work.mode[a // 3] = IDLE
            has_stopped = True
    if is_logged:
        num_logged[0] = row + 1
    for x in range(n):
        work.t[x] = work.t_next[x]
        u[3 * work.slips[x // 2] + 1 + x % 2] = work.t_next[x]
    return has_stopped


@inlined
def _drop_noise(u, slip):
    """Set velocities that are none to zero: normal ones, and tangential ones below `slip`."""
    for p in range(0, u.shape[0], 3):
        if abs(u[p]) < NONE:
            u[p] = 0.0
        if u[p + 1] * u[p + 1] + u[p + 2] * u[p + 2] < slip * slip:
            u[p + 1] = u[p + 2] = 0.0
