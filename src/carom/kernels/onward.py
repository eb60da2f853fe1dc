"""Choose the modes with which planar motion goes on, where there is no doubt about them.

There is none if exactly one choice of modes works, now and a moment later, its forces are unique,
and no contact hops. `carom.motion.choice` resolves all the rest.
"""

import numpy as np

from carom.kernels.choices import appraise, num_options, option, rest_and_slip_of
from carom.kernels.jit import expanded, lean
from carom.kernels.linear import dot
from carom.kernels.smooth import BIAS, CLOSURE, GAPS, MARGIN, MARGINS, MOTION, REST, UNIT, examine
from carom.kernels.sustained import FREE, HOLDS, MOVED, SMOOTH, STICKING

LOOK_AHEAD = 1e-8
"""Modes that work at a moment are judged by how they work so much later [s]."""
MOST_CHOICES = 64
"""Maximum number of choices that are tried here: those of three contacts at rest."""
CLOSED = 1e-15
"""A gap of a closed contact that is no larger than this stays [m]."""
ROUNDS = 3
"""Maximum number of corrections of gaps."""


@lean
def _look_round(course, v, gap_tolerance, rest_speed, still):
    """Fill the layer of motions; return the number of choices of modes.

    Motions are 0 for contacts that touch and do not part, else their normal velocity, infinite for
    those that are not near; and the signs of slip.
    """
    n, m, num = course.rows.shape[1], len(course.modes), 1
    J_n, J_t = course.rows[n : n + m], course.rows[n + m : n + 2 * m]
    for i in range(m):
        speed, slip, rests = rest_and_slip_of(J_n, J_t, v, i, rest_speed, still)
        is_near = course.phi[i] <= gap_tolerance
        if is_near and rests:
            speed = 0.0
            num *= num_options(course.mu[i], slip)
        course.pairs[MOTION, i, 0] = speed if is_near else np.inf
        course.pairs[MOTION, i, 1] = slip
    return num


@lean
def _set_modes(course, choice):
    """Give touching contacts the modes of a choice, and leave others free."""
    for i in range(len(course.modes) - 1, -1, -1):
        course.modes[i], course.resting[i] = FREE, False
        if course.pairs[MOTION, i, 0] == 0.0:
            slip = course.pairs[MOTION, i, 1]
            course.modes[i] = option(course.mu[i], slip, choice)
            choice //= num_options(course.mu[i], slip)
            # A contact that slides already has no condition on how its slip goes on.
            course.resting[i] = slip == 0.0 or course.modes[i] == FREE


@lean
def _least_margin(course, v):
    """Return the least margin of modes that were examined, -inf if contacts are not kept."""
    n, m, pairs = course.rows.shape[1], len(course.modes), course.pairs
    J_n, J_t = course.rows[n : n + m], course.rows[n + m : n + 2 * m]
    acceleration = course.rows[n + 2 * m + 1]
    is_kept, least, _ = appraise(
        *(course.phi, J_n, J_t, pairs[BIAS], v, course.modes, acceleration),
        *(pairs[UNIT], pairs[MARGIN]),
    )
    return least if is_kept else -np.inf


@lean
def _look_ahead(course, y, later):
    """Fill the state a moment after one whose margins were examined last."""
    n, m = course.rows.shape[1], len(course.modes)
    acceleration, usual, largest = course.rows[n + 2 * m + 1], 0.0, 0.0
    for a in range(n):
        # Units of contacts are made of the acceleration without contact, which is left there.
        usual = max(usual, abs(course.work[MOVED, a, m]))
        largest = max(largest, abs(acceleration[a]))
    # Near Painleve's paradox forces are so large that slip ends in no time.
    h = LOOK_AHEAD * (min(1.0, usual / largest) if largest > 0.0 and usual > 0.0 else 1.0)
    for a in range(n):
        later[n + a] = y[n + a] + h * acceleration[a]
        later[a] = y[a] + h * (0.5 * (y[n + a] + later[n + a]))


@lean
def _hops(course, least_hop):
    """Return whether a contact that parts comes back from no higher than a `least_hop`."""
    n, m = course.rows.shape[1], len(course.modes)
    acceleration = course.rows[n + 2 * m + 1]
    for i in range(m):
        speed = course.pairs[MOTION, i, 0]
        pull = -dot(course.rows[n + i], acceleration, course.pairs[BIAS, i, 0])
        if speed > 0.0 and speed * speed < 2.0 * pull * least_hop:
            return True
    return False


@expanded
def choose(course, y, later, rules, out, sight):
    """Fill the modes with which motion goes on from a state; False where they are in doubt.

    `rules` are the largest gap of contacts that touch [m], the largest velocity of contacts at rest
    [m/s], the same as a share of its terms, and the least height of a hop [m]. States `later` and
    `out` and a sight are to work with.
    """
    gap_tolerance, rest_speed, still, least_hop = rules
    n = course.rows.shape[1]
    found, count, num, least = 0, 0, 0, 1.0
    # What touches; all choices of modes; the one that works once more; that a moment later.
    for trial in range(-1, MOST_CHOICES + 2):
        what = GAPS if trial < 0 else MARGINS
        _set_modes(course, trial if trial < num else found)
        state = later if trial > num else y
        if not examine(course, state, what, out, sight):
            return False
        least = _least_margin(course, state[n : 2 * n])
        if trial < 0:
            num = _look_round(course, y[n : 2 * n], gap_tolerance, rest_speed, still)
            if num > MOST_CHOICES:
                return False
        elif trial < num and least >= -HOLDS:
            found, count = trial, count + 1
        elif trial == num:
            if count != 1 or _hops(course, least_hop):
                return False
            _look_ahead(course, y, later)
        elif trial > num:
            break
    return count == 1 and least > -HOLDS


@expanded
def settle(course, y, out, sight):
    """Take gaps and velocities out of closed contacts by the smallest change; False if it fails."""
    n, m, pairs = course.rows.shape[1], len(course.modes), course.pairs
    for i in range(m):
        pairs[MOTION, i, 0] = course.modes[i]
    left = ROUNDS
    while left >= 0:
        examine(course, y, GAPS, out, sight)
        largest = 0.0
        for i in range(m):
            if pairs[MOTION, i, 0] != FREE:
                largest = max(largest, abs(course.phi[i]))
        left = 0 if largest <= CLOSED else left
        for i in range(m):
            # No friction acts, whether contacts slide or not.
            if pairs[MOTION, i, 0] != FREE and (left > 0 or pairs[MOTION, i, 0] != STICKING):
                course.modes[i] = SMOOTH
            elif left == 0:
                course.modes[i] = int(pairs[MOTION, i, 0])
        if not examine(course, y, REST if left == 0 else CLOSURE, out, sight):
            return False
        for a in range(n):
            y[a + (n if left == 0 else 0)] += course.rows[n + 2 * m + 1, a]
        left -= 1
    for i in range(m):
        course.modes[i] = int(pairs[MOTION, i, 0])
    return True
