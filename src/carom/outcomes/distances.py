"""How far sets of outcomes lie apart."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from carom.errors import InvalidOption
from carom.outcomes.holdout import distinct_tree, velocity_map
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.points import PointSet
from carom.outcomes.polytope import Polytope, nearest_in_hull
from carom.typing import FloatArray

MOST_SIMPLICES = 20_000
"""Largest number of simplices that are looked at before the bound is given as it stands."""

MOST_COVERED = 2**21
"""The same for the coverage by samples, where many are looked at together."""

AT_ONCE = 2**14
"""Simplices that are halved together."""

MOST_OUTSIDE = 2**8
"""Of the samples outside of an exact set, so many that break its conditions most are looked at."""


def farthest(one: OutcomeSet, other: OutcomeSet, tol: float) -> float:
    """Return the largest distance of a point of one set from another, to within tol.

    The distance from a set changes no faster than the point moves. So over a simplex it is at most
    the distance of its middle plus its radius; simplices that may hold the farthest point are
    halved until that is known to within tol times the size of the sets.
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
    """Return the largest distance from a point of an exact set to the nearest sample.

    Of an outer set, which may be too large, it is an upper bound.

    Distance from one sample is convex, so that over a simplex it is largest at a corner. The
    sample that is nearest to the middle thus bounds the distance over all of the simplex; those
    that may hold the farthest point are halved until that is known. Pieces of dimension 1 and 2
    come to that end; with more dimensions the limit `MOST_COVERED` may end it before.

    Args:
        sampled: Samples.
        exact: The exact set of the same problem.
        norm: "contact" [m/s] or "energy" [|v_pre|_M]; see `carom.outcomes.holdout.NORMS`.
        tol: Tolerance, as a share of the exact set's size.

    Returns:
        A distance that some point of the exact set has, and by how much the largest can exceed it.

    Raises:
        InvalidOption: An argument is out of range; the message names it.

    Examples:
        >>> import carom
        >>> from carom.outcomes.distances import coverage_distance
        >>> block = carom.scenes.load("rocking-block").problem
        >>> exact, sampled = (law.resolve(block) for law in (carom.RouthExact(), carom.Routh()))
        >>> distance, uncertainty = coverage_distance(sampled, exact)
        >>> distance < 0.02 and uncertainty < 1e-4
        True
    """
    if not tol > 0.0:
        raise InvalidOption(f"tol: expected a number > 0, got {tol!r}")
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
    """Return the largest distance of samples from an exact set, of those that lie farthest out.

    Steps of samples err in proportion to their size: that is how far they may leave the set.

    Args:
        sampled: Samples.
        exact: The exact set of the same problem.
        norm: "contact" [m/s] or "energy" [|v_pre|_M]; see `carom.outcomes.holdout.NORMS`.

    Raises:
        InvalidOption: An argument is out of range; the message names it.

    Examples:
        No step errs on a block that lands flat: its corners never slide.

        >>> import carom
        >>> from carom.outcomes.distances import sample_error
        >>> block = carom.scenes.load("rocking-block").problem
        >>> exact, sampled = (law.resolve(block) for law in (carom.RouthExact(), carom.Routh()))
        >>> sample_error(sampled, exact) < 1e-12
        True
    """
    if sampled.v_post.shape[1] != exact.v_post.shape[1]:
        raise InvalidOption("exact: expected a set of the same problem, got other dimensions")
    if not len(sampled):
        return 0.0
    outside = np.min([polytope.violation(sampled.v_post) for polytope in _polytopes(exact)], axis=0)
    chosen = np.argsort(outside)[-MOST_OUTSIDE:]
    v_pre = exact.problem.v_pre
    to_points = velocity_map(exact.problem, norm).T
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

    Returns:
        The largest distance that was met, `best` included; a bound on all; simplices looked at.
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
        # Those with the largest bounds first: they raise `best` and so close others.
        chosen = np.argsort(bounds)[-AT_ONCE:]
        simplices = _all_halves(waiting[chosen])
        waiting, bounds = np.delete(waiting, chosen, axis=0), np.delete(bounds, chosen)
    return best, float(bounds.max(initial=closed)), used


def _all_halves(simplices: FloatArray) -> FloatArray:
    """Cut simplices (s, k, c) at the middle of their longest edges, into (2 s, k, c)."""
    pairs = np.array(list(itertools.combinations(range(simplices.shape[1]), 2)))
    edges = simplices[:, pairs[:, 0]] - simplices[:, pairs[:, 1]]
    i, j = pairs[np.linalg.norm(edges, axis=2).argmax(axis=1)].T
    rows = np.arange(len(simplices))
    middle = 0.5 * (simplices[rows, i] + simplices[rows, j])
    one, two = simplices.copy(), simplices.copy()
    one[rows, i], two[rows, j] = middle, middle
    return np.concatenate([one, two])


def _is_inside(other: OutcomeSet, simplex: FloatArray) -> bool:
    """Return whether a simplex lies in one polytope of a set."""
    if isinstance(other, PointSet):
        return False
    tiny = 1e-12 * (1.0 + np.abs(simplex).max())
    return any(polytope.violation(simplex).max() <= tiny for polytope in _polytopes(other))


def _simplices(one: OutcomeSet) -> list[FloatArray]:
    return [s for polytope in _polytopes(one) for s in polytope._simplices[0]]


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


def _polytopes(outcomes: Any) -> tuple[Polytope, ...]:
    """Return the polytopes of a union, or refuse what is none."""
    if not hasattr(outcomes, "polytopes"):
        raise InvalidOption(f"expected a set of outcomes, got {type(outcomes).__name__}")
    return outcomes.polytopes
