"""Springs that return a share of their work: one stiffness to compress, another to return."""

from __future__ import annotations

from typing import final

import numpy as np

from carom.typing import BoolArray, FloatArray


@final
class Springs:
    """Keep the phases of contacts with restitution.

    The force of a spring follows df/dt = -k v_n in compression and -(k / e^2) v_n in restitution,
    and its work is e^2 f^2 / (2 k) in restitution from f to zero. Between turns the rate of every
    spring is fixed, so that no force has a kink within a step.
    """

    def __init__(self, stiffness: FloatArray, restitution: FloatArray) -> None:
        self.restitution = np.array(restitution)
        self.bounces: BoolArray = self.restitution > 0.0
        square = np.where(self.bounces, self.restitution, 1.0) ** 2
        self._closing, self._opening = stiffness, stiffness / square
        self.acts: BoolArray = np.zeros_like(self.bounces)
        self._opens: BoolArray = np.zeros_like(self.bounces)

    @property
    def rates(self) -> FloatArray:
        """Return the stiffness (m,) in the current phases, 0 for springs that do not act."""
        return np.where(self.acts, np.where(self._opens, self._opening, self._closing), 0.0)

    def turns(
        self, touching: BoolArray, v_n: FloatArray, force: FloatArray, rest: float
    ) -> BoolArray:
        """Return which springs begin to act, turn to the other stiffness, or part."""
        reverses = np.where(self._opens, (v_n < 0.0) | (force < 0.0), v_n > 0.0)
        return self.bounces & np.where(self.acts, reverses, touching & (v_n < -rest))

    def turn(self, touching: BoolArray, v_n: FloatArray, force: FloatArray, rest: float) -> None:
        """Go on in the phases that `turns` says."""
        turning = self.turns(touching, v_n, force, rest)
        parts = turning & self.acts & self._opens & (force < 0.0)
        begins = turning & ~self.acts
        self._opens = np.where(begins | parts, False, self._opens ^ turning)
        self.acts = (self.acts | begins) & ~parts
