"""Samples of a law that has infinitely many outcomes."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Protocol, final

import numpy as np

from carom.errors import CaromError
from carom.outcomes.holdout import Holdout
from carom.outcomes.path import ImpactPath
from carom.outcomes.points import PointSet
from carom.problem import ImpactProblem
from carom.typing import FloatArray, IntArray


class Replay(Protocol):
    """A law that is prepared to run samples of one problem again."""

    def path(self, number: int, num_steps: int) -> ImpactPath: ...


class SamplingLaw(Protocol):
    """A picklable law that can run samples of a problem again by their numbers."""

    def replay(self, problem: ImpactProblem) -> Replay: ...


@final
@dataclass(frozen=True, eq=False, repr=False)
class SampledSet(PointSet):
    """Samples of the outcomes of an impact.

    Attributes:
        problem: The impact.
        law: Name of the law that computed the set.
        v_post: (n, nv) outcomes.
        impulse_n, impulse_t: (n, m) and (n, m, d) impulses, summed over the impact [N s].
        num_steps: (n,) number of steps of each sample.
        is_complete: Whether no outcome of the law can be missing.
        notes: Remarks on how the set was found, one sentence each.
        v_unfinished: (k, nv) last velocities of unfinished samples, which are not outcomes.
        unfinished: Reasons why samples are unfinished, one sentence each.
        holdout: Bound on what the samples miss, if `until` was given.
        step_impulse: Largest normal impulse h of a step [N s], to which errors are proportional, or
            None if there are no errors.
        numbers: (n,) number of each sample among all that were drawn.
        origin: The law with its options, which runs samples again to return their paths.

    With `is_checked`, a constructor takes it that arrays fit together and are finite.

    Examples:
        A block lands flat with 1 m/s.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.Routh(num_samples=1000).resolve(block)
        >>> len(outcomes), outcomes.num_unfinished, outcomes.contact_velocities.shape
        (1000, 0, (1000, 2, 2))
        >>> outcomes.contains([0.0, 0.0, 0.0]), round(outcomes.distance(block.v_pre), 3)
        (True, 1.0)
        >>> sticks, slides, lifts = outcomes.contact_states
        >>> bool(slides.any()), bool((lifts[:, 0] & lifts[:, 1]).any())
        (False, False)
        >>> path = outcomes.path_to(outcomes.v_post[7])
        >>> bool(abs(path.v_post - outcomes.v_post[7]).max() < 1e-12)
        True
        >>> print(outcomes.summary().splitlines()[0])
        Routh, exact motions: 1,000 outcomes (outcomes may be missing)
    """

    problem: ImpactProblem
    law: str
    v_post: FloatArray
    impulse_n: FloatArray
    impulse_t: FloatArray
    num_steps: IntArray
    is_complete: bool
    notes: tuple[str, ...] = ()
    v_unfinished: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    unfinished: tuple[str, ...] = ()
    holdout: Holdout | None = None
    step_impulse: float | None = None
    numbers: IntArray | None = None
    origin: SamplingLaw | None = None
    is_checked: InitVar[bool] = False

    def __post_init__(self, is_checked: bool) -> None:
        if not len(self.v_unfinished):
            object.__setattr__(self, "v_unfinished", np.empty((0, self.v_post.shape[1])))
        # Looking through a million samples takes as long as computing their velocities.
        if not is_checked:
            self._check_shapes()

    @cached_property
    def _replay(self) -> Replay:
        if self.origin is None:
            raise CaromError(f"{self.law}: these samples have no origin that could run them again")
        return self.origin.replay(self.problem)

    def path(self, i: int) -> ImpactPath:
        number = i if self.numbers is None else int(self.numbers[i])
        return self._replay.path(number, int(self.num_steps[i]))
