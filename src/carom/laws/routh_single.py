"""Routh's method for one planar contact, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from carom.errors import InvalidProblem
from carom.laws.law import ImpactLaw
from carom.outcomes.finite import FiniteSet
from carom.problem import ImpactProblem
from carom.stepping import change_velocity, nothing_acts
from carom.typing import FloatArray


@final
@dataclass(frozen=True, eq=False, repr=False)
class RouthSingle(ImpactLaw):
    """Resolve one planar contact exactly [HalmPosa, eq:routhsingle; Routh 1891].

    The normal impulse grows until the contact no longer approaches. While the contact slides, full
    friction acts; if the slip stops, the contact sticks if the friction cone allows it, and slides
    on, forward or back, otherwise. The outcome is unique.

    If `problem.without_collision`, a contact at rest acts if friction drives it in: if
    mu |A_nt| >= A_nn and the slip has the sign of A_nt.

    Examples:
        A ball falls with 1 m/s and slips with 2 m/s, of which friction takes mu times 1 m/s.

        >>> import carom
        >>> ball = carom.ImpactProblem(
        ...     M=[[2.0, 0.0], [0.0, 2.0]], J_n=[[0.0, 1.0]], J_t=[[1.0, 0.0]], mu=0.5,
        ...     v_pre=[2.0, -1.0])
        >>> outcomes = carom.RouthSingle().resolve(ball)
        >>> outcomes.labels, round(float(outcomes.v_post[0, 0]), 9)
        (('slides +',), 1.5)
    """

    def resolve(self, problem: ImpactProblem) -> FiniteSet:
        """Return the one outcome, labelled by its phases, which are the steps of its path.

        Args:
            problem: The impact.

        Raises:
            ImpactNotResolved: A contact at rest must act and cannot.
        """
        if problem.num_contacts != 1 or problem.num_tangents != 1:
            raise InvalidProblem(
                f"J_n: expected one planar contact, got {problem.num_contacts} with "
                f"{problem.num_tangents} tangents each; use carom.Routh"
            )
        impulses, phases = _phases(problem)
        total = impulses.sum(axis=0)
        if problem.starts_at_rest and not change_velocity(problem.space, total[None])[0]:
            raise nothing_acts(problem)
        return FiniteSet(
            problem=problem,
            law="Routh, one contact, closed form",
            steps=(impulses * problem.space.impulse_unit,),
            is_complete=True,
            labels=(", then ".join(phases) or "does not collide",),
        )


def _phases(problem: ImpactProblem) -> tuple[FloatArray, list[str]]:
    """Return the dimensionless impulses (phases, 2), normal first, and the names of the phases."""
    A = problem.space.A
    mu = float(problem.mu[0])
    v_n, v_t = problem.start
    # A contact at rest that does not slide cannot act.
    can_act = problem.without_collision and v_n == 0.0 and v_t != 0.0
    if not problem.is_colliding(problem.v_pre) and not can_act:
        return np.empty((0, 2)), []
    impulses, phases = [], []
    if v_t != 0.0:
        slip = np.sign(v_t)
        direction = np.array([1.0, -mu * slip])
        rate_n, rate_t = A @ direction
        phases.append(f"slides {'+' if slip > 0 else '-'}")
        # Slip that does not stop leaves rate_n > 0, because A is positive definite.
        until_stop = -v_t / rate_t if slip * rate_t < 0.0 else np.inf
        until_end = -v_n / rate_n if rate_n > 0.0 else np.inf
        length = min(until_stop, until_end)
        impulses.append(length * direction)
        if until_end <= until_stop:
            return np.array(impulses), phases
        v_n += length * rate_n
    if abs(A[1, 0]) <= mu * A[1, 1]:
        ratio = -A[1, 0] / A[1, 1] if A[1, 1] > 0.0 else 0.0
        direction = np.array([1.0, ratio])
        phases.append("sticks")
    else:
        slip = np.sign(A[1, 0])
        direction = np.array([1.0, -mu * slip])
        phases.append(f"slides {'+' if slip > 0 else '-'}")
    impulses.append(-v_n / (A[0] @ direction) * direction)
    return np.array(impulses), phases
