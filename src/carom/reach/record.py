"""Record of an exact search, from which it can be run again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np

from carom.errors import InvalidOption
from carom.outcomes.kinds import describe_kinds
from carom.outcomes.path import ImpactPath
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.polytope import Polytope
from carom.outcomes.summary import STAYS
from carom.problem import ImpactProblem
from carom.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from carom.reach.search import Search

LAW = "Routh"


@final
@dataclass(frozen=True)
class SearchRecord:
    """Options of `RouthExact` and length of a search, which determine its result."""

    zero: float
    grid: float
    num_steps: int  # polyhedra taken from the waiting list; 0 if no contact approaches
    # Objects of PPL are neither saved nor pickled; without them the search is repeated.
    _search: Any = field(default=None, repr=False, compare=False, metadata={"saved": False})

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_search": None}

    def path_to(self, problem: ImpactProblem, v: ArrayLike, tol: float) -> ImpactPath:
        """Return the path to the outcome nearest to v (nv,), or raise an error beyond tol."""
        from carom.reach.witness import nearest, path_of, trace

        v = np.asarray(v, np.float64)
        if not self.num_steps:
            _check_distance(problem.v_pre, v, tol)
            return path_of(problem, [])
        search = self._replayed(problem)
        node, y = nearest(search.flow.inclusion, search.finals(), v)
        _check_distance(search.flow.inclusion.velocity(y), v, tol)
        return path_of(problem, trace(search.flow, node, y))

    def _replayed(self, problem: ImpactProblem) -> Search:
        """Return the search, repeated if necessary for the same number of steps, not seconds."""
        from carom.reach.search import pose

        if self._search is None:
            search = pose(problem, zero=self.zero, grid=self.grid)
            search.run(math.inf, self.num_steps)
            object.__setattr__(self, "_search", search)
        return self._search


def _check_distance(end: Any, v: FloatArray, tol: float) -> None:
    distance = float(np.linalg.norm(np.array([float(x) for x in end]) - v))
    if distance > tol:
        raise InvalidOption(f"v: expected an outcome; the nearest is {distance:.3g} away")


def nothing_happens(problem: ImpactProblem) -> PolyhedralSet:
    """Return {v_pre}: no contact approaches."""
    exact = tuple(Fraction(float(x)) for x in problem.v_pre)
    rows = np.eye(len(exact), dtype=int).tolist()
    equations = tuple((*map(Fraction, row), x) for row, x in zip(rows, exact, strict=True))
    kind = describe_kinds(problem, problem.v_pre[None])[0]
    return PolyhedralSet(
        problem=problem,
        polytopes=(Polytope((exact,), (), equations, kind),),
        law=LAW,
        kinds=(kind,),
        is_complete=True,
        notes=(STAYS,),
        num_polyhedra=1,
        origin=SearchRecord(0.0, 0.0, 0),
    )
