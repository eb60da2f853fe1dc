"""An impact of a simulation that ended otherwise than the engine would have it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

from carom.laws.law import ImpactLaw
from carom.outcomes.kinds import kind_words
from carom.outcomes.path import ImpactPath
from carom.problem import ImpactProblem
from carom.typing import FloatArray


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReplacedImpact:
    """Hold an impact that was drawn, or chosen by an adversary, instead of left to MuJoCo.

    It can be pickled, so that processes of a vector environment can send it.

    Attributes:
        time: Time in the simulation [s].
        problem: The impact.
        v_post: (nv,) velocity after it.
        law: Law that allows it.
        seed: Seed with which `law.draw_path` draws it; None if an adversary chose it.
        direction: (nv,) direction of the adversary; None if it was drawn.

    Examples:
        >>> import carom
        >>> from carom.adapters.replaced_impact import ReplacedImpact
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> law = carom.Sequential(order=("A", "B"))
        >>> impact = ReplacedImpact(0.5, block, law.draw_end(block, 7)[0], law, seed=7)
        >>> print(impact)
        0.5 s: A lifts, B sticks; 92.7 % of the energy lost; Sequential(order=('A', 'B')), seed 7
        >>> impact.path().num_steps
        2
    """

    time: float
    problem: ImpactProblem
    v_post: FloatArray
    law: ImpactLaw
    seed: int | None
    direction: FloatArray | None = None

    @property
    def contacts(self) -> tuple[str, ...]:
        """Return the names of the m contacts that took part."""
        return self.problem.contacts

    @property
    def v_pre(self) -> FloatArray:
        """Return the velocity (nv,) before it."""
        return self.problem.v_pre

    @cached_property
    def energy_lost(self) -> float:
        """Return the share of the kinetic energy that it took, from 0 to 1."""
        kept = float(self.v_post @ self.problem.M @ self.v_post)
        return 1.0 - kept / self.problem.energy_norm**2

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """Return what each contact does after it: "sticks", "slides" or "lifts"."""
        return kind_words(self.problem, self.v_post[None])[0]

    def path(self) -> ImpactPath:
        """Return the steps that lead to `v_post`, by running the law again."""
        if self.seed is not None:
            return self.law.draw_path(self.problem, self.seed)
        return self.law.resolve(self.problem).path_to(self.v_post)

    def __repr__(self) -> str:
        names = ", ".join(self.contacts)
        return f"ReplacedImpact({self.time:.4g} s, contacts {names})"

    def __str__(self) -> str:
        does = ", ".join(f"{c} {word}" for c, word in zip(self.contacts, self.ends, strict=True))
        how = "chosen by an adversary" if self.seed is None else f"seed {self.seed}"
        lost = f"{self.energy_lost:.1%}".replace("%", " %")
        return f"{self.time:.4g} s: {does}; {lost} of the energy lost; {self.law}, {how}"
