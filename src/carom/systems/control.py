"""Systems with a controller: inputs as a function of time and state, and proportional gains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from carom import checks
from carom.errors import InvalidOption, InvalidProblem
from carom.problem import ImpactProblem
from carom.systems.constraints import Constraints
from carom.systems.one_pass import OnePassSystem
from carom.systems.system import Dynamics, Input, System
from carom.typing import ArrayLike, FloatArray

Inputs = Callable[[float, FloatArray, FloatArray], ArrayLike]
"""Generalized forces (nv,) as a function of t, q and v."""


@runtime_checkable
class HasGains(Protocol):
    """A controller that knows how its force falls with the way and the velocity."""

    def gains(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return stiffness and damping, (nv, nv) each."""


@final
class PD:
    """Hold coordinates at a target by proportional and derivative gains.

    The force on velocity j is stiffness (target - q_i) - damping v_j, cut off at the limit. It is
    called with t, q and v, as the `inputs` of systems are.

    Args:
        coordinates: Numbers i of the coordinates, such as `range(7, 19)`.
        velocities: Numbers j of their velocities, such as `range(6, 18)`.
        target: Values of the coordinates [rad or m], or a function of time that returns them.
        stiffness: Gain, for all or for each [N m/rad or N/m].
        damping: Gain, for all or for each [N m s/rad or N s/m].
        limit: Largest force, for all or for each [N m or N].

    Examples:
        >>> from carom.systems import PD
        >>> hold = PD([0], [0], [1.0], stiffness=20.0, damping=2.0, limit=15.0)
        >>> hold(0.0, [0.5], [1.0]).tolist(), hold(0.0, [-1.0], [0.0]).tolist()
        ([8.0], [15.0])
    """

    def __init__(
        self,
        coordinates: Sequence[int],
        velocities: Sequence[int],
        target: ArrayLike | Callable[[float], ArrayLike],
        *,
        stiffness: ArrayLike,
        damping: ArrayLike,
        limit: ArrayLike = np.inf,
    ) -> None:
        self.coordinates = np.array(coordinates, dtype=np.int64)
        self.velocities = np.array(velocities, dtype=np.int64)
        count = len(self.coordinates)
        if len(self.velocities) != count:
            raise InvalidOption(
                f"velocities: expected {count}, one for each coordinate, got {len(self.velocities)}"
            )
        self.target = target if callable(target) else checks.vector("target", target, count)
        self.stiffness = _each("stiffness", stiffness, count)
        self.damping = _each("damping", damping, count)
        self.limit = _each("limit", limit, count)

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> FloatArray:
        """Return the forces (nv,)."""
        rates = np.asarray(v, dtype=np.float64)
        force = np.zeros(len(rates))
        force[self.velocities] = np.clip(self._wanted(t, q, rates), -self.limit, self.limit)
        return force

    def gains(self, t: float, q: ArrayLike, v: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return stiffness and damping (nv, nv): none where the limit is reached."""
        rates = np.asarray(v, dtype=np.float64)
        free = np.abs(self._wanted(t, q, rates)) < self.limit
        both = np.zeros((2, len(rates), len(rates)))
        both[0, self.velocities, self.velocities] = free * self.stiffness
        both[1, self.velocities, self.velocities] = free * self.damping
        return both[0], both[1]

    def _wanted(self, t: float, q: ArrayLike, v: FloatArray) -> FloatArray:
        """Return the forces without a limit."""
        target = self.target(t) if callable(self.target) else self.target
        way = np.asarray(target, dtype=np.float64) - np.asarray(q)[self.coordinates]
        return np.asarray(self.stiffness * way - self.damping * v[self.velocities])


@final
class ControlledSystem(OnePassSystem):
    """Add inputs to a system, such as those of a controller.

    All else is that of the system, which is its attribute `system`; what it has beside the methods
    of a `System`, such as shapes to draw, is found here too.

    Args:
        system: The system; its own inputs, if it has any, go on to act.
        inputs: Forces (nv,) as a function of t, q and v. It is called several times per step and
            must return the same for the same arguments. If it has a method `gains` that returns
            stiffness and damping (nv, nv), as `PD` has, time steps take these implicitly, and no
            gain is too large for a step; any other function is held over each step, and gains
            larger than about mass / step are unstable, as in a digital controller.

    Examples:
        A ball is pushed along the floor with 1 N.

        >>> import carom
        >>> from carom.systems import ControlledSystem, SpatialBody, Sphere
        >>> ball = SpatialBody(Sphere(0.1), mass=2.0, mu=0.0)
        >>> pushed = ControlledSystem(ball, lambda t, q, v: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        >>> motion = carom.simulate(
        ...     pushed, [0, 0, 0.1, 1, 0, 0, 0], [0] * 6, 2.0, carom.Routh(), time_step=0.01)
        >>> motion.v[-1].round(9).tolist()
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """

    def __init__(self, system: System, inputs: Inputs) -> None:
        if not isinstance(system, System):
            raise InvalidOption(f"system: expected a carom.System, got {system!r}")
        if not callable(inputs):
            raise InvalidOption(f"inputs: expected a function of t, q and v, got {inputs!r}")
        self.system, self.inputs = system, inputs
        self._gains = inputs.gains if isinstance(inputs, HasGains) else None
        given = system.nq, system.nv, system.contacts, system.mu.tolist()
        super().__init__(*given, system.restitution.tolist())

    def __getattr__(self, name: str) -> Any:
        # Also while a copy is made, which has no attributes yet.
        if name.startswith("_") or name == "system":
            raise AttributeError(name)
        return getattr(self.system, name)

    @property
    def constraints(self) -> tuple[str, ...]:
        return self.system.constraints

    def constraint_state(self, q: ArrayLike, v: ArrayLike | None = None) -> Constraints:
        return self.system.constraint_state(q, v)

    def open_dynamics(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) -> Dynamics:
        here = self.system.open_dynamics(q, v, t)
        rates = np.zeros(self.nv) if v is None else np.asarray(v, dtype=np.float64)
        return here._replace(force=here.force + self._force(q, rates, t))

    def input_at(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Input:
        """Return the inputs, and those of the system itself; one that tells none has none."""
        at, rates = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
        force, own = self._force(at, rates, t), self.system.input_at(at, rates, t)
        stiffness = damping = None
        if self._gains is not None:
            stiffness, damping = self._gains(t, at, rates)
        if own is None:
            return Input(force, stiffness, damping)
        if own.stiffness is not None and own.damping is not None:
            stiffness = own.stiffness if stiffness is None else stiffness + own.stiffness
            damping = own.damping if damping is None else damping + own.damping
        return Input(force + own.force, stiffness, damping)

    def _force(self, q: ArrayLike, v: FloatArray, t: float) -> FloatArray:
        given = self.inputs(t, np.asarray(q, dtype=np.float64), v)
        return checks.vector("inputs", given, self.nv, InvalidProblem)

    def velocity_map(self, q: ArrayLike) -> FloatArray:
        return self.system.velocity_map(q)

    def integrate(self, q: ArrayLike, v: ArrayLike, duration: float) -> FloatArray:
        return self.system.integrate(q, v, duration)

    def potential_energy(self, q: ArrayLike) -> float:
        return self.system.potential_energy(q)

    def gap(self, q: ArrayLike) -> FloatArray:
        return self.system.gap(q)

    def impact_problem(
        self,
        q: ArrayLike,
        v: ArrayLike,
        gap_tolerance: float = 1e-6,
        *,
        without_collision: bool = False,
    ) -> ImpactProblem:
        return self.system.impact_problem(q, v, gap_tolerance, without_collision=without_collision)


def _each(name: str, value: ArrayLike, count: int) -> FloatArray:
    """Return one number >= 0, perhaps infinite, for each of some coordinates."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), (count,)) or not (array >= 0.0).all():
        raise InvalidOption(f"{name}: expected a number >= 0, or {count} of them, got {value!r}")
    return np.full(count, array)
