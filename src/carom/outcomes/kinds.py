"""What contacts do after an impact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from carom.kernels.tolerances import STICKING
from carom.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem


def contact_kinds(
    problem: ImpactProblem, v_c: FloatArray
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Tell which contacts (n, m) stick, slide and lift, from contact velocities (n, m, 1 + d).

    A contact lifts if it parts; else it slides if its tangential velocity is not zero. Speeds
    below a 1e-9th of the impact's speed count as zero.
    """
    small = STICKING * problem.space.velocity_unit
    lifts = v_c[..., 0] > small
    slides = ~lifts & (np.linalg.norm(v_c[..., 1:], axis=-1) > small)
    return ~lifts & ~slides, slides, lifts


def kind_words(problem: ImpactProblem, v_post: FloatArray) -> list[tuple[str, ...]]:
    """Say for each outcome (n, nv) what every contact does, in one word: "sticks", "lifts"."""
    sticks, slides, _ = contact_kinds(problem, problem.contact_velocity(v_post))
    words = np.where(sticks, "sticks", np.where(slides, "slides", "lifts"))
    return [tuple(row) for row in words.tolist()]


def describe_kinds(problem: ImpactProblem, v_post: FloatArray) -> tuple[str, ...]:
    """Say for each outcome (n, nv) what every contact does, e.g. "A sticks, B lifts"."""
    return tuple(
        ", ".join(f"{name} {word}" for name, word in zip(problem.contacts, row, strict=True))
        for row in kind_words(problem, v_post)
    )


def describe_signs(contacts: Sequence[str], signs: Sequence[Sequence[int]]) -> str:
    """Say what every contact does, from the signs of its normal and tangential velocities."""
    words = ["lifts" if own[0] > 0 else ("slides" if any(own[1:]) else "sticks") for own in signs]
    return ", ".join(f"{name} {word}" for name, word in zip(contacts, words, strict=True))


def describe_mode(signs: Sequence[int], impulse: FloatArray) -> str:
    """Say what a contact does in a step, from the signs of its velocities and its impulse."""
    if impulse[0] == 0.0:
        return "idle" if signs[0] <= 0 else "free"
    normal = "compressing" if signs[0] < 0 else "closed"
    if not any(signs[1:]):
        return f"{normal}, sticking"
    if len(signs) == 2:
        return f"{normal}, sliding {'+' if signs[1] > 0 else '-'}"
    angle = round(float(np.degrees(np.arctan2(-impulse[2], -impulse[1]))), 2) % 360.0
    return f"{normal}, sliding {angle:.6g}°"
