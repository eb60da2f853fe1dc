"""Choose rates of planar contacts with which they stop together; small systems of equations."""

from carom.kernels.jit import ZERO, inlined, lean

NOISE = 1e-12
"""Velocities below this are zero: rounding of some hundred events leaves less, and nothing in an
outcome moves by more."""

STILL = 1e-13
"""Rates below this, per unit of impulse, are zero."""


@inlined
def sign(x):
    """Return -1, 0 or 1."""
    # Not a difference of booleans, which NumPy refuses where code is not compiled.
    return int(x > 0.0) - int(x < 0.0)


@lean
def eliminate(work, n, least):
    """Solve the n equations in the rows of work.matrix (n, n + 1); the solution is its last column.

    Unknowns with no pivot above `least` depend on others and are set to zero.
    """
    a = work.matrix
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            best = i if abs(a[i, k]) > abs(a[best, k]) else best
        if abs(a[best, k]) < least:
            a[k, k] = 0.0
            continue
        if best != k:
            for j in range(k, n + 1):
                a[k, j], a[best, j] = a[best, j], a[k, j]
        inverse = 1.0 / a[k, k]
        for i in range(k + 1, n):
            factor = a[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, n + 1):
                    a[i, j] -= factor * a[k, j]
    for k in range(n - 1, -1, -1):
        total = a[k, n]
        for j in range(k + 1, n):
            total -= a[k, j] * a[j, n]
        a[k, n] = total / a[k, k] if a[k, k] != 0.0 else 0.0


@lean
def aim(A, mu, keeps_rest, work):
    """Set the rates of contacts, among those in the mask, so that all stop together.

    If it keeps rest, contacts at rest act as well, so that others do not set them back. Contacts
    that slide keep their friction; those that do not are taken to stick, or to slip
    where that takes more than the cone has. Contacts that would have to pull are left out.
    """
    m, u, mask, rates, matrix = work.m, work.u, work.mask, work.rates, work.matrix
    friction, index, acting = work.friction, work.index, work.acting
    count, size = ZERO, ZERO
    for i in range(m):
        rates[i] = 0.0
        if mask[i] > 0.0 and (u[2 * i] < 0.0 or (keeps_rest and u[2 * i] == 0.0)):
            # Friction over normal impulse, unless it is an unknown of its own.
            friction[i] = -mu[i] * sign(u[2 * i + 1])
            index[i] = int(u[2 * i + 1] == 0.0)
            acting[count] = i
            count, size = count + 1, size + 1 + index[i]
    while count > 0:
        row = 0
        for place in range(count):
            i = acting[place]
            for k in range(2 * i, 2 * i + 1 + index[i]):
                column = 0
                for other in range(count):
                    j = acting[other]
                    rubbing = 0.0 if index[j] else friction[j]
                    matrix[row, column] = A[k, 2 * j] + rubbing * A[k, 2 * j + 1]
                    # Overwritten by the next contact, or by the right side, if it is none.
                    matrix[row, column + 1] = A[k, 2 * j + 1]
                    column += 1 + index[j]
                matrix[row, size] = -u[k]
                row += 1
        eliminate(work, size, STILL)
        least, pull, slipping, excess, row = -1, 0.0, -1, 1e-12, 0
        for place in range(count):
            i = acting[place]
            normal = matrix[row, size]
            if normal <= pull:
                least, pull = place, normal
            if index[i]:
                over = abs(matrix[row + 1, size]) - mu[i] * normal
                if over > excess:
                    slipping, excess = i, over
                    friction[i] = mu[i] * sign(matrix[row + 1, size])
            row += 1 + index[i]
        if least >= 0:
            size -= 1 + index[acting[least]]
            count -= 1
            for place in range(least, count):
                acting[place] = acting[place + 1]
        elif slipping >= 0:
            index[slipping] = 0
            size -= 1
        else:
            break
    row, largest = 0, NOISE
    for place in range(count):
        i = acting[place]
        rates[i] = max(matrix[row, size], 0.0)
        largest = max(largest, rates[i])
        row += 1 + index[i]
    for i in range(m):
        rates[i] /= largest
