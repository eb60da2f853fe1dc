"""Find what ends a stretch of smooth motion, and when.

A condition is a number that must not fall below zero. A gap is another matter: it starts at zero
where a contact has just parted, and may dip below zero and come back within one step; so it is
looked at together with its rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from carom.typing import FloatArray

LOOKS = 4
"""Into so many parts a step is divided to look for events."""

TIME_ROUNDING = 4e-15
"""To this share of the time, or of a second, the moment of an event is found."""


class Sight(NamedTuple):
    """What is seen at one moment.

    Attributes:
        conditions: (k,) numbers that must not fall below zero.
        gaps: (f,) gaps of contacts that are not closed [m].
        rates: (f,) their rates [m/s].
    """

    conditions: FloatArray
    gaps: FloatArray
    rates: FloatArray


Look = Callable[[float], Sight]


def first_event(look: Look, start: float, end: float, before: Sight) -> float | None:
    """Return the earliest time in a step at which something ends the stretch, or None.

    Args:
        look: Tells what is seen at a time of the step.
        start: Time at which the step begins [s].
        end: Time at which it ends [s].
        before: What is seen at its beginning.
    """
    times = [float(t) for t in np.linspace(start, end, LOOKS + 1)]
    for left, right in pairwise(times):
        after = look(right)
        found = _crossings(look, (left, before), (right, after))
        if found:
            return min(found)
        before = after
    return None


Seen = tuple[float, Sight]


def _crossings(look: Look, first: Seen, last: Seen) -> list[float]:
    """Return when conditions fail and gaps close between two moments."""
    (left, before), (right, after) = first, last
    found = []
    for i in np.flatnonzero(after.conditions < 0.0):
        if before.conditions[i] <= 0.0:
            return [left]
        found.append(_root(_entry(look, "conditions", int(i)), left, right))
    for k in range(len(after.gaps)):
        closing = _closing(
            _entry(look, "gaps", k),
            _entry(look, "rates", k),
            (left, before.gaps[k], before.rates[k]),
            (right, after.gaps[k], after.rates[k]),
        )
        if closing is not None:
            found.append(closing)
    return found


Moment = tuple[float, float, float]
Function = Callable[[float], float]


def _entry(look: Look, field: str, k: int) -> Function:
    return lambda t: float(getattr(look(t), field)[k])


def _closing(gap: Function, rate: Function, first: Moment, last: Moment) -> float | None:
    """Return when a gap closes between two moments (t, gap, rate)."""
    (left, gap_left, rate_left), (right, gap_right, rate_right) = first, last
    if gap_right < 0.0:
        if gap_left <= 0.0:
            # It starts at zero. Where it opens first, it closes after its largest value.
            if rate_left <= 0.0 or rate_right >= 0.0:
                return left
            left = _root(rate, left, right)
            if gap(left) <= 0.0:
                return left
        return _root(gap, left, right)
    if rate_left < 0.0 < rate_right and gap_left > 0.0:
        lowest = _root(rate, left, right)
        if gap(lowest) < 0.0:
            return _root(gap, left, lowest)
    return None


def _root(function: Function, left: float, right: float) -> float:
    rounding = TIME_ROUNDING * max(1.0, abs(left), abs(right))
    return float(brentq(function, left, right, xtol=rounding, rtol=8.9e-16))


class Accumulation(NamedTuple):
    """How a sequence of impacts goes on to its limit.

    Attributes:
        duration: Time until the limit [s].
        impulse: (m, 2) impulses until then, contact by contact [N s].
    """

    duration: float
    impulse: FloatArray


WINDOW = 8
"""So many impacts in a row must come ever faster before they count as an accumulation."""

SLOWEST = 0.95
"""Largest ratio of intervals that counts as shrinking."""


def accumulation(
    times: Sequence[float], impulses: Sequence[FloatArray], shortest: float
) -> Accumulation | None:
    """Extrapolate impacts that come ever faster [Zeno], or return None.

    Two intervals are taken together, because contacts often take turns: with r the ratio of two
    intervals to the two before, what is left is (the last two) r / (1 - r).

    Args:
        times: Times of the impacts, the latest last [s].
        impulses: Impulses (m, 2) accrued up to and including each [N s].
        shortest: Time that must not be longer than what is left, for this to be called [s].
    """
    if len(times) < WINDOW + 1:
        return None
    recent = np.asarray(times[-WINDOW - 1 :])
    intervals = np.diff(recent)
    pairs = intervals[::2] + intervals[1::2]
    if (pairs <= 0.0).any():
        return None
    ratios = pairs[1:] / pairs[:-1]
    if ratios.max() > SLOWEST:
        return None
    ratio = float(ratios[-1])
    rest = ratio / (1.0 - ratio)
    duration = float(pairs[-1]) * rest
    if duration > shortest:
        return None
    return Accumulation(duration, (impulses[-1] - impulses[-3]) * rest)
