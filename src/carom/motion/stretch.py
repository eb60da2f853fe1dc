"""Integrate smooth motion, with contacts in given modes, until something happens."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import BDF, DOP853, RK45, Radau

from carom import checks
from carom.kernels import segment
from carom.kernels.planar import Tree
from carom.kernels.smooth import SLIP_ROUNDING
from carom.motion.events import Sight, first_event
from carom.motion.parts import Layout, record_step, step_nodes
from carom.motion.sustained import FREE, HOLDS, SLIP, ContactLaw
from carom.systems.planar import PlanarSystem
from carom.systems.system import System
from carom.typing import BoolArray, FloatArray, IntArray

METHODS: dict[str, Any] = {"DOP853": DOP853, "RK45": RK45, "Radau": Radau, "BDF": BDF}

STILL = 1e-8
"""Contact velocities below this share of the terms that they are the sum of count as rest."""
LEAST_HOP = 5.0
"""A contact that would come back from no higher than this many roundings of its gap rests."""
TOO_SHORT = "Required step size is less than spacing between numbers."
"""What scipy says where steps would be shorter than the clock's digits."""


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


class Start(NamedTuple):
    """Where smooth motion starts: time t, and q, v and impulses in y, with contacts in modes."""

    system: System
    law: ContactLaw
    layout: Layout
    t: float
    y: FloatArray


class Limits(NamedTuple):
    """Where smooth motion ends if nothing happens; `rounding` of a gap does not close it [m]."""

    end_time: float
    max_steps: int
    rounding: float


class Ended(NamedTuple):
    """Smooth motion up to the next event: record of k steps, as that of a `Segment`, and last y.

    `trouble` tells why the integrator gave up, if it did.
    """

    knots: FloatArray
    coefficients: FloatArray
    y: FloatArray
    num_steps: int
    trouble: str | None = None


def integrate(
    start: Start, options: Options, limits: Limits, kind: type[Stretch] | None = None
) -> Ended:
    """Integrate until something happens: in compiled code if possible, or else by scipy.

    `kind` is that of the stretch if it is not planar.
    """
    tree, law = compiled_tree(start.system, options), start.law
    if tree is not None:
        given = tree, law.mu, law.modes, law.resting, law.inner_forces
        status, ended = _integrate_planar(given, start.t, start.y, options, limits)
        if status != segment.BROKEN:
            return ended
    # Also where a state has no rates: scipy tells why.
    return (kind or Stretch)(*start).run(options, limits)


def compiled_tree(system: System, options: Options) -> Tree | None:
    """Return a system as arrays, if it can be integrated in compiled code."""
    if not isinstance(system, PlanarSystem) or system.inputs is not None or system.constraints:
        return None
    return system.tree if options.method == "DOP853" else None


def integrate_onward(
    tree: Tree, mu: FloatArray, t: float, y: FloatArray, options: Options, limits: Limits
) -> tuple[Ended, IntArray] | None:
    """Choose modes, take what remains of gaps out of closed contacts, and integrate.

    Return also the modes; or None where they are in doubt, or nothing comes of them.
    """
    m = len(mu)
    modes, resting = np.empty(m, np.int64), np.empty(m, np.bool_)
    given = tree, mu, modes, resting, np.zeros((m, 2))
    near, rest = float(options.gap_tolerance), float(options.rest_speed)
    rules = near, rest, STILL, LEAST_HOP * limits.rounding
    status, ended = _integrate_planar(given, t, y, options, limits, rules)
    return (ended, modes) if status == segment.ENDED and len(ended.coefficients) else None


def _integrate_planar(
    given: tuple[Tree, FloatArray, IntArray, BoolArray, FloatArray],
    t: float,
    y: FloatArray,
    options: Options,
    limits: Limits,
    rules: tuple[float, float, float, float] = segment.MODES_ARE_GIVEN,
) -> tuple[int, Ended]:
    """Integrate in compiled code; return a status of `segment` as well."""
    # Whole numbers would be compiled for anew.
    accuracy = float(options.rtol), float(options.atol), float(options.max_step)
    numbers = float(limits.end_time), *accuracy, limits.max_steps, limits.rounding
    status, num_steps, knots, coefficients, y = segment.integrate(
        given, float(t), y, numbers, rules
    )
    trouble = TOO_SHORT if status == segment.TOO_SHORT else None
    # Copies, since these are views of arrays with room for more.
    return status, Ended(knots.copy(), coefficients.copy(), y, num_steps, trouble)


class Stretch:
    """One segment of any system under way: its differential equation, its events, its record."""

    is_over = False
    """Whether nothing happens, but there is no use in going on."""

    def __init__(
        self, system: System, law: ContactLaw, layout: Layout, t: float, y: FloatArray
    ) -> None:
        """Take over the state at the start: time t, and q, v and impulses in y."""
        self.system, self.law, self.layout, self.t, self.y = system, law, layout, t, y
        self.closed = np.flatnonzero(law.modes != FREE)
        self.open = np.flatnonzero(law.modes == FREE)
        self.slip = SLIP[law.modes]
        self.sliding = np.flatnonzero(self.slip)
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
            margins = self.law.judge(here, v).margins[self.closed]
            # Slip has a condition of its own, which does not end when it has begun.
            margins[self.slip[self.closed] != 0.0, 1] = 1.0
            conditions.append(margins.ravel() + HOLDS)
        rates = here.J_n @ v
        return Sight(np.concatenate(conditions) + self.slack, here.phi[self.open], rates[self.open])

    def run(self, options: Options, limits: Limits) -> Ended:
        """Integrate until something happens."""
        y, knots, num_steps, trouble = self.y, [self.t], 0, None
        coefficients: list[FloatArray] = []
        solver = self.solver(self.t, y, options, limits)
        seen = self.see(self.t, y)
        while solver.status == "running" and num_steps < limits.max_steps:
            message = solver.step()
            if solver.status == "failed":
                trouble = str(message)
                break
            num_steps += 1
            start, end, dense = float(solver.t_old), float(solver.t), solver.dense_output()
            event = first_event(partial(self._look, dense), start, end, seen, limits.rounding)
            if event is not None and self.repeats(event, dense(event)):
                solver = self.solver(start, y, options, limits)
                continue
            end = end if event is None else event
            if end > start:
                coefficients.append(record_step(dense(step_nodes(start, end)).T))
                knots.append(end)
                y = dense(end)
            if event is not None:
                break
            solver, y = self.go_on(solver, y, options, limits)
            if self.is_over:
                break
            seen = self.see(end, y)
        return Ended(np.array(knots), np.array(coefficients), y, num_steps, trouble)

    def solver(self, t: float, y: FloatArray, options: Options, limits: Limits) -> Any:
        """Return an integrator that starts at a state."""
        tolerances = {"rtol": options.rtol, "atol": options.atol, "max_step": options.max_step}
        return METHODS[options.method](self.rates, t, y, limits.end_time, **tolerances)

    def repeats(self, event: float, y: FloatArray) -> bool:
        """Return whether the step up to an event has to be made again, in another way."""
        return False

    def go_on(
        self, solver: Any, y: FloatArray, options: Options, limits: Limits
    ) -> tuple[Any, FloatArray]:
        """Return the integrator of the next step, and the state that it starts from."""
        return solver, y

    def _look(self, dense: Callable[[float], FloatArray], t: float) -> Sight:
        return self.see(t, dense(t))
