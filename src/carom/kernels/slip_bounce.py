"""Exchange energy in space, where slip turns on the way.

In a step of length h impulses accrue at constant rates and friction f, so that

    u(s) = u_0 + s R_n + sum_j F_j(s) R_j,   F_j(s) = int_0^s f_j,

and the work of a normal force takes the second integrals G_j = int_0^h F_j (`slip_integrals`).
Steps end where a normal velocity changes its sign, so that a contact does one thing in all of it:
compress, or return energy.
"""

import numpy as np

from carom.kernels.jit import inlined
from carom.kernels.slip_phase import IDLE
from carom.kernels.slip_root import NONE, root
from carom.kernels.stored import (
    DEAD,
    PHASE,
    WHOLE,
    exchanged,
    only_bouncing,
    phase_end,
    where_bouncing,
)

FAINT = 10.0
"""Approach below this many accuracies, and energy that makes a contact no faster, are errors."""

SPARE = 0.01
"""Energy counts as returned if what is left changes the velocity by less, in accuracies."""


def fields(m: int) -> list[tuple[str, type, tuple[int, ...]]]:
    """Return the fields of the record of motions in space that bounce, besides the energies.

    twice: (2 m,) second integrals of the friction of `slips` over a step.
    twice_past: (6, 2 m) their stages in implicit steps.
    """
    return [("twice", np.float64, (2 * m,)), ("twice_past", np.float64, (6, 2 * m))]


@only_bouncing
def settle(work):
    """End an impact of which only errors are left: neither speed nor energy of any contact counts.

    Contacts in a wedge may pass on what is left for ever, less and less of it.
    """
    least = FAINT * work.accuracy
    for i in range(work.m):
        if work.u[3 * i] < -least or 2.0 * work.energy[i] > least * least:
            return
    for i in range(work.m):
        work.u[3 * i] = max(work.u[3 * i], 0.0)
        work.energy[i] = 0.0


@only_bouncing
def go_straight(work, h, n):
    """Write the second integrals of a step in which friction does not turn."""
    for x in range(n):
        work.twice[x] = 0.5 * h * work.F[x]


@inlined
def _work_done(work, i, h, n):
    """Return the work of a normal force in a step, n of whose slips turn."""
    a = 3 * i
    way = h * (work.u[a] + 0.5 * h * work.R[n, a])
    for j in range(n):
        way += work.twice[j] * work.R[j, a]
    return work.weight[i] * way


@inlined
def _is_returned(work, left, n):
    """Return whether the energy that is left of a contact with normal velocity n is none."""
    return left <= max(SPARE * work.accuracy * n, DEAD)


@where_bouncing(lambda work, i: np.inf)  # noqa: ARG005
def to_release(work, i):
    """Return the impulse until a contact has returned its energy at present rates, or turns.

    Present rates may change on the way, so this is an estimate.
    """
    n, dn = work.u[3 * i], work.du[3 * i]
    n = n if n > NONE else 0.0
    end = phase_end(n, dn, work.energy[i], work.weight[i])
    return -n / dn if n > 0.0 and dn < 0.0 and end == np.inf else end


@where_bouncing(lambda work, i, h, n: 1.0)  # noqa: ARG005
def release_share(work, i, h, n):
    """Return the share of a step after which a contact has returned its energy, or turns; or 1."""
    a, energy, share = 3 * i, work.energy[i], 1.0
    before, after, rate = work.u[a], work.u[a] + h * work.R[n, a], work.R[n, a]
    for j in range(n):
        after += work.F[j] * work.R[j, a]
        rate += work.f_next[j] * work.R[j, a]
    if before > NONE and after < -NONE:
        share = root(-before, -h * work.du[a], -after, -h * rate)
    left = energy - _work_done(work, i, h, n)
    if left < 0.0 and not _is_returned(work, -left, after):
        scale = h * work.weight[i] / energy
        share = min(share, root(-1.0, scale * before, -left / energy, scale * after))
    return share


@only_bouncing
def exchange(work, h, n):
    """Exchange the energies of a step that is taken, before velocities change."""
    for i in range(work.m):
        if work.mode[i] != IDLE:
            done = _work_done(work, i, h, n)
            work.energy[i] = exchanged(work.energy[i], work.returned[i], done)


@where_bouncing(lambda work, i: False)  # noqa: ARG005
def goes_on_to_return(work, i):
    """Return whether a contact whose compression has ended acts on; what is none is dropped."""
    if work.energy[i] > DEAD:
        return True
    work.energy[i] = 0.0
    return False


@where_bouncing(lambda work, i: False)  # noqa: ARG005
def has_returned(work, i):
    """Return whether a contact that acts and parts has no energy left, after a step."""
    n = work.u[3 * i]
    is_over = work.mode[i] != IDLE and n > NONE and _is_returned(work, work.energy[i], n)
    if is_over:
        work.energy[i] = 0.0
    return is_over


@where_bouncing(lambda work, share: False)  # noqa: ARG005
def ends_with_phase(work, share):  # noqa: ARG001
    """Return whether a stretch ends with the first phase of a contact."""
    return PHASE <= share < WHOLE
