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
from carom.proofs import Certificate, Prover, tighten
from carom.stepping import BouncingSearch, ExtremeSearch, nothing_acts
from carom.stepping.bouncing_motions import Bounced
from carom.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from carom.reach.certificate import CoverCertificate
    from carom.reach.inclusion import Inclusion

FOLLOWING = 0.5
"""Share of the time in which all outcomes are followed, if the contacts are few."""

TIGHTENING = 0.35
"""Share of the time for proofs that are tighter than the quickest."""

SEARCHING = 0.12
"""Share of the time that the search for motions has at least, even if the rest is over."""

PROVING = 0.8
"""Share of the time after which quantities are bounded by energy alone, if there is no proof."""

GRACE = 0.1
"""Time for paths in exact sets beyond the budget [s]; after it motions are searched for."""


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
    found = _Task(problem, asked, max_seconds, seed, time.monotonic()).run()
    return found[0] if is_single else Extremes(tuple(found))


@dataclass(eq=False)
class _Task:
    """The quantities that are asked for, and what is known of them so far."""

    problem: ImpactProblem
    asked: list[Quantity]
    max_seconds: float
    seed: int
    begin: float  # value of `time.monotonic`
    _inclusions: dict[tuple[float, float], Inclusion] = field(default_factory=dict)

    def run(self) -> list[Extreme]:
        problem = self.problem
        if problem.stays:
            return [self._unmoved(each) for each in self.asked]
        if not problem.v_pre.any():
            raise nothing_acts(problem)
        # The quickest proofs come first, so that there is one in any case.
        basics = [None if each.energy else self._prove(each) for each in self.asked]
        exact, covers = self._follow()
        self._tighten(basics, exact is not None)
        paths = self._exact_paths(exact)
        missing = [k for k, path in enumerate(paths) if path is None]
        for k, path in zip(missing, self._search(missing, basics), strict=True):
            paths[k] = path
        found = zip(self.asked, paths, basics, covers, strict=True)
        return [self._extreme(*each, exact) for each in found]  # type: ignore[arg-type]

    def _unmoved(self, quantity: Quantity) -> Extreme:
        path = ImpactPath.of_impulses(self.problem, np.zeros((0, len(self.problem.J))))
        value = quantity.value(self.problem, np.zeros(len(self.problem.J)))
        return self._make(quantity, path, value, value, None, (STAYS,))

    def _follow(self) -> tuple[PolyhedralSet | None, Sequence[CoverCertificate | None]]:
        """Try to compute all outcomes; return what that proves of each quantity."""
        # In space an exact set has k friction directions, not the round cone; with restitution
        # there is none.
        is_planar = self.problem.num_tangents == 1
        if not is_planar or self.problem.bounces or find_spec("ppl") is None:
            return None, [None] * len(self.asked)
        from carom.reach.proving import prove_bounds
        from carom.reach.solve import Budget

        law = RouthExact()
        seconds = FOLLOWING * self.max_seconds
        budget = Budget(seconds, law.max_polyhedra, "outer", law.zero, law.grid)
        directions = np.array([each.direction for each in self.asked])
        return prove_bounds(self.problem, directions, budget)

    def _prove(self, quantity: Quantity) -> Certificate:
        """Return a quick bound by multipliers."""
        about = quantity.direction, quantity.impulse_weights
        if time.monotonic() > self.begin + PROVING * self.max_seconds:
            return self._prover.prove_by_energy_alone(*about)
        return self._prover.prove(*about)

    def _tighten(self, basics: list[Certificate | None], is_known: bool) -> None:
        """Improve bounds by multipliers, where polyhedra do not prove the extremes already."""
        open_ones = {
            k: basic
            for k, (each, basic) in enumerate(zip(self.asked, basics, strict=True))
            if basic is not None and (not is_known or each.impulse_weights.any())
        }
        left = self.begin + (1.0 - SEARCHING) * self.max_seconds - time.monotonic()
        seconds = min(TIGHTENING * self.max_seconds, left)
        better = tighten(self._prover, list(open_ones.values()), seconds)
        for k, certificate in zip(open_ones, better, strict=True):
            basics[k] = certificate

    def _exact_paths(self, exact: PolyhedralSet | None) -> list[ImpactPath | None]:
        """Return paths to the extremes of the exact set, as far as there are and time allows."""
        end = self.begin + self.max_seconds + GRACE
        known: dict[bytes, ImpactPath] = {}
        return [
            None if exact is None or time.monotonic() > end else exact_path(exact, each, known)
            for each in self.asked
        ]

    @property
    def _rest(self) -> float:
        """Return how long the search may take from now on [s]."""
        left = self.begin + self.max_seconds - time.monotonic()
        return max(left, SEARCHING * self.max_seconds)

    def _search(self, numbers: list[int], basics: list[Certificate | None]) -> list[ImpactPath]:
        """Return motions that go far in some quantities."""
        linear = [k for k in numbers if not self.asked[k].energy]
        bounds = [float(basic) for k in linear if (basic := basics[k]) is not None]
        found = iter(self._linear([self.asked[k] for k in linear], bounds) if linear else [])
        return [
            sampled_energy_path(self.problem, energy, self.seed, self._rest)
            if (energy := self.asked[k].energy)
            else next(found)
            for k in numbers
        ]

    def _linear(self, asked: list[Quantity], bounds: list[float]) -> list[ImpactPath]:
        """Return motions that go far in some velocities or impulses, which have bounds."""
        problem = self.problem
        units = np.repeat(problem.space.impulse_unit, problem.space.width)
        objectives = np.array([each.objective(problem) * units for each in asked])
        at_rest = np.zeros(len(problem.J))
        limits = np.array(bounds) - [each.value(problem, at_rest) for each in asked]
        search = self._new_search(objectives, limits)
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
        # Several quantities may share one motion, which in space has thousands of stretches.
        motions = {motion.impulses.tobytes(): motion for motion in search.motions}
        paths = {
            key: ImpactPath.of_impulses(
                problem,
                motion.impulses * units,
                is_straight=True,
                energies=motion.energies * problem.energy_norm**2
                if isinstance(motion, Bounced)
                else None,
            )
            for key, motion in motions.items()
        }
        return [paths[motion.impulses.tobytes()] for motion in search.motions]

    def _new_search(
        self, objectives: FloatArray, limits: FloatArray
    ) -> ExtremeSearch | BouncingSearch:
        problem = self.problem
        space, start = problem.space, problem.start
        if problem.bounces:
            return BouncingSearch(space, start, problem.restitution, objectives, limits, self.seed)
        return ExtremeSearch(space, start, objectives, limits, self.seed)

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
            inclusion = self._inclusion(cover.zero, cover.grid)
            claimed = claimed_bound(self.problem, cover, quantity.direction, inclusion)
            if claimed < proved:
                certificate, proved = cover, claimed
        if math.isinf(proved):
            certificate, notes = None, (f"{quantity.name}: no bound: {basic.reason}",)
        return self._make(quantity, path, reached, proved, certificate, notes)

    def _inclusion(self, zero: float, grid: float) -> Inclusion:
        """Return the inclusion that certificates of all quantities share."""
        from carom.reach.inclusion import rationalize

        if (zero, grid) not in self._inclusions:
            self._inclusions[zero, grid] = rationalize(self.problem, zero=zero, grid=grid)
        return self._inclusions[zero, grid]

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
