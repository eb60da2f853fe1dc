"""States of a motion, so close to each other that eyes see a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carom.errors import InvalidProblem
from carom.motion.parts import Segment, States

if TYPE_CHECKING:
    from carom.motion.trajectory import Trajectory
    from carom.typing import FloatArray

CLOSE = 1500
"""A motion is drawn with about so many states beside those that it records."""


def part_states(trajectory: Trajectory, num: int = CLOSE) -> list[States]:
    """Return the states of each part: close to each other in segments, all steps of impacts.

    A part ends in the state in which the next one begins, before its impulses act.

    Raises:
        InvalidProblem: The motion has no parts.
    """
    if not trajectory.parts:
        raise InvalidProblem(f"trajectory: nothing to draw, {trajectory.message}")
    interval = (trajectory.end_time - trajectory.start_time) / num or 1.0
    found, row = [], 0
    for part in trajectory.parts:
        if isinstance(part, Segment):
            count = int(np.ceil((part.end - part.start) / interval)) + 1
            found.append(_segment_states(trajectory, part, count))
            row += len(part.knots)
        else:
            rows = slice(row, row + len(part.v))
            found.append(States(*(column[rows] for column in trajectory.states)))
            row += len(part.v)
    return found


def all_states(trajectory: Trajectory, num: int = CLOSE) -> States:
    """Return the states of all parts in one."""
    return joined(part_states(trajectory, num))


def joined(states: list[States]) -> States:
    """Return several states as one."""
    return States(*(np.concatenate(column) for column in zip(*states, strict=True)))


def impact_spans(trajectory: Trajectory) -> FloatArray:
    """Return from which s to which s (n, 2) impacts last."""
    pairs = zip(trajectory.parts, part_states(trajectory, 1), strict=True)
    spans = [(states.s[0], states.s[-1]) for part, states in pairs if not isinstance(part, Segment)]
    return np.array(spans).reshape(-1, 2)


def _segment_states(trajectory: Trajectory, part: Segment, count: int) -> States:
    t = np.union1d(part.knots, np.linspace(part.start, part.end, count))
    q, v, impulse = trajectory.layout.unpack(part.values(t))
    rate = trajectory.layout.unpack(part.values(t, derivative=True))[2]
    s = t - trajectory.start_time + impulse[..., 0].sum(axis=-1)
    return States(t, s, q, v, impulse, rate)
