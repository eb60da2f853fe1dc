"""Contacts as springs and dampers, with friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from carom import checks
from carom.errors import InvalidProblem
from carom.paper.compliant.run import METHODS, CompliantImpact, Run
from carom.systems.system import System
from carom.typing import ArrayLike

TOUCH = 1e-9
"""An impact starts with a gap of no more than this, either way [m]."""

FINEST = 1e-13
"""Finest relative accuracy that the integrators can keep."""


@final
@dataclass(frozen=True, eq=False)
class Compliant:
    """Let bodies give way where they touch, as springs with dampers and friction.

    A contact with a gap phi <= 0 has the forces

        f_n = max(0, -k phi - c dphi/dt),   c = 2 zeta sqrt(k m),
        f_t = -mu f_n v_t / max(|v_t|, eps),

    and no others. The paper prints c = 2 zeta sqrt(k / m), whose units are those of a damper only
    if m is a pure number; for m = 1 kg, the mass of its block, both have the same value.

    An impact is over when no contact that touches still closes, J_n v >= -1e-3 m / k_min, and none
    is waited for: one that at its speed touches before `max_duration` and has had less impulse
    than `least_share` of m v0, with v0 the largest speed of approach at the start. What springs
    give back later is left out, so that zeta should be well above 1. Gravity acts meanwhile: where
    it presses on a contact that was hardly hit, that creeps on until `max_duration`.

    Args:
        stiffness: k, one for all contacts or one for each of the system's [N/m].
        damping_ratio: zeta.
        mass: m, the mass that the damping ratio refers to [kg].
        friction_speed: eps, the slip below which friction is less than mu f_n [m/s].
        least_share: Share of m v0 with which a contact is not waited for any more.
        method: Integrator of scipy: BDF, or Radau to check it with.
        rtol: Relative accuracy of a step.
        max_duration: Longest impact [s]; None is one period of m on the softest contact.
        max_steps: Largest number of integration steps.

    Raises:
        InvalidProblem: An option is out of range; the message names it.

    Examples:
        The stiffer corner A stops first, and the block pivots on B.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> law = carom.Compliant(stiffness=[1e7, 1e6], rtol=1e-6)
        >>> impact = law.resolve(block.system, block.q, block.v)
        >>> impact.status, bool(impact.v_post[2] < 0.0)
        ('over', True)
    """

    stiffness: float | Sequence[float] = 1e6
    damping_ratio: float = 5.0
    mass: float = 1.0
    friction_speed: float = 1e-10
    least_share: float = 0.01
    method: str = "BDF"
    rtol: float = 1e-10
    max_duration: float | None = None
    max_steps: int = 20_000

    def __post_init__(self) -> None:
        given = self.stiffness
        if isinstance(given, Sequence) or (isinstance(given, np.ndarray) and given.ndim):
            each = tuple(check_number("stiffness", k) for k in given)
            object.__setattr__(self, "stiffness", each)
        else:
            object.__setattr__(self, "stiffness", check_number("stiffness", self.stiffness))
        for name in ("mass", "friction_speed"):
            object.__setattr__(self, name, check_number(name, getattr(self, name)))
        for name in ("damping_ratio", "least_share"):
            object.__setattr__(self, name, check_number(name, getattr(self, name), or_zero=True))
        if self.max_duration is not None:
            object.__setattr__(
                self, "max_duration", check_number("max_duration", self.max_duration)
            )
        if not FINEST <= check_number("rtol", self.rtol) <= 1e-3:
            raise InvalidProblem(
                f"rtol: expected a number from {FINEST:g} to 1e-3, got {self.rtol!r}"
            )
        if self.method not in METHODS:
            raise InvalidProblem(
                f"method: expected one of {', '.join(METHODS)}, got {self.method!r}"
            )
        checks.integer("max_steps", self.max_steps, 1)

    def resolve(self, system: System, q: ArrayLike, v: ArrayLike) -> CompliantImpact:
        """Return the impact that starts at a state.

        Args:
            system: What hits; its contacts must be planar.
            q: Configuration in which something just touches, (nq,).
            v: Velocity before the impact, (nv,).

        Raises:
            InvalidProblem: Nothing touches, something penetrates, or the number of stiffnesses is
                not that of the contacts.
        """
        problem = system.impact_problem(q, v, TOUCH)
        if problem.J_t.shape[1] != 1:
            raise InvalidProblem(
                f"system: expected planar contacts, got {problem.J_t.shape[1]} tangents each"
            )
        names = system.contacts
        stiffness = np.array(self.stiffness)
        if stiffness.shape not in ((), (len(names),)):
            raise InvalidProblem(
                f"stiffness: expected one number or one for each of the {len(names)} contacts "
                f"{', '.join(names)}, got {len(stiffness)}"
            )
        start = np.array(q, dtype=np.float64)
        run = Run(self, system, start, np.array(problem.v_pre), np.full(len(names), stiffness))
        return run.to_the_end()


def check_number(name: str, value: object, *, or_zero: bool = False) -> float:
    """Return an option as a number.

    Raises:
        InvalidProblem: It is none, or none in its range.
    """
    number = float(value) if isinstance(value, int | float | np.number) else np.nan
    if not np.isfinite(number) or number < 0.0 or (number == 0.0 and not or_zero):
        least = ">=" if or_zero else ">"
        raise InvalidProblem(f"{name}: expected a finite number {least} 0, got {value!r}")
    return number
