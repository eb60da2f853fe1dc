"""The simultaneous law of Anitescu and Potra: every solution of its LCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from carom import checks
from carom.laws.law import ImpactLaw
from carom.outcomes.finite import FiniteSet
from carom.outcomes.kinds import describe_kinds
from carom.problem import ImpactProblem
from carom.stepping import change_velocity, nothing_acts, solve_simultaneous


@final
@dataclass(frozen=True, eq=False, repr=False)
class AnitescuPotra(ImpactLaw):
    """Resolve all contacts at once [HalmPosa, eq:AnitestcuDiscreteFormulation].

    Normal impulses and velocities after the impact are complementary, lambda_n >= 0 and J_n v >= 0,
    and friction opposes the velocity after the impact. All solutions of this LCP are returned;
    engines return one. `is_complete` is False, with the reason in `notes`, in three cases: the
    contacts have too many modes to try (ten contacts in the plane, five in space), so solutions are
    collected by Lemke's algorithm with random covering vectors; contacts are dependent and have
    several outcomes, which may be ends of a continuum; or double precision does not decide a mode.
    If no contact approaches, v_pre is the only outcome; with `problem.without_collision` it is the
    only solution that is left out.

    Args:
        num_trials: Number of covering vectors.
        seed: Seed of the covering vectors.

    Examples:
        >>> import carom
        >>> walker = carom.scenes.load("compass-gait").problem
        >>> for label in carom.AnitescuPotra().resolve(walker).labels:
        ...     print(label)
        A sticks, B lifts
        A sticks, B sticks
        A sticks, B slides
    """

    num_trials: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        checks.integer("num_trials", self.num_trials, 1)
        checks.integer("seed", self.seed, 0)

    def resolve(self, problem: ImpactProblem) -> FiniteSet:
        """Return every outcome of the simultaneous LCP.

        Args:
            problem: The impact.

        Raises:
            ImpactNotResolved: No solution was found, although one exists if a contact approaches.
        """
        space = problem.space
        if problem.is_colliding(problem.v_pre) or problem.without_collision:
            impulses, notes = solve_simultaneous(problem, self.num_trials, self.seed)
        else:
            impulses, notes = np.zeros((1, len(space.A))), ()
        if problem.starts_at_rest:
            impulses = impulses[change_velocity(space, impulses)]
            if not len(impulses):
                raise nothing_acts(problem)
        impulses = impulses * np.repeat(space.impulse_unit, space.width)
        return FiniteSet(
            problem=problem,
            law="Anitescu-Potra, simultaneous",
            # If nothing acts, there is no step.
            steps=tuple(row[None][: int(row.any())] for row in impulses),
            is_complete=not notes,
            notes=tuple(f"Outcomes may be missing: {note}." for note in notes),
            labels=describe_kinds(problem, problem.velocity_after(impulses)),
        )
