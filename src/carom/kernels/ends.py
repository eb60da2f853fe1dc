"""Velocities at which samples end, and whether these can be."""

from carom.kernels.jit import filling, inlined
from carom.kernels.paths import FAILED, FINISHED

BLOCK = 64
"""Number of samples whose velocities are computed together."""


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
def end_velocities(unit, v_pre, to_velocity, impulses, velocities, block):
    """Multiply the columns of impulses (n, c) by their units (c,), and fill the velocities (n, nv).

    Impulses are then in N s. `block` (c + 1, BLOCK) holds numbers.
    """
    c = impulses.shape[1]
    # Blocks lie the other way round, column by column, so that loops run in vector registers.
    for first in range(0, len(impulses), BLOCK):
        count = min(BLOCK, len(impulses) - first)
        for k in range(c):
            for i in range(count):
                impulses[first + i, k] *= unit[k]
                block[k, i] = impulses[first + i, k]
        for j in range(len(v_pre)):
            for i in range(count):
                block[c, i] = v_pre[j]
            for k in range(c):
                factor, column, ends = to_velocity[j, k], block[k], block[c]
                for i in range(BLOCK):
                    ends[i] += factor * column[i]
            for i in range(count):
                velocities[first + i, j] = block[c, i]


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
