"""Routh's method for one planar contact, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from carom.errors import ImpactNotResolved, InvalidProblem
from carom.laws.law import ImpactLaw
from carom.laws.planar_impact import Endless, PlanarImpact
from carom.outcomes.finite import FiniteSet
from carom.problem import ImpactProblem
from carom.stepping import change_velocity, nothing_acts


@final
@dataclass(frozen=True, eq=False, repr=False)
class RouthSingle(ImpactLaw):
    """Resolve one planar contact exactly [HalmPosa, eq:routhsingle; Routh 1891; Stronge 1990].

    The normal impulse p grows until the contact no longer approaches and has returned what it
    stored. While the contact slides, full friction acts; if the slip stops, the contact sticks if
    the friction cone allows it, and slides on, forward or back, otherwise:

        dv/dp = M^-1 (J_n^T + J_t^T f),   f = -mu sign(v_t), or what keeps v_t = 0 if |f| <= mu,
        dE/dp = e^2 max(-v_n, 0) - max(v_n, 0),   from E = 0 to v_n >= 0 and E = 0.

    E is the energy that can still return: by Stronge's law, the normal force returns e^2 of its
    work in compression. The outcome exists, is unique, and kinetic energy plus E never rises
    [Djerassi 2009]. With e = 0 the impact ends with compression.

    There is one exception: if J_t is a multiple of J_n within the friction cone, no impulse changes
    the velocity of a contact that sticks, and with e > 0 what it stored cannot return.

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

        It bounces with e = 0.8, and friction takes mu times 1.8 m/s.

        >>> import dataclasses
        >>> outcomes = carom.RouthSingle().resolve(dataclasses.replace(ball, restitution=0.8))
        >>> outcomes.labels, outcomes.v_post.round(9).tolist()
        (('slides + compressing, then slides + restituting',), [[1.1, 0.8]])
    """

    def resolve(self, problem: ImpactProblem) -> FiniteSet:
        """Return the one outcome, labelled by its phases, which are the steps of its path.

        Args:
            problem: The impact.

        Raises:
            ImpactNotResolved: A contact at rest must act and cannot, or energy cannot return.
        """
        if problem.num_contacts != 1 or problem.num_tangents != 1:
            raise InvalidProblem(
                f"J_n: expected one planar contact, got {problem.num_contacts} with "
                f"{problem.num_tangents} tangents each; use carom.Routh"
            )
        impact = PlanarImpact.of(
            problem.space, 0, float(problem.restitution[0]), "stronge", problem.start
        )
        # A contact at rest that does not slide cannot act.
        can_act = problem.without_collision and impact.v_n == 0.0 and impact.v_t != 0.0
        if problem.is_colliding(problem.v_pre) or can_act:
            try:
                impact.compress()
                impact.restitute()
            except Endless as error:
                raise ImpactNotResolved(f"the impact {error}", problem) from None
        total = impact.impulses.sum(axis=0)
        if problem.starts_at_rest and not change_velocity(problem.space, total[None])[0]:
            raise nothing_acts(problem)
        return FiniteSet(
            problem=problem,
            law="Routh, one contact, closed form",
            steps=(impact.impulses * problem.space.impulse_unit,),
            is_complete=True,
            labels=(_label(impact, problem.bounces),),
        )


def _label(impact: PlanarImpact, bounces: bool) -> str:
    """Return the phases in words, with compression and restitution where there are both."""
    words = [
        f"{phase.word} {'restituting' if phase.restitutes else 'compressing'}"
        if bounces
        else phase.word
        for phase in impact.phases
    ]
    return ", then ".join(words) or "does not collide"
