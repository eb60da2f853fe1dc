"""The Runge-Kutta method of order 8 by Dormand and Prince, for smooth planar motion.

Steps, their control and their interpolation are those of `scipy.integrate.DOP853`, from which the
coefficients come [Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, II.4-6].
"""

import math

import numpy as np
from scipy.integrate import DOP853

from carom.kernels.jit import expanded, lean
from carom.kernels.smooth import RATES, UNIT, examine

STAGES = DOP853.n_stages
"""Number of stages before that of the state after a step."""
EXTENDED = STAGES + 1 + len(DOP853.A_EXTRA)
"""Number of stages with those of the interpolation."""
POWER = 3 + len(DOP853.D)
"""Number of coefficients of the interpolation."""
EULER, STEP, INTERPOLATED = np.arange(3)
"""Which stages to run: that of Euler's step, number 1; those of a step; those of its
interpolation."""
SAFETY, LEAST_FACTOR, MOST_FACTOR = 0.9, 0.2, 10.0
"""Share of the step that error control asks for, and bounds of how steps change."""
EXPONENT = -1.0 / (DOP853.error_estimator_order + 1)


def _weights() -> np.ndarray:
    """Return the weights of all stages, (EXTENDED, EXTENDED)."""
    weights = np.zeros((EXTENDED, EXTENDED))
    weights[:STAGES, :STAGES] = DOP853.A
    weights[STAGES, :STAGES] = DOP853.B
    weights[STAGES + 1 :] = DOP853.A_EXTRA
    return weights


WEIGHTS = _weights()
ERRORS = np.array([DOP853.E5, DOP853.E3])
INTERPOLATION = np.ascontiguousarray(DOP853.D)


@expanded
def run_stages(course, y, h, which, K, trial):
    """Fill stages of a step from y; False if there is one without rates.

    `trial` is left as the state of the last one.
    """
    first = STAGES + 1 if which == INTERPOLATED else 1
    last = 1 if which == EULER else STAGES if which == STEP else EXTENDED - 1
    for s in range(first, last + 1):
        for i in range(len(y)):
            change = K[0, i] if which == EULER else 0.0
            for k in range(0 if which == EULER else s):
                change += WEIGHTS[s, k] * K[k, i]
            trial[i] = y[i] + h * change
        if not examine(course, trial, RATES, K[s], course.pairs[UNIT]):
            return False
    return True


@lean
def sizes(y, x, other, rtol, atol):
    """Return the norm of x - other, as a share of the accuracy asked for at a state y."""
    total = 0.0
    for i in range(len(y)):
        total += ((x[i] - other[i]) / (atol + abs(y[i]) * rtol)) ** 2
    return math.sqrt(total / len(y))


@lean
def error_norm(y, y_new, h, rtol, atol, K):
    """Return the error of a step as a share of what is allowed."""
    norm_5, norm_3 = 0.0, 0.0
    for i in range(len(y)):
        scale = atol + max(abs(y[i]), abs(y_new[i])) * rtol
        error_5, error_3 = 0.0, 0.0
        for s in range(STAGES + 1):
            error_5 += ERRORS[0, s] * K[s, i]
            error_3 += ERRORS[1, s] * K[s, i]
        norm_5 += (error_5 / scale) ** 2
        norm_3 += (error_3 / scale) ** 2
    if norm_5 == 0.0 and norm_3 == 0.0:
        return 0.0
    return h * norm_5 / math.sqrt((norm_5 + 0.01 * norm_3) * len(y))


@lean
def next_factor(error, is_rejected):
    """Return by how much to change the step after one with an error, rejected once or not."""
    if error == 0.0:
        return MOST_FACTOR
    factor = SAFETY * error**EXPONENT
    if error < 1.0:
        return min(1.0 if is_rejected else MOST_FACTOR, factor)
    # Also where the error is not a number.
    return factor if factor > LEAST_FACTOR else LEAST_FACTOR


@lean
def fill_interpolation(y, y_new, h, K, F):
    """Fill the coefficients F (7, size) of a step's interpolation from all stages."""
    for i in range(len(y)):
        change, start, end = y_new[i] - y[i], h * K[0, i], h * K[STAGES, i]
        F[0, i] = change
        F[1, i] = start - change
        F[2, i] = 2.0 * change - (start + end)
        for k in range(3, POWER):
            F[k, i] = 0.0
            for s in range(EXTENDED):
                F[k, i] += INTERPOLATION[k - 3, s] * K[s, i]
            F[k, i] *= h


@lean
def interpolate(F, y, share, out):
    """Fill the state at a share of a step that starts at y."""
    for i in range(len(out)):
        value = 0.0
        for k in range(POWER - 1, -1, -1):
            value = (value + F[k, i]) * (share if k % 2 == 0 else 1.0 - share)
        out[i] = value + y[i]
