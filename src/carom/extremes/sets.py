"""Extremes in sets of outcomes: exact ones, and samples for the energy kept."""

from __future__ import annotations

import time

import numpy as np

from carom.extremes.quantity import Quantity
from carom.laws.routh import Routh
from carom.outcomes.least_squares import nonnegative_least_squares
from carom.outcomes.path import ImpactPath
from carom.outcomes.polyhedral import PolyhedralSet
from carom.problem import ImpactProblem
from carom.stepping.replay import replay
from carom.stepping.words import cells_of_path, polish
from carom.typing import FloatArray

TOGETHER = 1e6
"""Weight of the equation by which the shares of vertices add up to one."""

NUM_SAMPLES = 2**14

LEGAL = 1e-9
"""Tolerance of the replay, and of what a legal motion may lose, relative."""

FIRST_SAMPLES = 32
"""Number of samples that are timed to see how many the time allows."""


def exact_path(
    exact: PolyhedralSet, quantity: Quantity, known: dict[bytes, ImpactPath]
) -> ImpactPath | None:
    """Return a path to the extreme of the exact set; None for impulses, of which it knows none.

    Paths to vertices of the set are kept in `known`.
    """
    if quantity.impulse_weights.any():
        return None
    v = (
        energy_extreme(exact, quantity.energy)
        if quantity.energy
        else exact.maximizer(quantity.direction)
    )
    if v.tobytes() not in known:
        known[v.tobytes()] = exact.path_to(v, max(1e-6, 1e-6 * float(np.linalg.norm(v))))
    return _without_touch(exact.problem, quantity, known[v.tobytes()])


def _without_touch(problem: ImpactProblem, quantity: Quantity, path: ImpactPath) -> ImpactPath:
    """Return a motion as good as a path that touches the end of the impact and goes on.

    The exact set is closed, and such a path is a limit of motions. The motion that ends at the
    touch may be as good; else there is one just beside it.
    """
    space, start = problem.space, problem.start
    units = np.repeat(space.impulse_unit, space.width)
    rows = np.concatenate([path.lambda_n[..., None], path.lambda_t], axis=2)
    impulses = rows.reshape(len(rows), -1) / units
    if not replay(space, start, impulses, LEGAL):
        return path
    wanted = quantity.value(problem, impulses.sum(axis=0) * units)
    others = [impulses[:k] for k in range(1, len(impulses))]
    if not quantity.energy:
        word = polish(
            space,
            start,
            cells_of_path(space, start, impulses),
            quantity.objective(problem) * units,
        )
        others += [] if word is None else [word.impulses]
    for other in others:
        value = quantity.value(problem, other.sum(axis=0) * units)
        if value >= wanted - LEGAL * quantity.scale(problem) and not replay(
            space, start, other, LEGAL
        ):
            return ImpactPath.of_impulses(problem, other * units, is_straight=True)
    return path


def energy_extreme(exact: PolyhedralSet, sign: int) -> FloatArray:
    """Return the outcome (nv,) with the largest (1) or least (-1) energy."""
    problem = exact.problem
    if sign > 0:
        # A convex function is largest at a vertex.
        return np.asarray(exact.v_post[problem.kinetic_energy(exact.v_post).argmax()])
    root = np.linalg.cholesky(problem.M).T
    found = []
    for polytope in exact.polytopes:
        corners = np.array(polytope.vertices, dtype=np.float64)
        rows = np.vstack([root @ corners.T, np.full(len(corners), TOGETHER * problem.energy_norm)])
        right = np.append(np.zeros(len(root)), TOGETHER * problem.energy_norm)
        shares = nonnegative_least_squares(rows, right)[0]
        found.append(shares @ corners / shares.sum())
    return np.asarray(min(found, key=lambda v: float(problem.kinetic_energy(v))))


def sampled_energy_path(
    problem: ImpactProblem, sign: int, seed: int, max_seconds: float
) -> ImpactPath:
    """Return the path to the sample with the largest (1) or least (-1) energy."""
    begin = time.monotonic()
    outcomes = Routh(FIRST_SAMPLES, seed=seed, extremes=0.0).resolve(problem)
    each = max(time.monotonic() - begin, 1e-6) / FIRST_SAMPLES
    # Finding the path to a sample can take as long again.
    number = min(int(0.5 * max_seconds / each), NUM_SAMPLES)
    if number > FIRST_SAMPLES:
        outcomes = Routh(number, seed=seed).resolve(problem)
    return outcomes.path(int((sign * problem.kinetic_energy(outcomes.v_post)).argmax()))


def proved_energy(
    problem: ImpactProblem, quantity: Quantity, reached: float, exact: PolyhedralSet | None
) -> tuple[float, str]:
    """Return a bound on the energy kept or its negative, and why it holds."""
    if exact is not None:
        # Without time for the path to it, a sample may have been reached instead.
        most = quantity.energy * problem.kinetic_energy(energy_extreme(exact, quantity.energy))
        return max(reached, float(most)), "the energy of all outcomes is known from the exact set"
    if quantity.energy < 0:
        return 0.0, "the least energy is bounded by zero only"
    before = float(problem.kinetic_energy(problem.v_pre))
    return before, "the largest energy is bounded by the energy before the impact only"
