"""Move a system through impacts and sustained contact [HalmPosa, Section 4]."""

from __future__ import annotations

import math

from carom import checks
from carom.errors import InvalidProblem
from carom.laws.law import ImpactLaw
from carom.motion.options import Options, is_number
from carom.motion.run import Motion
from carom.motion.trajectory import Trajectory
from carom.systems.system import System
from carom.typing import ArrayLike


def simulate(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    law: ImpactLaw,
    *,
    seed: int = 0,
    start_time: float = 0.0,
    method: str = "DOP853",
    rtol: float = 1e-11,
    atol: float = 1e-12,
    gap_tolerance: float = 1e-9,
    rest_speed: float = 1e-9,
    zeno_time: float = 1e-6,
    max_impacts: int = 10_000,
    max_steps: int = 100_000,
    max_step: float = math.inf,
) -> Trajectory:
    """Return the motion from a state, for a duration.

    Where a law leaves a choice of outcomes, or friction a choice of forces (Painleve's
    indeterminacy), one is drawn by the seed.

    Args:
        system: What moves; its contacts must be planar.
        q: Configuration at the start, (nq,).
        v: Velocity at the start, (nv,).
        duration: How long it moves [s].
        law: Resolves impacts.
        seed: Of all draws: the same seed gives the same motion.
        start_time: Time at the start [s].
        method: Integrator of scipy: DOP853, RK45, or, for stiff forces, Radau or BDF.
        rtol: Relative accuracy of a step.
        atol: Absolute accuracy of a step.
        gap_tolerance: Contacts with a gap up to this touch; those that touch at the moment of a
            collision are one impact [m].
        rest_speed: Contact velocities up to this count as rest [m/s].
        zeno_time: Impacts that come ever faster are taken together when the time that is left
            for them is at most this [s].
        max_impacts: Number of impacts that ends the motion.
        max_steps: Number of integration steps that ends the motion.
        max_step: Longest step [s]. Give one if inputs come and go within less than a step would
            last: what no step looks at is not seen.

    Returns:
        The motion; `status` tells whether it was cut short, and `message` why.

    Raises:
        InvalidProblem: An argument is wrong, or the motion starts with a penetration.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("rocking-block")
        >>> law = carom.Routh(num_samples=1)
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.1, law, seed=1)
        >>> motion.status, motion.impacts[0].contacts
        ('finished', ('A', 'B'))
    """
    options = Options(
        method, rtol, atol, gap_tolerance, rest_speed, zeno_time, max_impacts, max_steps, max_step
    )
    checks.integer("seed", seed, 0, 2**53 - 1)
    if not isinstance(system, System):
        raise InvalidProblem(
            f"system: expected a carom.System such as carom.systems.PlanarSystem, got "
            f"{type(system).__name__}, which has no bodies to move"
        )
    if not isinstance(law, ImpactLaw):
        raise InvalidProblem(f"law: expected an impact law such as carom.Routh(), got {law!r}")
    if not (is_number(duration) and duration >= 0.0):
        raise InvalidProblem(f"duration: expected a number >= 0, got {duration!r}")
    if not is_number(start_time):
        raise InvalidProblem(f"start_time: expected a number, got {start_time!r}")
    motion = Motion(system, law, options, int(seed), float(start_time), float(duration))
    motion.start(q, v)
    status, message = motion.run()
    parts = tuple(motion.parts) or (motion.still(),)
    return Trajectory(system.contacts, motion.layout, parts, status, message, int(seed), system)
