"""What choices of modes there are for contacts that touch, and what they are worth."""

from carom.kernels.jit import lean
from carom.kernels.linear import dot
from carom.kernels.sustained import (
    FREE,
    HOLDS,
    KEPT,
    MINUS,
    PLUS,
    SMOOTH,
    STABILIZATION,
    STICKING,
    slip_sign,
)


@lean
def rest_and_slip_of(J_n, J_t, v, i, rest_speed, still):
    """Return the normal velocity of contact i, the sign of its slip, and whether it does not part.

    Velocities below `rest_speed`, or a share `still` of the terms that they are the sum of, are
    rest: other bodies do not count.
    """
    speed, slide, normal, tangent, slip = 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(len(v)):
        speed += J_n[i, a] * v[a]
        slide += J_t[i, a] * v[a]
        normal += abs(J_n[i, a] * v[a])
        tangent += abs(J_t[i, a] * v[a])
    if abs(slide) > max(rest_speed, still * tangent):
        slip = 1.0 if slide > 0.0 else -1.0
    return speed, slip, not speed > max(rest_speed, still * normal)


@lean
def num_options(mu, slip):
    """Return the number of modes that a touching contact may be in."""
    return 2 if mu == 0.0 or slip != 0.0 else 4


@lean
def option(mu, slip, number):
    """Return one of them, the last of which is free."""
    if number % num_options(mu, slip) == num_options(mu, slip) - 1:
        return FREE
    if mu == 0.0:
        return SMOOTH
    if slip != 0.0:
        return PLUS if slip > 0.0 else MINUS
    return (STICKING, PLUS, MINUS)[number % 4]


@lean
def appraise(phi, J_n, J_t, bias, v, modes, acceleration, unit, margin):
    """Return whether contacts are kept, the least margin, and whether other forces may mend it.

    They are if closed contacts stay closed, and sticking ones still.
    """
    is_kept, is_mendable, least = True, True, 1.0
    for i in range(len(phi)):
        least = min(least, margin[i, 0], margin[i, 1])
        if modes[i] == FREE:
            # Other forces change no acceleration, so they cannot mend its conditions.
            is_mendable = is_mendable and margin[i, 0] >= -HOLDS
            continue
        if slip_sign(modes[i]) != 0.0:
            is_mendable = is_mendable and margin[i, 1] >= -HOLDS
        sticks = modes[i] == STICKING
        drift = abs(dot(J_n[i], v)) + abs(phi[i]) + (abs(dot(J_t[i], v)) if sticks else 0.0)
        slack = KEPT * unit[i, 0] + 4.0 * STABILIZATION * STABILIZATION * drift
        off = abs(dot(J_n[i], acceleration, bias[i, 0]))
        off = max(off, abs(dot(J_t[i], acceleration, bias[i, 1]))) if sticks else off
        is_kept = is_kept and off <= slack
    return is_kept, least, is_mendable and least < 0.0
