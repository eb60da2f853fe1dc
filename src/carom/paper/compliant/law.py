"""Contacts as springs and dampers, with friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from carom import checks
from carom.errors import InvalidOption, InvalidProblem
from carom.outcomes.finite import FiniteSet
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

    A contact with restitution e > 0 is a spring with two stiffnesses instead, without a damper:

        df_n/dt = -k dphi/dt if it closes, and -(k / e^2) dphi/dt if it opens, until f_n = 0,

    which stores f_n^2 / (2 k) and returns exactly e^2 of the work of f_n in compression, by
    Stronge's law, whatever other contacts do meanwhile [Liu, Zhao and Brogliato 2008].

    An impact is over when no contact that touches still closes, J_n v >= -1e-3 m / k_min, no spring
    with restitution has a force, and no contact is waited for: one that at its speed touches before
    `max_duration` and has had less impulse than `least_share` of m v0, with v0 the largest speed of
    approach at the start. What springs without restitution give back later is left out, so that
    zeta should be well above 1. Gravity acts meanwhile: where it presses on a contact that was
    hardly hit, that creeps on until `max_duration`.

    Args:
        stiffness: Stiffness k, one for all contacts or one for each of the system's [N/m].
        damping_ratio: Damping ratio zeta of contacts without restitution.
        mass: Mass m that the damping ratio refers to [kg].
        friction_speed: Slip eps below which friction is less than mu f_n [m/s].
        least_share: Share of m v0 with which a contact is not waited for any more.
        method: Integrator of scipy: BDF, or Radau to check it with.
        rtol: Relative accuracy of a step.
        max_duration: Longest impact [s]; None is one period of m on the softest contact, or three
            with restitution.
        max_steps: Maximum number of integration steps.
        restitution: Coefficient e from 0 to 1, one for all contacts or one for each of the
            system's.

    Examples:
        The stiffer corner A stops first, and the block pivots on B.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block")
        >>> law = carom.Compliant(stiffness=[1e7, 1e6], rtol=1e-8)
        >>> outcomes = law.resolve(block.system, block.q, block.v)
        >>> len(outcomes), outcomes.contact_velocities[0, :, 0].round(3).tolist()
        (1, [0.039, -0.0])
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
    restitution: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        stiffness = checks.floats("stiffness", self.stiffness)
        if stiffness.ndim > 1 or not (stiffness > 0.0).all():
            raise InvalidOption(f"stiffness: expected numbers > 0, got {self.stiffness!r}")
        given = tuple(stiffness.tolist()) if stiffness.ndim else float(stiffness)
        object.__setattr__(self, "stiffness", given)
        restitution = checks.floats("restitution", self.restitution)
        if restitution.ndim > 1 or not ((restitution >= 0.0) & (restitution <= 1.0)).all():
            raise InvalidOption(
                f"restitution: expected numbers from 0 to 1, got {self.restitution!r}"
            )
        given = tuple(restitution.tolist()) if restitution.ndim else float(restitution)
        object.__setattr__(self, "restitution", given)
        for name in ("mass", "friction_speed", "rtol", "damping_ratio", "least_share"):
            or_zero = name in ("damping_ratio", "least_share")
            value = checks.positive(name, getattr(self, name), or_zero=or_zero)
            object.__setattr__(self, name, value)
        if self.max_duration is not None:
            checks.positive("max_duration", self.max_duration)
        checks.between("rtol", self.rtol, FINEST, 1e-3)
        checks.choice("method", self.method, METHODS)
        checks.integer("max_steps", self.max_steps, 1)

    def resolve(self, system: System, q: ArrayLike, v: ArrayLike) -> FiniteSet:
        """Return the outcome of the impact that starts at a state; `run` has the whole motion.

        Contacts must be planar, and something must just touch at q. There is one outcome; its
        contacts are those that touched during the impact.

        Raises:
            ImpactNotResolved: The impact did not end within `max_duration` and `max_steps`, or
                energy rises, because `rtol` is too large.
        """
        return self.run(system, q, v).outcome()

    def run(self, system: System, q: ArrayLike, v: ArrayLike) -> CompliantImpact:
        """Return the motion through the impact that starts at a state, as for `resolve`."""
        problem = system.impact_problem(q, v, TOUCH)
        if problem.num_tangents != 1:
            raise InvalidProblem(
                f"system: expected planar contacts, got {problem.num_tangents} tangents each"
            )
        names = system.contacts
        for option in ("stiffness", "restitution"):
            given = np.array(getattr(self, option))
            if given.shape not in ((), (len(names),)):
                raise InvalidOption(
                    f"{option}: expected one number or one for each of the {len(names)} contacts "
                    f"{', '.join(names)}, got {len(given)}"
                )
        start = np.array(q, dtype=np.float64)
        run = Run(self, system, start, np.array(problem.v_pre), np.full(len(names), self.stiffness))
        return run.to_the_end()
