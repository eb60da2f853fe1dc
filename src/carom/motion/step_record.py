"""The record of a motion in time steps: a parabola for each step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from carom.motion.parts import Impact, Layout, Segment
from carom.typing import FloatArray

PARABOLA = np.array([[0.25, 0.5, 0.25], [-0.5, 0.0, 0.5], [0.25, -0.5, 0.25]])
"""Matrix from values at the beginning, in the middle and at the end to Chebyshev coefficients."""


@dataclass(eq=False)
class StepRecord:
    """Gather steps and impacts into the parts of a trajectory."""

    layout: Layout
    parts: list[Segment | Impact] = field(default_factory=list)
    modes: tuple[str, ...] = ()
    knots: list[float] = field(default_factory=list)
    rows: list[FloatArray] = field(default_factory=list)

    def add_step(
        self, start: float, end: float, modes: tuple[str, ...], *states: FloatArray
    ) -> None:
        """Add a step with its states at the beginning, in the middle and at the end."""
        if modes != self.modes or not self.knots:
            self._close()
            self.modes, self.knots = modes, [start]
        self.knots.append(end)
        self.rows.extend(states)

    def add_impact(self, impact: Impact) -> None:
        """Add an impact, which ends a segment."""
        self._close()
        self.parts.append(impact)

    def all_parts(self) -> tuple[Segment | Impact, ...]:
        """Return the parts up to now."""
        self._close()
        return tuple(self.parts)

    def _close(self) -> None:
        if self.rows:
            values = np.array(self.rows).reshape(-1, 3, self.layout.size)
            coefficients = np.einsum("cv,kvy->kcy", PARABOLA, values)
            self.parts.append(Segment(np.array(self.knots), coefficients, self.modes))
        self.knots, self.rows = [], []
