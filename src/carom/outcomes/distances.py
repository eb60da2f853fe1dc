"""Distances between sets of outcomes."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from carom import checks
from carom.errors import InvalidOption
from carom.outcomes.holdout import distinct_tree, velocity_map
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.points import PointSet
from carom.outcomes.polytope import Polytope, nearest_in_hull
from carom.typing import FloatArray

MOST_SIMPLICES = 20_000
"""Maximum number of simplices in `farthest`; then the current bound is returned."""

MOST_COVERED = 2**21
"""The same for `coverage_distance`, which is vectorized."""

AT_ONCE = 2**14
"""Number of simplices that are halved together."""

MOST_OUTSIDE = 2**8
"""Number of samples, those that violate the exact set most, whose distance is computed."""


def farthest(one: OutcomeSet, other: OutcomeSet, tol: float) -> float:
    """Return the largest distance of a point of one set from another, to within tol of their size.

    Distance from a set has Lipschitz constant 1, so over a simplex it is at most the distance of
    the centroid plus the radius. Simplices that may contain the farthest point are halved.
    """
    if isinstance(one, PointSet):
        return float(np.max(other.distance(one.v_post)))
    size = float(np.ptp(np.concatenate([one.v_post, other.v_post]), axis=0).max()) or 1.0
    queue: list[tuple[float, int, FloatArray]] = []
    tie = itertools.count()
    best = 0.0

    def push(simplex: FloatArray) -> None:
        nonlocal best
        middle = simplex.mean(axis=0)
        at_middle = other.distance(middle)
        best = max(best, at_middle)
        if _is_inside(other, simplex):
            return
        radius = float(np.linalg.norm(simplex - middle, axis=1).max())
        heapq.heappush(queue, (-(at_middle + radius), next(tie), simplex))

    for simplex in _simplices(one):
        for corner in simplex:
            best = max(best, other.distance(corner))
        push(simplex)
    for _ in range(MOST_SIMPLICES):
        if not queue or -queue[0][0] <= best + tol * size:
            break
        for half in _halves(heapq.heappop(queue)[2]):
            push(half)
    return max(best, -queue[0][0]) if queue and -queue[0][0] > best + tol * size else best


def coverage_distance(
    sampled: PointSet, exact: OutcomeSet, norm: str = "contact", tol: float = 1e-4
) -> tuple[float, float]:
    """Return the largest distance from an exact set to the nearest sample, and its uncertainty.

    Distance from one sample is convex, so over a simplex it is largest at a corner: the sample
    nearest to the centroid bounds the distance over the simplex. Simplices that may contain the
    farthest point are halved until the uncertainty is tol times the size of the set, or, in three
    dimensions and more, until `MOST_COVERED`. The norm is one of `carom.outcomes.holdout.NORMS`.
    """
    checks.positive("tol", tol)
    if sampled.v_post.shape[1] != exact.v_post.shape[1]:
        raise InvalidOption("exact: expected a set of the same problem, got other dimensions")
    if not len(sampled):
        raise InvalidOption("sampled: expected at least one outcome, got none")
    v_pre = exact.problem.v_pre
    to_points = velocity_map(exact.problem, norm).T
    corners = (exact.v_post - v_pre) @ to_points
    enough = tol * (float(np.linalg.norm(np.ptp(corners, axis=0))) or 1.0)
    tree = distinct_tree((sampled.v_post - v_pre) @ to_points)
    best = float(np.max(tree.query(corners)[0]))
    left, budget = 0.0, MOST_COVERED
    for simplices in _by_dimension(exact):
        best, bound, used = _cover(tree, (simplices - v_pre) @ to_points, best, enough, budget)
        left, budget = max(left, bound), budget - used
    return best, max(left - best, 0.0)


def sample_error(sampled: PointSet, exact: OutcomeSet, norm: str = "contact") -> float:
    """Return the largest distance of a sample from the exact set; it shrinks with the step."""
    if sampled.v_post.shape[1] != exact.v_post.shape[1]:
        raise InvalidOption("exact: expected a set of the same problem, got other dimensions")
    if not len(sampled):
        return 0.0
    outside = np.min([polytope.violation(sampled.v_post) for polytope in _polytopes(exact)], axis=0)
    chosen = np.argsort(outside)[-MOST_OUTSIDE:]
    v_pre = exact.problem.v_pre
    to_points = velocity_map(exact.problem, norm).T
    if not all(polytope.has_all_corners for polytope in _polytopes(exact)):
        raise InvalidOption("exact: expected a set whose vertices are all listed")
    hulls = [(polytope.vertices - v_pre) @ to_points for polytope in _polytopes(exact)]
    points = (sampled.v_post[chosen] - v_pre) @ to_points
    return float(
        max(
            min(np.linalg.norm(nearest_in_hull(hull, point) - point) for hull in hulls)
            for point in points
        )
    )


def _by_dimension(exact: OutcomeSet) -> list[FloatArray]:
    """Return all simplices (s, k, nv) of each number k of corners, few corners first."""
    simplices = sorted(_simplices(exact), key=len)
    return [np.array(list(group)) for _, group in itertools.groupby(simplices, key=len)]


def _cover(
    tree: cKDTree, simplices: FloatArray, best: float, enough: float, budget: int
) -> tuple[float, float, int]:
    """Bound the largest distance over simplices (s, k, c) from the points of a tree.

    Returns the largest distance found, `best` included, an upper bound, and the simplices used.
    """
    used, closed = 0, best
    waiting, bounds = np.empty((0, *simplices.shape[1:])), np.empty(0)
    while len(simplices):
        used += len(simplices)
        at_middle, nearest = tree.query(simplices.mean(axis=1))
        best = max(best, float(np.max(at_middle)))
        reach = np.linalg.norm(simplices - tree.data[nearest][:, None], axis=2).max(axis=1)
        waiting, bounds = np.concatenate([waiting, simplices]), np.concatenate([bounds, reach])
        open_ = bounds > best + enough
        closed = max(closed, float(bounds[~open_].max(initial=0.0)))
        waiting, bounds = waiting[open_], bounds[open_]
        if used >= budget or not len(waiting):
            break
        # The largest bounds first: they raise `best`, which closes others.
        chosen = np.argsort(bounds)[-AT_ONCE:]
        simplices = _all_halves(waiting[chosen])
        waiting, bounds = np.delete(waiting, chosen, axis=0), np.delete(bounds, chosen)
    return best, float(bounds.max(initial=closed)), used


def _all_halves(simplices: FloatArray) -> FloatArray:
    """Halve simplices (s, k, c) at the midpoints of their longest edges, into (2 s, k, c)."""
    pairs = np.array(list(itertools.combinations(range(simplices.shape[1]), 2)))
    edges = simplices[:, pairs[:, 0]] - simplices[:, pairs[:, 1]]
    i, j = pairs[np.linalg.norm(edges, axis=2).argmax(axis=1)].T
    rows = np.arange(len(simplices))
    middle = 0.5 * (simplices[rows, i] + simplices[rows, j])
    one, two = simplices.copy(), simplices.copy()
    one[rows, i], two[rows, j] = middle, middle
    return np.concatenate([one, two])


def _is_inside(other: OutcomeSet, simplex: FloatArray) -> bool:
    """Return whether a simplex lies in a single polytope of a set."""
    if isinstance(other, PointSet):
        return False
    tiny = 1e-12 * (1.0 + np.abs(simplex).max())
    return any(polytope.violation(simplex).max() <= tiny for polytope in _polytopes(other))


def _simplices(one: OutcomeSet) -> list[FloatArray]:
    return [s for polytope in _polytopes(one) for s in polytope._simplices[0]]


def _halves(simplex: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Halve a simplex at the midpoint of its longest edge."""
    count = len(simplex)
    i, j = max(
        itertools.combinations(range(count), 2),
        key=lambda pair: float(np.linalg.norm(simplex[pair[0]] - simplex[pair[1]])),
    )
    middle = 0.5 * (simplex[i] + simplex[j])
    one, two = simplex.copy(), simplex.copy()
    one[i], two[j] = middle, middle
    return one, two


def _polytopes(outcomes: Any) -> tuple[Polytope, ...]:
    """Return the polytopes of a union, or raise an error."""
    if not hasattr(outcomes, "polytopes"):
        raise InvalidOption(
            f"expected a set of points or a union of polytopes, got a {type(outcomes).__name__}"
        )
    return outcomes.polytopes
