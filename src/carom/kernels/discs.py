"""Friction of contacts that may stick: a convex problem over discs, and semidefinite systems.

Contacts at rest take the friction g_i, of at most r_i, that minimizes 1/2 g' A g + b' g. Where
g_i is inside its disc, the contact sticks; else it starts to slip against g_i.
"""

import numpy as np

from carom.kernels.jit import lean
from carom.kernels.tolerances import DEPENDENT

SETTLED = 1e-13
"""Changes of friction below this share of its limit are rounding, and sweeps end."""

MOST_SWEEPS = 2000
"""Sweeps over contacts that share one support converge by a constant factor each."""

MOST_LEAPS, PAUSE = 60, 20
"""Where supports are almost one, that factor is almost one: after `MOST_SWEEPS`, as many steps of
Newton's method lead on at most, each followed by so many sweeps."""

ON_CIRCLE = 1.0 - 1e-9
"""Friction beyond this share of its limit is on the circle."""

SHORTEST = 1e-9
"""Share of a step below which it is given up."""


@lean
def disc_minimum(h00, h01, h11, c0, c1, r):
    """Return the g that minimizes 1/2 g' H g + c' g over |g| <= r, for a semidefinite H.

    On the circle (H + x) g = -c for one x > 0. Newton's method on 1 / |g|, which is concave in x,
    approaches x from below and never passes it.
    """
    # In the axes of H, by one Jacobi rotation.
    if h01 == 0.0:
        cos, sin = 1.0, 0.0
    else:
        slope = (h11 - h00) / (2.0 * h01)
        tan = (1.0 if slope >= 0.0 else -1.0) / (abs(slope) + np.sqrt(1.0 + slope * slope))
        cos = 1.0 / np.sqrt(1.0 + tan * tan)
        sin = tan * cos
    a, b = cos * c0 - sin * c1, sin * c0 + cos * c1
    p = cos * cos * h00 - 2.0 * cos * sin * h01 + sin * sin * h11
    q = sin * sin * h00 + 2.0 * cos * sin * h01 + cos * cos * h11
    top = max(p, q)
    # What A cannot move needs no friction: c has no part there but rounding.
    g = -a / p if p > DEPENDENT * top else 0.0
    e = -b / q if q > DEPENDENT * top else 0.0
    if g * g + e * e > r * r:
        p, q = max(p, 0.0), max(q, 0.0)
        x = max(0.0, np.sqrt(a * a + b * b) / r - top)
        for _ in range(60):
            g, e = -a / (p + x), -b / (q + x)
            square = g * g + e * e
            fall = g * g / (p + x) + e * e / (q + x)
            if not fall > 0.0:
                break
            step = square * (np.sqrt(square) / r - 1.0) / fall
            x += step
            if not step > 1e-15 * x:
                break
        shrink = r / np.sqrt(g * g + e * e)
        g, e = g * shrink, e * shrink
    return cos * g + sin * e, -sin * g + cos * e


@lean
def solve_discs(A, contacts, count, limit, b, g, work):
    """Minimize 1/2 g' A g + b' g over the discs of some contacts, from the g given.

    Args:
        A: (c, c) Delassus matrix.
        contacts: Their numbers, the first `count` of which are meant.
        count: Number of contacts.
        limit: (m,) radii r_i.
        b: (c,) tangential rates without their friction; only their entries are read.
        g: (c,) friction; only their entries are read and written.
        work: Record with fields for scratch, as `slip_phase.scratch` describes them.
    """
    is_settled = _sweep(MOST_SWEEPS, A, contacts, count, limit, b, g)
    for _ in range(MOST_LEAPS):
        if is_settled:
            break
        _leap(A, contacts, count, limit, b, g, work)
        is_settled = _sweep(PAUSE, A, contacts, count, limit, b, g)


@lean
def _sweep(most, A, contacts, count, limit, b, g):
    """Let each contact in turn take its best friction; return whether all have settled."""
    for _ in range(most):
        change = 0.0
        for x in range(count):
            i = contacts[x]
            p = 3 * i + 1
            h00, h01, h11 = A[p, p], A[p, p + 1], A[p + 1, p + 1]
            c0, c1 = b[p], b[p + 1]
            for y in range(count):
                if y != x:
                    q = 3 * contacts[y] + 1
                    c0 += A[p, q] * g[q] + A[p, q + 1] * g[q + 1]
                    c1 += A[p + 1, q] * g[q] + A[p + 1, q + 1] * g[q + 1]
            g0, g1 = disc_minimum(h00, h01, h11, c0, c1, limit[i])
            moved = max(abs(g0 - g[p]), abs(g1 - g[p + 1]))
            # Relative to what friction there is: limits may be huge.
            size = min(limit[i], abs(g0) + abs(g1))
            if moved > 0.0:
                change = max(change, moved / max(size, 1e-300))
            g[p], g[p + 1] = g0, g1
        if change < SETTLED or count == 1:
            return True
    return False


@lean
def _leap(A, contacts, count, limit, b, g, work):
    """Take a step of Newton's method, shortened until it leads down within the discs.

    On a circle with v_i = -x_i g_i, x_i > 0, friction moves along the tangent only, and x_i adds to
    the curvature.
    """
    system, order, step, rate = work.system, work.order, work.past[0], work.stage
    way0, way1, owner, shift = work.past[2], work.past[3], work.past[4], work.past[5]
    size = _list_ways(A, contacts, count, limit, b, g, rate, way0, way1, owner, shift)
    for a in range(size):
        x = int(owner[a])
        p = 3 * contacts[x] + 1
        step[a] = -(way0[a] * rate[2 * x] + way1[a] * rate[2 * x + 1])
        for o in range(size):
            q = 3 * contacts[int(owner[o])] + 1
            system[a, o] = way0[a] * (A[p, q] * way0[o] + A[p, q + 1] * way1[o])
            system[a, o] += way1[a] * (A[p + 1, q] * way0[o] + A[p + 1, q + 1] * way1[o])
        system[a, a] += shift[a]
    rank = factor_semidefinite(system, order, size)
    solve_semidefinite(system, order, rank, size, step, work.past[1])
    share = 1.0
    while share > SHORTEST:
        for x in range(2 * count):
            shift[x] = 0.0
        for a in range(size):
            x = int(owner[a])
            shift[2 * x] += share * step[a] * way0[a]
            shift[2 * x + 1] += share * step[a] * way1[a]
        if _leads_down(A, contacts, count, limit, g, rate, shift):
            for x in range(count):
                p = 3 * contacts[x] + 1
                g[p] += shift[2 * x]
                g[p + 1] += shift[2 * x + 1]
            return
        share *= 0.5


@lean
def _list_ways(A, contacts, count, limit, b, g, rate, way0, way1, owner, bend):
    """List the directions in which friction may change; return their number.

    Direction a is (way0, way1) at contact `contacts[owner]`, where a circle adds `bend` to the
    curvature. `rate` becomes the rates of slip.
    """
    size = 0
    for x in range(count):
        p, r = 3 * contacts[x] + 1, limit[contacts[x]]
        for k in range(2):
            rate[2 * x + k] = b[p + k]
            for y in range(count):
                q = 3 * contacts[y] + 1
                rate[2 * x + k] += A[p + k, q] * g[q] + A[p + k, q + 1] * g[q + 1]
        pull = -(rate[2 * x] * g[p] + rate[2 * x + 1] * g[p + 1]) / (r * r)
        is_bent = pull > 0.0 and g[p] * g[p] + g[p + 1] * g[p + 1] > (ON_CIRCLE * r) ** 2
        for k in range(1 if is_bent else 2):
            owner[size], bend[size] = x, pull if is_bent else 0.0
            way0[size] = -g[p + 1] / r if is_bent else 1.0 - k
            way1[size] = g[p] / r if is_bent else k
            size += 1
    return size


@lean
def _leads_down(A, contacts, count, limit, g, rate, shift):
    """Draw a change of friction back into the discs; return whether it then leads down."""
    for x in range(count):
        p, r = 3 * contacts[x] + 1, limit[contacts[x]]
        g0, g1 = g[p] + shift[2 * x], g[p + 1] + shift[2 * x + 1]
        size = np.sqrt(g0 * g0 + g1 * g1)
        if size > r:
            shift[2 * x], shift[2 * x + 1] = g0 * (r / size) - g[p], g1 * (r / size) - g[p + 1]
    change = 0.0
    for x in range(count):
        p = 3 * contacts[x] + 1
        for k in range(2):
            slope = rate[2 * x + k]
            for y in range(count):
                q = 3 * contacts[y] + 1
                slope += 0.5 * (A[p + k, q] * shift[2 * y] + A[p + k, q + 1] * shift[2 * y + 1])
            change += slope * shift[2 * x + k]
    return change < 0.0


@lean
def factor_semidefinite(L, order, n):
    """Factor a semidefinite matrix, L L' = A with rows in an order of falling pivots; return rank.

    Args:
        L: The leading (n, n) block holds A, and then L in its lower part, in the new order.
        order: (>= n,) becomes the order.
        n: Size.
    """
    largest = 0.0
    for i in range(n):
        order[i] = i
        largest = max(largest, L[i, i])
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if L[i, i] > L[p, p]:
                p = i
        if not L[p, p] > DEPENDENT * largest:
            return k
        if p != k:
            order[k], order[p] = order[p], order[k]
            # Whole rows and columns: both halves are kept while pivots may still be exchanged.
            for j in range(n):
                L[k, j], L[p, j] = L[p, j], L[k, j]
            for j in range(n):
                L[j, k], L[j, p] = L[j, p], L[j, k]
        root = np.sqrt(L[k, k])
        L[k, k] = root
        for i in range(k + 1, n):
            L[i, k] /= root
            L[k, i] = L[i, k]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                L[i, j] -= L[i, k] * L[k, j]
    return n


@lean
def solve_semidefinite(L, order, rank, n, b, scratch):
    """Solve A x = b in place with the factor of A; entries beyond its rank become zero."""
    for k in range(rank):
        value = b[order[k]]
        for j in range(k):
            value -= L[k, j] * scratch[j]
        scratch[k] = value / L[k, k]
    for k in range(rank - 1, -1, -1):
        value = scratch[k]
        for j in range(k + 1, rank):
            value -= L[j, k] * scratch[j]
        scratch[k] = value / L[k, k]
    for k in range(n):
        b[order[k]] = scratch[k] if k < rank else 0.0
