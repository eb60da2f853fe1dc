"""Integrate smooth planar motion, with contacts in given modes, until something happens."""

import numpy as np
from numpy.polynomial import chebyshev

from carom.kernels.crossings import MOST_HALVINGS, NEVER, Step, first_event, state_at
from carom.kernels.dop853 import (
    EULER,
    EXPONENT,
    EXTENDED,
    INTERPOLATED,
    POWER,
    STAGES,
    STEP,
    error_norm,
    fill_interpolation,
    next_factor,
    run_stages,
    sizes,
)
from carom.kernels.jit import expanded, filling, lean, plain
from carom.kernels.onward import choose, settle
from carom.kernels.planar import Tree
from carom.kernels.smooth import GAP, INNER, NUM_PAIRS, RATES, SIGHT, Course, examine
from carom.kernels.sustained import width
from carom.typing import BoolArray, FloatArray, IntArray

DEGREE = 7
"""Degree of the polynomials that record a step, that of the integrator's own interpolation."""
NODES = chebyshev.chebpts1(DEGREE + 1)
"""Where on [-1, 1] a step is read to record it."""
FIT = np.linalg.inv(chebyshev.chebvander(NODES, DEGREE))
"""Matrix from values at the nodes to Chebyshev coefficients."""

ENDED, TOO_SHORT, BROKEN, DOUBTFUL, FULL = range(5)
"""What became of a segment: it lasts to an event, the end or the limit of steps; steps would be
shorter than the clock's digits; there is a state without rates; it has not begun, since modes are
in doubt; its record needs more room."""
TIME, STEP_LENGTH, MADE, RECORDED = range(4)
"""Entries of a clock: time, length to try next, numbers of steps made and recorded."""

MODES_ARE_GIVEN = -1.0, 0.0, 0.0, 0.0
"""Rules by which no modes are chosen."""


def _begin(
    tree: Tree, mu: FloatArray, modes: IntArray, resting: BoolArray, inner: FloatArray
) -> Course:
    """Return a planar system with contacts in given modes, with arrays to work with."""
    b, n, m = len(tree.bodies), len(tree.joints), len(mu)
    size = plain(width)(m, n)
    pairs = np.zeros((NUM_PAIRS, m, 2))
    pairs[INNER] = inner
    return Course(
        *(tree, mu, modes, resting, np.zeros((m, GAP + 1))),
        *(np.empty((b + 2, 3, 2 + n)), np.empty((n + 2 * m + 3, n)), np.empty(m)),
        *(pairs, np.empty((8, size, size))),
    )


@expanded
def _start(course, y, span, rtol, atol, K, state, before):
    """Fill the first stage and the slack of conditions; return a first step, 0 if it is broken."""
    for what in (SIGHT, RATES):
        if not examine(course, y, what, K[0], before):
            return 0.0
    # What does not quite hold at the start, because modes were chosen that do a moment later, must
    # not get worse.
    for i in range(len(before)):
        for column in range(GAP):
            course.slack[i, column] = max(0.0, -before[i, column])
    # The last row of stages is zero.
    size, speed = sizes(y, y, K[EXTENDED], rtol, atol), sizes(y, K[0], K[EXTENDED], rtol, atol)
    h = min(1e-6 if size < 1e-5 or speed < 1e-5 else 0.01 * size / speed, span)
    if not run_stages(course, y, h, EULER, K, state):
        return 0.0
    bend = sizes(y, K[1], K[0], rtol, atol) / h
    if speed <= 1e-15 and bend <= 1e-15:
        return min(max(1e-6, 1e-3 * h), span)
    return min(100.0 * h, (0.01 / max(speed, bend)) ** -EXPONENT, span)


@expanded
def _advance(course, t, y, h, end_time, rtol, atol, K, F, y_new, state):
    """Fill the state after the next step and its interpolation, from its first stage.

    Return a status, its end, and the length to try after it.
    """
    shortest = 10.0 * (np.nextafter(t, np.inf) - t)
    h = max(h, shortest)
    is_rejected = False
    while h >= shortest:
        end = min(t + h, end_time)
        h = end - t
        if not run_stages(course, y, h, STEP, K, y_new):
            return BROKEN, t, h
        error = error_norm(y, y_new, h, rtol, atol, K)
        factor = next_factor(error, is_rejected)
        if error < 1.0:
            if not run_stages(course, y, h, INTERPOLATED, K, state):
                return BROKEN, t, h
            fill_interpolation(y, y_new, h, K, F)
            return ENDED, end, factor * h
        h *= factor
        is_rejected = True
    return TOO_SHORT, t, h


@lean
def _forgive(slack, sight, share, rounding):
    """Let gaps fall below zero by a share of how far they are, and by rounding."""
    for i in range(len(sight)):
        slack[i, GAP] = share * max(0.0, -sight[i, GAP]) + rounding
        sight[i, GAP] += slack[i, GAP]


@lean
def _copy(source, target):
    for i in range(len(target)):
        target[i] = source[i]


@lean
def _record(step, end, coefficients, count):
    """Add the Chebyshev coefficients (8, size) of a step up to a time to zeros."""
    # Not over range(DEGREE + 1): loops of known length would be unrolled, at great length.
    for k in range(coefficients.shape[1]):
        state_at(step, 0.5 * (step.start + end) + 0.5 * (end - step.start) * NODES[k])
        for j in range(coefficients.shape[1]):
            for a in range(len(step.state)):
                coefficients[count, j, a] += FIT[j, k] * step.state[a]


@filling
def _follow(course, clock, limits, rules, states, stages, times, sights, knots, coefficients):
    """Make steps until the segment ends or its record is full; return a status.

    `clock` holds the time, the next step, and the numbers of steps made and recorded; `limits` and
    `rules` are those of `integrate`; `states` are y, the one after a step, one to work with, and
    the last of the record; `stages` are those of a step, zeros, and its interpolation; the last two
    sights are that before a step and a trial.
    """
    end_time, rtol, atol, max_step, max_steps, rounding = limits
    y, y_new, state, reached = states[0], states[1], states[2], states[3]
    K, F = stages[: EXTENDED + 1], stages[EXTENDED + 1 :]
    before, trial = sights[MOST_HALVINGS + 2], sights[MOST_HALVINGS + 3]
    if clock[STEP_LENGTH] == 0.0:
        if rules[0] >= 0.0:
            if not choose(course, y, y_new, rules, state, before):
                return DOUBTFUL
            if not settle(course, y, state, before):
                return DOUBTFUL
            _copy(y, reached)
        span = end_time - clock[TIME]
        clock[STEP_LENGTH] = _start(course, y, span, rtol, atol, K, state, before)
        if clock[STEP_LENGTH] == 0.0:
            return BROKEN
    while clock[TIME] < end_time and clock[MADE] < max_steps:
        t, count = clock[TIME], int(clock[RECORDED])
        if count == len(coefficients):
            return FULL
        h = min(clock[STEP_LENGTH], max_step)
        status, end, h = _advance(course, t, y, h, end_time, rtol, atol, K, F, y_new, state)
        if status != ENDED:
            return status
        _forgive(course.slack, before, 0.0, 0.0)
        if not examine(course, reached, SIGHT, state, before):
            return BROKEN
        # A contact that has just parted has a gap that is rounding: it closes if it falls below.
        _forgive(course.slack, before, 1.0, rounding)
        step = Step(t, end, y, F, state, times, sights, trial)
        event = first_event(course, step, before)
        if np.isnan(event):
            return BROKEN
        clock[MADE] += 1
        last = min(event, end)
        if last > t:
            _record(step, last, coefficients, count)
            clock[RECORDED] += 1
            knots[count + 1] = last
            state_at(step, last)
            _copy(state, reached)
        if event < NEVER:
            return ENDED
        clock[TIME], clock[STEP_LENGTH] = end, h
        _copy(y_new, y)
        _copy(K[STAGES], K[0])
    return ENDED


def integrate(
    given: tuple[Tree, FloatArray, IntArray, BoolArray, FloatArray],
    t: float,
    y: FloatArray,
    limits: tuple[float, float, float, float, int, float],
    rules: tuple[float, float, float, float] = MODES_ARE_GIVEN,
) -> tuple[int, int, FloatArray, FloatArray, FloatArray]:
    """Return how a segment ends, its number of steps, and its record.

    Given are the tree, friction coefficients, modes, contacts that rest, and inner forces. The
    record is: knots (k + 1,), coefficients (k, 8, size) and the state at the end. `limits` are the
    last time, rtol, atol, the longest step, the number of steps, and the rounding of a gap that
    does not close it [m]. By the `rules` of `onward.choose`, modes and contacts that rest are
    chosen and filled in, if there is no doubt.
    """
    # In Python, since functions that make arrays take long to compile.
    course, size, m = _begin(*given), len(y), len(given[1])
    stages, states = np.zeros((EXTENDED + 1 + POWER, size)), np.empty((4, size))
    states[:] = y
    times, sights = np.empty((2, MOST_HALVINGS + 2)), np.empty((MOST_HALVINGS + 4, m, 5))
    knots, coefficients = np.zeros(5), np.zeros((4, DEGREE + 1, size))
    clock, status = np.zeros(4), FULL
    knots[0] = clock[TIME] = t
    while status == FULL:
        count = int(clock[RECORDED])
        if count == len(coefficients):
            knots = np.concatenate([knots, np.zeros(count)])
            coefficients = np.concatenate([coefficients, np.zeros_like(coefficients)])
        status = _follow(
            *(course, clock, limits, rules, states, stages, times, sights, knots, coefficients)
        )
    count = int(clock[RECORDED])
    return status, int(clock[MADE]), knots[: count + 1], coefficients[:count], states[3]
