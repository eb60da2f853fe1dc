"""Bound the probability that a further draw lies far from every sample.

Fresh draws, which had no part in making a set of samples, are tried: the share of them that misses
the set bounds the probability of a miss, whatever the law, the dimension and the shape of the set.

It is a statement about the draw. What the draw reaches once in a million may be missing, however
far away: `carom.outcomes.distances.coverage_distance` tells that where the exact set is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import betainccinv

from carom import checks
from carom.errors import InvalidOption
from carom.kernels.tolerances import VANISHING
from carom.outcomes.points import PointSet
from carom.problem import ImpactProblem
from carom.typing import FloatArray

NORMS = ("contact", "energy")
"""How far apart two outcomes are. "contact" is the Euclidean norm of all contact velocities [m/s],
and the default: it is in m/s, the same in all coordinates, and no contact's velocity differs by
more. "energy" is |v|_M as a share of |v_pre|_M: 0.1 is a hundredth of the impact's energy."""


@dataclass(frozen=True)
class Holdout:
    """Hold what fresh draws say about a set of samples.

    Attributes:
        epsilon: Distance, in the norm's unit.
        delta: Probability that p is too small.
        p: The bound.
        misses: Fresh draws that lay farther from every sample, or did not end.
        trials: Fresh draws.
        num_samples: Samples that they were compared with. A set that has more samples misses no
            more, so that fresh draws may join it afterwards.
        norm: One of `NORMS`.
        rounds: How many times fresh draws were compared with a growing set. Round k was allowed to
            err with probability delta / (k (k + 1)); in all that is less than delta.
        asked: The p that was asked for, if any.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block").problem
        >>> law = carom.Routh(num_samples=1000, until=(0.01, 0.05, 0.05))
        >>> holdout = law.resolve(block).holdout
        >>> holdout.is_met, holdout.p <= 0.05, holdout.trials
        (True, True, 1000)
    """

    epsilon: float
    delta: float
    p: float
    misses: int
    trials: int
    num_samples: int
    norm: str = "contact"
    rounds: int = 1
    asked: float | None = None

    @property
    def is_met(self) -> bool:
        """Return whether p is as small as was asked for."""
        return self.asked is None or self.p <= self.asked

    def __str__(self) -> str:
        unit = " m/s of contact velocity" if self.norm == "contact" else " |v_pre|_M"
        sure = f"{100 * (1 - self.delta):.12g} % confidence"
        text = (
            f"with {sure} at most {_percent(self.p)} of further draws lie more than "
            f"{self.epsilon:.4g}{unit} from every sample ({self.misses:,} of {self.trials:,} fresh "
            f"draws did, compared with {self.num_samples:,})"
        )
        if self.is_met or self.asked is None:
            return text
        return f"{text}; {_percent(self.asked)} was asked for and not reached"


def holdout_bound(misses: int, trials: int, delta: float) -> float:
    """Return the largest probability that is not ruled out by few misses in many trials.

    It is the exact one-sided bound of Clopper and Pearson: the p at which so many misses or fewer
    have probability delta. If the true probability is larger, they have less.

    Args:
        misses: Number of misses.
        trials: Number of independent trials.
        delta: Probability that the bound is too small.

    Raises:
        InvalidOption: An argument is out of range; the message names it.

    Examples:
        Without a miss the bound is 1 - delta^(1 / trials).

        >>> from carom.outcomes.holdout import holdout_bound
        >>> round(holdout_bound(0, 300, 0.05), 4), round(holdout_bound(3, 300, 0.05), 4)
        (0.0099, 0.0256)
    """
    checks.integer("trials", trials, 1)
    checks.integer("misses", misses, 0, trials)
    checks.share("delta", delta)
    if misses == trials:
        return 1.0
    if misses == 0:
        return -math.expm1(math.log(delta) / trials)
    return float(betainccinv(misses + 1, trials - misses, delta))


def hold_out(
    outcomes: PointSet,
    fresh: PointSet,
    epsilon: float,
    delta: float = 0.05,
    norm: str = "contact",
) -> Holdout:
    """Bound how much of what can be drawn a set of samples misses, by fresh draws.

    Args:
        outcomes: The samples.
        fresh: Draws that had no part in making or choosing them, e.g. of the same law with another
            seed. The bound is about further draws of this kind.
        epsilon: Distance, in the norm's unit.
        delta: Probability that the bound is too small.
        norm: "contact" [m/s] or "energy" [|v_pre|_M]; see `NORMS`.

    Raises:
        InvalidOption: An argument is out of range, or the fresh draws are the samples themselves.

    Examples:
        >>> import carom
        >>> from carom.outcomes.holdout import hold_out
        >>> block = carom.scenes.load("rocking-block").problem
        >>> one, two = (carom.Routh(1000, seed=seed).resolve(block) for seed in (0, 1))
        >>> hold_out(one, two, epsilon=0.01).p < 0.02
        True
    """
    checks.positive("epsilon", epsilon)
    checks.share("delta", delta)
    if outcomes.v_post.shape[1] != fresh.v_post.shape[1]:
        raise InvalidOption("fresh: expected outcomes of the same problem, got other dimensions")
    count = min(len(outcomes), len(fresh))
    first = outcomes.v_post[:count]
    if np.array_equal(first, fresh.v_post[:count]) and np.ptp(first, axis=0).any():
        raise InvalidOption("fresh: expected other draws, e.g. of another seed, got the same")
    to_points = velocity_map(outcomes.problem, norm)
    points = (outcomes.v_post - outcomes.problem.v_pre) @ to_points.T
    queries = (fresh.v_post - outcomes.problem.v_pre) @ to_points.T
    misses = count_misses(points, queries, epsilon) + fresh.num_unfinished
    trials = len(fresh) + fresh.num_unfinished
    p = holdout_bound(misses, trials, delta)
    return Holdout(float(epsilon), float(delta), p, misses, trials, len(outcomes), norm)


def velocity_map(problem: ImpactProblem, norm: str) -> FloatArray:
    """Return T (k, nv) such that |T (v - w)| is the distance of two outcomes v and w.

    Impulses can change velocity along few directions, which k counts: trees of nearest neighbours
    are quicker with fewer coordinates.

    Raises:
        InvalidOption: There is no such norm.
    """
    checks.choice("norm", norm, NORMS)
    if norm == "contact":
        full = problem.J
    else:
        full = np.asarray(np.linalg.cholesky(problem.M).T, np.float64) / (
            problem.energy_norm or 1.0
        )
    # By size of effect, so that no unit of a contact decides what counts as none.
    effect = full @ problem.impulse_to_velocity
    length = np.linalg.norm(effect, axis=0)
    left, sizes, _ = np.linalg.svd(effect / np.where(length > 0.0, length, 1.0))
    rank = int((sizes > VANISHING * sizes[0]).sum())
    return np.asarray(left[:, :rank].T @ full)


def count_misses(
    points: FloatArray, queries: FloatArray, epsilon: float, num_threads: int | None = None
) -> int:
    """Count the queries (q, k) that lie more than epsilon from every point (n, k)."""
    if not len(points) or not len(queries):
        return len(queries)
    tree = distinct_tree(points)
    # Distances are asked to be less than the limit, and at epsilon is near enough.
    limit = np.nextafter(epsilon, np.inf)
    distance, _ = tree.query(queries, distance_upper_bound=limit, workers=num_threads or -1)
    return int(np.isinf(distance).sum())


def distinct_tree(points: FloatArray) -> cKDTree:
    """Return a tree of points (n, k), each once.

    The same outcome may make up half of the samples, and a tree cannot part what is equal.
    """
    ordered = points[np.lexsort(points.T)]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    return cKDTree(ordered[new])


def _percent(p: float) -> str:
    """Write a probability in per cent with three digits, rounded up: a bound stays one."""
    digits = 2 - math.floor(math.log10(100.0 * p))
    # A hair less, so that what has three digits keeps them.
    return f"{math.ceil(100.0 * p * 10.0**digits * (1.0 - 1e-12)) / 10.0**digits:.3g} %"
