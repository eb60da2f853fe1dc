"""Find the Lipschitz constant of an impact's step, and how many samples the paper's proof asks for.

If steps are unique, v' = f(v, lambda_max) is continuous and affine on each of finitely many pieces
that cover all velocities and caps, a convex set. So the largest norm among the pieces that have an
interior is the least Lipschitz constant [HalmPosa, lem:SimulationLCPLipschitz], and not a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from carom import checks
from carom.guarantees.uniqueness import Uniqueness, step_uniqueness
from carom.kernels import overlap
from carom.kernels.tolerances import SINGULAR, VANISHING
from carom.problem import ImpactProblem
from carom.stepping.pieces import Pieces, mode_names, num_modes
from carom.typing import FloatArray

MOST_PIECES = 20_000
"""Maximum number of pieces: five contacts in the plane, two in space with 8 directions."""
LARGE = 36.0
"""Beyond exp(36) a double has no fractions."""


@dataclass(frozen=True, eq=False)
class Steepest:
    """Hold where a step is steepest: a point (v, lambda_max) inside of a piece, and its modes.

    There `direction`, a change of (v, lambda_max), is magnified most, by `constant`.
    """

    constant: float
    v: FloatArray
    lambda_max: FloatArray
    direction: FloatArray
    modes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Lipschitz:
    """Hold how much a step can magnify a change of velocity and caps; for unique steps only.

    Attributes:
        steepest: In the paper's norms: |v'|_2 by |(v, lambda_max)|_2. They depend on coordinates
            and units.
        steepest_by_energy: With |v|_M [sqrt(J)] for |v|_2, and caps times `impulse_weight`. It is
            the same in all coordinates and units.
        impulse_weight: (m,) |J_n,i|_{M^-1}, the |v|_M that a unit of normal impulse at contact i
            makes of rest [sqrt(J) / N s].
    """

    steepest: Steepest
    steepest_by_energy: Steepest
    impulse_weight: FloatArray

    @property
    def L(self) -> float:
        """Return the paper's Lipschitz constant; at least 1, since a step may do nothing."""
        return self.steepest.constant

    @property
    def L_energy(self) -> float:
        """Return the Lipschitz constant by energy; at least 1."""
        return self.steepest_by_energy.constant

    def log10_samples(
        self,
        epsilon: float,
        delta: float,
        num_steps: int,
        step_impulse: float,
        *,
        by_energy: bool = False,
    ) -> float:
        """Return log10 of the samples M that make an epsilon-net with probability 1 - delta.

        [HalmPosa, thm:VelocitySetApproximation, prop:epsilonnet]
        M >= ln(delta Omega) / ln(1 - Omega), Omega = ceil(h L^N sqrt(N m) / epsilon')^(-N m),
        with N = `num_steps` and h = `step_impulse` [N s]. By energy distances are |.|_M, and caps
        are drawn from a box; else they are |.|_2.

        It is a lower bound on what the proof asks for, in two ways. The proof's epsilon' is at most
        epsilon / 3, which is taken here, and smaller if a velocity that close to separation needs
        it; how small comes from compactness, without a number. And N must be so large that N steps
        reach everything up to epsilon', of which the proof only says that there is one. An N
        after which at most a share p of all paths goes on is `Termination.steps_for(p)`.
        """
        checks.positive("epsilon", epsilon)
        checks.share("delta", delta)
        checks.integer("num_steps", num_steps, 1)
        checks.positive("step_impulse", step_impulse)
        weights = self.impulse_weight if by_energy else np.ones(len(self.impulse_weight))
        growth = num_steps * math.log(self.L_energy if by_energy else self.L)
        n = num_steps * len(weights)
        log_cells = 0.0
        for weight in weights:
            side = math.log(weight * step_impulse * math.sqrt(n) * 3.0 / epsilon) + growth
            log_cells += num_steps * _log_of_ceil(side)
        if log_cells == 0.0:
            return 0.0
        tries = log_cells - math.log(delta)
        if log_cells < LARGE:
            return math.log10(math.ceil(tries / -math.log1p(-math.exp(-log_cells))))
        # There ln(1 - Omega) is -Omega to the last digit.
        return math.log10(tries) + log_cells / math.log(10.0)


def step_lipschitz(
    problem: ImpactProblem, uniqueness: Uniqueness | None = None
) -> Lipschitz | None:
    """Return the Lipschitz constants of a step, or None if it is not known to be unique.

    Also None if there are more than `MOST_PIECES` pieces. The velocity plays no part.
    """
    space, nv = problem.space, problem.num_velocities
    is_unique = (uniqueness or step_uniqueness(problem)).is_unique
    if not is_unique or num_modes(space) ** space.num_contacts > MOST_PIECES:
        return None
    pieces = Pieces.all(space)
    # From (v, lambda_max) to u, and from impulses to velocity.
    units = np.repeat(space.velocity_unit, space.width)
    to_u = np.zeros((pieces.L.shape[2], nv + problem.num_contacts))
    to_u[: len(units), :nv] = problem.J / units[:, None]
    to_u[len(units) :, nv:] = np.diag(1.0 / space.impulse_unit)
    from_impulse = problem.impulse_to_velocity * np.repeat(space.impulse_unit, space.width)
    maps = np.eye(nv, to_u.shape[1]) + from_impulse @ pieces.L @ to_u
    root = np.asarray(np.linalg.cholesky(problem.M).T, dtype=np.float64)
    weight = np.linalg.norm(np.linalg.solve(root.T, problem.J_n.T), axis=0)

    def steepest(root: FloatArray, weight: FloatArray) -> Steepest:
        """Find the steepest piece with an interior, by |root v| and |weight lambda_max|."""
        unscale = block_diag(np.linalg.inv(root), np.diag(1.0 / weight))
        scaled = root @ maps @ unscale
        norms = np.linalg.norm(scaled, 2, axis=(1, 2))
        for p in np.argsort(-norms, kind="stable"):
            conditions = pieces.C[p, : pieces.num_conditions[p]] @ to_u @ unscale
            inside = _interior(conditions, problem.num_contacts)
            if inside is not None:
                v, lambda_max = np.split(unscale @ inside, [nv])
                direction = unscale @ np.linalg.svd(scaled[p])[2][0]
                names = mode_names(pieces.modes[p], space.directions)
                return Steepest(float(norms[p]), v, lambda_max, direction, names)
        raise AssertionError("pieces cover all velocities and caps")

    plain = steepest(np.eye(nv), np.ones(problem.num_contacts))
    return Lipschitz(plain, steepest(root, weight), weight)


def _interior(conditions: FloatArray, num_caps: int) -> FloatArray | None:
    """Return an x strictly inside a cone, with caps > 0, if there is one."""
    # Where rows of J depend, a condition may hold for all velocities that the system can have, and
    # pieces without an interior in u may have one in x, or the other way round.
    lengths = np.linalg.norm(conditions, axis=1)
    rows = conditions[lengths > SINGULAR * lengths.max(initial=0.0)]
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    inside, count = np.empty(conditions.shape[1]), np.array([len(rows)])
    found = overlap.interior_point(rows[None], count, np.zeros(1, np.int64), num_caps, inside)
    return inside if found else None


def _log_of_ceil(log: float) -> float:
    """Return ln(ceil(exp(log))), also where exp(log) is too large a number."""
    if log >= LARGE:
        return log
    # A whole number that rounding has raised by a hair is still that number.
    return math.log(max(1, math.ceil(math.exp(log) * (1.0 - VANISHING))))
