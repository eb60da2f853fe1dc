"""Try all choices of modes of a few contacts in space, with the directions of slip that begins.

Contact i of c accelerates by a = A x + b for forces x (3 c,), normal first, with the Delassus
matrix A. A choice of modes makes this a linear system, given the directions of slip. Those of slip
that begins are found by Newton's method: slip accelerates along them.
"""

import math

import numpy as np

from carom.kernels.jit import ONE, kernel, lean
from carom.kernels.least_norm import least_norm
from carom.kernels.linear import eliminate
from carom.kernels.sustained import FREE, PLUS, SMOOTH, STICKING

ROUGH = 1e-6
"""Share of the accelerations and forces at hand by which conditions may fail here: what is left is
judged more closely afterwards."""
MOST_TURNS = 30
"""Maximum number of Newton's steps for directions of slip that begins."""
LONGEST_TURN = 0.5
"""Longest of them [rad]."""
AIMED = 1e-13
"""Share of the accelerations by which slip that begins may leave its direction."""
TURN = 1e-7
"""Difference of angles by which derivatives are found [rad]."""
ALIKE = 1e-6
"""Directions that differ by less are one."""

M, BASIS, RIGHT, VECTORS, SLOPE = range(5)
"""Layers of the work array: the matrix of a choice; two to solve it with; vectors, which are the
next; derivatives by angles."""
GUESS, AIM, DERIVE, CHECK = range(4)
"""What a choice is solved for: a direction to start from, how far directions are off, a derivative
of that, or its conditions."""
TARGET, LENGTH, SIZE, WEIGHT, X, MOTION, OFF, TRIAL = range(8)


@lean
def _solve(A, b, mu, modes, u, work):
    """Fill forces and accelerations of a choice of modes; return whether contacts are dependent.

    Forces of those that are have least norm, as those of `carom.kernels.sustained`.
    """
    c, k = len(mu), 0
    vectors = work[VECTORS]
    x, a = vectors[X], vectors[MOTION]
    for i in range(c):
        for kind in range(3):
            if not (modes[i] == STICKING or (kind == 0 and modes[i] != FREE)):
                continue
            s = 0
            for j in range(c):
                for other in range(3):
                    if not (modes[j] == STICKING or (other == 0 and modes[j] != FREE)):
                        continue
                    value = A[3 * i + kind, 3 * j + other]
                    if modes[j] == PLUS:
                        value -= mu[j] * u[j, 0] * A[3 * i + kind, 3 * j + 1]
                        value -= mu[j] * u[j, 1] * A[3 * i + kind, 3 * j + 2]
                    work[M, k, s] = value
                    s += 1
            vectors[TARGET, k] = -b[3 * i + kind]
            k += 1
    for r in range(k):
        vectors[SIZE, r] = math.sqrt(abs(work[M, r, r])) or 1.0
    for r in range(k):
        vectors[TARGET, r] /= vectors[SIZE, r]
        work[RIGHT, r, 0] = vectors[TARGET, r]
        for s in range(k):
            work[M, r, s] /= vectors[SIZE, r] * vectors[SIZE, s]
            work[BASIS, r, s] = work[M, r, s]
    is_dependent = eliminate(work[BASIS], work[RIGHT], k, ONE) == 0
    if is_dependent:
        least_norm(work[M], work[BASIS], vectors[LENGTH], k, vectors[TARGET], vectors[WEIGHT])
    r = 0
    for i in range(c):
        for kind in range(3):
            x[3 * i + kind] = 0.0
            if modes[i] == STICKING or (kind == 0 and modes[i] != FREE):
                weight = vectors[WEIGHT, r] if is_dependent else work[RIGHT, r, 0]
                x[3 * i + kind] = weight / vectors[SIZE, r]
                r += 1
        if modes[i] == PLUS:
            x[3 * i + 1] = -mu[i] * u[i, 0] * x[3 * i]
            x[3 * i + 2] = -mu[i] * u[i, 1] * x[3 * i]
    for r in range(3 * c):
        a[r] = b[r]
        for s in range(3 * c):
            a[r] += A[r, s] * x[s]
    return is_dependent


@lean
def _across(begins, count, u, a, out):
    """Fill how slip that begins accelerates across its direction; return the largest of it."""
    largest = 0.0
    for k in range(count):
        i = begins[k]
        out[k] = u[i, 0] * a[3 * i + 2] - u[i, 1] * a[3 * i + 1]
        largest = max(largest, abs(out[k]))
    return largest


@lean
def _turn(begins, k, angle, u):
    """Turn one direction."""
    i, x, y = begins[k], u[begins[k], 0], u[begins[k], 1]
    u[i, 0] = math.cos(angle) * x - math.sin(angle) * y
    u[i, 1] = math.sin(angle) * x + math.cos(angle) * y


@lean
def _read_directions(begins, count, is_held, work, u):
    """Fill directions against friction that holds contacts, or along the slip without friction."""
    for k in range(count):
        i = begins[k]
        if is_held:
            x, y = -work[VECTORS, X, 3 * i + 1], -work[VECTORS, X, 3 * i + 2]
        else:
            x, y = work[VECTORS, MOTION, 3 * i + 1], work[VECTORS, MOTION, 3 * i + 2]
        size = math.sqrt(x * x + y * y)
        u[i, 0], u[i, 1] = (x / size, y / size) if size > 0.0 else (1.0, 0.0)


@lean
def _step(begins, count, work, u):
    """Turn directions by Newton's step; return its size [rad], negative if there is none."""
    off = work[VECTORS, OFF]
    for r in range(count):
        work[RIGHT, r, 0] = -off[r]
    if eliminate(work[SLOPE], work[RIGHT], count, ONE) == 0:
        return -1.0
    longest = 0.0
    for k in range(count):
        longest = max(longest, abs(work[RIGHT, k, 0]))
    if not longest < 1e6:
        return -1.0
    for k in range(count):
        _turn(begins, k, work[RIGHT, k, 0] * min(1.0, LONGEST_TURN / max(longest, 1e-300)), u)
    return longest


@lean
def _may_hold(mu, modes, slip, u, is_dependent, scale, force, work):
    """Return whether the conditions of a choice hold, roughly, or may by other forces."""
    x, a = work[VECTORS, X], work[VECTORS, MOTION]
    for i in range(len(mu)):
        normal, pull = x[3 * i], math.sqrt(x[3 * i + 1] ** 2 + x[3 * i + 2] ** 2)
        slips = slip[i, 0] != 0.0 or slip[i, 1] != 0.0
        if modes[i] == FREE and a[3 * i] < -ROUGH * scale:
            return False
        if is_dependent:
            continue
        if modes[i] != FREE and normal < -ROUGH * force:
            return False
        if modes[i] == STICKING and pull > mu[i] * normal + ROUGH * force:
            return False
        along = u[i, 0] * a[3 * i + 1] + u[i, 1] * a[3 * i + 2]
        if modes[i] == PLUS and not slips and along < -ROUGH * scale:
            return False
    return True


@kernel
def choices_that_may_hold(A, b, mu, slip, options, counts, hint):
    """Return choices of modes (n, c) that may hold, and the directions (n, c, 2) of slip.

    Args:
        A: (3 c, 3 c) Delassus matrix.
        b: (3 c,) accelerations without contact forces.
        mu: (c,) friction coefficients.
        slip: (c, 2) directions of slip, zero where there is none.
        options: (c, 3) modes that each contact may be in.
        counts: (c,) number of them.
        hint: (c, 2) directions that slip may begin in, to start from as well; zero if not known.
    """
    c, total, num = len(mu), 1, 0
    for i in range(c):
        total *= counts[i]
    width = max(3 * c + 1, 4)
    work, u = np.zeros((5, max(width, 8), width)), np.empty((c, 2))
    modes, begins = np.empty(c, np.int64), np.empty(c, np.int64)
    found, aims = np.empty((6 * total, c), np.int64), np.zeros((6 * total, c, 2))
    scale, force = 0.0, 0.0
    for r in range(3 * c):
        scale = max(scale, abs(b[r]))
    scale = scale or 1.0
    for i in range(c):
        if A[3 * i, 3 * i] > 0.0:
            force = max(force, scale / A[3 * i, 3 * i])
    for choice in range(total):
        rest, count = choice, 0
        for i in range(c):
            modes[i] = options[i, rest % counts[i]]
            rest //= counts[i]
            u[i, 0], u[i, 1] = slip[i, 0], slip[i, 1]
            if modes[i] == PLUS and slip[i, 0] == 0.0 and slip[i, 1] == 0.0:
                begins[count] = i
                count += 1
        first = num
        # Starts: the hint; against what holds contacts; along slip without friction; and for one
        # contact alone, the three at right angles to that.
        for number in range(0 if count else 2, (6 if count == 1 else 3) if count else 3):
            if number >= 3:
                _turn(begins, 0, 0.5 * math.pi, u)
            is_hinted = number == 0
            for j in range(count if number == 0 else 0):
                i = begins[j]
                u[i, 0], u[i, 1] = hint[i, 0], hint[i, 1]
                is_hinted = is_hinted and (hint[i, 0] != 0.0 or hint[i, 1] != 0.0)
            if number == 0 and not is_hinted:
                continue
            phase = CHECK if not count else AIM if is_hinted or number >= 3 else GUESS
            turns, k, last, holds = 0, 0, 1.0, False
            # One call of what solves a choice for all that it is asked for: each call more would
            # have it compiled once more.
            while True:
                for j in range(count):
                    modes[begins[j]] = PLUS
                    if phase == GUESS:
                        modes[begins[j]] = STICKING if number == 1 else SMOOTH
                is_dependent = _solve(A, b, mu, modes, u, work)
                if phase == GUESS:
                    _read_directions(begins, count, number == 1, work, u)
                    phase = AIM
                elif phase == AIM:
                    off = _across(begins, count, u, work[VECTORS, MOTION], work[VECTORS, OFF])
                    if off <= AIMED * scale or turns == MOST_TURNS or last <= 1e-15:
                        phase = CHECK
                        if off > ROUGH * scale:
                            break
                    else:
                        phase, k = DERIVE, 0
                        _turn(begins, k, TURN, u)
                elif phase == DERIVE:
                    trial = work[VECTORS, TRIAL]
                    _across(begins, count, u, work[VECTORS, MOTION], trial)
                    for r in range(count):
                        work[SLOPE, r, k] = (trial[r] - work[VECTORS, OFF, r]) / TURN
                    _turn(begins, k, -TURN, u)
                    k += 1
                    if k < count:
                        _turn(begins, k, TURN, u)
                    else:
                        last = _step(begins, count, work, u)
                        if last < 0.0:
                            break
                        turns, phase = turns + 1, AIM
                if phase == CHECK:
                    holds = _may_hold(mu, modes, slip, u, is_dependent, scale, force, work)
                    break
            for j in range(count):
                modes[begins[j]] = PLUS
            for k in range(first, num):
                difference = 0.0
                for i in range(c):
                    difference = max(difference, abs(aims[k, i, 0] - u[i, 0]))
                    difference = max(difference, abs(aims[k, i, 1] - u[i, 1]))
                holds = holds and difference > ALIKE
            if holds:
                for i in range(c):
                    found[num, i] = modes[i]
                    aims[num, i, 0], aims[num, i, 1] = u[i, 0], u[i, 1]
                num += 1
    return found[:num], aims[:num]
