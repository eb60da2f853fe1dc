"""Impacts that come ever faster [Zeno]: when they do, and where they lead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from carom.motion.spatial_law import SpatialLaw
from carom.motion.sustained import FREE, SMOOTH, STICKING, ContactLaw
from carom.systems.system import Dynamics
from carom.typing import BoolArray, FloatArray

SLOW_SLIP = 10.0
"""Slip ends with the impacts if it is at most this many times what the normals lose."""


class Accumulation(NamedTuple):
    """Time until the limit of a sequence of impacts [s], and impulses (m, 1 + d) then [N s]."""

    duration: float
    impulse: FloatArray


WINDOW = 8
"""Number of impacts in a row that must come ever faster to count as an accumulation."""
SLOWEST = 0.95
"""Largest ratio of intervals that counts as shrinking."""
STEADY = 1.5
"""Ratios of a series that goes on as it does differ by no more than this factor."""


def accumulation(
    times: Sequence[float], impulses: Sequence[FloatArray], longest: float = math.inf
) -> Accumulation | None:
    """Extrapolate impacts that come ever faster [Zeno], or return None.

    Two intervals are taken together, because contacts often take turns: with r the ratio of two
    intervals to the two before, what is left is (the last two) r / (1 - r). It must be no longer
    than `longest` [s]. Impulses (m, 1 + d) are those accrued up to and including each impact.
    """
    if len(times) < WINDOW + 1:
        return None
    pairs = [float(after - before) for before, after in pairwise(times[-WINDOW - 1 :: 2])]
    if min(pairs) <= 0.0:
        return None
    ratios = [after / before for before, after in pairwise(pairs)]
    if max(ratios) > min(SLOWEST, STEADY * min(ratios)):
        return None
    rest = ratios[-1] / (1.0 - ratios[-1])
    duration = pairs[-1] * rest
    if duration > longest:
        return None
    return Accumulation(duration, (impulses[-1] - impulses[-3]) * rest)


def come_to_rest(
    here: Dynamics, v: FloatArray, mu: FloatArray, took_turns: BoolArray
) -> tuple[ContactLaw, FloatArray]:
    """Return the modes and the velocity in which contacts that took turns end together."""
    # Normals come to rest by the smallest change, by energy; slip as slow as what is lost too.
    none = np.zeros(len(mu), np.bool_)
    closed = ContactLaw(np.where(took_turns, SMOOTH, FREE), mu, none)
    after = closed.project(here, v)
    lost = np.abs(here.J_n @ (after - v)).max()
    slip = here.J_t @ after
    slow = np.linalg.norm(slip, axis=1) <= SLOW_SLIP * lost
    sticks = took_turns & slow & (mu > 0.0)
    modes = np.where(sticks, STICKING, closed.modes)
    if here.J_t.shape[1] == 1:
        law = ContactLaw(modes, mu, none)
    else:
        law = SpatialLaw(modes, mu, none, aims=np.zeros_like(slip))
    return law, law.project(here, v)
