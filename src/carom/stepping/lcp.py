"""Linear complementarity problems: one solution, or all of them.

    find x >= 0 with y = W x + w >= 0 and x . y = 0                    [HalmPosa, def:LCPDef]

The impact LCPs of `impact_lcp` and `step_lcp` remember the contacts that they come from, so that
all their solutions are found by trying contact modes (7^m) rather than supports (2^(5m)).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from carom import checks
from carom.contact_space import (
    ContactSpace,
    contact_impulses,
    impact_matrix,
    impact_vector,
    step_matrix,
    step_vector,
)
from carom.errors import InvalidOption
from carom.kernels import lemke
from carom.kernels.tolerances import DISTINCT, MATCH, RESIDUAL
from carom.stepping.pieces import (
    MOST_MODES,
    MOST_SOLUTIONS,
    can_try_all_modes,
    distinct_rows,
    mode_name,
    modes_and_impulses,
    num_modes,
    refuse_too_many,
)
from carom.typing import ArrayLike, FloatArray

RESTARTS = 50
MOST_SUPPORTS = 2**20


class LCPStatus(Enum):
    """How a solve ended; the value says what to try.

    Examples:
        >>> from carom.stepping.lcp import LCPStatus
        >>> LCPStatus.SOLVED.value
        'solved: the residual is within tolerance'
    """

    SOLVED = "solved: the residual is within tolerance"
    RAY = (
        "no solution was found: every path of Lemke's algorithm ended on a ray; the problem may "
        "have no solution (for impacts there always is one: check the signs in W)"
    )
    PIVOT_LIMIT = "the pivot limit was reached; scale the problem or perturb w slightly"
    INACCURATE = (
        "a solution was found but its residual is too large; the problem is badly conditioned: "
        "look for nearly dependent rows or scales that differ by more than 1e10"
    )


@dataclass(frozen=True, eq=False)
class LCP:
    """Pose a linear complementarity problem.

    Args:
        W: (n, n) matrix. Textbooks call it M, a name that carom keeps for the mass matrix.
        w: (n,) vector. Textbooks call it q.
        contacts: For impact LCPs, what they were made of.

    Raises:
        InvalidOption: W is not square, w does not go with it, or an entry is not finite.

    Examples:
        >>> from carom.stepping.lcp import LCP
        >>> lcp = LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
        >>> lcp.residual([4 / 3, 7 / 3]) < 1e-12, lcp.residual([1.0, 1.0]) > 0.1
        (True, True)
    """

    W: FloatArray
    w: FloatArray
    contacts: ContactStep | None = None

    def __init__(self, W: ArrayLike, w: ArrayLike, contacts: ContactStep | None = None) -> None:
        matrix = checks.floats("W", W)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InvalidOption(f"W: expected a square matrix, got shape {matrix.shape}")
        vector = checks.vector("w", w, len(matrix))
        matrix.flags.writeable = vector.flags.writeable = False
        object.__setattr__(self, "W", matrix)
        object.__setattr__(self, "w", vector)
        object.__setattr__(self, "contacts", contacts)

    def residual(self, x: ArrayLike) -> float:
        """Return the relative residual of a candidate: 0 exactly at solutions.

        It is measured after equilibration, so it does not depend on the scale of rows and columns.

        Args:
            x: (n,) the candidate.

        Raises:
            InvalidOption: x is not n finite numbers.
        """
        scaled, rows, columns = self._scaled
        candidate = checks.vector("x", x, len(self.w)) / columns
        return float(lemke.residual(scaled, rows * self.w, candidate))

    @cached_property
    def _scaled(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return lemke.equilibrate(self.W)


@dataclass(frozen=True, eq=False)
class LCPSolution:
    """A solution, or the closest that was found.

    Attributes:
        x: (n,) solution.
        y: (n,) its complement W x + w.
        residual: Relative residual, measured on the problem as given.
        status: How the solve ended.
        modes: For impact LCPs found by modes, the contacts' modes by name.

    Examples:
        >>> from carom.stepping.lcp import LCP, solve
        >>> solution = solve(LCP([[2.0, 1.0], [1.0, 2.0]], [-4.0, 1.0]))
        >>> solution.is_solved, solution.x.round(9).tolist(), float(solution.y[1].round(9))
        (True, [2.0, 0.0], 3.0)
    """

    x: FloatArray
    y: FloatArray
    residual: float
    status: LCPStatus
    modes: tuple[str, ...] | None = None

    @property
    def is_solved(self) -> bool:
        """Return whether the residual is within tolerance; no other flag counts."""
        return self.status is LCPStatus.SOLVED


@dataclass(frozen=True, eq=False)
class ContactStep:
    """Hold what an impact LCP is made of, in contact coordinates.

    Attributes:
        A: (c, c) Delassus matrix.
        mu: (m,) friction coefficients.
        directions: (k, d) friction directions.
        v_c: (m, 1 + d) contact velocities before.
        lambda_max: (m,) caps on the normal impulses, or None.

    Examples:
        A ball of 2 kg that falls with 1 m/s: impulses become the variables of the LCP, and back.

        >>> import numpy as np
        >>> from carom.contact_space import friction_directions
        >>> from carom.stepping.lcp import impact_lcp
        >>> A, mu, v_c = np.eye(2) / 2.0, np.array([0.5]), np.array([[-1.0, 0.1]])
        >>> lcp = impact_lcp(A, mu, friction_directions(1, 2), v_c)
        >>> x = lcp.contacts.variables(np.array([[2.0, -0.2]]))
        >>> x.round(9).tolist(), lcp.contacts.impulses(x).tolist(), lcp.residual(x) < 1e-12
        ([2.0, 0.0, 0.2, 0.0], [[2.0, -0.2]], True)
    """

    A: FloatArray
    mu: FloatArray
    directions: FloatArray
    v_c: FloatArray
    lambda_max: FloatArray | None

    def impulses(self, x: FloatArray) -> FloatArray:
        """Read the contact impulses (m, 1 + d) off a solution.

        Args:
            x: (n,) solution of the LCP.
        """
        m = len(self.mu)
        return contact_impulses(x if self.lambda_max is None else x[m:], m, self.directions)

    def variables(self, impulses: FloatArray) -> FloatArray:
        """Write the LCP variables (n,) that belong to contact impulses.

        Args:
            impulses: (m, 1 + d) impulses, normal first.
        """
        after = self.v_c + (self.A @ impulses.ravel()).reshape(self.v_c.shape)
        slack_velocity = np.maximum(0.0, (-after[:, 1:] @ self.directions.T).max(axis=1))
        lambda_D = np.array([_split(row[1:], self.directions) for row in impulses])
        parts = [impulses[:, 0], lambda_D.ravel(), slack_velocity]
        if self.lambda_max is not None:
            parts.insert(0, np.maximum(0.0, -after[:, 0]))
        return np.concatenate(parts)


def impact_lcp(A: FloatArray, mu: FloatArray, directions: FloatArray, v_c: FloatArray) -> LCP:
    """Assemble the simultaneous impact LCP [HalmPosa, eq:AnitestcuDiscreteFormulation].

    Args:
        A: (c, c) Delassus matrix in contact coordinates.
        mu: (m,) friction coefficients.
        directions: (k, d) friction directions.
        v_c: (m, 1 + d) contact velocities before, normal first.

    Examples:
        A ball of 2 kg that falls with 1 m/s and slips with 0.1 m/s sticks.

        >>> import numpy as np
        >>> from carom.contact_space import friction_directions
        >>> from carom.stepping.lcp import impact_lcp, solve_all
        >>> A, mu, v_c = np.eye(2) / 2.0, np.array([0.5]), np.array([[-1.0, 0.1]])
        >>> lcp = impact_lcp(A, mu, friction_directions(1, 2), v_c)
        >>> [solution.modes for solution in solve_all(lcp)]
        [('closed, sticking',)]
    """
    contacts = ContactStep(A, mu, directions, v_c, None)
    return LCP(impact_matrix(A, mu, directions), impact_vector(v_c, directions), contacts)


def step_lcp(
    A: FloatArray,
    mu: FloatArray,
    directions: FloatArray,
    v_c: FloatArray,
    lambda_max: FloatArray,
) -> LCP:
    """Assemble the LCP of one capped impact step [HalmPosa, eq:SimulationLCP].

    Args:
        A: (c, c) Delassus matrix in contact coordinates.
        mu: (m,) friction coefficients.
        directions: (k, d) friction directions.
        v_c: (m, 1 + d) contact velocities before, normal first.
        lambda_max: (m,) caps on the normal impulses.

    Examples:
        With a cap of 1 N s the same ball goes on falling, with half of its speed.

        >>> import numpy as np
        >>> from carom.contact_space import friction_directions
        >>> from carom.stepping.lcp import step_lcp, solve_all
        >>> A, mu, v_c = np.eye(2) / 2.0, np.array([0.5]), np.array([[-1.0, 0.1]])
        >>> lcp = step_lcp(A, mu, friction_directions(1, 2), v_c, np.array([1.0]))
        >>> [solution.modes for solution in solve_all(lcp)]
        [('compressing, sticking',)]
    """
    contacts = ContactStep(A, mu, directions, v_c, lambda_max)
    return LCP(step_matrix(A, mu, directions), step_vector(v_c, lambda_max, directions), contacts)


def solve(lcp: LCP, *, covering: ArrayLike | None = None, seed: int = 0) -> LCPSolution:
    """Find one solution by lexicographic Lemke pivoting.

    The problem is equilibrated, solved, and the result judged by its residual. Where the path
    fails, it is tried again from random covering vectors, and small problems at last by all
    their supports.

    Args:
        lcp: The problem.
        covering: (n,) positive covering vector; another one may lead to another solution.
        seed: Seed of the random covering vectors.

    Returns:
        The solution, or the closest that was found; its `status` says which and what to try.

    Raises:
        InvalidOption: The covering vector is not n numbers > 0.

    Examples:
        >>> from carom.stepping.lcp import LCP, solve
        >>> solution = solve(LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]))
        >>> solution.x.round(6).tolist(), solution.is_solved
        ([1.333333, 2.333333], True)
    """
    n = len(lcp.w)
    scaled, rows, columns = lcp._scaled
    work = lemke.make_work(n)
    x, trial = np.zeros(n), np.empty(n)
    rng = np.random.default_rng(seed)
    first = np.ones(n) if covering is None else checks.vector("covering", covering, n)
    if not (first > 0.0).all():
        raise InvalidOption(f"covering: expected numbers > 0, got {first.min():.3g}")
    best = _judge(lcp, np.zeros(n), lemke.RAY)
    for attempt in range(1 + RESTARTS):
        d = first if attempt == 0 else rng.uniform(0.1, 1.1, n)
        status, _ = lemke.solve_accurately(scaled, rows * lcp.w, d, work, x, trial, 100 * n + 100)
        found = _judge(lcp, columns * x, status)
        if found.residual <= best.residual:
            best = found
        if best.is_solved:
            return best
    if 2**n <= MOST_SUPPORTS:
        return next(iter(_all_by_supports(lcp)), best)
    return best


def solve_all(lcp: LCP) -> list[LCPSolution]:
    """Find all distinct solutions.

    Impact LCPs are solved by contact modes; two solutions count as one if they lead to the same
    velocities. Any other LCP is solved by its supports, of which there are 2^n. Where solutions
    form a continuum, its extreme points that have a nonsingular basis are returned.

    Args:
        lcp: The problem.

    Returns:
        The solutions, each within the tolerance on its residual; none if there is none.

    Raises:
        InvalidOption: The problem is too large to be searched completely.

    Examples:
        >>> from carom.stepping.lcp import LCP, solve_all
        >>> solutions = solve_all(LCP([[1.0, 2.0], [2.0, 1.0]], [-1.0, -1.0]))
        >>> sorted(solution.x.round(6).tolist() for solution in solutions)
        [[0.0, 1.0], [0.333333, 0.333333], [1.0, 0.0]]
    """
    if lcp.contacts is not None:
        return _all_by_modes(lcp, lcp.contacts)
    if 2 ** len(lcp.w) > MOST_SUPPORTS:
        raise InvalidOption(
            f"w: expected at most {int(np.log2(MOST_SUPPORTS))} unknowns to try all supports, "
            f"got {len(lcp.w)}; use solve with several covering vectors"
        )
    return _all_by_supports(lcp)


def _all_by_modes(lcp: LCP, contacts: ContactStep) -> list[LCPSolution]:
    v_c = contacts.v_c.ravel()
    width = contacts.v_c.shape[1]
    speed = float(np.max(np.abs(v_c) / np.sqrt(np.repeat(np.diag(contacts.A)[::width], width))))
    space = ContactSpace.build(contacts.A, contacts.mu, contacts.directions, speed)
    capped = contacts.lambda_max is not None
    if not can_try_all_modes(space, capped=capped):
        raise InvalidOption(
            f"contacts: expected at most {MOST_MODES} combinations of contact modes, got "
            f"{num_modes(space, capped=capped)}^{space.num_contacts}; use solve with several "
            f"covering vectors"
        )
    caps = contacts.lambda_max / space.impulse_unit if contacts.lambda_max is not None else None
    velocity_unit = np.repeat(space.velocity_unit, width)
    modes, impulses = modes_and_impulses(space, v_c / velocity_unit, caps)
    solutions = []
    for row, impulse in zip(modes, impulses, strict=True):
        x = contacts.variables((impulse.reshape(-1, width).T * space.impulse_unit).T)
        names = tuple(mode_name(mode, contacts.directions) for mode in row)
        solutions.append(_judge(lcp, x, lemke.SOLVED, names))
    return [solution for solution in solutions if solution.is_solved]


def _all_by_supports(lcp: LCP) -> list[LCPSolution]:
    scaled, rows, columns = lcp._scaled
    found = columns * lemke.solutions_by_supports(scaled, rows * lcp.w, MOST_SOLUTIONS + 1)
    refuse_too_many(len(found))
    scale = max(1e-300, float(np.abs(found).max(initial=0.0)))
    kept = found[distinct_rows(found / scale, DISTINCT)] if len(found) else found
    solutions = [_judge(lcp, x, lemke.SOLVED) for x in kept]
    return [solution for solution in solutions if solution.is_solved]


def _judge(
    lcp: LCP, x: FloatArray, status: int, modes: tuple[str, ...] | None = None
) -> LCPSolution:
    """Accept a candidate on its residual alone."""
    residual = lcp.residual(x)
    verdict = LCPStatus.SOLVED
    if not residual <= RESIDUAL:
        verdict = (
            LCPStatus.INACCURATE,
            LCPStatus.RAY,
            LCPStatus.PIVOT_LIMIT,
            LCPStatus.INACCURATE,
        )[status]
    return LCPSolution(x.copy(), lcp.W @ x + lcp.w, residual, verdict, modes)


def _split(lambda_t: FloatArray, directions: FloatArray) -> FloatArray:
    """Write a tangential impulse as the cheapest sum of friction directions, all weights >= 0."""
    k, d = directions.shape
    weights = np.zeros(k)
    if d == 1:
        weights[:] = np.maximum(0.0, directions[:, 0] * lambda_t[0])
        return weights
    for a in range(k):
        pair = [a, (a + 1) % k]
        share = np.linalg.solve(directions[pair].T, lambda_t)
        if (share >= -MATCH * (1.0 + np.abs(lambda_t).max())).all():
            weights[pair] = np.maximum(0.0, share)
            break
    return weights
