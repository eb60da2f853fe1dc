"""Phases of an impact in space with the round cone: who acts, who sticks, who slips.

Within a phase all follows from the friction f of the k contacts that slip: those that stick take
the friction g = g_0 + G f that holds them, so that impulses accrue at P' (f, 1) and velocities
change at R' (f, 1) with R = P A.
"""

import numpy as np

from carom.kernels.discs import factor_semidefinite, solve_discs, solve_semidefinite
from carom.kernels.jit import expanded, inlined, lean
from carom.kernels.slip_integrals import NUM_STAGES
from carom.kernels.slip_steps import length

IDLE, SMOOTH, STICKING, SLIPPING = 0, 1, 2, 3
"""What a contact does: not act; act without friction; act and stick; act and slip."""

OUTSIDE = 1e-10
"""Friction beyond its limit by this share is within it: rounding of a solution leaves less."""

STARTING = 1e-10
"""Slip starts if it gains more than this share of the fastest rate without friction."""


def scratch(m: int) -> list[tuple[str, type, tuple[int, ...]]]:
    """Return the fields of the record that motions of up to m contacts in space work with.

    With c = 3 m:
        mode: (m,) what a contact does.
        held: (m,) contacts that must not act before the motion has moved on.
        slips: (m,) numbers of the contacts that slip, then free.
        sticks: (m,) numbers of the contacts that stick, then free.
        order: (c,) pivots.
        weight: (m,) rates of the normal impulses.
        limit: (m,) largest friction, mu times weight.
        slip_limit: (m,) the same for `slips` in their order.
        g: (c,) friction of contacts that do not slip.
        b: (c,) scratch.
        du: (c,) rates of change of u.
        t, t_next, F, drive: (2 m,) slip, slip after a step, friction impulse, its rate without f.
        f, slope: (2 m,) friction and rates of slip.
        f_next, stage: (2 m,) friction after a step, scratch.
        stages: (2 m, 12) rates of slip at the stages of a step.
        past, shift: (6, 2 m) scratch of implicit steps.
        P, R: (2 m + 1, c) impulses and velocities per friction of `slips`; without it, last.
        B: (2 m, 2 m) rates of slip per friction.
        system: (c, c) scratch.
        columns: (m, c) scratch.
    """
    c, t = 3 * m, 2 * m
    whole = dict.fromkeys(["mode", "held", "slips", "sticks"], (m,)) | {"order": (c,)}
    real: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(["weight", "limit", "slip_limit"], (m,)),
        **dict.fromkeys(["g", "b", "du"], (c,)),
        **dict.fromkeys(["t", "t_next", "F", "drive", "f", "slope", "f_next", "stage"], (t,)),
        "stages": (t, NUM_STAGES),
        **dict.fromkeys(["past", "shift"], (6, t)),
        **dict.fromkeys(["P", "R"], (t + 1, c)),
        "B": (t, t),
        "system": (c, c),
        "columns": (m, c),
    }
    fields = [(name, np.int64, shape) for name, shape in whole.items()]
    return fields + [(name, np.float64, shape) for name, shape in real.items()]


@expanded
def list_contacts(mu, work):
    """Give each acting contact its mode by its slip, and list them; count who slips and sticks."""
    u, num_slips, num_sticks = work.u, 0, 0
    for i in range(work.m):
        if work.mode[i] == IDLE:
            continue
        work.limit[i] = mu[i] * work.weight[i]
        if work.limit[i] == 0.0:
            work.mode[i] = SMOOTH
        elif u[3 * i + 1] == 0.0 and u[3 * i + 2] == 0.0:
            work.mode[i] = STICKING
            work.sticks[num_sticks] = i
            num_sticks += 1
        else:
            work.mode[i] = SLIPPING
            add_slipping(i, u[3 * i + 1], u[3 * i + 2], num_slips, work)
            num_slips += 1
    return num_slips, num_sticks


@inlined
def add_slipping(i, x, y, place, work):
    """Put a contact, with the direction of its slip, at a place in the list of those that slip."""
    work.slips[place] = i
    work.slip_limit[place] = work.limit[i]
    work.t[2 * place], work.t[2 * place + 1] = x, y
    pull = -work.limit[i] / np.sqrt(x * x + y * y)
    work.f[2 * place], work.f[2 * place + 1] = pull * x, pull * y


@lean
def begin_phase(A, mu, work):
    """Decide who sticks and who slips, and fill the matrices of the phase.

    Contacts that start to slip get a direction in `work.t` with u still at rest; they are the last
    ones in `work.slips`. Return how many slip, how many of them start, and how many stick.
    """
    num_slips, num_sticks = list_contacts(mu, work)
    num_starting, is_given = 0, False
    while True:
        fill_phase(A, num_slips, num_sticks, is_given, work)
        is_settled = is_given or num_sticks == 0
        if is_settled or sticks_hold(num_slips, num_sticks, work.f, work) <= OUTSIDE:
            return num_slips, num_starting, num_sticks
        # They cannot all stick: find the friction within its limits, and who slips then.
        fastest = drive_rates(A, num_slips, work)
        solve_discs(A, work.sticks, num_sticks, work.limit, work.b, work.g, work)
        num_starting = _start_slip(A, fastest, num_slips, num_sticks, work)
        num_sticks -= num_starting
        num_slips += num_starting
        is_given = True


@expanded
def drive_rates(A, num_slips, work):
    """Write the rates of u without the friction of contacts that stick; return the largest."""
    b = work.b
    for a in range(A.shape[0]):
        b[a] = 0.0
    for i in range(work.m):
        if work.mode[i] != IDLE:
            for a in range(A.shape[0]):
                b[a] += work.weight[i] * A[3 * i, a]
    for x in range(num_slips):
        p = 3 * work.slips[x] + 1
        for a in range(A.shape[0]):
            b[a] += work.f[2 * x] * A[p, a] + work.f[2 * x + 1] * A[p + 1, a]
    fastest = 0.0
    for a in range(A.shape[0]):
        fastest = max(fastest, abs(b[a]))
    return fastest


@expanded
def _start_slip(A, fastest, num_slips, num_sticks, work):
    """Move contacts that friction in `work.g` cannot hold to those that slip; count them."""
    num_starting = kept = 0
    for x in range(num_sticks):
        i = work.sticks[x]
        p = 3 * i + 1
        v0, v1 = work.b[p], work.b[p + 1]
        for y in range(work.m):
            # Some may have moved already, but their friction still counts.
            if work.mode[y] == STICKING:
                q = 3 * y + 1
                v0 += A[p, q] * work.g[q] + A[p, q + 1] * work.g[q + 1]
                v1 += A[p + 1, q] * work.g[q] + A[p + 1, q + 1] * work.g[q + 1]
        g0, g1 = work.g[p], work.g[p + 1]
        at_limit = np.sqrt(g0 * g0 + g1 * g1) >= (1.0 - OUTSIDE) * work.limit[i]
        if at_limit and np.sqrt(v0 * v0 + v1 * v1) > STARTING * fastest:
            add_slipping(i, -g0, -g1, num_slips + num_starting, work)
            num_starting += 1
        else:
            work.sticks[kept] = i
            kept += 1
    for x in range(num_starting):
        work.mode[work.slips[num_slips + x]] = SLIPPING
    return num_starting


@expanded
def fill_phase(A, num_slips, num_sticks, given, work):
    """Fill P and R, and the rates of slip B and `drive`.

    If `given`, contacts that stick have friction `work.g` at the present slip: where several
    frictions hold them, it is the one within the limits. Else any friction that holds them.
    """
    n, c = 2 * num_slips, A.shape[0]
    P, R = work.P, work.R
    for j in range(n + 1):
        for a in range(c):
            P[j, a] = 0.0
            R[j, a] = 0.0
    for j in range(n):
        row = 3 * work.slips[j // 2] + 1 + j % 2
        P[j, row] = 1.0
        for a in range(c):
            R[j, a] = A[row, a]
    for i in range(work.m):
        if work.mode[i] != IDLE:
            P[n, 3 * i] = work.weight[i]
            for a in range(c):
                R[n, a] += work.weight[i] * A[3 * i, a]
    if num_sticks > 0:
        _hold_sticks(A, n, num_sticks, given, work)
    for j in range(n):
        row = 3 * work.slips[j // 2] + 1 + j % 2
        work.drive[j] = R[n, row]
        for s in range(n):
            work.B[s, j] = R[s, row]


@expanded
def _hold_sticks(A, n, num_sticks, given, work):
    """Add to P and R the friction that keeps contacts at rest."""
    c, size = A.shape[0], 2 * num_sticks
    P, R, order, held, scale = work.P, work.R, work.order, work.past[0], work.past[2]
    for x in range(size):
        p = 3 * work.sticks[x // 2] + 1
        # Contacts at their limit leave it to others to answer, as far as those can.
        at_limit = length(work.g[p], work.g[p + 1]) > 0.99 * work.limit[work.sticks[x // 2]]
        scale[x] = 1e-3 if given and at_limit else 1.0
    for x in range(size):
        row = 3 * work.sticks[x // 2] + 1 + x % 2
        for y in range(size):
            entry = A[row, 3 * work.sticks[y // 2] + 1 + y % 2]
            work.system[x, y] = scale[x] * scale[y] * entry
    rank = factor_semidefinite(work.system, order, size)
    for j in range(n + 1):
        for x in range(size):
            row = 3 * work.sticks[x // 2] + 1 + x % 2
            held[x] = -R[j, row]
            if j == n and given:
                # Only what the given friction leaves over.
                for s in range(n):
                    held[x] -= A[row, 3 * work.slips[s // 2] + 1 + s % 2] * work.f[s]
                for y in range(size):
                    other = 3 * work.sticks[y // 2] + 1 + y % 2
                    held[x] -= A[row, other] * work.g[other]
            held[x] *= scale[x]
        solve_semidefinite(work.system, order, rank, size, held, work.past[1])
        for x in range(size):
            row = 3 * work.sticks[x // 2] + 1 + x % 2
            held[x] *= scale[x]
            if j == n and given:
                held[x] += work.g[row]
                for s in range(n):
                    held[x] -= P[s, row] * work.f[s]
            P[j, row] = held[x]
            for a in range(c):
                R[j, a] += held[x] * A[row, a]
        for x in range(size):
            R[j, 3 * work.sticks[x // 2] + 1 + x % 2] = 0.0


@lean
def sticks_hold(num_slips, num_sticks, f, work):
    """Return by which share of its limit the friction of a contact that sticks goes beyond it."""
    n = 2 * num_slips
    most = -1.0
    for x in range(num_sticks):
        i = work.sticks[x]
        p = 3 * i + 1
        g0, g1 = work.P[n, p], work.P[n, p + 1]
        for j in range(n):
            g0 += work.P[j, p] * f[j]
            g1 += work.P[j, p + 1] * f[j]
        most = max(most, np.sqrt(g0 * g0 + g1 * g1) / work.limit[i] - 1.0)
    return most
