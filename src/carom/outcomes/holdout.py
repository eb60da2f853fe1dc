"""Bound the probability that a further draw lies far from every sample.

The share of independent fresh draws that miss a set of samples bounds the probability of a miss,
whatever the law and the dimension. It says nothing about outcomes that are rarely drawn, however
far away: for these, `carom.outcomes.distances.coverage_distance` compares with an exact set.
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
"""Norms of the difference of two outcomes. "contact", the default, is the Euclidean norm of all
contact velocities [m/s], which does not depend on coordinates and bounds the difference at every
contact. "energy" is |v|_M as a share of |v_pre|_M: 0.1 is a hundredth of the impact's energy."""


@dataclass(frozen=True)
class Holdout:
    """Bound on the probability that a further draw lies far from every sample.

    Attributes:
        epsilon: Distance that counts as far, in the norm's unit.
        delta: Probability that p is too small.
        p: The bound.
        misses: Number of fresh draws that were far from every sample, or unfinished.
        trials: Number of fresh draws.
        num_samples: Number of samples that these were compared with. The fresh draws may join the
            samples afterwards, which only lowers the probability.
        norm: "contact" [m/s], or "energy" as a share of |v_pre|_M.
        rounds: Number of comparisons with a growing set. Round k may err with probability
            delta / (k (k + 1)), which sums to less than delta.
        asked: The requested p, or None.

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
        """Return whether p is as small as requested."""
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
    """Return the one-sided Clopper-Pearson bound on the probability of a miss.

    It is the p at which at most this number of misses has probability delta.
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
    """Bound the probability that a further draw lies more than epsilon from every sample.

    Fresh draws must be independent of the samples, e.g. of the same law with another seed.
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

    k is the number of directions along which impulses can change the velocity: nearest-neighbour
    trees are faster with fewer coordinates.
    """
    checks.choice("norm", norm, NORMS)
    if norm == "contact":
        full = problem.J
    else:
        root = np.asarray(np.linalg.cholesky(problem.M).T, np.float64)
        full = root / (problem.energy_norm or 1.0)
    # Columns of unit length, so that the rank does not depend on the units of a contact.
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
    # The tree searches distances strictly below its bound; epsilon itself is no miss.
    limit = np.nextafter(epsilon, np.inf)
    distance, _ = tree.query(queries, distance_upper_bound=limit, workers=num_threads or -1)
    return int(np.isinf(distance).sum())


def distinct_tree(points: FloatArray) -> cKDTree:
    """Return a tree of the distinct points of (n, k); half of the samples may be one outcome."""
    ordered = points[np.lexsort(points.T)]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    return cKDTree(ordered[new])


def _percent(p: float) -> str:
    """Format a probability in per cent with three digits, rounded up so that it stays a bound."""
    digits = 2 - math.floor(math.log10(100.0 * p))
    # Slightly reduced, so that rounding errors do not raise the last digit.
    return f"{math.ceil(100.0 * p * 10.0**digits * (1.0 - 1e-12)) / 10.0**digits:.3g} %"
