"""Every solution of the simultaneous impact of Anitescu and Potra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from carom.errors import ImpactNotResolved
from carom.kernels import simultaneous as kernel
from carom.kernels.jit import Late, interpreted
from carom.kernels.tolerances import DEPENDENT, DISTINCT, RESIDUAL
from carom.stepping import pieces
from carom.stepping.lcp import impact_lcp, solve_often
from carom.stepping.pieces import distinct_rows
from carom.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem

DIGITS = "some choice of contact modes is too ill-conditioned to be decided in double precision"
CONTINUUM = "contacts depend on each other, so that outcomes may be ends of a continuum"
PIVOTING = "the contacts have too many modes to try them all, and outcomes are found by pivoting"

_solutions = Late(kernel.solutions, pieces.PATIENCE)


def solve_simultaneous(
    problem: ImpactProblem, num_trials: int, seed: int
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return dimensionless impulses (n, c) of the solutions, and why some may be missing.

    All modes are tried or, where they are too many, solutions found by pivoting. That there is none
    is an error: a problem that collides always has one.
    """
    space = problem.space
    R, y = _energy_coordinates(problem)
    if not pieces.can_try_all_modes(space, capped=False):
        return _by_pivoting(problem, R, y, num_trials, seed), (PIVOTING,)
    impulses = pieces.modes_and_impulses(space, problem.start, None)[1]
    impulses = impulses[_are_solutions(problem, R, y, impulses)]
    more = np.empty((pieces.MOST_SOLUTIONS, len(R)))
    work = pieces.num_modes(space, capped=False) ** space.num_contacts
    count, doubtful = _solutions(work, R, space.mu, space.directions, y, more)
    pieces.refuse_too_many(count)
    # What the Delassus matrix resolves comes first; the rest is lost in its rounding.
    found = np.concatenate([impulses, more[:count]])
    found = found[distinct_rows(found @ R, DISTINCT)]
    notes: tuple[str, ...] = (DIGITS,) if doubtful else ()
    if not len(found):
        return _by_pivoting(problem, R, y, num_trials, seed), (DIGITS,)
    lengths = np.linalg.norm(R, axis=1, keepdims=True)
    unit = R / np.where(lengths > 0.0, lengths, 1.0)
    if len(found) > 1 and np.linalg.matrix_rank(unit, tol=DEPENDENT) < len(unit):
        notes += (CONTINUUM,)
    return found, notes


def _energy_coordinates(problem: ImpactProblem) -> tuple[FloatArray, FloatArray]:
    """Return R (c, nv) and y (nv,) of `carom.kernels.simultaneous`."""
    space = problem.space
    root = np.linalg.cholesky(problem.M)
    speed = problem.energy_norm or 1.0
    unit = np.repeat(space.velocity_unit / speed, space.width)
    R = np.ascontiguousarray((np.linalg.solve(root, problem.J.T) / unit).T)
    return R, root.T @ problem.v_pre / speed


def _are_solutions(
    problem: ImpactProblem, R: FloatArray, y: FloatArray, impulses: FloatArray
) -> BoolArray:
    """Return which impulses (n, c) obey the law in full, and raise no energy."""
    space = problem.space
    # A few calls, not worth to compile.
    violation = interpreted(kernel.violation)
    after = y + impulses @ R
    energy = np.einsum("ni,ni->n", after, after) <= y @ y + RESIDUAL
    fits = [
        violation(R, space.mu, space.directions, own, impulse) <= RESIDUAL
        for own, impulse in zip(after, impulses, strict=True)
    ]
    return energy & np.array(fits, np.bool_)


def _by_pivoting(
    problem: ImpactProblem, R: FloatArray, y: FloatArray, num_trials: int, seed: int
) -> FloatArray:
    """Collect solutions (n, c) from many paths of Lemke's algorithm."""
    space = problem.space
    v_c = problem.start.reshape(space.num_contacts, space.width)
    lcp = impact_lcp(space.A, space.mu, space.directions, v_c)
    coverings = np.random.default_rng(seed).uniform(0.1, 1.1, (num_trials - 1, len(lcp.w)))
    impulses, solution = solve_often(lcp, [None, *coverings], seed)
    impulses = impulses[_are_solutions(problem, R, y, impulses)]
    if not len(impulses):
        raise ImpactNotResolved(
            f"the simultaneous LCP was not solved: {solution.status.value}", problem, solution
        )
    return impulses[distinct_rows(impulses @ space.A, DISTINCT)]
