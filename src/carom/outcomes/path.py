"""How one impact went, step by step."""

from __future__ import annotations

from dataclasses import dataclass

from carom.typing import FloatArray


@dataclass(frozen=True, eq=False)
class ImpactPath:
    """The steps of one resolved impact.

    Attributes:
        v: (steps + 1, nv) velocities, from v_pre to v_post.
        lambda_n: (steps, m) normal impulse of each step [N s].
        lambda_t: (steps, m, d) tangential impulse of each step [N s].
        lambda_max: (steps, m) cap on each normal impulse [N s].
        modes: What each contact did in each step, e.g. "compressing, sliding +".
    """

    v: FloatArray
    lambda_n: FloatArray
    lambda_t: FloatArray
    lambda_max: FloatArray
    modes: tuple[tuple[str, ...], ...]

    @property
    def num_steps(self) -> int:
        """Count the steps."""
        return len(self.lambda_n)
