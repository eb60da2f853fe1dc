"""A law with restitution for contacts without friction, to move systems that bounce."""

from dataclasses import dataclass

import numpy as np

from carom.laws.law import ImpactLaw, draw_seed
from carom.outcomes.finite import FiniteSet
from carom.outcomes.path import ImpactPath

REST = 1e-12
MOST = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Reflect(ImpactLaw):
    """Let one approaching contact at a time return e times its approach, until none approaches.

    Without friction, a contact that acts alone returns e^2 of the work of compression if and only
    if its normal velocity u becomes -e u: Newton, Poisson and Stronge agree. Which contact acts
    first is drawn by the seed.
    """

    def resolve(self, problem):
        return FiniteSet(problem, "reflections", (self._steps(problem, 0),), True, ("reflected",))

    def draw_path(self, problem, seed):
        return ImpactPath.of_impulses(problem, self._steps(problem, seed))

    def _steps(self, problem, seed):
        assert not problem.mu.any(), "no friction, please"
        rng = np.random.default_rng(draw_seed(seed))
        width, v = 1 + problem.num_tangents, problem.v_pre
        speed = REST * np.abs(problem.J_n @ v).max()
        steps = []
        for _ in range(MOST):
            u = problem.J_n @ v
            approaching = np.flatnonzero(u < -speed)
            if approaching.size == 0 or not problem.is_colliding(v):
                break
            i = int(rng.choice(approaching))
            row = problem.J_n[i]
            impulse = np.zeros(problem.num_contacts * width)
            pull = row @ np.linalg.solve(problem.M, row)
            impulse[i * width] = -(1.0 + problem.restitution[i]) * u[i] / pull
            steps.append(impulse)
            v = problem.velocity_after(np.sum(steps, axis=0))
        else:
            raise AssertionError("the reflections do not end")
        return np.array(steps).reshape(len(steps), problem.num_contacts * width)
