"""One contact after another, in a given order or in every order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, final

import numpy as np

from carom.errors import ImpactNotResolved, InvalidProblem
from carom.friction import ContactSpace
from carom.impact.law import ImpactLaw, check_integer
from carom.kernels.tolerances import COLLIDING
from carom.lcp import modes_and_impulses
from carom.outcomes.sampled import SampledSet
from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.impact.problem import ImpactProblem

MOST_BRANCHES = 1000
MOST_ORDERED = 7


@final
@dataclass(frozen=True, eq=False)
class Sequential(ImpactLaw):
    """Resolve one contact at a time, again and again, until none approaches.

    The order is cycled, and a contact that does not approach is passed over. Each single impact
    follows Anitescu and Potra; where that has several solutions, every one is followed.

    Args:
        order: Contact names, each at least once, or None for every order.
        max_impacts: Single impacts after which a sequence counts as one that does not end.

    Example:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block").problem
        >>> carom.Sequential(order=("A", "B")).resolve(block).labels
        ('A → B',)
    """

    order: Sequence[str] | None = None
    max_impacts: int = 1000

    def __post_init__(self) -> None:
        check_integer("max_impacts", self.max_impacts, 1)

    def resolve(self, problem: ImpactProblem) -> SampledSet:
        """Return the outcome of each sequence; labels tell the contacts in order.

        Raises:
            InvalidProblem: The order names a contact that there is not, or leaves one out.
            ImpactNotResolved: No sequence ended.
        """
        states = [state for order in self._orders(problem) for state in self._run(problem, order)]
        # Orders that differ only in contacts that never approach are one sequence.
        states = list({(state.sequence, state.v_c.tobytes()): state for state in states}.values())
        ends = [state for state in states if state.is_over]
        endless = [state for state in states if not state.is_over]
        reasons = tuple(
            f"the sequence {_label(problem, state.sequence)} {state.trouble}" for state in endless
        )
        if not ends:
            raise ImpactNotResolved("no sequence ended: " + "; ".join(reasons), problem)
        space = problem.space
        impulses = _impulses(problem, ends)
        shaped = impulses.reshape(len(ends), space.num_contacts, space.width)
        return SampledSet(
            problem=problem,
            law="Sequential",
            v_post=problem.velocity_after(impulses),
            impulse_n=shaped[:, :, 0],
            impulse_t=shaped[:, :, 1:],
            num_steps=np.array([len(state.sequence) for state in ends]),
            is_complete=not endless,
            labels=tuple(_label(problem, state.sequence) for state in ends),
            v_unfinished=problem.velocity_after(_impulses(problem, endless)),
            unfinished=reasons,
        )

    def _orders(self, problem: ImpactProblem) -> list[tuple[int, ...]]:
        names = problem.contacts
        if self.order is None:
            if len(names) > MOST_ORDERED:
                raise InvalidProblem(
                    f"order: expected one for more than {MOST_ORDERED} contacts, got none; "
                    f"{len(names)} contacts have too many to try them all"
                )
            return list(permutations(range(len(names))))
        order = (self.order,) if isinstance(self.order, str) else tuple(self.order)
        unknown = [name for name in order if name not in names]
        missing = [name for name in names if name not in order]
        if unknown or missing:
            raise InvalidProblem(
                f"order: expected each of {', '.join(names)} at least once, got {', '.join(order)}"
            )
        return [tuple(names.index(name) for name in order)]

    def _run(self, problem: ImpactProblem, order: tuple[int, ...]) -> list[_State]:
        """Follow an order to its end, through every solution of every single impact."""
        width = problem.space.width
        waiting = [_State(problem.start, np.zeros_like(problem.start), (), 0)]
        ended: list[_State] = []
        while waiting:
            state = waiting.pop()
            if not (state.v_c[::width] < -COLLIDING).any():
                ended.append(replace(state, is_over=True))
            elif len(state.sequence) >= self.max_impacts:
                ended.append(replace(state, trouble="did not end; raise max_impacts"))
            elif len(ended) >= MOST_BRANCHES:
                ended.append(replace(state, trouble="was not followed: there are too many"))
            else:
                after = state.hit(problem.space, order)
                waiting += after
                if not after:
                    trouble = "met a single impact without an accurate solution"
                    ended.append(replace(state, trouble=trouble))
        return ended


@dataclass(frozen=True, eq=False)
class _State:
    """A sequence under way: dimensionless velocities and impulses, contacts hit, place in order."""

    v_c: FloatArray
    impulse: FloatArray
    sequence: tuple[int, ...]
    place: int
    is_over: bool = False
    trouble: str = ""

    def hit(self, space: ContactSpace, order: tuple[int, ...]) -> list[_State]:
        """Resolve the next approaching contact of the order, in every way that it can."""
        place = self.place
        while self.v_c[order[place % len(order)] * space.width] >= -COLLIDING:
            place += 1
        i = order[place % len(order)]
        block = slice(i * space.width, (i + 1) * space.width)
        single = space.single(i)
        _, solutions = modes_and_impulses(single, self.v_c[block], None)
        states = []
        for solution in solutions:
            impulse = self.impulse.copy()
            impulse[block] += solution
            v_c = self.v_c + space.A[:, block] @ solution
            v_c[i * space.width] = max(0.0, v_c[i * space.width])
            states.append(_State(v_c, impulse, (*self.sequence, i), place + 1))
        return states


def _impulses(problem: ImpactProblem, states: list[_State]) -> FloatArray:
    """Return the impulses (n, c) of some states [N s]."""
    unit = np.repeat(problem.space.impulse_unit, problem.space.width)
    return np.array([state.impulse for state in states]).reshape(-1, len(unit)) * unit


def _label(problem: ImpactProblem, sequence: tuple[int, ...]) -> str:
    names = [problem.contacts[i] for i in sequence]
    if len(names) > 8:
        return " → ".join([*names[:4], "…", names[-1]]) + f" ({len(names)} impacts)"
    return " → ".join(names)
