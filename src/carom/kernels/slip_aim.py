"""Choose rates of the normal impulses with which contacts land together."""

import numpy as np

from carom.kernels.discs import factor_semidefinite, solve_semidefinite
from carom.kernels.jit import expanded, lean
from carom.kernels.slip_phase import IDLE, SMOOTH
from carom.kernels.tolerances import DEPENDENT, VANISHING

OUT = -1
"""A contact that would have to pull."""

GIVE = 0.1
"""Contacts with n_i = 0 that join give way by this share of the fastest approach: if aimed to stay
where they are, they would part as slip turns, and not act."""


@lean
def aim(A, mu, work):
    """Choose weights so that n_i + T n_i' = 0 at all contacts that approach; count who acts.

    Friction of contacts that slip is taken as it is now, that of contacts at rest without limits.
    Contacts that would have to pull are left out. Contacts with n_i = 0 join where they would be
    pushed in: else motions would alternate between them and the others.
    """
    m, u, rates, mode, weight = work.m, work.u, work.rates, work.mode, work.weight
    for i in range(m):
        mode[i] = SMOOTH if rates[i] > 0.0 and u[3 * i] < 0.0 else IDLE
    for _ in range(2 * m + 2):
        size = _landing_system(A, mu, work)
        if size == 0:
            break
        _solve_full(work.system, work.b, size, work.order)
        most = 0.0
        for x in range(size):
            most = max(most, work.b[x])
        num_out = x = 0
        for i in range(m):
            weight[i] = 0.0
            if mode[i] == SMOOTH:
                weight[i] = max(0.0, work.b[x])
                if work.b[x] < -VANISHING * most:
                    mode[i] = OUT
                    num_out += 1
                x += 1
        if num_out == 0 and not _rest_joins(work):
            break
    return _normalize(work)


@expanded
def _landing_system(A, mu, work):
    """Write K and -n of K w = -n, one row for each chosen contact; return its size.

    `work.columns` keeps the rates of u for each contact's own weight.
    """
    m, c, u = work.m, A.shape[0], work.u
    num_sticks = 0
    for i in range(m):
        p = 3 * i + 1
        if work.mode[i] == SMOOTH and mu[i] > 0.0 and u[p] == 0.0 and u[p + 1] == 0.0:
            work.sticks[num_sticks] = i
            num_sticks += 1
    held = 2 * num_sticks
    for x in range(held):
        row = 3 * work.sticks[x // 2] + 1 + x % 2
        for y in range(held):
            work.system[x, y] = A[row, 3 * work.sticks[y // 2] + 1 + y % 2]
    rank = factor_semidefinite(work.system, work.order, held)
    force = work.past[0]
    for i in range(m):
        if work.mode[i] != SMOOTH:
            continue
        column, p = work.columns[i], 3 * i + 1
        slip = np.sqrt(u[p] * u[p] + u[p + 1] * u[p + 1])
        pull = -mu[i] / slip if slip > 0.0 else 0.0
        for a in range(c):
            column[a] = A[3 * i, a] + pull * (u[p] * A[p, a] + u[p + 1] * A[p + 1, a])
        for x in range(held):
            force[x] = -column[3 * work.sticks[x // 2] + 1 + x % 2]
        solve_semidefinite(work.system, work.order, rank, held, force, work.past[1])
        for x in range(held):
            row = 3 * work.sticks[x // 2] + 1 + x % 2
            for a in range(c):
                column[a] += force[x] * A[row, a]
    largest = 0.0
    for i in range(m):
        if work.mode[i] == SMOOTH:
            largest = max(largest, -u[3 * i])
    size = 0
    for i in range(m):
        if work.mode[i] == SMOOTH:
            place = 0
            for j in range(m):
                if work.mode[j] == SMOOTH:
                    work.system[size, place] = work.columns[j, 3 * i]
                    place += 1
            work.b[size] = -u[3 * i] if u[3 * i] < 0.0 else -GIVE * largest
            size += 1
    return size


@expanded
def _solve_full(K, b, n, order):
    """Solve K x = b in place with full pivoting; where K has no full rank, some x are zero."""
    for i in range(n):
        order[i] = i
    largest, rank = 0.0, n
    for k in range(n):
        p = q = k
        for i in range(k, n):
            for j in range(k, n):
                if abs(K[i, j]) > abs(K[p, q]):
                    p, q = i, j
        if k == 0:
            largest = abs(K[p, q])
        if not abs(K[p, q]) > DEPENDENT * largest:
            rank = k
            break
        for j in range(n):
            K[k, j], K[p, j] = K[p, j], K[k, j]
        b[k], b[p] = b[p], b[k]
        for i in range(n):
            K[i, k], K[i, q] = K[i, q], K[i, k]
        order[k], order[q] = order[q], order[k]
        for i in range(k + 1, n):
            share = K[i, k] / K[k, k]
            for j in range(k, n):
                K[i, j] -= share * K[k, j]
            b[i] -= share * b[k]
    for k in range(n - 1, -1, -1):
        value = 0.0
        if k < rank:
            value = b[k]
            for j in range(k + 1, rank):
                value -= K[k, j] * b[j]
            value /= K[k, k]
        b[k] = value
    # Back to the order of the contacts, by a copy in a row that is free now.
    for k in range(n):
        K[0, order[k]] = b[k]
    for k in range(n):
        b[k] = K[0, k]


@expanded
def _rest_joins(work):
    """Let contacts at n_i = 0 act that would be pushed in; return whether there are any."""
    m, u, rates, joined = work.m, work.u, work.rates, False
    for i in range(m):
        if rates[i] > 0.0 and u[3 * i] == 0.0 and work.mode[i] == IDLE and work.held[i] == 0:
            push, size = 0.0, 0.0
            for j in range(m):
                if work.mode[j] == SMOOTH:
                    push += work.weight[j] * work.columns[j, 3 * i]
                    size += work.weight[j]
            if push < -VANISHING * size:
                work.mode[i] = SMOOTH
                joined = True
    return joined


@expanded
def _normalize(work):
    """Let the weights sum up to one; where none is left, those drawn count."""
    u, rates, weight, mode = work.u, work.rates, work.weight, work.mode
    total = 0.0
    for i in range(work.m):
        if mode[i] != SMOOTH:
            weight[i] = 0.0
        total += weight[i]
    if not total > 0.0:
        for i in range(work.m):
            weight[i] = rates[i] if u[3 * i] < 0.0 else 0.0
            total += weight[i]
    count = 0
    for i in range(work.m):
        mode[i] = IDLE
        if weight[i] > 0.0:
            weight[i] /= total
            mode[i] = SMOOTH
            count += 1
    return count
