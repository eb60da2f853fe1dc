"""Move a system through impacts and sustained contact [HalmPosa, Section 4]."""

from __future__ import annotations

import math

import numpy as np

from carom import checks
from carom.errors import InvalidOption, InvalidProblem
from carom.kernels.jit import compile_at_once
from carom.laws.law import ImpactLaw
from carom.motion.parts import Layout
from carom.motion.run import Motion
from carom.motion.stretch import Options
from carom.motion.time_stepping import Stepping
from carom.motion.trajectory import Trajectory
from carom.systems.constraints import closure_at
from carom.systems.system import Dynamics, System
from carom.typing import ArrayLike, FloatArray

EVENT_GAP, STEP_GAP = 1e-9, 1e-6
"""Largest gaps at which contacts touch, in event-driven motion and in time steps [m]."""
SINGULAR = 1e-13
"""Smallest eigenvalue of a mass matrix, scaled to a unit diagonal, that counts as inertia."""
OPEN = 1e-6
"""Largest residual of constraints [m or rad], and share of a velocity that they do not allow, which
count as rounding and are taken away."""


def simulate(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    law: ImpactLaw,
    *,
    seed: int = 0,
    start_time: float = 0.0,
    time_step: float | None = None,
    method: str = "DOP853",
    rtol: float = 1e-11,
    atol: float = 1e-12,
    gap_tolerance: float | None = None,
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
        system: System that moves, in the plane or in space.
        q: Configuration at the start, (nq,).
        v: Velocity at the start, (nv,).
        duration: Duration of the motion [s].
        law: Law that resolves impacts.
        seed: Seed of all draws: the same seed gives the same motion.
        start_time: Time at the start [s].
        time_step: Length of time steps [s]; collisions within a step are resolved in their moments.
            None, the default, goes from event to event, which is exact but stops where events are
            too many. Time steps go on whatever happens, with an error that is proportional to their
            length.
        method: Integrator of scipy for event-driven motion: DOP853, RK45, or, for stiff forces,
            Radau or BDF.
        rtol: Relative accuracy of a step.
        atol: Absolute accuracy of a step.
        gap_tolerance: Largest gap at which contacts touch; those that touch at the moment of a
            collision are one impact; 1e-9 if not given, 1e-6 in time steps [m].
        rest_speed: Largest contact velocity that counts as rest [m/s].
        zeno_time: Impacts that come ever faster are taken together when the time that is left
            for them is at most this [s].
        max_impacts: Number of impacts that ends the motion.
        max_steps: Number of integration steps that ends the motion.
        max_step: Longest step [s]. Give one if inputs come and go within less than a step would
            last: what no step looks at is not seen.

    Returns:
        The motion; `status` tells whether it was cut short, and `message` why.

    Examples:
        >>> import carom
        >>> scene = carom.scenes.load("rocking-block")
        >>> law = carom.Routh(num_samples=1)
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.1, law, seed=1)
        >>> motion.status, motion.impacts[0].contacts
        ('finished', ('A', 'B'))
    """
    near = (
        (EVENT_GAP if time_step is None else STEP_GAP) if gap_tolerance is None else gap_tolerance
    )
    options = Options(
        method, rtol, atol, near, rest_speed, zeno_time, max_impacts, max_steps, max_step
    )
    seed = checks.integer("seed", seed, 0, 2**53 - 1)
    if not isinstance(system, System):
        raise InvalidOption(
            f"system: expected a carom.System such as carom.systems.PlanarSystem, got "
            f"{type(system).__name__}, which has no bodies to move"
        )
    if not isinstance(law, ImpactLaw):
        raise InvalidOption(f"law: expected an impact law such as carom.Routh(), got {law!r}")
    duration = checks.positive("duration", duration, or_zero=True)
    # A motion must not depend on what its process has done before.
    compile_at_once()
    start = float(checks.vector("start_time", np.atleast_1d(start_time), 1)[0])
    state = checks.vector("q", q, system.nq), checks.vector("v", v, system.nv)
    _check_constraints(system, *state)
    here = system.dynamics(*state, start)
    _check_start(system, here, near)
    if time_step is None:
        layout = Layout(system.nq, system.nv, len(system.contacts), here.J_t.shape[1])
        motion = Motion(system, law, options, seed, start, start + duration, *state, layout)
        ended = motion.run()
        parts = tuple(motion.parts) or (motion.still(),)
    else:
        steps = Stepping(system, law, seed, options)
        ended = steps.run(*state, start, duration, checks.positive("time_step", time_step))
        parts, layout = steps.record.all_parts(), steps.layout
    return Trajectory(system.contacts, layout, parts, *ended, seed, system)


def _check_constraints(system: System, q: FloatArray, v: FloatArray) -> None:
    """Refuse to move a system whose loops are open, or open with its velocity."""
    if not system.constraints:
        return
    residual = np.abs(closure_at(system, q).closable(system.constraint_state(q)))
    if residual.max() > OPEN:
        worst = system.constraints[int(residual.argmax())]
        raise InvalidProblem(
            f"q: expected constraints that hold, got {worst!r} off by {residual.max():.3g} m (or "
            f"rad); start from system.closed(q)"
        )
    lost, M = v - system.allowed_velocity(q, v), system.mass_matrix(q)
    if lost @ M @ lost > OPEN**2 * (v @ M @ v):
        raise InvalidProblem(
            "v: expected a velocity that the constraints allow; start with "
            "system.allowed_velocity(q, v)"
        )


def _check_start(system: System, here: Dynamics, gap_tolerance: float) -> None:
    """Refuse to move a system that has no inertia, or a penetration."""
    size = np.sqrt(np.maximum(np.diag(here.M), 0.0))
    size[size == 0.0] = 1.0
    values, vectors = np.linalg.eigh(here.M / np.outer(size, size))
    if values[0] < SINGULAR:
        which = int(np.abs(vectors[:, 0]).argmax())
        raise InvalidProblem(
            f"system: expected inertia in every velocity, got a singular mass matrix, most of all "
            f"in velocity number {which}; give bodies mass, or leave out a joint"
        )
    if here.J_t.shape[1] not in (1, 2):
        raise InvalidProblem(
            f"system: expected contacts with one tangent, in the plane, or two, in space, got "
            f"{here.J_t.shape[1]}"
        )
    if len(here.phi) and here.phi.min() < -gap_tolerance:
        deepest = system.contacts[int(np.argmin(here.phi))]
        raise InvalidProblem(
            f"q: expected no penetration, got contact {deepest!r} with a gap of "
            f"{here.phi.min():.3g} {system.gap_unit(deepest)}; move it apart"
        )
