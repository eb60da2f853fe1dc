"""Bound how long an impact can last, in impulse and in steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from carom import checks
from carom.errors import InvalidProblem
from carom.guarantees.cone import Pointedness
from carom.problem import ImpactProblem


@dataclass(frozen=True)
class Termination:
    """Bound how many steps of the paper's algorithm an impact takes.

    Attributes:
        sigma: Least eigenvalue of M.
        r_norm: Length of r.
        c: The paper's constant.
        c_energy: The same constant, 4 ceil((m + 1) |r|_{M^-1} / h), from r measured by energy:
            never larger for the best r, and the same in all coordinates.
        energy_norm: |v_pre|_M [sqrt(J)].
        num_contacts: Number m of contacts.
        largest_impulse: No solution accrues more normal impulse: 2 |r|_{M^-1} |v_pre|_M [N s].
    """

    sigma: float
    r_norm: float
    c: int
    c_energy: int
    energy_norm: float
    num_contacts: int
    largest_impulse: float

    def probability(self, num_steps: int, *, by_energy: bool = True) -> float:
        """Return a bound on the probability that an impact takes more steps than given.

        By energy it uses `c_energy` in place of the paper's constant `c`.
        """
        k = num_steps - (self.c_energy if by_energy else self.c) * math.ceil(self.energy_norm)
        return 1.0 if k <= 0 else math.exp(-k / (self.num_contacts + 1) ** 2)

    def steps_for(self, probability: float, *, by_energy: bool = True) -> int:
        """Return a number of steps that is exceeded with at most the given probability."""
        checks.share("probability", probability)
        constant = self.c_energy if by_energy else self.c
        k = math.ceil(-math.log(probability) * (self.num_contacts + 1) ** 2)
        return constant * math.ceil(self.energy_norm) + k


def termination(
    problem: ImpactProblem, cone: Pointedness, step_impulse: float
) -> Termination | None:
    """Return the bound, or None if the cone is not pointed: then nothing is promised."""
    if cone.r is None or cone.r_energy is None:
        return None
    m, energy_norm = problem.num_contacts, problem.energy_norm
    sigma = float(np.linalg.eigvalsh(problem.M)[0])
    r_norm = float(np.linalg.norm(cone.r))
    r_energy = float(np.sqrt(cone.r_energy @ np.linalg.solve(problem.M, cone.r_energy)))
    c = 4 * math.ceil((m + 1) * r_norm / (step_impulse * math.sqrt(sigma)))
    c_energy = 4 * math.ceil((m + 1) * r_energy / step_impulse)
    largest_impulse = 2.0 * r_energy * energy_norm
    return Termination(sigma, r_norm, c, c_energy, energy_norm, m, largest_impulse)


def single_contact_rate(problem: ImpactProblem) -> float:
    """Return kappa: one contact's impact ends within an impulse of kappa |v|_M.

    [HalmPosa, lem:singlefrictional]
    kappa = 1 / (epsilon min(mu, 1)), where |J_n v| + |J_t v| >= epsilon |v|_M on the range of
    M^-1 J^T. Without friction, where the lemma says nothing, 1 / |J_n|_{M^-1}. In space mu stands
    for mu cos(pi / k): that much of the slip at least is along one of k friction directions.
    """
    if problem.num_contacts != 1:
        raise InvalidProblem(f"J_n: expected one contact, got {problem.num_contacts}")
    mu = float(problem.mu[0])
    A = problem.J @ problem.impulse_to_velocity
    if mu == 0.0:
        return float(1.0 / np.sqrt(A[0, 0]))
    if problem.num_tangents > 1:
        mu *= math.cos(math.pi / problem.num_directions)
    return 1.0 / (_least_sum(A) * min(mu, 1.0))


def _least_sum(A: np.ndarray) -> float:
    """Return the least of |y_n| + |y_t| over y = J v with |v|_M = 1 in the range of M^-1 J^T."""
    # Those y have y A^-1 y = 1. For a fixed direction of y_t the sum is concave on each quarter of
    # that ellipse, so that the least is at its ends, y_n = 0 or y_t = 0.
    # Free of units first: rounding must not take a short tangent for none.
    unit = np.sqrt(np.where(np.diag(A) > 0.0, np.diag(A), 1.0))
    inverse = np.linalg.pinv(A / np.outer(unit, unit)) / np.outer(unit, unit)
    normal = 1.0 / math.sqrt(inverse[0, 0])
    tangents = np.linalg.eigvalsh(inverse[1:, 1:])[-1] if len(A) > 1 else 0.0
    return min(normal, 1.0 / math.sqrt(tangents)) if tangents > 0.0 else normal
