"""All outcomes of a law that has finitely many."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from carom.errors import InvalidOption
from carom.outcomes.path import ImpactPath
from carom.outcomes.points import PointSet
from carom.problem import ImpactProblem
from carom.typing import FloatArray, IntArray


@final
@dataclass(frozen=True, eq=False, repr=False)
class FiniteSet(PointSet):
    """Outcomes of a law that has finitely many, each with the steps that lead to it.

    Attributes:
        problem: The impact.
        law: Name of the law that computed the set.
        steps: Impulses (k, m (1 + d)) of the steps of each outcome, contact by contact, normal
            first [N s].
        is_complete: Whether no outcome of the law can be missing.
        labels: Description of each outcome, or of what led to it.
        notes: Remarks on how the set was found, one sentence each.
        steps_unfinished: (k, m (1 + d)) impulses of sequences that did not end, as in `steps`.
        unfinished: Reasons why they did not end, one sentence each.
        v_post: (n, nv) outcomes.
        impulse_n, impulse_t: (n, m) and (n, m, d) impulses, summed over the impact [N s].
        num_steps: (n,) number of steps of each outcome.
        v_unfinished: (k, nv) last velocities of unfinished sequences, which are not outcomes.

    Examples:
        A block lands flat with 1 m/s. One corner after the other, it pivots on the second.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.Sequential().resolve(block)
        >>> outcomes.orders
        ((('A',), ('B',)), (('B',), ('A',)))
        >>> len(outcomes), outcomes.labels, outcomes.kinds
        (2, ('A → B', 'B → A'), ('A lifts, B sticks', 'A sticks, B lifts'))
        >>> print(outcomes.path_to(outcomes.v_post[0]))
        1. A pushes 0.85 N s (closed, sticking)
        2. B pushes 0.255 N s (closed, sticking)
        then A lifts, B sticks
    """

    problem: ImpactProblem
    law: str
    steps: tuple[FloatArray, ...]
    is_complete: bool
    labels: tuple[str, ...]
    notes: tuple[str, ...] = ()
    steps_unfinished: tuple[FloatArray, ...] = ()
    unfinished: tuple[str, ...] = ()
    v_post: FloatArray = field(init=False)
    impulse_n: FloatArray = field(init=False)
    impulse_t: FloatArray = field(init=False)
    num_steps: IntArray = field(init=False)
    v_unfinished: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        problem = self.problem
        if len(self.labels) != len(self.steps):
            raise InvalidOption(
                f"labels: expected one per outcome, {len(self.steps)}, got {len(self.labels)}"
            )
        width = len(problem.J)
        for i, own in enumerate((*self.steps, *self.steps_unfinished)):
            if own.ndim != 2 or own.shape[1] != width:
                raise InvalidOption(
                    f"steps: expected impulses of shape (k, {width}) per outcome, got {own.shape} "
                    f"for number {i}"
                )
        totals, lost = _totals(problem, self.steps), _totals(problem, self.steps_unfinished)
        blocks = totals.reshape(len(totals), problem.num_contacts, -1)
        derived = {
            "v_post": problem.velocity_after(totals),
            "impulse_n": blocks[:, :, 0],
            "impulse_t": blocks[:, :, 1:],
            "num_steps": np.array([len(own) for own in self.steps], np.int64),
            "v_unfinished": problem.velocity_after(lost),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)
        self._check_shapes()

    @property
    def orders(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """Return for each outcome, step by step, the names of the contacts that push."""
        blocks = (own.reshape(len(own), self.problem.num_contacts, -1) for own in self.steps)
        return tuple(tuple(self._pushing(step) for step in own) for own in blocks)

    def _pushing(self, step: FloatArray) -> tuple[str, ...]:
        return tuple(c for c, own in zip(self.problem.contacts, step, strict=True) if own[0] > 0.0)

    def path(self, i: int) -> ImpactPath:
        return ImpactPath.of_impulses(self.problem, self.steps[i])


def _totals(problem: ImpactProblem, steps: tuple[FloatArray, ...]) -> FloatArray:
    """Return the total impulses (n, c) of sequences of steps."""
    return np.array([own.sum(axis=0) for own in steps]).reshape(-1, len(problem.J))
