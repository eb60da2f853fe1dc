"""One contact after another, in a given order or in every order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import final

import numpy as np

from carom import checks
from carom.contact_space import ContactSpace
from carom.errors import ImpactNotResolved, InvalidOption, InvalidProblem
from carom.kernels.tolerances import COLLIDING, DISTINCT
from carom.laws.bouncing_sequence import BouncingSequence
from carom.laws.law import ImpactLaw, energy_rises
from carom.laws.planar_impact import RULES
from carom.outcomes.finite import FiniteSet
from carom.outcomes.path import ImpactPath
from carom.problem import ImpactProblem
from carom.stepping import modes_and_impulses, nothing_acts
from carom.typing import FloatArray

MOST_BRANCHES = 1000
MOST_ORDERED = 7
# Longer labels would fill the legend of a figure.
MOST_NAMED = 6


@final
@dataclass(frozen=True, eq=False, repr=False)
class Sequential(ImpactLaw):
    """Resolve one contact at a time, cyclically, until none approaches.

    Contacts that do not approach are skipped. Each single impact follows Anitescu and Potra, and
    each of its solutions is followed. Their law differs from Routh's if a contact starts to stick
    during an impact, so a sequence can end outside of the set that `RouthExact` returns. If
    `problem.without_collision` and no contact approaches, the first contact of the order that is at
    rest and can act alone begins.

    If a contact of the problem has restitution, each single impact is Routh's instead, in closed
    form and for planar contacts only: the normal impulse p grows, with Coulomb friction at every
    moment, through compression to v_n = 0 and on through restitution, until, by `rule`,

    - "stronge": the normal force has returned e^2 of its work in compression;
    - "poisson": p is 1 + e times what it was at the end of compression;
    - "newton": v_n is -e times what it was before.

    The three agree if the contact sticks, or slides one way, all along. Otherwise Newton's rule
    can raise the kinetic energy of a single impact, Poisson's can where contacts wait for each
    other (`compress_first`), and Stronge's never does. `notes` say of each outcome where kinetic
    energy rises. Phases are the steps of a path.

    Args:
        order: Contact names, each at least once, or None for all orders.
        max_impacts: Maximum number of single impacts in a sequence.
        rule: Rule of restitution: "stronge", "poisson" or "newton".
        compress_first: Whether contacts with restitution return what they stored only after all
            have compressed, in the same order; not with Newton's rule. It counts as two impacts.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.Sequential().resolve(block)
        >>> outcomes.labels, round(float(outcomes.contact_velocities.max()), 9)
        (('A → B', 'B → A'), 0.21)
        >>> carom.Sequential(order=("A", "B")).draw_path(block, seed=0).modes
        (('closed, sticking', 'idle'), ('free', 'closed, sticking'))

        A ball hits the first of two others, all equal: it stops, and the last one leaves.

        >>> cradle = carom.ImpactProblem(
        ...     M=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], J_n=[[-1, 1, 0], [0, -1, 1]],
        ...     J_t=[[0, 0, 0], [0, 0, 0]], mu=0.0, v_pre=[1, 0, 0], restitution=1.0)
        >>> outcomes = carom.Sequential().resolve(cradle)
        >>> outcomes.labels, outcomes.v_post.round(9).tolist()
        (('A → B',), [[0.0, 0.0, 1.0]])
    """

    order: Sequence[str] | None = None
    max_impacts: int = 1000
    rule: str = "stronge"
    compress_first: bool = False

    def __post_init__(self) -> None:
        checks.integer("max_impacts", self.max_impacts, 1)
        checks.choice("rule", self.rule, RULES)
        if self.compress_first and self.rule == "newton":
            raise InvalidOption(
                "compress_first: expected the rule stronge or poisson with it, got newton, which "
                "stores nothing"
            )

    def resolve(self, problem: ImpactProblem) -> FiniteSet:
        """Return the outcome of each sequence, labelled by its contacts in order.

        Args:
            problem: The impact.

        Raises:
            ImpactNotResolved: No sequence ended, or a contact at rest must act and none can.
            InvalidProblem: Contacts in space have restitution.
        """
        if problem.bounces and problem.num_tangents != 1:
            raise InvalidProblem(
                "J_t: expected planar contacts, for which alone Sequential knows restitution, got "
                f"{problem.num_tangents} tangents each; use carom.Routh"
            )
        states = [state for order in self._orders(problem) for state in self._run(problem, order)]
        if not states:
            raise nothing_acts(problem)
        # Orders that differ only in contacts that never approach give the same sequence.
        states = list({(state.sequence, state.v_c.tobytes()): state for state in states}.values())
        ends = [state for state in states if state.is_over]
        endless = [state for state in states if not state.is_over]
        reasons = tuple(
            f"the sequence {_label(problem, state)} {state.trouble}" for state in endless
        )
        if not ends:
            raise ImpactNotResolved("no sequence ended: " + "; ".join(reasons), problem)
        labels = tuple(_label(problem, state) for state in ends)
        steps = tuple(_singles(problem, state) for state in ends)
        return FiniteSet(
            problem=problem,
            law=f"Sequential, {self.rule.capitalize()}" if problem.bounces else "Sequential",
            steps=steps,
            is_complete=not endless,
            labels=labels,
            notes=energy_rises(problem, steps, labels) if problem.bounces else (),
            steps_unfinished=tuple(_singles(problem, state) for state in endless),
            unfinished=reasons,
        )

    def draw_path(self, problem: ImpactProblem, seed: int) -> ImpactPath:
        """Draw one sequence and return its path, with one step per single impact.

        Names in the order that the problem does not have are ignored, because in a motion not every
        contact touches in every impact. Without an order, all sequences are equally likely, or with
        more than seven contacts all orders.

        Args:
            problem: The impact.
            seed: Seed of the random generator, an integer >= 0.

        Raises:
            ImpactNotResolved: No sequence ended, or a contact at rest must act and none can.
        """
        names = (self.order,) if isinstance(self.order, str) else self.order
        if names is None:
            if problem.num_contacts <= MOST_ORDERED:
                return super().draw_path(problem, seed)
            # There are too many orders to list, but a draw needs only one.
            checks.integer("seed", seed, 0)
            order = np.random.default_rng(seed).permutation(problem.num_contacts)
            names = tuple(problem.contacts[i] for i in order)
        touching = tuple(name for name in names if name in problem.contacts)
        # Not the new law's own draw_path, which would recurse.
        return ImpactLaw.draw_path(replace(self, order=touching), problem, seed)

    def _orders(self, problem: ImpactProblem) -> list[tuple[int, ...]]:
        names = problem.contacts
        if self.order is None:
            if len(names) > MOST_ORDERED:
                raise InvalidOption(
                    f"order: expected one for more than {MOST_ORDERED} contacts, got none; "
                    f"{len(names)} contacts have too many to try them all"
                )
            return list(permutations(range(len(names))))
        order = (self.order,) if isinstance(self.order, str) else tuple(self.order)
        unknown = [name for name in order if name not in names]
        missing = [name for name in names if name not in order]
        if unknown or missing:
            raise InvalidOption(
                f"order: expected each of {', '.join(names)} at least once, got {', '.join(order)}"
            )
        return [tuple(names.index(name) for name in order)]

    def _run(self, problem: ImpactProblem, order: tuple[int, ...]) -> list[_State]:
        """Follow an order to its end, through every solution of every single impact."""
        if problem.bounces:
            return self._bounce(problem, order)
        width = problem.space.width
        waiting = [_State(problem.start, (), (), 0)]
        if problem.starts_at_rest:
            waiting = waiting[0].act_at_rest(problem.space, order)
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

    def _bounce(self, problem: ImpactProblem, order: tuple[int, ...]) -> list[_State]:
        """Follow an order to its end in closed form."""
        run = BouncingSequence(problem, order, self.rule, self.max_impacts)
        if not run.follow(compress_first=self.compress_first):
            return []
        sequence, does = tuple(i for i, _ in run.turns), tuple(word for _, word in run.turns)
        state = _State(run.v_c, tuple(run.impulses), sequence, 0, does=does)
        return [replace(state, is_over=not run.trouble, trouble=run.trouble)]


@dataclass(frozen=True, eq=False)
class _State:
    """A sequence so far: dimensionless velocities and impulses, contacts hit, place in order."""

    v_c: FloatArray
    impulses: tuple[FloatArray, ...]
    sequence: tuple[int, ...]
    place: int
    is_over: bool = False
    trouble: str = ""
    does: tuple[str, ...] = ()

    def hit(self, space: ContactSpace, order: tuple[int, ...]) -> list[_State]:
        """Return all states after the next approaching contact of the order acts."""
        place = self.place
        while self.v_c[order[place % len(order)] * space.width] >= -COLLIDING:
            place += 1
        return self._act(space, order[place % len(order)], place)

    def act_at_rest(self, space: ContactSpace, order: tuple[int, ...]) -> list[_State]:
        """Return all states after the first contact acts that is at rest and can act alone."""
        for place, i in enumerate(order):
            if self.v_c[i * space.width] == 0.0:
                after = self._act(space, i, place)
                after = [s for s in after if np.abs(s.v_c - self.v_c).max() > DISTINCT]
                if after:
                    return after
        return []

    def _act(self, space: ContactSpace, i: int, place: int) -> list[_State]:
        """Return all states after contact i acts."""
        block = slice(i * space.width, (i + 1) * space.width)
        _, solutions = modes_and_impulses(space.part([i]), self.v_c[block], None)
        states = []
        for solution in solutions:
            impulse = np.zeros_like(self.v_c)
            impulse[block] = solution
            v_c = self.v_c + space.A[:, block] @ solution
            v_c[i * space.width] = max(0.0, v_c[i * space.width])
            states.append(_State(v_c, (*self.impulses, impulse), (*self.sequence, i), place + 1))
        return states


def _singles(problem: ImpactProblem, state: _State) -> FloatArray:
    """Return the impulses (steps, c) of a state's single impacts [N s]."""
    unit = np.repeat(problem.space.impulse_unit, problem.space.width)
    return np.array(state.impulses).reshape(-1, len(unit)) * unit


def _label(problem: ImpactProblem, state: _State) -> str:
    names = [problem.contacts[i] for i in state.sequence] or ["does not collide"]
    if any(state.does):
        names = [f"{name} {word}" for name, word in zip(names, state.does, strict=True)]
    if len(names) > MOST_NAMED:
        return " → ".join([*names[:3], "…", names[-1]]) + f" ({len(names)} impacts)"
    return " → ".join(names)
