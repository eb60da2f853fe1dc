"""Tables of the methods that follow slip, and the second integral of friction by the same methods.

Work of a normal force takes G = int F, where F = int f is the friction impulse so far. A method of
Runge and Kutta that advances F' = f advances G' = F as well, to the same order.
"""

import numpy as np
from scipy.integrate import DOP853

from carom.kernels.stored import only_bouncing

EXPLICIT = np.vstack([DOP853.A, DOP853.B])
"""Dormand and Prince's stages; the last row is the step itself."""

NUM_STAGES = len(DOP853.A)

TWICE = EXPLICIT[NUM_STAGES] @ EXPLICIT[:NUM_STAGES]
"""Weights of f at the stages in the second integral: those of F, of which each is a sum of f."""

GAMMA = 0.25
IMPLICIT = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.544, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0, 0.0],
        [3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0, 0.0],
        [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 0.0, 0.0],
        [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0, 0.0],
        [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0, 1.0],
    ]
)
"""RODAS' stages; the last row is the step itself, and what it adds to the sixth is the error."""

IMPLICIT_PAST = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [-5.6688, 0.0, 0.0, 0.0, 0.0],
        [-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0],
        [-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0],
        [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616, 0.0],
        [
            8.083246795921522,
            -7.981132988064893,
            -31.52159432874371,
            16.31930543123136,
            -6.058818238834054,
        ],
    ]
)


@only_bouncing
def add_explicit(work, stage, f, n):
    """Add the friction f at a stage to the second integral; the first stage starts it."""
    for x in range(n):
        before = work.twice[x] if stage > 0 else 0.0
        work.twice[x] = before + TWICE[stage] * f[x]


@only_bouncing
def finish_explicit(work, h, n):
    """Scale the second integral by the step."""
    for x in range(n):
        work.twice[x] *= h * h


@only_bouncing
def add_implicit(work, stage, h, n):
    """Write a stage of G' = F, whose derivative by F is one, for the stage of F in `work.past`."""
    for x in range(n):
        total = work.past[stage, x]
        for j in range(stage):
            own = IMPLICIT[stage, j] * work.past[j, x]
            total += own + IMPLICIT_PAST[stage, j] / h * work.twice_past[j, x]
        work.twice_past[stage, x] = GAMMA * h * total


@only_bouncing
def finish_implicit(work, n):
    """Write the second integral from its stages."""
    for x in range(n):
        work.twice[x] = 0.0
        for j in range(6):
            work.twice[x] += IMPLICIT[6, j] * work.twice_past[j, x]
