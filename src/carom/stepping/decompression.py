"""Every solution of the decompression that follows a simultaneous compression.

Given the velocity v_c after compression and floors e lambda_c on the normal impulses,

    0 <= lambda_n - e lambda_c  _|_  J_n v >= 0,   v = v_c + M^-1 J^T lambda,

with friction within mu lambda_n that opposes the slip of v [Anitescu & Potra 1997, Section 3].
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from carom.contact_space import ContactSpace, impact_matrix, impact_vector
from carom.errors import ImpactNotResolved
from carom.kernels.tolerances import DEPENDENT, DISTINCT, RESIDUAL
from carom.stepping.lcp import LCP, ContactStep, solve_often
from carom.stepping.pieces import distinct_rows
from carom.stepping.simultaneous import CONTINUUM, PIVOTING
from carom.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem

MOST_CONTACTS = 5
"""Maximum number of planar contacts of which all 6^m choices of modes are tried."""


def solve_decompression(
    problem: ImpactProblem, v_c: FloatArray, floors: FloatArray, num_trials: int, seed: int
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return dimensionless impulses (n, c) of the solutions, and why some may be missing.

    Args:
        problem: The impact.
        v_c: (c,) dimensionless contact velocities after compression.
        floors: (m,) least normal impulses.
        num_trials: Number of covering vectors, where modes cannot all be tried.
        seed: Seed of the covering vectors.
    """
    space = problem.space
    if space.width > 2 or space.num_contacts > MOST_CONTACTS:
        return _by_pivoting(problem, v_c, floors, num_trials, seed), (PIVOTING,)
    found, is_dependent = _by_modes(space, v_c, floors)
    if not len(found):
        return _by_pivoting(problem, v_c, floors, num_trials, seed), (CONTINUUM,)
    return found, (CONTINUUM,) if is_dependent and len(found) > 1 else ()


def _by_modes(space: ContactSpace, v_c: FloatArray, floors: FloatArray) -> tuple[FloatArray, bool]:
    """Try every choice of modes; return what solves, and whether contacts depend on each other."""
    m = space.num_contacts
    # Each contact stays closed or takes no more than its floor, and sticks or slides + or -.
    closed, slides = (
        np.array(list(product(product((True, False), (0, 1, -1)), repeat=m)))
        .reshape(-1, m, 2)
        .transpose(2, 0, 1)
    )
    systems, sides = _equations(space, v_c, floors, closed.astype(bool), slides)
    sizes = np.abs(systems).max(axis=2, keepdims=True)
    sizes[sizes == 0.0] = 1.0
    systems, sides = systems / sizes, sides[..., None] / sizes
    regular = 1.0 / np.linalg.cond(systems) > DEPENDENT
    impulses = np.linalg.solve(systems[regular], sides[regular])[..., 0]
    impulses = impulses[_are_solutions(space, v_c, floors, impulses)]
    return impulses[distinct_rows(impulses @ space.A, DISTINCT)], bool((~regular).any())


def _equations(
    space: ContactSpace, v_c: FloatArray, floors: FloatArray, closed: BoolArray, slides: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the linear equations of choices (n, m) of modes: (n, c, c), and sides (n, c)."""
    n, m = closed.shape
    systems, sides = np.zeros((n, 2 * m, 2 * m)), np.zeros((n, 2 * m))
    for i in range(m):
        normal, tangent = 2 * i, 2 * i + 1
        own, sticks, slip = closed[:, i], slides[:, i] == 0, slides[:, i]
        systems[own, normal] = space.A[normal]
        sides[own, normal] = -v_c[normal]
        systems[~own, normal, normal] = 1.0
        sides[~own, normal] = floors[i]
        systems[sticks, tangent] = space.A[tangent]
        sides[sticks, tangent] = -v_c[tangent]
        systems[~sticks, tangent, tangent] = 1.0
        systems[~sticks, tangent, normal] = space.mu[i] * slip[~sticks]
    return systems, sides


def _are_solutions(
    space: ContactSpace, v_c: FloatArray, floors: FloatArray, impulses: FloatArray
) -> BoolArray:
    """Return which impulses (n, 2 m) obey the law in full, whatever modes they came from."""
    after = v_c + impulses @ space.A
    v_n, v_t, lambda_n, lambda_t = (
        after[:, ::2],
        after[:, 1::2],
        impulses[:, ::2],
        impulses[:, 1::2],
    )
    above, limit = lambda_n - floors, space.mu * lambda_n
    steep, size = np.maximum(1.0, space.mu), np.sqrt(np.maximum(1.0, np.diag(space.A)[1::2]))
    normal = np.maximum(np.maximum(-above, -v_n), np.minimum(above, v_n))
    cone = (np.abs(lambda_t) - limit) / steep
    # Friction of full size against the slip: none could dissipate more.
    power = (limit * np.abs(v_t) + lambda_t * v_t) / (steep * size)
    wrong = np.maximum(np.maximum(normal, cone), np.abs(power)).max(axis=1, initial=0.0)
    return np.asarray(wrong <= RESIDUAL * np.maximum(1.0, np.abs(impulses).max(axis=1)))


def _by_pivoting(
    problem: ImpactProblem, v_c: FloatArray, floors: FloatArray, num_trials: int, seed: int
) -> FloatArray:
    """Collect solutions (n, c) from many paths of Lemke's algorithm."""
    space = problem.space
    m, A, directions = space.num_contacts, space.A, space.directions
    least = np.zeros((m, space.width))
    least[:, 0] = floors
    before = (v_c + A @ least.ravel()).reshape(m, space.width)
    w = impact_vector(before, directions)
    w[-m:] = space.mu * floors
    contacts = ContactStep(A, space.mu, directions, before, None)
    lcp = LCP(impact_matrix(A, space.mu, directions), w, contacts)
    coverings = np.random.default_rng(seed).uniform(0.1, 1.1, (num_trials - 1, len(w)))
    impulses, solution = solve_often(lcp, [None, *coverings], seed)
    if not len(impulses):
        raise ImpactNotResolved(
            f"the LCP of decompression was not solved: {solution.status.value}", problem, solution
        )
    return least.ravel() + impulses[distinct_rows(impulses @ A, DISTINCT)]
