"""Choose rates with which contacts at rest hold while others return their energy.

Contacts that return energy push others in, which then push back: contacts that take turns can go on
for long. If those at rest hold, nothing approaches again, and the impact ends.
"""

from carom.kernels.jit import lean
from carom.kernels.stretch_aim import STILL, eliminate, sign


@lean
def hold(A, mu, work):
    """Let contacts in the mask with energy act, and those at rest so that they stay at rest.

    Friction of contacts that slide is given; others stick, or slip where that takes more than the
    cone has. Contacts at rest that would have to pull are left out.
    """
    u, mask, rates, energy, acting = work.u, work.mask, work.rates, work.energy, work.acting
    count = 0
    for i in range(work.m):
        rates[i] = mask[i] if energy[i] > 0.0 else 0.0
        if rates[i] > 0.0 or (mask[i] > 0.0 and u[2 * i] == 0.0):
            work.friction[i] = -mu[i] * sign(u[2 * i + 1])
            # Whether friction is an unknown of its own.
            work.index[i] = int(u[2 * i + 1] == 0.0)
            acting[count] = i
            count += 1
    while count > 0:
        size = _write_system(A, count, work)
        eliminate(work, size, STILL)
        out, slipping = _judge(mu, count, size, work)
        if out >= 0:
            rates[acting[out]] = 0.0
            count -= 1
            for place in range(out, count):
                acting[place] = acting[place + 1]
        elif slipping >= 0:
            work.index[slipping] = 0
        else:
            break


@lean
def _write_system(A, count, work):
    """Write that contacts at rest stay, and that those that stick stick; return the size."""
    row, size = 0, 0
    for place in range(count):
        i = work.acting[place]
        size += int(work.energy[i] == 0.0) + work.index[i]
    for place in range(count):
        i = work.acting[place]
        for k in range(2 * i + int(work.energy[i] > 0.0), 2 * i + 1 + work.index[i]):
            column, given = 0, 0.0
            for other in range(count):
                j = work.acting[other]
                rubbing = 0.0 if work.index[j] else work.friction[j]
                normal = A[k, 2 * j] + rubbing * A[k, 2 * j + 1]
                if work.energy[j] > 0.0:
                    given += work.rates[j] * normal
                else:
                    work.matrix[row, column] = normal
                    column += 1
                if work.index[j]:
                    work.matrix[row, column] = A[k, 2 * j + 1]
                    column += 1
            work.matrix[row, size] = -given
            row += 1
    return size


@lean
def _judge(mu, count, size, work):
    """Write the rates; return the place of the contact that pulls most, and who slips, or -1."""
    out, pull, slipping, excess, row = -1, -STILL, -1, 1e-12, 0
    for place in range(count):
        i = work.acting[place]
        if work.energy[i] == 0.0:
            normal = work.matrix[row, size]
            work.rates[i] = max(normal, 0.0)
            if normal < pull:
                out, pull = place, normal
            row += 1
        if work.index[i]:
            own = work.matrix[row, size]
            over = abs(own) - mu[i] * work.rates[i]
            if over > excess:
                slipping, excess = i, over
                work.friction[i] = mu[i] * sign(own)
            row += 1
    return out, slipping
