"""Extremes of an impact, from both sides within a time budget."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, overload

import numpy as np

from carom import checks
from carom.errors import ImpactNotResolved
from carom.extremes.certificates import AnyCertificate, claimed_bound
from carom.extremes.extreme import Extreme, Extremes
from carom.extremes.quantity import Quantity, quantities
from carom.extremes.sets import exact_path, proved_energy, sampled_energy_path
from carom.laws.routh_exact import RouthExact
from carom.outcomes.path import ImpactPath
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.summary import STAYS
from carom.problem import ImpactProblem
from carom.proofs import Certificate, Prover, prove_energy, tightest
from carom.proofs.certificate import Exact
from carom.stepping import ExtremeSearch, nothing_acts
from carom.typing import ArrayLike

if TYPE_CHECKING:
    from carom.reach.certificate import CoverCertificate

FOLLOWING = 0.7
"""Share of the time in which all outcomes are followed, if the contacts are few."""

PROVING = 0.05
"""Share of the time for proofs that are tighter than the quickest, and again for one of how much
energy is kept, on which they are built."""

SEARCHING = 0.12
"""Share of the time that the search for motions has at least, even if the rest is over."""

GRACE = 0.3
"""Time for proofs beyond the budget [s]; after it quantities are bounded by energy alone."""


@overload
def worst_case(
    problem: ImpactProblem, direction: str, *, max_seconds: float = ..., seed: int = ...
) -> Extreme: ...
@overload
def worst_case(
    problem: ImpactProblem,
    direction: ArrayLike | Sequence[str] | None = None,
    *,
    max_seconds: float = ...,
    seed: int = ...,
) -> Extreme | Extremes: ...
def worst_case(
    problem: ImpactProblem,
    direction: ArrayLike | str | Sequence[str] | None = None,
    *,
    max_seconds: float = 10.0,
    seed: int = 0,
) -> Extreme | Extremes:
    """Return the largest value of direction . v after an impact: what is reached, what is proved.

    A motion reaches the first value, and no outcome exceeds the second. Where they agree, the
    extreme is exact. In space both hold for the round friction cone.

    Args:
        problem: The impact.
        direction: (nv,) for one direction, (k, nv) for several. Names work too: "A normal",
            "A tangential" ("A tangent 1" and "A tangent 2" in space), "A impulse" for the normal
            impulse at a contact, "impulse" for the sum of all, and "energy kept"; a minus in
            front, as in "-A tangential", asks for the least value. Default: the least and the
            largest of every contact velocity.
        max_seconds: Time budget [s], without the compilation of the first call.
        seed: Seed of the search.

    Returns:
        An `Extreme` for one direction or name, `Extremes` for several.

    Examples:
        A block lands flat with 1 m/s.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> print(carom.worst_case(block, "A normal"))
        A normal: 0.21 m/s at most, exactly
        >>> pivot = carom.worst_case(block, [0.0, 0.0, 1.0])
        >>> round(pivot.reached, 6), pivot.is_exact, pivot.path.ends
        (0.21, True, ('sticks', 'lifts'))
    """
    checks.between("max_seconds", max_seconds, 0.0, np.inf)
    checks.integer("seed", seed, 0, 2**53 - 1)
    asked, is_single = quantities(problem, direction)
    found = _Task(problem, asked, max_seconds, seed).run()
    return found[0] if is_single else Extremes(tuple(found))


@dataclass(eq=False)
class _Task:
    """The quantities that are asked for, and what is known of them so far."""

    problem: ImpactProblem
    asked: list[Quantity]
    max_seconds: float
    seed: int
    begin: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        # About what a proof by phases takes; corrected when one has been made.
        self._longest_proof = 0.02 * self.problem.num_contacts**2.5

    def run(self) -> list[Extreme]:
        problem = self.problem
        if problem.stays:
            return [self._unmoved(each) for each in self.asked]
        if not problem.v_pre.any():
            raise nothing_acts(problem)
        exact, covers = self._follow()
        basics = [self._prove(each, exact is not None) for each in self.asked]
        paths = [None if exact is None else exact_path(exact, each) for each in self.asked]
        missing = [k for k, path in enumerate(paths) if path is None]
        for k, path in zip(missing, self._search([self.asked[k] for k in missing]), strict=True):
            paths[k] = path
        found = zip(self.asked, paths, basics, covers, strict=True)
        return [self._extreme(*each, exact) for each in found]  # type: ignore[arg-type]

    def _unmoved(self, quantity: Quantity) -> Extreme:
        path = ImpactPath.of_impulses(self.problem, np.zeros((0, len(self.problem.J))))
        value = quantity.value(self.problem, np.zeros(len(self.problem.J)))
        return self._make(quantity, path, value, value, None, (STAYS,))

    def _follow(self) -> tuple[PolyhedralSet | None, Sequence[CoverCertificate | None]]:
        """Try to compute all outcomes; return what that proves of each quantity."""
        # In space an exact set has k friction directions, not the round cone.
        if self.problem.num_tangents > 1 or find_spec("ppl") is None:
            return None, [None] * len(self.asked)
        from carom.reach.proving import prove_bounds
        from carom.reach.solve import Budget

        law = RouthExact()
        seconds = FOLLOWING * self.max_seconds
        budget = Budget(seconds, law.max_polyhedra, "outer", law.zero, law.grid)
        directions = np.array([each.direction for each in self.asked])
        return prove_bounds(self.problem, directions, budget)

    def _prove(self, quantity: Quantity, is_proved: bool) -> Certificate | None:
        """Return a bound by multipliers; None for the energy kept.

        Where polyhedra prove the extreme already, or time is short, a quick proof is enough.
        """
        if quantity.energy:
            return None
        about, begin = (quantity.direction, quantity.impulse_weights), time.monotonic()
        if begin > self.begin + self.max_seconds + GRACE:
            return self._prover.prove_by_energy_alone(*about)
        if is_proved or begin + self._longest_proof > self._end_of_proofs:
            return self._prover.prove(*about)
        certificate = tightest(Prover(self.problem, self._kept), *about)
        self._longest_proof = max(self._longest_proof, time.monotonic() - begin)
        return certificate

    @cached_property
    def _kept(self) -> dict[str, Exact]:
        """Return a proof of how much energy is kept at most, if there is one in time."""
        return prove_energy(self._prover, PROVING * self.max_seconds)

    @cached_property
    def _end_of_proofs(self) -> float:
        return time.monotonic() + 2.0 * PROVING * self.max_seconds

    @property
    def _rest(self) -> float:
        """Return how long the search may take from now on [s]."""
        left = self.begin + self.max_seconds - time.monotonic()
        return max(left, SEARCHING * self.max_seconds)

    def _search(self, asked: list[Quantity]) -> list[ImpactPath]:
        """Return motions that go far in some quantities."""
        linear = [each for each in asked if not each.energy]
        found = iter(self._linear(linear) if linear else [])
        return [
            sampled_energy_path(self.problem, each.energy, self.seed, self._rest)
            if each.energy
            else next(found)
            for each in asked
        ]

    def _linear(self, asked: list[Quantity]) -> list[ImpactPath]:
        """Return motions that go far in some velocities or impulses."""
        problem = self.problem
        units = np.repeat(problem.space.impulse_unit, problem.space.width)
        objectives = np.array([each.objective(problem) * units for each in asked])
        search = ExtremeSearch(problem.space, problem.start, objectives, self.seed)
        before = time.monotonic()
        search.warm_up()
        # Compilation is no part of the budget.
        self.begin += time.monotonic() - before
        search.run(time.monotonic() + self._rest)
        if search.motions is None:
            raise ImpactNotResolved(
                "no motion was found that ends: contacts may press against each other; see what "
                "carom.check says of the friction cone",
                problem,
            )
        return [
            ImpactPath.of_impulses(problem, motion.impulses * units, is_straight=True)
            for motion in search.motions
        ]

    def _extreme(
        self,
        quantity: Quantity,
        path: ImpactPath,
        basic: Certificate | None,
        cover: CoverCertificate | None,
        exact: PolyhedralSet | None,
    ) -> Extreme:
        impulses = np.concatenate([path.lambda_n[..., None], path.lambda_t], axis=2)
        reached = quantity.value(self.problem, impulses.sum(axis=0).ravel())
        if basic is None:
            proved, note = proved_energy(self.problem, quantity, reached, exact)
            return self._make(quantity, path, reached, proved, None, (note,))
        certificate: AnyCertificate | None = basic
        proved, notes = float(basic), tuple[str, ...]()
        if cover is not None and not quantity.impulse_weights.any():
            claimed = claimed_bound(self.problem, cover, quantity.direction)
            if claimed < proved:
                certificate, proved = cover, claimed
        if math.isinf(proved):
            certificate, notes = None, (f"{quantity.name}: no bound: {basic.reason}",)
        return self._make(quantity, path, reached, proved, certificate, notes)

    @cached_property
    def _prover(self) -> Prover:
        return Prover(self.problem)

    def _make(
        self,
        quantity: Quantity,
        path: ImpactPath,
        reached: float,
        proved: float,
        certificate: AnyCertificate | None,
        notes: tuple[str, ...],
    ) -> Extreme:
        return Extreme(
            problem=self.problem,
            name=quantity.name,
            unit=quantity.unit,
            direction=quantity.direction,
            impulse_weights=quantity.impulse_weights,
            reached=reached,
            v_post=path.v_post,
            path=path,
            proved=proved,
            certificate=certificate,
            scale=quantity.scale(self.problem),
            notes=notes,
        )
