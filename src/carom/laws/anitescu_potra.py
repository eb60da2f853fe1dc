"""The simultaneous law of Anitescu and Potra: every solution of its LCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from carom import checks
from carom.errors import ImpactNotResolved
from carom.kernels.tolerances import DISTINCT, RESIDUAL
from carom.laws.law import ImpactLaw
from carom.outcomes.finite import FiniteSet
from carom.outcomes.kinds import describe_kinds
from carom.problem import ImpactProblem
from carom.stepping.at_rest import change_velocity, nothing_acts
from carom.stepping.lcp import impact_lcp, solve
from carom.stepping.pieces import can_try_all_modes, distinct_rows, modes_and_impulses
from carom.typing import FloatArray


@final
@dataclass(frozen=True, eq=False, repr=False)
class AnitescuPotra(ImpactLaw):
    """Resolve all contacts at once [HalmPosa, eq:AnitestcuDiscreteFormulation].

    Impulses and velocities after the impact are complementary, lambda_n >= 0 and J_n v >= 0, and
    friction opposes the velocity after the impact. Such an LCP can have several solutions, and
    all of them are returned; a solver would return one. Where the contacts have too many modes to
    try them all (ten in the plane, five in space), solutions are collected from random covering
    vectors of Lemke's algorithm, and `is_complete` is False. It is False as well where contacts
    depend on each other and there are several outcomes, which may then be ends of a continuum.
    Where nothing collides, nothing happens; with the problem's `without_collision`, all but that
    happens.

    Args:
        num_trials: Number of covering vectors in that case.
        seed: Seed of the covering vectors.

    Raises:
        InvalidOption: An option is out of range; the message names it.

    Examples:
        >>> import carom
        >>> walker = carom.scenes.load("compass-gait").problem
        >>> for label in carom.AnitescuPotra().resolve(walker).labels:
        ...     print(label)
        A sticks, B lifts
        A sticks, B sticks
        A sticks, B slides
    """

    num_trials: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        checks.integer("num_trials", self.num_trials, 1)
        checks.integer("seed", self.seed, 0)

    def resolve(self, problem: ImpactProblem) -> FiniteSet:
        """Return every outcome of the simultaneous LCP.

        Args:
            problem: The impact.

        Raises:
            ImpactNotResolved: No solution was found; for a problem that collides there always is
                one.
            InvalidOption: There are too many solutions to be listed.
        """
        space = problem.space
        impulses, complete = self._impulses(problem)
        if problem.starts_at_rest:
            impulses = impulses[change_velocity(space, impulses)]
            if not len(impulses):
                raise nothing_acts(problem)
        impulses = impulses * np.repeat(space.impulse_unit, space.width)
        return FiniteSet(
            problem=problem,
            law="Anitescu-Potra, simultaneous",
            steps=tuple(impulses[:, None, :]),
            is_complete=complete,
            labels=describe_kinds(problem, problem.velocity_after(impulses)),
        )

    def _impulses(self, problem: ImpactProblem) -> tuple[FloatArray, bool]:
        """Return the dimensionless solutions (n, c), and whether none is missing."""
        space = problem.space
        if not problem.is_colliding(problem.v_pre) and not problem.without_collision:
            return np.zeros((1, len(space.A))), True
        unit = np.repeat(space.impulse_unit, space.width)
        impulses = np.empty((0, len(unit)))
        complete = can_try_all_modes(space, capped=False)
        if complete:
            impulses = modes_and_impulses(space, problem.start, None)[1]
            # Where scales differ by so much that no digit is left, modes may seem to hold.
            v_post = problem.velocity_after(impulses * unit)
            slack = RESIDUAL * space.velocity_unit
            impulses = impulses[(v_post @ problem.J_n.T >= -slack).all(axis=1)]
            dependent = np.linalg.matrix_rank(space.A) < len(space.A)
            complete = not (dependent and len(impulses) > 1)
        if len(impulses) == 0:
            complete = False
            impulses = self._by_pivoting(problem)
        return impulses, complete

    def _by_pivoting(self, problem: ImpactProblem) -> FloatArray:
        """Collect solutions (n, c) from many paths of Lemke's algorithm."""
        space = problem.space
        v_c = problem.start.reshape(space.num_contacts, space.width)
        lcp = impact_lcp(space.A, space.mu, space.directions, v_c)
        rng = np.random.default_rng(self.seed)
        found = []
        for trial in range(self.num_trials):
            covering = None if trial == 0 else rng.uniform(0.1, 1.1, len(lcp.w))
            solution = solve(lcp, covering=covering, seed=self.seed)
            if solution.is_solved and lcp.contacts is not None:
                found.append(lcp.contacts.impulses(solution.x).ravel())
        if not found:
            raise ImpactNotResolved(
                f"the simultaneous LCP was not solved: {solution.status.value}", problem, solution
            )
        impulses = np.array(found)
        return impulses[distinct_rows(impulses @ space.A, DISTINCT)]
