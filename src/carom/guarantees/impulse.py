"""Find the largest normal impulse that an impact can take, over all of its solutions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from carom import checks
from carom.errors import CaromError
from carom.outcomes.path import ImpactPath
from carom.problem import ImpactProblem
from carom.typing import ArrayLike, FloatArray


@dataclass(frozen=True, eq=False)
class WorstImpulse:
    """Hold the largest accrued normal impulse s, and how it comes about.

    Attributes:
        s: Largest sum of normal impulses over all solutions of the inclusion [N s]; infinite if
            impulses can cancel at a velocity that is reached and still collides.
        path: A solution that takes it; if s is infinite, one that leads to such a velocity.
        problem: The impact.
        reached: Corners (k, nv + 1) of the polytopes of velocities and s that solutions pass
            through; none if s is infinite.
    """

    s: float
    path: ImpactPath
    problem: ImpactProblem
    reached: tuple[FloatArray, ...]

    def dissipation(self, s: ArrayLike) -> FloatArray:
        """Return alpha(s) = 1 - max |v(s)|_M / |v_pre|_M over all solutions from v_pre.

        The paper's aggregate rate [HalmPosa, thm:nondegeneratedissipation] from this velocity,
        and by homogeneity from its multiples (s scales along): an impact that has taken the
        normal impulse s has lost at least this share of |v_pre|_M. NaN where no solution lasts
        so long.

        Raises:
            CaromError: The largest s is infinite, so that not all that is reached was found.
        """
        if math.isinf(self.s):
            raise CaromError("dissipation: impulses can cancel, so that solutions last without end")
        values = np.atleast_1d(checks.floats("s", s))
        return np.array([1.0 - self._largest(x) / self.problem.energy_norm for x in values])

    def _largest(self, s: float) -> float:
        """Return the largest |v|_M that is reached with impulse s."""
        largest = np.nan
        # A norm is convex, so that it is largest at a corner of a slice. Corners of a slice lie on
        # edges, of which each joins a corner with less impulse and one with more: all such pairs
        # hold all edges, and nothing outside of the polytope.
        for corners in self.reached:
            below, above = corners[corners[:, -1] <= s], corners[corners[:, -1] >= s]
            if len(below) and len(above):
                edges = above[None] - below[:, None]
                rise = np.where(edges[..., -1] > 0.0, edges[..., -1], 1.0)
                share = (s - below[:, None, -1]) / rise
                v = below[:, None, :-1] + share[..., None] * edges[..., :-1]
                energy = self.problem.kinetic_energy(v.reshape(-1, v.shape[-1]))
                largest = np.fmax(largest, math.sqrt(2.0 * float(energy.max())))
        return float(largest)


def worst_impulse(
    problem: ImpactProblem, max_seconds: float = 5.0, max_polyhedra: int = 100_000
) -> WorstImpulse | None:
    """Return the largest impulse, or None if it is not found within the budget.

    It needs the extra `carom[exact]`, few contacts, and an impact that collides, but does not
    bounce.
    """
    is_posed = problem.is_colliding(problem.v_pre) and not problem.bounces
    if find_spec("ppl") is None or not is_posed:
        return None
    from carom.reach.accrued import middle, most_impulse, search_with_impulse
    from carom.reach.flow import vertices
    from carom.reach.inclusion import rationalize
    from carom.reach.solve import too_much
    from carom.reach.witness import path_of, trace

    inclusion = rationalize(problem)
    if too_much(problem, inclusion) is not None:
        return None
    search = search_with_impulse(inclusion, max_seconds, max_polyhedra)
    if search.endless is not None:
        way = trace(search.flow, search.endless, middle(search.endless))
        return WorstImpulse(math.inf, path_of(problem, way), problem, ())
    if not search.is_complete:
        return None
    node, y = most_impulse(search)
    path = path_of(problem, trace(search.flow, node, y))
    # The search's own inclusion has s as a further coordinate.
    velocity = search.flow.inclusion.velocity
    corners = (vertices(node.reached) for nodes in search.known.values() for node in nodes)
    rows = ([[*velocity(corner), corner[-1]] for corner in each] for each in corners)
    reached = tuple(np.array(each, dtype=np.float64) for each in rows)
    return WorstImpulse(float(y[-1]), path, problem, reached)
