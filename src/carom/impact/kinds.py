"""What contacts do after an impact, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carom.kernels.tolerances import STICKING
from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.impact.problem import ImpactProblem


def describe_kinds(problem: ImpactProblem, v_post: FloatArray) -> tuple[str, ...]:
    """Say for each outcome (n, nv) what every contact does, e.g. "A sticks, B lifts"."""
    v_c = problem.contact_velocity(v_post)
    small = STICKING * problem.space.velocity_unit
    lifts = v_c[..., 0] > small
    slides = np.linalg.norm(v_c[..., 1:], axis=-1) > small
    words = np.where(lifts, "lifts", np.where(slides, "slides", "sticks"))
    return tuple(
        ", ".join(f"{name} {word}" for name, word in zip(problem.contacts, row, strict=True))
        for row in words
    )
