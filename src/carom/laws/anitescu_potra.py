"""The simultaneous law of Anitescu and Potra: every solution of its LCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from carom import checks
from carom.laws.law import ImpactLaw, energy_rises
from carom.outcomes.finite import FiniteSet
from carom.outcomes.kinds import describe_kinds
from carom.problem import ImpactProblem
from carom.stepping import (
    change_velocity,
    nothing_acts,
    solve_decompression,
    solve_simultaneous,
)
from carom.typing import FloatArray


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
    If contacts have restitution, each solution is a compression, which leads to v_c and to the
    normal impulses lambda_c. A decompression follows, by Poisson's hypothesis for all contacts at
    once [Anitescu & Potra 1997]:

        0 <= lambda_n - e lambda_c  _|_  J_n v >= 0,   v = v_c + M^-1 J^T lambda,

    with friction within mu lambda_n that opposes the slip of v. A contact gets at least e times its
    impulse of compression, and more only if it would be driven in otherwise. Every solution of both
    is returned, with a step for each. Kinetic energy can rise; `notes` say of which outcome and by
    how much.

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
        steps, more = _decompressed(self, problem, impulses)
        notes = (*notes, *(note for note in more if note not in notes))
        unit = np.repeat(space.impulse_unit, space.width)
        steps = [own * unit for own in steps]
        ends = np.array([own.sum(axis=0) for own in steps]).reshape(-1, len(unit))
        labels = describe_kinds(problem, problem.velocity_after(ends))
        rises = energy_rises(problem, steps, labels) if problem.bounces else ()
        return FiniteSet(
            problem=problem,
            law="Anitescu-Potra, simultaneous",
            steps=tuple(steps),
            is_complete=not notes,
            notes=(*(f"Outcomes may be missing: {note}." for note in notes), *rises),
            labels=labels,
        )


def _decompressed(
    law: AnitescuPotra, problem: ImpactProblem, compressions: FloatArray
) -> tuple[list[FloatArray], tuple[str, ...]]:
    """Return the dimensionless steps (k, c) of each outcome, and why outcomes may be missing."""
    if not problem.bounces:
        # If nothing acts, there is no step.
        return [row[None][: int(row.any())] for row in compressions], ()
    space = problem.space
    steps: list[FloatArray] = []
    notes: dict[str, None] = {}
    for row in compressions:
        if not row.any():
            steps.append(row[None][:0])
            continue
        floors = problem.restitution * np.maximum(0.0, row[:: space.width])
        v_c = problem.start + space.A @ row
        found, more = solve_decompression(problem, v_c, floors, law.num_trials, law.seed)
        steps += [np.array([row, own])[: 1 + int(own.any())] for own in found]
        notes |= dict.fromkeys(more)
    return steps, tuple(notes)
