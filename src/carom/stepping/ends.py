"""Velocities at which samples end, and whether these can be."""

from __future__ import annotations

import numpy as np

from carom.kernels import ends
from carom.kernels.paths import FINISHED
from carom.kernels.tolerances import RESIDUAL
from carom.problem import ImpactProblem
from carom.stepping.parallel import run_chunks
from carom.typing import FloatArray, IntArray


def end_velocities(
    problem: ImpactProblem,
    impulses: FloatArray,
    num_threads: int | None,
    unit: FloatArray | None = None,
) -> FloatArray:
    """Return the velocities (n, nv) after many impulses (n, c) [N s].

    If a unit (c,) of theirs is given, they are first multiplied by it, in place.
    """
    c = impulses.shape[1]
    velocities = np.empty((len(impulses), problem.num_velocities))
    to_velocity = np.ascontiguousarray(problem.impulse_to_velocity)
    unit = np.ones(c) if unit is None else unit

    def fill(part: slice) -> None:
        block = np.zeros((c + 1, ends.BLOCK))
        given = unit, problem.v_pre, to_velocity
        ends.end_velocities(*given, impulses[part], velocities[part], block)

    run_chunks(fill, len(impulses), num_threads, None)
    return velocities


def fail_unphysical(
    problem: ImpactProblem, impulses: FloatArray, statuses: IntArray, num_threads: int | None
) -> None:
    """Mark finished samples as failed that still collide or gained energy, by rounding errors."""
    to_velocity = np.ascontiguousarray(problem.impulse_to_velocity)
    limit = problem.kinetic_energy(problem.v_pre) * (1.0 + RESIDUAL)
    slowest = -RESIDUAL * problem.space.velocity_unit

    def judge(part: slice) -> None:
        known = problem.M, problem.J_n, problem.v_pre, to_velocity, limit, slowest
        v = np.empty((1, problem.num_velocities))
        with np.errstate(over="ignore", invalid="ignore"):
            ends.fail_unphysical(*known, impulses[part], statuses[part], v)

    run_chunks(judge, len(statuses), num_threads, None)


def gather_finished(
    statuses: IntArray, impulses: FloatArray, velocities: FloatArray, steps: IntArray
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Return impulses, velocities, steps and numbers of finished samples; arrays are reused."""
    numbers = np.arange(len(statuses))
    if (statuses == FINISHED).all():
        return impulses, velocities, steps, numbers
    count = ends.gather_finished(statuses, impulses, velocities, steps, numbers)
    return impulses[:count], velocities[:count], steps[:count], numbers[:count]
