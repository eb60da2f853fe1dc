"""The paper's steps, as the kernels take them [HalmPosa, Algorithms 1 and 2]."""

from __future__ import annotations

import numpy as np

from carom.contact_space import impulse_basis
from carom.errors import InvalidOption
from carom.kernels.draws import POINTS
from carom.kernels.paths import Rule
from carom.problem import ImpactProblem
from carom.stepping.sampler import DRAWS, SELECTIONS
from carom.typing import FloatArray

LEAST_STEPS = 1000
MOST_STEPS = 2**31 - 1

WHOLE_IMPACTS = 100
"""Impulse budget per sample, in multiples of the stopping impulse. On the paper's scenes, the
longest of thousands of samples takes 10 to 20."""


def step_rule(
    problem: ImpactProblem,
    seed: int,
    *,
    step_impulse: float | None,
    max_steps: int | None,
    draw: str | None,
    selection: str | None,
    points: FloatArray | None,
    epsilon: float | None,
) -> Rule:
    """Return the start and the steps of samples, dimensionless; see `carom.Routh`."""
    space, m = problem.space, problem.num_contacts
    numbers = np.empty((0, 0)) if points is None else points
    if points is not None and numbers.shape[1] % m:
        raise InvalidOption(
            f"points: expected a multiple of {m} columns, one per contact and step, got "
            f"{numbers.shape[1]}"
        )
    step = step_impulse or stopping_impulse(problem)
    longest = max_steps or _max_steps(problem, step)
    return Rule(
        v_c=problem.start,
        caps=step / space.impulse_unit,
        last_caps=_last_impulse(problem, epsilon) / space.impulse_unit,
        max_steps=longest if points is None else numbers.shape[1] // m,
        draw=DRAWS[draw or "persistent"] if points is None else POINTS,
        selection=SELECTIONS[selection or "random"],
        seed=int(seed),
        points=numbers,
    )


def stopping_impulse(problem: ImpactProblem) -> float:
    """Return the largest impulse that stops one contact with all of the impact's energy [N s]."""
    return float(problem.space.impulse_unit.max())


def _max_steps(problem: ImpactProblem, step: float) -> int:
    many = WHOLE_IMPACTS * stopping_impulse(problem) / step
    return int(min(max(LEAST_STEPS, np.ceil(many)), MOST_STEPS))


def _last_impulse(problem: ImpactProblem, epsilon: float | None) -> float:
    """Return epsilon / (3 psi) of Algorithm 2, with psi as in its first line [N s]."""
    m = problem.num_contacts
    basis = impulse_basis(m, problem.space.directions)
    largest = np.linalg.norm(problem.impulse_to_velocity @ basis, ord=2)
    psi = largest * m * (1.0 + problem.mu.max()) + 1.0
    accuracy = epsilon or 1e-6 * float(np.linalg.norm(problem.v_pre))
    return float(accuracy / (3.0 * psi))
