"""How far sets of outcomes lie apart."""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING

import numpy as np

from carom.errors import InvalidProblem
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.sampled import SampledSet
from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.outcomes.polyhedral import PolyhedralSet

MOST_PARTS = 20_000
"""So many simplices are looked at before the bound is given as it stands."""


def farthest(one: OutcomeSet, other: OutcomeSet, tol: float) -> float:
    """Return the largest distance of a point of one set from another, to within tol.

    The distance from a set changes no faster than the point moves. So over a simplex it is at most
    the distance of its middle plus its radius; simplices that may hold the farthest point are
    halved until that is known to within tol times the size of the sets.
    """
    if isinstance(one, SampledSet):
        return float(max(_distance(other, v) for v in one.v_post))
    size = float(np.ptp(np.concatenate([one.v_post, other.v_post]), axis=0).max()) or 1.0
    queue: list[tuple[float, int, FloatArray]] = []
    tie = itertools.count()
    best = 0.0

    def push(simplex: FloatArray) -> None:
        nonlocal best
        middle = simplex.mean(axis=0)
        at_middle = _distance(other, middle)
        best = max(best, at_middle)
        if _is_inside(other, simplex):
            return
        radius = float(np.linalg.norm(simplex - middle, axis=1).max())
        heapq.heappush(queue, (-(at_middle + radius), next(tie), simplex))

    for simplex in _simplices(one):
        for corner in simplex:
            best = max(best, _distance(other, corner))
        push(simplex)
    for _ in range(MOST_PARTS):
        if not queue or -queue[0][0] <= best + tol * size:
            break
        for half in _halves(heapq.heappop(queue)[2]):
            push(half)
    return max(best, -queue[0][0]) if queue and -queue[0][0] > best + tol * size else best


def _distance(other: OutcomeSet, v: FloatArray) -> float:
    if isinstance(other, SampledSet):
        return float(other.distance(v))
    return _polyhedral(other).distance(v)


def _is_inside(other: OutcomeSet, simplex: FloatArray) -> bool:
    """Tell whether a simplex lies in one piece of a set."""
    if isinstance(other, SampledSet):
        return False
    tiny = 1e-12 * (1.0 + np.abs(simplex).max())
    return any(piece.violation(simplex).max() <= tiny for piece in _polyhedral(other).pieces)


def _simplices(one: OutcomeSet) -> list[FloatArray]:
    return [s for piece in _polyhedral(one).pieces for s in piece._simplices[0]]


def _halves(simplex: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Cut a simplex at the middle of its longest edge."""
    count = len(simplex)
    i, j = max(
        itertools.combinations(range(count), 2),
        key=lambda pair: float(np.linalg.norm(simplex[pair[0]] - simplex[pair[1]])),
    )
    middle = 0.5 * (simplex[i] + simplex[j])
    one, two = simplex.copy(), simplex.copy()
    one[i], two[j] = middle, middle
    return one, two


def _polyhedral(outcomes: OutcomeSet) -> PolyhedralSet:
    if not hasattr(outcomes, "pieces"):
        raise InvalidProblem(f"expected a set of outcomes, got {type(outcomes).__name__}")
    return outcomes  # type: ignore[return-value]
