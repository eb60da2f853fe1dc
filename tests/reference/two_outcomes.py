"""Search for steps with two outcomes by chance, and decide planar ones by definition.

Neither uses determinants, and the linear programs are written and solved in another way than in
`carom.guarantees.uniqueness`.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

import carom
from carom.stepping.pieces import modes_and_impulses
from tests.reference.brute_force import all_solutions, contact_units
from tests.reference.impact_problems import random_problem

FloatArray = NDArray[np.float64]

APART = 1e-6
"""Outcomes that differ by less, as a share of what they start from, are one."""

ZERO = 1e-10
"""What rounding leaves of a contact velocity that is zero."""


def random_pair_or_single(seed: list[int]) -> carom.ImpactProblem:
    """Return one or two planar contacts, 2 to 5 velocities, and friction from 0 to 2."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 3))
    mu = rng.uniform(0.0, 2.0, m) * (0.3 if rng.random() < 0.4 else 1.0)
    if rng.random() < 0.3:
        mu[:] = mu[0]
    if rng.random() < 0.1:
        mu[rng.random(m) < 0.5] = 0.0
    return random_problem(rng, m, 1, nv=int(rng.integers(2, 6)), mu=mu)


def random_start(
    rng: np.random.Generator, problem: carom.ImpactProblem
) -> tuple[FloatArray, FloatArray]:
    """Return dimensionless contact velocities (c,) and caps (m,) that a step in any modes may have.

    It goes back from a solution: the velocity after is one at which some contacts close, stick or
    slide square to an edge of the friction polygon, and impulses are any that go with it. Modes
    that hold for few velocities before are thus met as often as others.
    """
    space = problem.space
    m, width = space.num_contacts, space.width
    # A velocity of the system, for which some contact velocities vanish.
    values, vectors = np.linalg.eigh(space.A)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rows = root.reshape(m, width, -1)
    w = rng.normal(size=len(values))
    w = _project(w, np.concatenate([_vanishing(rng, own, space.directions) for own in rows]))
    after = (root @ w * 10.0 ** rng.uniform(-2, 1)).reshape(m, width)
    after[np.abs(after) < ZERO] = 0.0
    caps = 10.0 ** rng.uniform(-1, 1, m)
    caps[(rng.random(m) < 0.1) & (m > 1)] = 0.0
    impulses = np.zeros((m, width))
    for i in range(m):
        pressed = caps[i] if after[i, 0] < 0.0 else caps[i] * rng.random()
        impulses[i, 0] = 0.0 if after[i, 0] > 0.0 else pressed
        against = space.directions @ after[i, 1:]
        best = against <= against.min() + ZERO
        weights = rng.dirichlet(np.ones(best.sum())) * (rng.random() if best.all() else 1.0)
        impulses[i, 1:] = space.mu[i] * impulses[i, 0] * (weights @ space.directions[best])
    return after.ravel() - space.A @ impulses.ravel(), caps


def _project(w: FloatArray, rows: FloatArray) -> FloatArray:
    return w - np.linalg.pinv(rows, rcond=1e-9) @ (rows @ w)


def _vanishing(rng: np.random.Generator, rows: FloatArray, directions: FloatArray) -> FloatArray:
    """Choose which velocities of a contact vanish."""
    chosen = [rows[:1]] if rng.random() < 0.6 else []
    kind = rng.random()
    if kind < 0.35:
        chosen.append(rows[1:])
    elif kind < 0.6 and len(rows) == 3:
        j = rng.integers(len(directions))
        chosen.append((directions[j] - directions[j - 1])[None] @ rows[1:])
    return np.concatenate(chosen) if chosen else rows[:0]


def find_two_outcomes(problem: carom.ImpactProblem, rng: np.random.Generator, tries: int) -> bool:
    """Tell whether one of so many random steps has two outcomes, by trying all modes."""
    for _ in range(tries):
        v_c, caps = random_start(rng, problem)
        size = max(np.abs(v_c).max(), caps.max(), ZERO)
        _, impulses = modes_and_impulses(problem.space, v_c / size, caps / size)
        after = impulses @ problem.space.A
        if np.ptp(after, axis=0).max(initial=0.0) > APART:
            return True
    return False


def find_two_outcomes_by_supports(
    problem: carom.ImpactProblem, rng: np.random.Generator, tries: int
) -> bool:
    """Tell the same by all supports of the LCP, without knowing of modes."""
    from carom.stepping.lcp import step_lcp

    space = problem.space
    k, d = space.directions.shape
    units = contact_units(space.A, space.mu, d, k, 1.0, capped=True)
    for _ in range(tries):
        v_c, caps = random_start(rng, problem)
        size = max(np.abs(v_c).max(), caps.max(), ZERO)
        start = v_c.reshape(-1, space.width) / size, caps / size
        lcp = step_lcp(space.A, space.mu, space.directions, *start)
        found = all_solutions(lcp.W, lcp.w, *units, 1e-10)
        after = np.array([lcp.contacts.impulses(x).ravel() @ space.A for x in found])
        if np.ptp(after, axis=0).max(initial=0.0) > APART:
            return True
    return False


def is_unique_by_definition(problem: carom.ImpactProblem) -> bool:
    """Decide by a linear program for each of the 49^m pairs of planar modes.

    The variables are v (nv), two impulses (2 m each) and caps (m), all within [-1, 1] or as
    bounded by friction; the objective is how much a generic part of v' differs.
    """
    root = np.linalg.cholesky(problem.M)
    J = np.linalg.solve(root, problem.J.T).T
    J = J / np.linalg.norm(J[::2], axis=1).repeat(2)[:, None]
    m, nv = problem.num_contacts, problem.num_velocities
    size = nv + 5 * m
    eye = np.eye(size)
    sides = []
    for solution in range(2):
        impulse = eye[nv + 2 * m * solution : nv + 2 * m * (solution + 1)]
        sides.append((J @ (eye[:nv] + J.T @ impulse), impulse))
    difference = np.random.default_rng(3).normal(size=nv) @ J.T @ (sides[0][1] - sides[1][1])
    caps = eye[nv + 4 * m :]
    bounds = [(-1.0, 1.0)] * nv + [(None, None)] * (4 * m) + [(0.0, 1.0)] * m
    laws = [
        [
            [_planar_law(mode, mu, side, i, caps) for mode in range(7)]
            for i, mu in enumerate(problem.mu)
        ]
        for side in sides
    ]
    for modes in product(range(7), repeat=2 * m):
        chosen = [laws[n // m][n % m][mode] for n, mode in enumerate(modes)]
        least = np.concatenate([above for above, _ in chosen])
        equal = np.concatenate([zero for _, zero in chosen])
        result = linprog(
            -difference, -least, np.zeros(len(least)), equal, np.zeros(len(equal)), bounds
        )
        if -result.fun > 1e-5:
            return False
    return True


def _planar_law(
    mode: int, mu: float, side: tuple[FloatArray, FloatArray], i: int, caps: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return what must be >= 0 and = 0 in a mode of contact i, as rows on the variables."""
    after, impulse = side
    (v_n, v_t), (l_n, l_t), cap = after[2 * i : 2 * i + 2], impulse[2 * i : 2 * i + 2], caps[i]
    if mode == 0:
        return np.array([v_n]), np.array([l_n, l_t])
    normal = ([l_n, cap - l_n], v_n) if mode <= 3 else ([-v_n], l_n - cap)
    friction = [
        ([mu * l_n - l_t, mu * l_n + l_t], v_t),
        ([-v_t], l_t - mu * l_n),
        ([v_t], l_t + mu * l_n),
    ][(mode - 1) % 3]
    return np.array(normal[0] + friction[0]), np.array([normal[1], friction[1]])
