"""Change the impulses of a motion in space so that it goes further, to first order."""

import numpy as np

from carom.kernels.jit import kernel
from carom.kernels.simplex import maximize

APART = 1e-9
"""Rooms of conditions are raised by multiples of this, all different: where many conditions hold
with equality, the simplex method might go in circles."""


@kernel
def effects(F, G, normals, gain, normal):
    """Write what the impulses of all rows change, to first order.

    Args:
        F, G: (K, r + 1, r), (K, r + 1, m) derivatives from `linearize`.
        normals: (m, r) normal velocities by coordinates of the velocity.
        gain: (K m,) change of the objective, written.
        normal: (K m, K m) changes of the normal velocities after each row, written.
    """
    K, r, m = len(F), F.shape[2], G.shape[2]
    moved, after = np.zeros((r, K * m)), np.zeros((r, K * m))
    gain[:] = 0.0
    for k in range(K):
        # Rows from k + 1 on change nothing before them.
        n = k * m
        for a in range(r):
            for x in range(n):
                gain[x] += F[k, r, a] * moved[a, x]
        for b in range(r):
            for x in range(n):
                after[b, x] = 0.0
            for a in range(r):
                for x in range(n):
                    after[b, x] += F[k, b, a] * moved[a, x]
            for i in range(m):
                after[b, n + i] = G[k, b, i]
        for i in range(m):
            gain[n + i] = G[k, r, i]
            for x in range(K * m):
                normal[n + i, x] = 0.0
            for b in range(r):
                for x in range(n + m):
                    normal[n + i, x] += normals[i, b] * after[b, x]
        moved, after = after, moved


@kernel
def change_rows(gain, normal, rows, velocities, width, change, penalty, changed):
    """Write the rows that are best to first order, no impulse of which changes by more than this.

    The variables are the changes of the impulses that can act, and by how much faster each contact
    approaches at the end, which has a penalty. Contacts that may act do not part before or after
    it.

    Returns:
        Whether there is such a change.
    """
    K, m = rows.shape
    used, stays = np.empty(K * m, np.int64), np.empty(K * m, np.int64)
    may_act = np.zeros((K + 1, m), np.bool_)
    num_used, num_stays = 0, 0
    for k in range(K):
        for i in range(m):
            n, after = velocities[k, i * width], velocities[k + 1, i * width]
            may_act[k, i] = (n <= 0.0 and after <= 0.0) or rows[k, i] > 0.0
    for k in range(K):
        for i in range(m):
            if may_act[k, i]:
                used[num_used] = k * m + i
                num_used += 1
            if may_act[k, i] or may_act[k + 1, i]:
                stays[num_stays] = k * m + i
                num_stays += 1
    N, R = num_used + m, num_stays + m
    table, prices = np.zeros((R, N)), np.empty(N)
    values, lower, upper = np.zeros(N + R), np.zeros(N + R), np.full(N + R, np.inf)
    for x in range(num_used):
        own = used[x]
        prices[x] = gain[own]
        lower[x], upper[x] = -min(rows[own // m, own % m], change), change
        for y in range(num_stays):
            table[y, x] = normal[stays[y], own]
        for i in range(m):
            table[num_stays + i, x] = -normal[(K - 1) * m + i, own]
    for i in range(m):
        n, x = velocities[K, i * width], num_used + i
        prices[x], table[num_stays + i, x] = -penalty, -1.0
        # Of an approach that there is already, some may go.
        lower[x] = min(n, 0.0)
        values[N + num_stays + i] = max(n, 0.0) + APART * (1 + num_stays + i)
    for y in range(num_stays):
        n = velocities[1 + stays[y] // m, (stays[y] % m) * width]
        values[N + y] = max(-n, 0.0) + APART * (1 + y)
    for x in range(N):
        if not np.isfinite(prices[x]):
            return False
        for y in range(R):
            if not np.isfinite(table[y, x]):
                return False
    inside, outside = np.empty(R, np.int64), np.empty(N, np.int64)
    maximize(table, prices, values, lower, upper, inside, outside)
    for k in range(K):
        for i in range(m):
            changed[k, i] = rows[k, i]
    for x in range(num_used):
        k, i = used[x] // m, used[x] % m
        changed[k, i] = max(rows[k, i] + values[x], 0.0)
    return True


@kernel
def group(pieces, width, same, rows):
    """Write the normal impulses (K, m) of stretches; return whether there are any.

    Pieces (n, c) with the same rates are joined, then those with the least impulse, and the largest
    are halved until there are K.
    """
    K, m = rows.shape
    joined, sums = np.zeros((max(len(pieces), K), m)), np.zeros(max(len(pieces), K))
    count = 0
    for piece in pieces:
        size = 0.0
        for i in range(m):
            size += piece[i * width]
        if size <= same * same:
            continue
        is_new = count == 0
        for i in range(m):
            rate = piece[i * width] / size
            is_new = is_new or abs(rate - joined[count - 1, i] / sums[count - 1]) > same
        count += is_new
        for i in range(m):
            joined[count - 1, i] += piece[i * width]
        sums[count - 1] += size
    while count > K:
        least = 0
        for k in range(1, count - 1):
            if sums[k] + sums[k + 1] < sums[least] + sums[least + 1]:
                least = k
        count -= 1
        for i in range(m):
            joined[least, i] += joined[least + 1, i]
        sums[least] += sums[least + 1]
        for k in range(least + 1, count):
            sums[k] = sums[k + 1]
            for i in range(m):
                joined[k, i] = joined[k + 1, i]
    while 0 < count < K:
        most = 0
        for k in range(1, count):
            if sums[k] > sums[most]:
                most = k
        for k in range(count, most, -1):
            sums[k] = sums[k - 1]
            for i in range(m):
                joined[k, i] = joined[k - 1, i]
        for k in range(most, most + 2):
            sums[k] *= 0.5
            for i in range(m):
                joined[k, i] *= 0.5
        count += 1
    for k in range(K):
        for i in range(m):
            rows[k, i] = joined[k, i]
    return count > 0
