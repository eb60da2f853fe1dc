"""Linear complementarity problems: one solution, or all of them.

    find x >= 0 with y = W x + w >= 0 and x . y = 0                    [HalmPosa, def:LCPDef]

The impact LCPs of `impact_lcp` and `step_lcp` remember the contacts that they come from, so that
all their solutions are found by trying contact modes (7^m) rather than supports (2^(5m)).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from carom import checks, contact_space
from carom.errors import InvalidOption
from carom.kernels import lemke
from carom.kernels.tolerances import DISTINCT, MATCH, RESIDUAL
from carom.stepping import pieces
from carom.typing import ArrayLike, FloatArray

RESTARTS = 50
MOST_SUPPORTS = 2**20


class LCPStatus(Enum):
    """How a solve ended; the value says what to try."""

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
        residual: Relative residual.
        status: How the solve ended.
        modes: For impact LCPs found by modes, the contacts' modes by name.
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
    """Hold what an impact LCP is made of: the arguments of `impact_lcp` or `step_lcp`."""

    A: FloatArray
    mu: FloatArray
    directions: FloatArray
    v_c: FloatArray
    lambda_max: FloatArray | None

    def impulses(self, x: FloatArray) -> FloatArray:
        """Read the contact impulses (m, 1 + d) off a solution x (n,)."""
        m = len(self.mu)
        x = x if self.lambda_max is None else x[m:]
        return contact_space.contact_impulses(x, m, self.directions)

    def variables(self, impulses: FloatArray) -> FloatArray:
        """Return the LCP variables (n,) of contact impulses (m, 1 + d), normal first."""
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
    """
    W, w = (
        contact_space.impact_matrix(A, mu, directions),
        contact_space.impact_vector(v_c, directions),
    )
    return LCP(W, w, ContactStep(A, mu, directions, v_c, None))


def step_lcp(
    A: FloatArray, mu: FloatArray, directions: FloatArray, v_c: FloatArray, lambda_max: FloatArray
) -> LCP:
    """Assemble the LCP of one step, with caps lambda_max (m,) [HalmPosa, eq:SimulationLCP].

    The other arguments are those of `impact_lcp`.

    Examples:
        With a cap of 1 N s a ball of 2 kg that falls with 1 m/s goes on with half of its speed.

        >>> import numpy as np
        >>> from carom.contact_space import friction_directions
        >>> from carom.stepping.lcp import step_lcp, solve_all
        >>> A, mu, v_c = np.eye(2) / 2.0, np.array([0.5]), np.array([[-1.0, 0.1]])
        >>> lcp = step_lcp(A, mu, friction_directions(1, 2), v_c, np.array([1.0]))
        >>> [solution.modes for solution in solve_all(lcp)]
        [('compressing, sticking',)]
    """
    W = contact_space.step_matrix(A, mu, directions)
    w = contact_space.step_vector(v_c, lambda_max, directions)
    return LCP(W, w, ContactStep(A, mu, directions, v_c, lambda_max))


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

    Examples:
        >>> from carom.stepping.lcp import LCP, solve
        >>> solution = solve(LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]))
        >>> solution.x.round(6).tolist(), solution.is_solved
        ([1.333333, 2.333333], True)
    """
    n, rng = len(lcp.w), np.random.default_rng(seed)
    scaled, rows, columns = lcp._scaled
    work, x, trial = lemke.make_work(n), np.empty(n), np.empty(n)
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


def solve_often(
    lcp: LCP, coverings: Iterable[ArrayLike | None], seed: int = 0
) -> tuple[FloatArray, LCPSolution]:
    """Return the impulses (n, c) of an impact LCP that `solve` finds, and its last solution."""
    assert lcp.contacts is not None
    solutions = [solve(lcp, covering=covering, seed=seed) for covering in coverings]
    found = [lcp.contacts.impulses(each.x).ravel() for each in solutions if each.is_solved]
    return np.array(found).reshape(-1, len(lcp.contacts.A)), solutions[-1]


def solve_all(lcp: LCP) -> list[LCPSolution]:
    """Find all distinct solutions.

    Impact LCPs are solved by contact modes; two solutions count as one if they lead to the same
    velocities. Any other LCP is solved by its supports, of which there are 2^n. Where solutions
    form a continuum, its extreme points that have a nonsingular basis are returned. A problem that
    is too large to be searched completely is refused.

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
    v_c, width = contacts.v_c.ravel(), contacts.v_c.shape[1]
    speed = float(np.max(np.abs(v_c) / np.sqrt(np.repeat(np.diag(contacts.A)[::width], width))))
    space = contact_space.ContactSpace.build(contacts.A, contacts.mu, contacts.directions, speed)
    caps = None if contacts.lambda_max is None else contacts.lambda_max / space.impulse_unit
    count = pieces.num_modes(space, capped=caps is not None)
    if count**space.num_contacts > pieces.MOST_MODES:
        raise InvalidOption(
            f"contacts: expected at most {pieces.MOST_MODES} combinations of contact modes, got "
            f"{count}^{space.num_contacts}; use solve with several covering vectors"
        )
    velocity_unit = np.repeat(space.velocity_unit, width)
    modes, impulses = pieces.modes_and_impulses(space, v_c / velocity_unit, caps)
    solutions = []
    for row, impulse in zip(modes, impulses, strict=True):
        x = contacts.variables((impulse.reshape(-1, width).T * space.impulse_unit).T)
        solutions.append(_judge(lcp, x, modes=pieces.mode_names(row, contacts.directions)))
    return [solution for solution in solutions if solution.is_solved]


def _all_by_supports(lcp: LCP) -> list[LCPSolution]:
    scaled, rows, columns = lcp._scaled
    found = columns * lemke.solutions_by_supports(scaled, rows * lcp.w, pieces.MOST_SOLUTIONS + 1)
    pieces.refuse_too_many(len(found))
    scale = max(1e-300, float(np.abs(found).max(initial=0.0)))
    kept = found[pieces.distinct_rows(found / scale, DISTINCT)]
    return [solution for solution in (_judge(lcp, x) for x in kept) if solution.is_solved]


def _judge(
    lcp: LCP, x: FloatArray, status: int = lemke.SOLVED, modes: tuple[str, ...] | None = None
) -> LCPSolution:
    """Accept a candidate on its residual alone; where that is too large, the status says why."""
    residual = lcp.residual(x)
    failed = {lemke.RAY: LCPStatus.RAY, lemke.PIVOT_LIMIT: LCPStatus.PIVOT_LIMIT}
    verdict = failed.get(status, LCPStatus.INACCURATE)
    if residual <= RESIDUAL:
        verdict = LCPStatus.SOLVED
    return LCPSolution(x.copy(), lcp.W @ x + lcp.w, residual, verdict, modes)


def _split(lambda_t: FloatArray, directions: FloatArray) -> FloatArray:
    """Write a tangential impulse as the cheapest sum of friction directions, all weights >= 0."""
    k, d = directions.shape
    if d == 1:
        return np.maximum(0.0, directions[:, 0] * lambda_t[0])
    weights = np.zeros(k)
    for a in range(k):
        pair = [a, (a + 1) % k]
        share = np.linalg.solve(directions[pair].T, lambda_t)
        if (share >= -MATCH * (1.0 + np.abs(lambda_t).max())).all():
            weights[pair] = np.maximum(0.0, share)
            break
    return weights
