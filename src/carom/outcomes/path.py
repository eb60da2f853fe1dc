"""The steps of one resolved impact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import numpy as np

from carom.kernels.tolerances import MATCH, STICKING
from carom.outcomes.kinds import describe_modes, kind_words
from carom.problem import ImpactProblem
from carom.typing import FloatArray


@dataclass(frozen=True, eq=False)
class ImpactPath:
    """Steps of one resolved impact.

    Attributes:
        contacts: Names of the contacts.
        v: (steps + 1, nv) velocities, from v_pre to v_post.
        lambda_n, lambda_t: (steps, m) and (steps, m, d) impulses of each step [N s].
        lambda_max: (steps, m) caps on the normal impulses [N s].
        energies: (steps + 1, m) energy that each contact can still return [J], zero in inelastic
            impacts.
        modes: What each contact does in each step, e.g. "compressing, sliding +"; a contact that
            returns energy is "restituting".
        ends: What each contact does after the impact: "sticks", "slides" or "lifts".

    Examples:
        A block lands flat with 1 m/s, and corner A hits first.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> path = carom.Sequential(order=("A", "B")).draw_path(block, seed=0)
        >>> path.num_steps, path.modes[1]
        (2, ('free', 'closed, sticking'))
        >>> path.v[0].tolist(), path.lambda_n.shape
        ([0.0, -1.0, 0.0], (2, 2))
        >>> print(path.describe())
        1. A pushes 0.85 N s (closed, sticking)
        2. B pushes 0.255 N s (closed, sticking)
        then A lifts, B sticks
    """

    contacts: tuple[str, ...]
    v: FloatArray
    lambda_n: FloatArray
    lambda_t: FloatArray
    lambda_max: FloatArray
    energies: FloatArray
    modes: tuple[tuple[str, ...], ...]
    ends: tuple[str, ...]

    @classmethod
    def of_impulses(
        cls,
        problem: ImpactProblem,
        impulses: FloatArray,
        modes: Iterable[tuple[str, ...]] | None = None,
        lambda_max: FloatArray | None = None,
        *,
        is_straight: bool = False,
        energies: FloatArray | None = None,
    ) -> ImpactPath:
        """Return the path that follows from the impulses of its steps.

        Args:
            problem: The impact.
            impulses: (steps, m (1 + d)) impulses, contact by contact, normal first [N s].
            modes: What each contact does in each step; by default derived from the velocities.
            lambda_max: (steps, m) caps [N s]; by default the normal impulses.
            is_straight: Whether velocities change along a straight line in each step, as in exact
                motions. What a contact does is then seen in the middle of the step.
            energies: (steps, m) energy that contacts can return after each step [J]; by default
                that of steps in which velocities change along a straight line.

        Examples:
            >>> import numpy as np
            >>> import carom
            >>> ball = carom.ImpactProblem(
            ...     M=[[2.0]], J_n=[[1.0]], J_t=[[0.0]], mu=0.5, v_pre=[-1.0])
            >>> path = carom.ImpactPath.of_impulses(ball, np.array([[1.5, 0.0], [0.5, 0.0]]))
            >>> path.v.tolist(), path.modes
            ([[-1.0], [-0.25], [0.0]], (('compressing, sticking',), ('closed, sticking',)))
        """
        m, width = problem.num_contacts, 1 + problem.num_tangents
        sums = np.zeros((len(impulses) + 1, m * width))
        np.cumsum(impulses, axis=0, out=sums[1:])
        blocks = impulses.reshape(len(impulses), m, width)
        v = problem.velocity_after(sums)
        return cls(
            contacts=problem.contacts,
            v=v,
            lambda_n=blocks[:, :, 0],
            lambda_t=blocks[:, :, 1:],
            lambda_max=blocks[:, :, 0].copy() if lambda_max is None else lambda_max,
            energies=_energies(problem, v, blocks[:, :, 0], energies),
            modes=tuple(_modes(problem, v, blocks, is_straight) if modes is None else modes),
            ends=kind_words(problem, v[-1:])[0],
        )

    @property
    def num_steps(self) -> int:
        """Return the number of steps."""
        return len(self.lambda_n)

    @property
    def v_post(self) -> FloatArray:
        """Return the velocity after the impact, (nv,)."""
        return np.asarray(self.v[-1])

    def describe(self) -> str:
        """Return the order of events in words.

        Consecutive steps in which the same contacts push in the same modes share one line; steps in
        which no contact pushes are left out.
        """
        acts = self.lambda_n > MATCH * float(self.lambda_n.sum(axis=0).max(initial=0.0))
        doing = [
            tuple((i, modes[i]) for i in np.flatnonzero(row).tolist())
            for row, modes in zip(acts, self.modes, strict=True)
        ]
        lines = []
        steps = [(step, own) for step, own in enumerate(doing) if own]
        for number, (own, group) in enumerate(groupby(steps, key=lambda step: step[1]), start=1):
            total = self.lambda_n[[step for step, _ in group]].sum(axis=0)
            words = (f"{self.contacts[i]} pushes {total[i]:.4g} N s ({mode})" for i, mode in own)
            lines.append(f"{number}. {', '.join(words)}")
        ends = ", ".join(f"{c} {word}" for c, word in zip(self.contacts, self.ends, strict=True))
        return "\n".join([*lines, f"then {ends}" if lines else f"nothing acts: {ends}"])

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        steps = f"{self.num_steps} step{'' if self.num_steps == 1 else 's'}"
        return f"ImpactPath({steps}, contacts {', '.join(self.contacts)})"


class Origin(Protocol):
    """Picklable record of a search, which finds the path to an outcome or raises InvalidOption."""

    def path_to(self, problem: ImpactProblem, v: FloatArray, tol: float) -> ImpactPath: ...


def _energies(
    problem: ImpactProblem, v: FloatArray, lambda_n: FloatArray, known: FloatArray | None
) -> FloatArray:
    """Return the energies (steps + 1, m) between steps with normal impulses (steps, m)."""
    energies = np.zeros((len(v), problem.num_contacts))
    if known is not None:
        energies[1:] = known
    elif problem.bounces:
        n = v @ problem.J_n.T
        slope = np.where(n[1:] == n[:-1], 1.0, n[1:] - n[:-1])
        # The share of a step with n < 0, where it changes its sign on the way.
        crosses = n[1:] * n[:-1] < 0.0
        share = np.where(crosses, -n[:-1] / slope, 1.0)
        before = np.where(crosses, share * n[:-1], n[:-1] + n[1:])
        works = (
            0.5 * lambda_n * before,
            0.5 * lambda_n * np.where(crosses, 1.0 - share, 0.0) * n[1:],
        )
        for step in range(len(lambda_n)):
            energies[step + 1] = energies[step]
            for work in (works[0][step], works[1][step]):
                gain = np.where(work < 0.0, -(problem.restitution**2) * work, -work)
                energies[step + 1] = np.maximum(energies[step + 1] + gain, 0.0)
    return energies


def _modes(
    problem: ImpactProblem, v: FloatArray, blocks: FloatArray, is_straight: bool
) -> list[tuple[str, ...]]:
    """Return the modes in steps between velocities v that have impulses (steps, m, 1 + d)."""
    every = problem.contact_velocity(v) / problem.space.velocity_unit[:, None]
    v_c = every[1:].copy()
    if is_straight:
        v_c[..., 1:] = 0.5 * (every[1:, :, 1:] + every[:-1, :, 1:])
    if problem.bounces:
        v_c[..., 0] = 0.5 * (every[1:, :, 0] + every[:-1, :, 0])
    signs = (v_c > STICKING).astype(np.int64) - (v_c < -STICKING)
    if not problem.bounces:
        # A contact that acts does not part, but for rounding.
        signs[..., 0] = np.where(blocks[..., 0] != 0.0, np.minimum(signs[..., 0], 0), signs[..., 0])
    return describe_modes(signs, blocks)
