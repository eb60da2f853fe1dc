"""The set-valued law of Halm and Posa, exactly [HalmPosa, eq:multicontact]."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import final

import numpy as np

from carom import checks
from carom.errors import ImpactNotResolved, MissingExtra, NotResolvedExactly
from carom.laws.law import ImpactLaw
from carom.laws.samples_within import samples_within
from carom.outcomes.path import ImpactPath
from carom.outcomes.polyhedral import PolyhedralSet
from carom.problem import ImpactProblem
from carom.stepping import nothing_acts

SAMPLING = 0.2
"""Share of the time that samples may take in addition."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class RouthExact(ImpactLaw):
    """Compute all outcomes of an impact, as a union of polytopes.

    In space, friction acts along the k directions of the problem. This law needs pplpy:
    `pip install "carom[exact]"`.

    If `problem.without_collision` and no contact approaches, the impact starts with any motion that
    contacts at rest can cause; v_pre itself is not an outcome.

    With restitution the set of outcomes is no union of polytopes: this law then returns an outer
    set if on_budget is "outer", and raises an error otherwise.

    Args:
        max_seconds: Time budget [s]. With on_budget="outer" two thirds of it are for the search,
            and samples inside an outer set take up to a fifth in addition.
        max_polyhedra: Maximum number of polyhedra in the search.
        on_budget: "raise" an error when a budget is exhausted, or return an "outer" set, which
            contains all outcomes, with samples inside.
        zero: Share of what the impact's energy could give below which contact velocities of v_pre
            are set to zero.
        grid: Relative rounding of J M^-1 J^T, mu and J v_pre; everything after it is exact.
        num_samples: Number of samples inside an outer set, if there is time for them.
        seed: Seed of these samples.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.RouthExact().resolve(block)
        >>> outcomes.is_complete, len(outcomes.kinds), round(outcomes.support(block.J_n[0]), 9)
        (True, 3, 0.21)
        >>> carom.RouthExact().draw_path(block, seed=0).num_steps > 0
        True
    """

    max_seconds: float = 10.0
    max_polyhedra: int = 20_000
    on_budget: str = "raise"
    zero: float = 1e-9
    grid: float = 1e-14
    num_samples: int = 2**14
    seed: int = 0

    def __post_init__(self) -> None:
        checks.between("max_seconds", self.max_seconds, 0.0, math.inf)
        checks.integer("max_polyhedra", self.max_polyhedra, 1)
        checks.choice("on_budget", self.on_budget, ("raise", "outer"))
        checks.between("zero", self.zero, 0.0, 1.0)
        checks.between("grid", self.grid, 1e-17, 1e-10)
        checks.integer("num_samples", self.num_samples, 1)
        checks.integer("seed", self.seed, 0, 2**53 - 1)

    def resolve(self, problem: ImpactProblem) -> PolyhedralSet:
        """Return the exact post-impact set.

        Args:
            problem: The impact.

        Raises:
            NotResolvedExactly: A budget is exhausted or contacts have restitution, and on_budget is
                "raise", or the contacts are too many or too close to dependent for any set.
            ImpactNotResolved: Contacts at rest must act and cannot.
            MissingExtra: pplpy is not installed.
        """
        if find_spec("ppl") is None:
            raise MissingExtra.of("exact sets", "pplpy", "exact")
        from carom.reach.solve import Budget, solve

        budget = Budget(self.max_seconds, self.max_polyhedra, self.on_budget, self.zero, self.grid)
        outcomes = solve(problem, budget)
        if outcomes is None:
            raise nothing_acts(problem)
        if outcomes.is_complete:
            return outcomes
        seconds = SAMPLING * self.max_seconds
        try:
            inner = samples_within(problem, seconds, self.num_samples, self.seed)
        except ImpactNotResolved as error:
            # The set is proved all the same.
            return replace(outcomes, notes=(*outcomes.notes, f"no samples inside: {error}"))
        return replace(outcomes, inner=inner)

    def draw_path(self, problem: ImpactProblem, seed: int) -> ImpactPath:
        """Draw one outcome as `PolyhedralSet.sample` does, and return the path to it.

        Args:
            problem: The impact.
            seed: Seed of the random generator, an integer >= 0.

        Raises:
            NotResolvedExactly: A budget is exhausted, so that there is no exact set.
            ImpactNotResolved: Contacts at rest must act and cannot.
            MissingExtra: pplpy is not installed.
        """
        checks.integer("seed", seed, 0)
        outcomes = self.resolve(problem)
        if not outcomes.is_complete:
            raise NotResolvedExactly(
                f"{outcomes.notes[0]}; points of an outer set need not be outcomes",
                "raise max_seconds and max_polyhedra, or use carom.Routh",
                problem,
            )
        v = outcomes.sample(1, rng=seed)[0]
        return outcomes.path_to(v, max(1e-6, 1e-6 * float(np.linalg.norm(v))))
