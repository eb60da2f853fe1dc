"""Velocities at which samples end, and whether these can be."""

from carom.kernels.jit import filling, inlined
from carom.kernels.paths import FAILED, FINISHED


@inlined
def _velocity(v_pre, to_velocity, impulses, i, velocities, row):
    """Write v_pre + M^-1 J^T impulse, for impulse i."""
    # By two indices: rows as arrays of their own would take half as long again.
    for j in range(len(v_pre)):
        total = v_pre[j]
        for k in range(impulses.shape[1]):
            total += to_velocity[j, k] * impulses[i, k]
        velocities[row, j] = total


@filling
def scale(unit, impulses):
    """Multiply the columns of impulses (n, c) by their units (c,), in place."""
    for i in range(impulses.shape[0]):
        for k in range(impulses.shape[1]):
            impulses[i, k] *= unit[k]


@filling
def end_velocities(v_pre, to_velocity, impulses, velocities):
    """Fill the velocities (n, nv) after impulses (n, c) [N s]."""
    for i in range(len(impulses)):
        _velocity(v_pre, to_velocity, impulses, i, velocities, i)


@filling
def fail_unphysical(M, J_n, v_pre, to_velocity, limit, slowest, impulses, statuses, v):
    """Mark samples as failed that end with more energy than `limit`, or approach.

    Contact i approaches if its normal velocity is below slowest[i]. Velocities are written into
    v (1, nv), one after the other.
    """
    for i in range(len(statuses)):
        if statuses[i] != FINISHED:
            continue
        _velocity(v_pre, to_velocity, impulses, i, v, 0)
        energy, approaches = 0.0, False
        for j in range(len(v_pre)):
            momentum = 0.0
            for k in range(len(v_pre)):
                momentum += M[j, k] * v[0, k]
            energy += 0.5 * v[0, j] * momentum
        for contact in range(len(slowest)):
            normal = 0.0
            for j in range(len(v_pre)):
                normal += J_n[contact, j] * v[0, j]
            approaches = approaches or normal < slowest[contact]
        # An energy that is not a number is no energy.
        if approaches or not energy <= limit:
            statuses[i] = FAILED


@filling
def gather_finished(statuses, impulses, velocities, steps, numbers):
    """Move the rows of finished samples to the front, and fill in their numbers; count them."""
    count = 0
    for i in range(len(statuses)):
        if statuses[i] != FINISHED:
            continue
        for k in range(impulses.shape[1]):
            impulses[count, k] = impulses[i, k]
        for k in range(velocities.shape[1]):
            velocities[count, k] = velocities[i, k]
        steps[count], numbers[count] = steps[i], i
        count += 1
    return count
