"""Find the largest normal impulse that an impact can take, over all of its solutions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from carom.errors import CaromError
from carom.outcomes.path import ImpactPath
from carom.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem
    from carom.reach.search import Search


@dataclass(frozen=True, eq=False)
class WorstImpulse:
    """Hold the largest accrued normal impulse s, and how it comes about.

    Attributes:
        s: The largest sum of normal impulses over all solutions of the inclusion [N s]; infinite
            if impulses can cancel at a velocity that is reached and still collides.
        path: A solution that takes it; if s is infinite, one that leads to such a velocity.

    Examples:
        A ball of 2 kg that falls with 1 m/s is stopped by 2 N s, and by half of it half way.

        >>> import carom
        >>> from carom.guarantees.impulse import worst_impulse
        >>> ball = carom.ImpactProblem(
        ...     M=[[2.0, 0.0], [0.0, 2.0]], J_n=[[0.0, 1.0]], J_t=[[1.0, 0.0]], mu=0.5,
        ...     v_pre=[0.0, -1.0])
        >>> worst = worst_impulse(ball)
        >>> round(worst.s, 9), worst.dissipation([1.0, 2.0]).round(9).tolist()
        (2.0, [0.5, 1.0])
    """

    s: float
    path: ImpactPath
    _problem: ImpactProblem
    _search: Search
    _last: Fraction

    def dissipation(self, s: ArrayLike) -> FloatArray:
        """Return alpha(s) = 1 - max |v(s)|_M / |v_pre|_M over all solutions from v_pre.

        The paper's aggregate rate [HalmPosa, thm:nondegeneratedissipation] from this velocity,
        and by homogeneity from its multiples (s scales along): an impact that has taken the
        normal impulse s has lost at least this share of its speed. Energy is convex, so that the
        largest is at a corner of what is reached. NaN where no solution lasts so long.

        Args:
            s: (n,) accrued normal impulses, or one [N s].

        Raises:
            CaromError: s is infinite, so that not all that is reached was found.
        """
        from carom.reach.accrued import corners_at

        if math.isinf(self.s):
            raise CaromError("dissipation: impulses can cancel, so that solutions last without end")
        speed = self._problem.energy_norm
        inclusion = self._search.flow.inclusion
        out = []
        for value in np.atleast_1d(np.asarray(s, dtype=np.float64)):
            # The largest s is a fraction; written as a float it may be a hair more.
            exact = self._last if value == self.s else Fraction(float(value))
            corners = corners_at(self._search, exact)
            v = np.array(
                [[float(x) for x in inclusion.velocity(y)] for y in corners], dtype=np.float64
            ).reshape(-1, self._problem.num_velocities)
            largest = np.sqrt(2.0 * self._problem.kinetic_energy(v).max(initial=0.0))
            out.append(1.0 - largest / speed if len(v) else np.nan)
        return np.array(out)


def worst_impulse(
    problem: ImpactProblem, max_seconds: float = 5.0, max_polyhedra: int = 100_000
) -> WorstImpulse | None:
    """Return the largest impulse, or None if it is not found within the budget.

    It needs the extra `carom[exact]`, few contacts and an impact that collides.

    Args:
        problem: The impact.
        max_seconds: Budget of time [s].
        max_polyhedra: Budget of polyhedra.

    Examples:
        >>> import carom
        >>> from carom.guarantees.impulse import worst_impulse
        >>> worst = worst_impulse(carom.scenes.load("rocking-block", speed=1.0).problem)
        >>> round(worst.s, 6), worst.path.num_steps
        (1.105, 2)
    """
    if find_spec("ppl") is None or not problem.is_colliding(problem.v_pre):
        return None
    from carom.reach.accrued import middle, most_impulse, search_with_impulse
    from carom.reach.inclusion import rationalize
    from carom.reach.solve import too_much
    from carom.reach.witness import path_of, trace

    inclusion = rationalize(problem)
    if too_much(problem, inclusion) is not None:
        return None
    search = search_with_impulse(inclusion, max_seconds, max_polyhedra)
    if search.endless is not None:
        way = trace(search.flow, search.endless, middle(search.endless))
        return WorstImpulse(math.inf, path_of(problem, way), problem, search, Fraction(0))
    if not search.is_complete:
        return None
    node, y = most_impulse(search)
    path = path_of(problem, trace(search.flow, node, y))
    return WorstImpulse(float(y[-1]), path, problem, search, y[-1])
