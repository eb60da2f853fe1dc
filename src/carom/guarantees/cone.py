"""Decide whether a friction cone is pointed, with a proof (docs/guarantees.md).

It is pointed if no impulses, not all zero, cancel [HalmPosa, assump:nondegenerate].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carom.outcomes.least_squares import nonnegative_least_squares
from carom.problem import ImpactProblem
from carom.typing import FloatArray

CANCELS = 1e-9
"""Impulses cancel if what is left is less than this share of their effects one by one."""


@dataclass(frozen=True, eq=False)
class Pointedness:
    """Hold whether impulses can cancel, with a proof.

    Attributes:
        is_pointed: True if they cannot.
        r: (nv,) of least length with r . M^-1 J^T lambda >= |lambda_n|_1 for every impulse in the
            cone [HalmPosa, lem:NetForceBoundedByIndividualForces]; None if there is none.
        r_energy: (nv,) the same with least |r|_{M^-1}, which gives sharper bounds that do not
            depend on the coordinates.
        jamming: (m, 1 + d) impulses with sum 1 of their normal parts that cancel; None if there
            are none.
        residual: Largest violation of r . ray >= 1, or |v|_M [sqrt(J)] that is left of the jamming
            impulses: how well the proof holds.
    """

    is_pointed: bool
    r: FloatArray | None
    r_energy: FloatArray | None
    jamming: FloatArray | None
    residual: float


def pointedness(problem: ImpactProblem) -> Pointedness:
    """Decide whether a friction cone is pointed; the velocity plays no part."""
    directions, contacts = problem.space.directions, np.eye(problem.num_contacts)
    # Rays as impulses with a unit normal part; a contact without friction has one, its normal.
    impulses = np.array(
        [
            np.outer(contact, [1.0, *(mu * direction)]).ravel()
            for contact, mu in zip(contacts, problem.mu, strict=True)
            for direction in (directions if mu > 0.0 else directions[:1])
        ]
    )
    rays = impulses @ problem.impulse_to_velocity.T
    root = np.linalg.cholesky(problem.M)
    in_energy = rays @ root
    size = np.linalg.norm(in_energy, axis=1).max()
    r, weights = _least(in_energy / size)
    if r is None or np.linalg.norm(r) * CANCELS >= 1.0:
        net = weights @ impulses
        left = float(np.linalg.norm(net @ problem.impulse_to_velocity.T @ root))
        return Pointedness(False, None, None, net.reshape(problem.num_contacts, -1), left)
    r_energy = np.asarray(root @ r / size)
    scale = np.linalg.norm(rays, axis=1).max()
    plain, _ = _least(rays / scale)
    r_plain = r_energy if plain is None else plain / scale
    worst = max(float((1.0 - rays @ each).max(initial=0.0)) for each in (r_energy, r_plain))
    return Pointedness(True, r_plain, r_energy, None, max(0.0, worst))


def _least(rows: FloatArray) -> tuple[FloatArray | None, FloatArray]:
    """Return the shortest x with rows x >= 1, or None, and weights >= 0 with sum 1.

    Least distance programming [Lawson and Hanson 1974, chapter 23]: the weights make the point of
    the rows' convex hull nearest to the origin, and x is that point over its squared length.
    """
    n, dim = rows.shape
    target = np.append(np.zeros(dim), 1.0)
    weights, _ = nonnegative_least_squares(np.vstack([rows.T, np.ones(n)]), target)
    if (total := weights.sum()) <= 0.0:
        return None, np.full(n, 1.0 / n)
    weights = weights / total
    nearest = weights @ rows
    squared = float(nearest @ nearest)
    if squared == 0.0:
        return None, weights
    x = nearest / squared
    # Rounding leaves x a hair short; a hair longer it is a proof.
    lowest = float((rows @ x).min())
    return (x / lowest, weights) if lowest > 0.5 else (None, weights)
