"""Extremes of an impact, from both sides within a time budget."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np

from carom import checks
from carom.extremes.certificates import AnyCertificate
from carom.extremes.extreme import Extreme, Extremes
from carom.extremes.quantity import Quantity, quantities
from carom.outcomes.path import ImpactPath
from carom.outcomes.summary import STAYS
from carom.problem import ImpactProblem
from carom.proofs import prove
from carom.stepping import ExtremeSearch
from carom.typing import ArrayLike, FloatArray

SHARE_OF_SEARCH = 0.4
"""Share of the time for motions that reach extremes, where the exact set is not complete."""


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
            impulse at a contact, and "energy kept"; a minus in front, as in "-A tangential", asks
            for the least value. Default: the least and the largest of every contact velocity.
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
    asked, is_single = quantities(problem, direction)  # type: ignore[arg-type]
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

    def run(self) -> list[Extreme]:
        problem = self.problem
        if not problem.is_colliding(problem.v_pre) and not problem.without_collision:
            return [self._unmoved(each) for each in self.asked]
        paths = self._reached()
        return [self._extreme(*pair) for pair in zip(self.asked, paths, strict=True)]

    def _unmoved(self, quantity: Quantity) -> Extreme:
        nothing = np.zeros((0, len(self.problem.J)))
        path = ImpactPath.of_impulses(self.problem, nothing)
        value = quantity.value(self.problem, np.zeros(len(self.problem.J)))
        return self._make(quantity, value, path, value, None, (STAYS,))

    def _reached(self) -> list[FloatArray]:
        """Return the impulses (n, c) of a motion for each quantity [N s]."""
        problem = self.problem
        units = np.repeat(problem.space.impulse_unit, problem.space.width)
        objectives = np.array([each.objective(problem) * units for each in self.asked])
        search = ExtremeSearch(problem.space, problem.start, objectives, self.seed)
        search.run(self.begin + SHARE_OF_SEARCH * self.max_seconds)
        return [motion.impulses * units for motion in search.motions()]

    def _extreme(self, quantity: Quantity, impulses: FloatArray) -> Extreme:
        problem = self.problem
        path = ImpactPath.of_impulses(problem, impulses, is_straight=True)
        reached = quantity.value(problem, impulses.sum(axis=0))
        certificate = prove(problem, quantity.direction, quantity.impulse_weights)
        return self._make(quantity, reached, path, float(certificate), certificate, ())

    def _make(
        self,
        quantity: Quantity,
        reached: float,
        path: ImpactPath,
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
