"""Solve small dense linear programs by the simplex method with bounded variables.

The origin is feasible, so there is no first phase, and whatever the method has when it stops is
feasible as well.
"""

import numpy as np

from carom.kernels.jit import lean

MOST_PIVOTS = 500
"""Maximum number of exchanges; the programs of `ascent` take some fifty."""

LEAST_PRICE = 1e-9
"""Share of the largest price below which a variable gains nothing."""

LEAST_PIVOT = 1e-9
"""Entries of the table below this are rounding."""


@lean
def _entering(prices, values, lower, upper, outside, least):
    """Return the place of the variable with the best price that can move, or -1."""
    found, best = -1, least
    for j in range(len(prices)):
        v = outside[j]
        can_move = values[v] < upper[v] if prices[j] > 0.0 else values[v] > lower[v]
        if can_move and abs(prices[j]) > best:
            found, best = j, abs(prices[j])
    return found


@lean
def _leaving(table, values, lower, upper, inside, outside, j, sign):
    """Return how far a variable can move, and the row that stops it, or -1 if it stops itself."""
    v = outside[j]
    far, row, size = (upper[v] - values[v] if sign > 0.0 else values[v] - lower[v]), -1, 0.0
    for i in range(len(inside)):
        slope = -sign * table[i, j]
        if abs(slope) < LEAST_PIVOT:
            continue
        w = inside[i]
        room = upper[w] - values[w] if slope > 0.0 else values[w] - lower[w]
        way = max(room, 0.0) / abs(slope)
        # Of rows that stop it at the same place, the largest pivot errs least.
        if way < far or (way == far and row >= 0 and abs(slope) > size):
            far, row, size = way, i, abs(slope)
    return far, row


@lean
def _exchange(table, prices, inside, outside, p, q):
    """Exchange the variables of row p and column q."""
    inverse = 1.0 / table[p, q]
    for j in range(len(outside)):
        table[p, j] *= inverse
    table[p, q] = inverse
    for i in range(len(inside)):
        factor = table[i, q]
        if i != p and factor != 0.0:
            for j in range(len(outside)):
                table[i, j] -= factor * table[p, j]
            table[i, q] = -factor * inverse
    factor = prices[q]
    for j in range(len(outside)):
        prices[j] -= factor * table[p, j]
    prices[q] = -factor * inverse
    inside[p], outside[q] = outside[q], inside[p]


@lean
def maximize(table, prices, values, lower, upper, inside, outside):
    """Maximize prices . x such that table x <= room, and bounds are kept; return whether it ended.

    Args:
        table: (R, N) conditions, destroyed.
        prices: (N,) objective, destroyed.
        values: (N + R,) variables x, which are 0 to begin with, and what is left of the rooms, all
            >= 0; written.
        lower, upper: (N + R,) bounds; those of x contain 0, those of rooms are 0 and infinity.
        inside, outside: (R,), (N,) to work with.
    """
    R, N = table.shape
    least = 0.0
    for j in range(N):
        outside[j] = j
        least = max(least, LEAST_PRICE * abs(prices[j]))
    for i in range(R):
        inside[i] = N + i
    for _ in range(MOST_PIVOTS):
        j = _entering(prices, values, lower, upper, outside, least)
        if j < 0:
            return True
        sign = 1.0 if prices[j] > 0.0 else -1.0
        far, row = _leaving(table, values, lower, upper, inside, outside, j, sign)
        if far == np.inf:
            return False
        v = outside[j]
        for i in range(R):
            values[inside[i]] -= sign * far * table[i, j]
        values[v] += sign * far
        if row < 0:
            # Exactly, or it might move on by a rounding.
            values[v] = upper[v] if sign > 0.0 else lower[v]
            continue
        w = inside[row]
        values[w] = upper[w] if sign * table[row, j] < 0.0 else lower[w]
        _exchange(table, prices, inside, outside, row, j)
    return False
