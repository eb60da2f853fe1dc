"""Integrate smooth motion, with contacts in given modes, until something happens."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import BDF, DOP853, RK45, Radau

from carom import checks
from carom.motion.events import Sight, first_event
from carom.motion.parts import MODES, Layout, Segment, record_step, step_nodes
from carom.motion.sustained import FREE, HOLDS, SLIP, ContactLaw
from carom.systems.system import System
from carom.typing import FloatArray

METHODS: dict[str, Any] = {"DOP853": DOP853, "RK45": RK45, "Radau": Radau, "BDF": BDF}

SLIP_ROUNDING = 1e-12
"""Slip against its direction that counts as rounding [m/s]."""


@dataclass(frozen=True)
class Options:
    """Settings of `simulate`, checked."""

    method: str
    rtol: float
    atol: float
    gap_tolerance: float
    rest_speed: float
    zeno_time: float
    max_impacts: int
    max_steps: int
    max_step: float

    def __post_init__(self) -> None:
        checks.choice("method", self.method, METHODS)
        for name in ("rtol", "atol", "gap_tolerance", "rest_speed", "zeno_time"):
            checks.positive(name, getattr(self, name))
        if self.max_step != math.inf:
            checks.positive("max_step", self.max_step)
        checks.integer("max_impacts", self.max_impacts, 1)
        checks.integer("max_steps", self.max_steps, 1)


class Stretch:
    """One segment under way: its differential equation, its events, its record."""

    def __init__(
        self, system: System, law: ContactLaw, layout: Layout, t: float, y: FloatArray
    ) -> None:
        """Take over the state at the start: time t, and q, v and impulses in y."""
        self.system, self.law, self.layout, self.t, self.y = system, law, layout, t, y
        self.closed = np.flatnonzero(law.modes != FREE)
        self.open = np.flatnonzero(law.modes == FREE)
        self.slip = SLIP[law.modes]
        self.sliding = np.flatnonzero(self.slip)
        self.num_steps = 0
        self.trouble: str | None = None
        self.slack: FloatArray | float = 0.0
        # What does not quite hold at the start, because modes were chosen that do a moment later,
        # must not get worse.
        self.slack = np.maximum(0.0, -self.see(t, y).conditions)

    def rates(self, t: float, y: FloatArray) -> FloatArray:
        """Return the derivative of q, v and impulses."""
        if not np.isfinite(y).all():
            raise FloatingPointError("the motion leaves the range of numbers")
        q, v, _ = self.layout.unpack(y)
        force, acceleration = self.law.solve(self.system.dynamics(q, v, t), v)
        return self.layout.pack(self.system.velocity_map(q) @ v, acceleration, force)

    def see(self, t: float, y: FloatArray) -> Sight:
        """Return what may end the segment."""
        q, v, _ = self.layout.unpack(y)
        here = self.system.dynamics(q, v, t)
        slide = self.slip * (here.J_t[:, 0] @ v)
        conditions = [slide[self.sliding] + SLIP_ROUNDING]
        if len(self.closed):
            force, acceleration = self.law.solve(here, v)
            margins = self.law.margins(here, force, acceleration)[self.closed]
            # Slip has a condition of its own, which does not end when it has begun.
            margins[self.slip[self.closed] != 0.0, 1] = 1.0
            conditions.append(margins.ravel() + HOLDS)
        rates = here.J_n @ v
        return Sight(np.concatenate(conditions) + self.slack, here.phi[self.open], rates[self.open])

    def run(
        self, options: Options, end_time: float, max_steps: int, rounding: float
    ) -> tuple[Segment | None, FloatArray]:
        """Return the segment up to the next event, None if without length, and y at its end."""
        y, knots = self.y, [self.t]
        coefficients: list[FloatArray] = []
        if end_time <= self.t:
            return None, y
        limits = {"rtol": options.rtol, "atol": options.atol, "max_step": options.max_step}
        solver = METHODS[options.method](self.rates, self.t, y, end_time, **limits)
        seen = self.see(self.t, y)
        while solver.status == "running" and self.num_steps < max_steps:
            message = solver.step()
            if solver.status == "failed":
                self.trouble = str(message)
                break
            self.num_steps += 1
            start, end, dense = float(solver.t_old), float(solver.t), solver.dense_output()
            event = first_event(partial(self._look, dense), start, end, seen, rounding)
            end = end if event is None else event
            if end > start:
                coefficients.append(record_step(dense(step_nodes(start, end)).T))
                knots.append(end)
                y = dense(end)
            if event is not None:
                break
            seen = self.see(end, y)
        if not coefficients:
            return None, y
        modes = tuple(MODES[i] for i in self.law.modes)
        return Segment(np.array(knots), np.array(coefficients), modes), y

    def _look(self, dense: Callable[[float], FloatArray], t: float) -> Sight:
        return self.see(t, dense(t))
