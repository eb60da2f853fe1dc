"""Draw the caps on a step's normal impulses: who acts, and how fast.

UNIFORM is the paper's draw: every cap independent and uniform on [0, h]. SUBSET lets a random
subset of the contacts act, at random rates, drawn anew each step. PERSISTENT keeps subset and rates
for a stretch of random length in impulse, so that what can be reached does not shrink with the
step. POINTS takes the caller's numbers.
"""

from carom.kernels.jit import inlined
from carom.kernels.random import two_uniforms, uniform
from carom.kernels.tolerances import COLLIDING

UNIFORM, SUBSET, PERSISTENT, POINTS = range(4)

FIRST_IDLE = 1.5
"""In the first stretch, the probability that a contact acts is one over this, two thirds. Several
act at the same time, each at its own rate, which fills the inside of the set."""

IDLE = 20.0
"""The same in later stretches; if no contact is drawn, one that approaches acts. Usually one
contact acts at a time, which reaches far and is quick to step."""

PERIOD = 16
"""A stretch that starts at a multiple of this step is drawn like the first. Contacts that take
turns may set each other back time and again; acting together ends it. Few impacts last as long."""

LONGEST = 10.0
"""Longest stretch, in units of the impulse that stops a contact which has all of the energy.
Longer than any impact, and drawn by a cube that makes short ones likely too."""


@inlined
def draw_caps(kind, caps, key, step, left, rates, u, c, m):
    """Write a step's caps into the tail of u (c + m,); return what is `left` of the stretch.

    `caps` are the largest ones, `rates` (m,) those of the present stretch, if anything is left of
    it. A step uses draws step * (m + 4) to step * (m + 4) + m.
    """
    draw = step * (len(m) + 4)
    width = len(c) // len(m)
    if kind == UNIFORM:
        for i in range(len(m)):
            rates[i] = uniform(key, draw + i)
    elif kind == SUBSET or left <= 0.0:
        idle = FIRST_IDLE if step % PERIOD == 0 else IDLE
        fastest, useful, approaching, spare = 0.0, 0.0, 0, 0.0
        for i in range(len(m)):
            # One number decides both whether a contact acts and how fast.
            if i % 2 == 0:
                number, spare = two_uniforms(key, draw + i)
            else:
                number = spare
            rates[i] = max(1.0 - idle * number, 0.0)
            fastest = max(fastest, rates[i])
            if u[i * width] < -COLLIDING:
                approaching += 1
                useful += rates[i]
        lot, length = two_uniforms(key, draw + len(m))
        if useful == 0.0:
            # Only contacts that rest or part would act, and the step be lost.
            turn = int(approaching * lot)
            for i in range(len(m)):
                if u[i * width] < -COLLIDING:
                    if turn == 0:
                        rates[i] = 1.0
                    turn -= 1
            fastest = 1.0
        if kind == PERSISTENT:
            inverse = 1.0 / fastest
            for i in range(len(m)):
                rates[i] *= inverse
            left = LONGEST * length * length * length
    largest = 0.0
    for i in range(len(m)):
        cap = min(caps[i], left) if kind == PERSISTENT else caps[i]
        u[len(c) + i] = cap * rates[i]
        largest = max(largest, u[len(c) + i])
    return left - largest
