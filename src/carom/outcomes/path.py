"""How one impact went, step by step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem


@dataclass(frozen=True, eq=False)
class ImpactPath:
    """Hold the steps of one resolved impact.

    Attributes:
        v: (steps + 1, nv) velocities, from v_pre to v_post.
        lambda_n: (steps, m) normal impulse of each step [N s].
        lambda_t: (steps, m, d) tangential impulse of each step [N s].
        lambda_max: (steps, m) cap on each normal impulse [N s].
        modes: What each contact did in each step, e.g. "compressing, sliding +".

    Examples:
        A block lands flat with 1 m/s, and hits with corner A first.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> path = carom.Sequential(order=("A", "B")).resolve(block).path(0)
        >>> path.num_steps, path.modes[1]
        (2, ('free', 'closed, sticking'))
        >>> path.v[0].tolist(), path.lambda_n.shape
        ([0.0, -1.0, 0.0], (2, 2))
    """

    v: FloatArray
    lambda_n: FloatArray
    lambda_t: FloatArray
    lambda_max: FloatArray
    modes: tuple[tuple[str, ...], ...]

    @classmethod
    def of_impulses(
        cls,
        problem: ImpactProblem,
        impulses: FloatArray,
        modes: Iterable[tuple[str, ...]],
        lambda_max: FloatArray | None = None,
    ) -> ImpactPath:
        """Follow impulses from v_pre on.

        Args:
            problem: The impact.
            impulses: (steps, m (1 + d)) of each step, contact by contact, normal first [N s].
            modes: What each contact did in each step.
            lambda_max: (steps, m) caps [N s]; by default the normal impulses themselves.

        Examples:
            A ball of 2 kg that falls with 1 m/s is stopped in two steps.

            >>> import numpy as np
            >>> import carom
            >>> from carom.outcomes.path import ImpactPath
            >>> ball = carom.ImpactProblem(
            ...     M=[[2.0]], J_n=[[1.0]], J_t=[[0.0]], mu=0.5, v_pre=[-1.0])
            >>> impulses = np.array([[1.5, 0.0], [0.5, 0.0]])
            >>> modes = (("compressing, sticking",), ("closed, sticking",))
            >>> ImpactPath.of_impulses(ball, impulses, modes).v.tolist()
            [[-1.0], [-0.25], [0.0]]
        """
        m, width = problem.num_contacts, 1 + problem.num_tangents
        sums = np.vstack([np.zeros(m * width), np.cumsum(impulses, axis=0)])
        blocks = impulses.reshape(len(impulses), m, width)
        return cls(
            v=problem.velocity_after(sums),
            lambda_n=blocks[:, :, 0],
            lambda_t=blocks[:, :, 1:],
            lambda_max=blocks[:, :, 0].copy() if lambda_max is None else lambda_max,
            modes=tuple(modes),
        )

    @property
    def num_steps(self) -> int:
        """Count the steps."""
        return len(self.lambda_n)
