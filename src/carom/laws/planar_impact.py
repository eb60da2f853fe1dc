"""One planar contact on its way through an impact, phase by phase in closed form.

Per unit of its normal impulse p, the dimensionless velocities v_n and v_t change by A (1, f), where
Coulomb's friction f is -mu sign(v_t) while the contact slides, and keeps v_t at zero while it
sticks. In a phase f is constant: velocities are linear in p, and works quadratic. Slip stops at
most once. From then on v_n rises, with the rate A_nn - A_nt^2 / A_tt if the contact sticks and a
larger one if it slides back, so that an impact has few phases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple, final

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels.tolerances import VANISHING
from carom.typing import FloatArray

RULES = ("stronge", "poisson", "newton")

ENDLESS = (
    "has a contact that sticks while its normal velocity is tied to its tangential one: no impulse "
    "changes either, so that what it stored in compression never returns"
)


class Endless(ArithmeticError):
    """Say that no impulse, however large, ends the impact, for the reason `ENDLESS`."""


class Phase(NamedTuple):
    """A phase that is over."""

    impulse: FloatArray  # (2,) dimensionless, normal first
    word: str  # "sticks", "slides +" or "slides -"
    restitutes: bool


class _Rates(NamedTuple):
    """How velocities change per unit of the normal impulse."""

    word: str
    direction: FloatArray  # (1, f)
    n: float
    t: float


@final
@dataclass(eq=False)
class PlanarImpact:
    """Move one contact through compression and restitution, by a rule of restitution.

    Attributes:
        A: (2, 2) Delassus matrix.
        mu: Friction coefficient.
        restitution: Coefficient e.
        rule: What `store` is. Stronge: the energy that can return, e^2 of the work of the normal
            force in compression. Poisson: the normal impulse that returns, e times that of
            compression. Newton: the speed of separation to be reached, e times that of approach.
        v_n, v_t: Velocities so far.
        store: What is left to return.
        phases: Phases so far.
    """

    A: FloatArray
    mu: float
    restitution: float
    rule: str
    v_n: float
    v_t: float
    store: float = 0.0
    phases: list[Phase] = field(default_factory=list)

    @classmethod
    def of(
        cls, space: ContactSpace, i: int, restitution: float, rule: str, v_c: FloatArray
    ) -> PlanarImpact:
        """Begin at contact i of several, which have the velocities v_c (2 m,)."""
        own = slice(2 * i, 2 * i + 2)
        v_n, v_t = v_c[own].tolist()
        return cls(space.A[own, own], float(space.mu[i]), restitution, rule, v_n, v_t)

    @property
    def impulses(self) -> FloatArray:
        """Return the dimensionless impulses (phases, 2), normal first."""
        return np.array([phase.impulse for phase in self.phases]).reshape(-1, 2)

    def compress(self) -> None:
        """Push until the contact does not approach, nor is driven in from rest by friction."""
        if self.rule == "newton" and self.v_n < 0.0:
            self.store = -self.restitution * self.v_n
        while True:
            rates = self._rates()
            if self.v_n > 0.0 or (self.v_n == 0.0 and rates.n > 0.0):
                return
            if rates.word == "sticks" and rates.n <= VANISHING and self.v_n > -VANISHING:
                # Tied velocities have come to rest together, up to rounding.
                self.v_n = 0.0
                return
            end = -self.v_n / rates.n if rates.n > 0.0 else math.inf
            length, before = self._push(rates, end, restitutes=False)
            if length == end:
                self.v_n = 0.0
            if self.rule == "stronge":
                self.store -= self.restitution**2 * length * 0.5 * (before + self.v_n)
            elif self.rule == "poisson":
                self.store += self.restitution * length

    def restitute(self) -> None:
        """Push until all that is stored has returned, from whatever state of the contact."""
        self.compress()
        while self.store > 0.0:
            rates = self._rates()
            if rates.word == "sticks" and rates.n <= VANISHING:
                raise Endless(ENDLESS)
            end = self._until_returned(rates.n)
            # With energy left, sliding may drive a contact in again; an impulse is just spent.
            turns = self.rule == "stronge" and rates.n < 0.0
            zero = -self.v_n / rates.n if turns else math.inf
            length, before = self._push(rates, min(end, zero), restitutes=True)
            if length == end:
                self.store = 0.0
            elif self.rule == "stronge":
                self.store -= length * 0.5 * (before + self.v_n)
            elif self.rule == "poisson":
                self.store -= length
            if length == zero:
                self.v_n = 0.0
                self.compress()

    def _rates(self) -> _Rates:
        """Return the rates of the phase that begins now."""
        A, slip = self.A, float(np.sign(self.v_t))
        if slip == 0.0 and abs(A[1, 0]) <= self.mu * A[1, 1]:
            direction = np.array([1.0, -A[1, 0] / A[1, 1] if A[1, 1] > 0.0 else 0.0])
            return _Rates("sticks", direction, float(A[0] @ direction), 0.0)
        # What stuck and is held too weakly slides the way that the normal impulse pushes it.
        forward = (slip or A[1, 0]) > 0.0
        direction = np.array([1.0, -self.mu if forward else self.mu])
        # Row by row where slip begins: the last bit may differ, and has to be the same for ever.
        rate_n, rate_t = A @ direction if slip else (A[0] @ direction, A[1] @ direction)
        return _Rates(f"slides {'+' if forward else '-'}", direction, float(rate_n), float(rate_t))

    def _until_returned(self, rate: float) -> float:
        """Return the impulse after which nothing is left of the store, if this phase goes on."""
        if self.rule == "poisson":
            return self.store
        if self.rule == "newton":
            return max(0.0, self.store - self.v_n) / rate if rate > 0.0 else math.inf
        # v_n p + rate p^2 / 2 = E. Written so that nothing cancels.
        square = self.v_n**2 + 2.0 * rate * self.store
        if square < 0.0 or (rate <= 0.0 and self.v_n == 0.0):
            return math.inf
        return 2.0 * self.store / (self.v_n + math.sqrt(square))

    def _push(self, rates: _Rates, end: float, *, restitutes: bool) -> tuple[float, float]:
        """Push until the end or until slip stops; return how much, and v_n before."""
        stop = -self.v_t / rates.t if self.v_t * rates.t < 0.0 else math.inf
        length, before = min(stop, end), self.v_n
        if length == math.inf:
            raise Endless(ENDLESS)
        self.phases.append(Phase(length * rates.direction, rates.word, restitutes))
        self.v_n += length * rates.n
        self.v_t = 0.0 if stop <= end else self.v_t + length * rates.t
        return length, before
