"""Words for what contacts do after an impact and in its steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from carom.kernels.tolerances import STICKING
from carom.problem import ImpactProblem
from carom.typing import BoolArray, FloatArray, IntArray

WORDS = np.array(["sticks", "slides", "lifts"])


class ContactStates(NamedTuple):
    """Whether contact j sticks, slides or lifts in outcome i.

    Speeds below 1e-9 of the impact's speed count as zero.

    Attributes:
        sticks: (n, m) whether normal and tangential velocity are zero.
        slides: (n, m) whether the normal velocity is zero and the tangential one is not.
        lifts: (n, m) whether the normal velocity is positive.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block").problem
        >>> states = carom.Routh(num_samples=100).resolve(block).contact_states
        >>> states.sticks.shape, bool(states.slides.any())
        ((100, 2), False)
    """

    sticks: BoolArray
    slides: BoolArray
    lifts: BoolArray


def contact_states(problem: ImpactProblem, v_c: FloatArray) -> ContactStates:
    """Return the states of contacts with velocities (n, m, 1 + d)."""
    small = STICKING * problem.space.velocity_unit
    lifts = v_c[..., 0] > small
    planar = v_c.shape[-1] == 2
    slip = np.abs(v_c[..., 1]) if planar else np.linalg.norm(v_c[..., 1:], axis=-1)
    slides = ~lifts & (slip > small)
    return ContactStates(~lifts & ~slides, slides, lifts)


def _codes(problem: ImpactProblem, v_post: FloatArray) -> FloatArray:
    """Return the states of contacts as indices (n, m) of `WORDS`."""
    _, slides, lifts = contact_states(problem, problem.contact_velocity(v_post))
    return np.asarray(slides + 2 * lifts)


def kind_words(problem: ImpactProblem, v_post: FloatArray) -> list[tuple[str, ...]]:
    """Return one word per contact for each outcome (n, nv)."""
    return [tuple(row) for row in WORDS[_codes(problem, v_post)].tolist()]


def describe_kinds(problem: ImpactProblem, v_post: FloatArray) -> tuple[str, ...]:
    """Return one sentence for each outcome (n, nv), e.g. "A sticks, B lifts"."""
    return tuple(_sentence(problem.contacts, row) for row in kind_words(problem, v_post))


def distinct_kinds(problem: ImpactProblem, v_post: FloatArray) -> tuple[str, ...]:
    """Return the distinct sentences of `describe_kinds`, sorted."""
    rows = np.unique(_codes(problem, v_post), axis=0)
    return tuple(sorted(_sentence(problem.contacts, row) for row in WORDS[rows].tolist()))


def describe_signs(contacts: Sequence[str], signs: Sequence[Sequence[int]]) -> str:
    """Return the sentence for the signs of normal and tangential velocities of each contact."""
    return _sentence(
        contacts,
        ["lifts" if own[0] > 0 else ("slides" if any(own[1:]) else "sticks") for own in signs],
    )


def _sentence(contacts: Sequence[str], words: Sequence[str]) -> str:
    return ", ".join(f"{name} {word}" for name, word in zip(contacts, words, strict=True))


def describe_mode(signs: Sequence[int] | IntArray, impulse: FloatArray) -> str:
    """Return the mode of a contact in a step, given the signs of its velocity and its impulse."""
    if impulse[0] == 0.0:
        return "idle" if signs[0] <= 0 else "free"
    normal = ("closed", "restituting", "compressing")[int(signs[0])]
    if not any(signs[1:]):
        return f"{normal}, sticking"
    if len(signs) == 2:
        return f"{normal}, sliding {'+' if signs[1] > 0 else '-'}"
    angle = round(math.degrees(math.atan2(-impulse[2], -impulse[1])), 2) % 360.0
    return f"{normal}, sliding {angle:.6g}°"


PLANAR_MODES = np.array(
    [
        [[describe_mode((n, t), np.array([acts])) for t in (0, 1, -1)] for n in (0, 1, -1)]
        for acts in (0.0, 1.0)
    ],
    dtype=object,
)
"""Modes of planar contacts, by whether they act and the signs of their velocities."""


def describe_modes(signs: IntArray, impulses: FloatArray) -> list[tuple[str, ...]]:
    """Return the modes of all contacts in each step; both arguments are (steps, m, 1 + d)."""
    acts = impulses[..., 0] != 0.0
    if signs.shape[-1] == 2:
        # Signs are indices from the end too, as -1 is.
        words = PLANAR_MODES[acts.astype(np.int64), signs[..., 0], signs[..., 1]]
        return [tuple(step) for step in words.tolist()]
    # Motions in space have thousands of steps and few words: each word is made once.
    does = np.where(acts, 3 + signs[..., 0], signs[..., 0] > 0)
    angles = np.degrees(np.arctan2(-impulses[..., 2], -impulses[..., 1]))
    # As many as there are hundredths of a degree, and none for a contact that sticks.
    slip = np.where(signs[..., 1:].any(axis=-1), 1 + np.round(100.0 * angles) % 36000, 0)
    codes = np.where(acts, does + 5 * (1 + slip.astype(np.int64)), does)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    flat = signs.reshape(-1, signs.shape[-1]), impulses.reshape(-1, impulses.shape[-1])
    words = np.array([describe_mode(*(rows[i] for rows in flat)) for i in first], dtype=object)
    return [tuple(step) for step in words[inverse].reshape(codes.shape).tolist()]
