"""Find where on a step a quantity becomes zero."""

from carom.kernels.jit import lean

NONE = 1e-12
"""Velocities below this share of the impact's speed are none."""


@lean
def root(start, slope, end, end_slope):
    """Return where in 0 to 1 the cubic through start <= 0 and end > 0 becomes zero."""
    third = slope + end_slope - 2.0 * (end - start)
    second = end - start - slope - third
    low, high = 0.0, 1.0
    if start >= -NONE:
        # It rests or leaves downward: look for a place where it is below zero.
        low = 0.5
        while low > 1e-9 and start + low * (slope + low * (second + low * third)) >= 0.0:
            high = low
            low *= 0.5
        if low <= 1e-9:
            return 0.0
    x = 0.5 * (low + high)
    for _ in range(60):
        value = start + x * (slope + x * (second + x * third))
        if value > 0.0:
            high = x
        else:
            low = x
        fall = slope + x * (2.0 * second + 3.0 * x * third)
        step = value / fall if fall != 0.0 else 2.0
        guess = x - step
        if abs(step) < 1e-15 and low <= guess <= high:
            return guess
        x = guess if low < guess < high else 0.5 * (low + high)
    return x
