"""Find what ends a stretch of smooth motion, and when.

A condition is a number that must not fall below zero. A gap is another matter: it starts at zero
where a contact has just parted, and may dip below zero and come back within one step; so it is
looked at together with its rate.

This is for systems written in Python; `carom.kernels.crossings` does the same for planar ones.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from carom.kernels.crossings import (
    DEEP,
    GAP_ROUNDING,
    LOOKS,
    MOST_HALVINGS,
    RELATIVE,
    TIME_ROUNDING,
)
from carom.typing import FloatArray


class Sight(NamedTuple):
    """Conditions (k,) at one moment; gaps (f,) [m] of open contacts, and their rates [m/s]."""

    conditions: FloatArray
    gaps: FloatArray
    rates: FloatArray


Look = Callable[[float], Sight]
Seen = tuple[float, Sight]
Function = Callable[[float], float]


def first_event(
    look: Look, start: float, end: float, before: Sight, rounding: float = GAP_ROUNDING
) -> float | None:
    """Return the earliest time in a step at which something ends the stretch, or None."""
    # A contact that has just parted has a gap that is rounding: it closes if it falls below that.
    slack = np.maximum(0.0, -before.gaps) + rounding

    def see(t: float) -> Sight:
        seen = look(t)
        return seen._replace(gaps=seen.gaps + slack)

    before = before._replace(gaps=before.gaps + slack)
    for left, right in pairwise(np.linspace(start, end, LOOKS + 1).tolist()):
        after = see(right)
        found = _first_between(see, (left, before), (right, after), MOST_HALVINGS)
        if found is not None:
            return found
        before = after
    return None


def _first_between(look: Look, first: Seen, last: Seen, halvings: int) -> float | None:
    """Return the first event between two moments."""
    # A body that spins while it flies makes gaps wave within one long step: where a gap in the
    # middle is not what the ends let expect, both halves are looked at in turn.
    if len(first[1].gaps) and halvings > 0:
        t = 0.5 * (first[0] + last[0])
        middle = (t, look(t))
        if first[0] < t < last[0] and not _is_plain(first, middle, last):
            found = _first_between(look, first, middle, halvings - 1)
            return _first_between(look, middle, last, halvings - 1) if found is None else found
    return min(_crossings(look, first, last), default=None)


def _is_plain(first: Seen, middle: Seen, last: Seen) -> bool:
    """Return whether gaps move as cubics do, or keep too far from zero for it to matter."""
    (left, before), (_, between), (right, after) = first, middle, last
    change = (right - left) * (before.rates - after.rates) / 8.0
    surprise = np.abs(between.gaps - 0.5 * (before.gaps + after.gaps) - change)
    lowest = np.minimum(np.minimum(before.gaps, after.gaps), between.gaps)
    path = (right - left) * (np.abs(before.rates) + np.abs(after.rates))
    return bool((surprise <= np.maximum(0.1 * lowest, 2e-3 * path + DEEP)).all())


def _crossings(look: Look, first: Seen, last: Seen) -> list[float]:
    """Return when conditions fail and gaps close between two moments."""
    (left, before), (right, after) = first, last
    found = []
    for i in np.flatnonzero(after.conditions < 0.0):
        if before.conditions[i] <= 0.0:
            return [left]
        found.append(_root(_entry(look, "conditions", int(i)), left, right))
    closings = (_closing(look, k, first, last) for k in range(len(after.gaps)))
    return found + [t for t in closings if t is not None]


def _entry(look: Look, field: str, k: int) -> Function:
    return lambda t: float(getattr(look(t), field)[k])


def _closing(look: Look, k: int, first: Seen, last: Seen) -> float | None:
    """Return when gap k, which is open at first, falls below zero between two moments."""
    (left, before), (right, after) = first, last
    gap, rate = _entry(look, "gaps", k), _entry(look, "rates", k)
    if after.gaps[k] < 0.0 and (after.rates[k] < 0.0 or after.gaps[k] < -DEEP):
        if before.rates[k] > 0.0 > after.rates[k]:
            # A hop; on its way up, low above the ground, its gap may be rounding.
            left = _root(rate, left, right)
        return _landing(gap, rate, left, right)
    if before.rates[k] < 0.0 < after.rates[k]:
        lowest = _root(rate, left, right)
        if gap(lowest) < 0.0 <= before.gaps[k]:
            return _landing(gap, rate, left, lowest)
    return None


def _landing(gap: Function, rate: Function, left: float, right: float) -> float:
    """Return the root of a gap, without the rounding that was allowed for."""
    if gap(left) <= 0.0:
        return left
    root = _root(gap, left, right)
    speed = -rate(root)
    return max(left, root - GAP_ROUNDING / speed) if speed > 0.0 else root


def _root(function: Function, left: float, right: float) -> float:
    rounding = TIME_ROUNDING * max(1.0, abs(left), abs(right))
    return float(brentq(function, left, right, xtol=rounding, rtol=RELATIVE))
