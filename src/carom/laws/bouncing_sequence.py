"""One contact after another, where contacts return some of their compression."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from carom.kernels.tolerances import COLLIDING, DISTINCT
from carom.laws.planar_impact import Endless, PlanarImpact
from carom.problem import ImpactProblem
from carom.typing import FloatArray


@final
@dataclass(eq=False)
class BouncingSequence:
    """Follow one order of contacts, cyclically, until none approaches and all has returned.

    Attributes:
        problem: The impact, with planar contacts.
        order: Numbers of contacts.
        rule: Rule of restitution, see `PlanarImpact`.
        max_impacts: Maximum number of turns.
        v_c: (2 m,) dimensionless contact velocities so far.
        store: (m,) what each contact has left to return.
        impulses: Dimensionless impulses (2 m,) of the phases so far.
        turns: Contacts that had a turn so far, in order, and what they did in it.
        trouble: Why the sequence did not end, or "".
    """

    problem: ImpactProblem
    order: tuple[int, ...]
    rule: str
    max_impacts: int
    v_c: FloatArray = field(init=False)
    store: FloatArray = field(init=False)
    impulses: list[FloatArray] = field(default_factory=list)
    turns: list[tuple[int, str]] = field(default_factory=list)
    trouble: str = ""

    def __post_init__(self) -> None:
        self.v_c = self.problem.start.copy()
        self.store = np.zeros(self.problem.num_contacts)

    @property
    def approaching(self) -> list[int]:
        """Return the contacts that approach."""
        return np.flatnonzero(self.v_c[::2] < -COLLIDING).tolist()

    def follow(self, *, compress_first: bool) -> bool:
        """Follow the order to its end; return whether anything can act, as it can in a collision.

        Args:
            compress_first: Whether contacts return only after all have compressed.
        """
        if self.problem.starts_at_rest and not self._begin_at_rest():
            return False
        try:
            if compress_first:
                self._compress_and_return()
            else:
                self._cycle("")
        except Endless as error:
            self.trouble = str(error)
        return True

    def _begin_at_rest(self) -> bool:
        """Let the first contact act that is at rest and can act alone."""
        before = self.v_c.copy()
        for i in self.order:
            if self.v_c[2 * i] == 0.0:
                self._act(i, "")
                if np.abs(self.v_c - before).max() > DISTINCT:
                    return True
                self.turns.clear()
                self.impulses.clear()
        return False

    def _compress_and_return(self) -> None:
        while not self.trouble:
            self._cycle("compresses")
            waiting = [i for i in dict.fromkeys(self.order) if self.store[i] > 0.0]
            if not waiting:
                return
            for i in waiting:
                if self._has_turns_left():
                    self._act(i, "returns")

    def _cycle(self, does: str) -> None:
        """Let contacts act in turn until none approaches."""
        place = 0
        while self.approaching and self._has_turns_left():
            while self.v_c[2 * self.order[place % len(self.order)]] >= -COLLIDING:
                place += 1
            self._act(self.order[place % len(self.order)], does)
            place += 1

    def _has_turns_left(self) -> bool:
        if len(self.turns) >= self.max_impacts:
            self.trouble = "did not end; raise max_impacts"
        return not self.trouble

    def _act(self, i: int, does: str) -> None:
        """Let contact i compress, return what it stored, or do both."""
        space, own = self.problem.space, slice(2 * i, 2 * i + 2)
        e = float(self.problem.restitution[i])
        impact = PlanarImpact.of(space, i, e, self.rule, self.v_c)
        impact.store = float(self.store[i])
        impact.compress()
        if does != "compresses":
            impact.restitute()
        self.turns.append((i, does))
        self.v_c = self.v_c + space.A[:, own] @ impact.impulses.sum(axis=0)
        # As the phases have it, which end at zero exactly.
        self.v_c[own] = impact.v_n, impact.v_t
        self.store[i] = impact.store
        for phase in impact.phases:
            impulse = np.zeros_like(self.v_c)
            impulse[own] = phase.impulse
            self.impulses.append(impulse)
