"""Sample until fresh draws show that little is missed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from carom import checks
from carom.errors import InvalidOption
from carom.outcomes.holdout import NORMS, Holdout, count_misses, holdout_bound
from carom.stepping.at_rest import StartedSampler
from carom.stepping.motions import MotionSampler
from carom.stepping.sampler import Sampler
from carom.typing import FloatArray

AnySampler = Sampler | StartedSampler | MotionSampler

Draw = Callable[[int, int], FloatArray]
"""Return the points (n, k) of draws number `first` to `first + count`, without those that did not
end: n <= count."""


@dataclass(frozen=True)
class Goal:
    """What shall be shown of a set of samples; see `carom.outcomes.holdout.Holdout`."""

    epsilon: float
    p: float
    delta: float
    norm: str
    max_samples: int  # fresh draws included, at which it is given up

    @classmethod
    def check(cls, until: object, norm: str, max_samples: int, num_samples: int) -> Goal:
        """Take a goal from options."""
        if not isinstance(until, tuple | list) or len(until) != 3:
            raise InvalidOption(f"until: expected (epsilon, p, delta), got {until!r}")
        epsilon, p, delta = until
        checks.positive("until: epsilon", epsilon)
        checks.share("until: p", p)
        checks.share("until: delta", delta)
        checks.choice("norm", norm, NORMS)
        checks.integer("max_samples", max_samples, 1)
        # The last set is no smaller than a quarter of the limit, and as many draws are fresh.
        least = max(2 * num_samples, 4 * math.ceil(math.log(delta / 2.0) / math.log1p(-p)))
        if max_samples < least:
            raise InvalidOption(
                f"max_samples: expected at least {least:,} for these num_samples, p and delta, "
                f"got {max_samples:,}"
            )
        return cls(float(epsilon), float(p), float(delta), norm, int(max_samples))


def draw_until(draw: Draw, num_samples: int, goal: Goal, num_threads: int | None = None) -> Holdout:
    """Double a set of draws until as many fresh ones show that it misses little.

    Fresh draws are independent of the set that they are compared with, whatever led to it, so that
    round k errs with probability delta_k = delta / (k (k + 1)) at most, and all rounds together
    with delta, however many there are. They join the set afterwards: it misses no more then.
    A round that would not do even without a miss is not held, and costs nothing.
    """
    count, rounds = num_samples, 0
    points = draw(0, count)
    best: Holdout | None = None
    while best is None or (not best.is_met and 2 * count <= goal.max_samples):
        fresh = draw(count, count)
        delta = goal.delta / ((rounds + 1) * (rounds + 2))
        if holdout_bound(0, count, delta) <= goal.p:
            rounds += 1
            far = count_misses(points, fresh, goal.epsilon, num_threads)
            misses = far + count - len(fresh)
            p = holdout_bound(misses, count, delta)
            if best is None or p < best.p:
                sizes = misses, count, len(points)
                best = Holdout(goal.epsilon, goal.delta, p, *sizes, goal.norm, rounds, goal.p)
        points = np.concatenate([points, fresh])
        count *= 2
    return best


def begin_at(sampler: AnySampler, first: int) -> AnySampler:
    """Return a sampler whose sample 0 is sample `first` of the given one, and so on."""
    if not first:
        return sampler
    if isinstance(sampler, MotionSampler):
        return replace(sampler, first=sampler.first + first)
    if isinstance(sampler, Sampler):
        return replace(sampler, number=sampler.number + first)
    turns = len(sampler.samplers)
    own = []
    for k, each in enumerate(sampler.samplers):
        # The number of earlier samples that begin with first step k.
        before = -((first - (k - sampler.shift) % turns) // -turns)
        own.append(replace(each, number=each.number + max(before, 0)))
    return replace(sampler, samplers=tuple(own), shift=(sampler.shift + first) % turns)


def whole_turns(sampler: AnySampler, num_samples: int) -> int:
    """Return a number of samples, rounded up so that all first steps come equally often.

    Samples that take turns are not quite independent draws. With whole turns the number of misses
    varies less than that of independent ones, and large deviations are rarer [Hoeffding1956], so
    that the bound holds all the same.
    """
    turns = len(sampler.samplers) if isinstance(sampler, StartedSampler) else 1
    return -(num_samples // -turns) * turns
