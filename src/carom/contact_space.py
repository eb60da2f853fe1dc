"""The friction cone, contact coordinates, and the LCPs that are made of them.

Contact coordinates are contact by contact, normal first: (n, t) in the plane, (n, t1, t2) in
space. In them the robot shrinks to its Delassus matrix A = J M^-1 J^T: an impulse lambda changes
contact velocities by A lambda, whatever the robot looks like.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Self

import numpy as np

from carom.errors import InvalidProblem
from carom.kernels import paths
from carom.kernels.lemke import equilibrate
from carom.typing import ArrayLike, FloatArray

MOST_DIRECTIONS = 1024
"""The polygon then differs from the circle by 5e-6; an LCP has m (3 + k) unknowns."""


def friction_directions(d: int, k: int) -> FloatArray:
    """Return the k unit vectors that span the friction cone, in order of their angle."""
    if d == 1:
        return np.array([[1.0], [-1.0]])
    if k > MOST_DIRECTIONS:
        raise InvalidProblem(f"num_directions: expected at most {MOST_DIRECTIONS}, got {k:,}")
    return _directions_in_space(k).copy()


@cache
def _directions_in_space(k: int) -> FloatArray:
    angles = 2.0 * np.pi * np.arange(k) / k
    return np.column_stack([np.cos(angles), np.sin(angles)])


@dataclass(frozen=True, eq=False)
class ContactSpace:
    """An impact seen from its contacts, free of units.

    Velocities of contact i are measured in |v|_M sqrt(A_ii) and its impulses in
    |v|_M / sqrt(A_ii), where A_ii belongs to its normal: no contact's normal velocity can then
    exceed 1 during an impact, since kinetic energy never rises, and every tolerance is relative.
    """

    A: FloatArray  # (c, c) Delassus matrix, c = m (1 + d); 1 on the diagonal of the normals
    mu: FloatArray  # (m,)
    directions: FloatArray  # (k, d)
    velocity_unit: FloatArray  # (m,) [m/s]
    impulse_unit: FloatArray  # (m,) [N s]

    @classmethod
    def build(cls, A: FloatArray, mu: FloatArray, directions: FloatArray, norm: float) -> Self:
        """Remove the units from a Delassus matrix, given the energy norm of the velocity."""
        width = 1 + directions.shape[1]
        own = np.diag(A)[::width]
        # Squares of huge or tiny Jacobians leave the range of doubles.
        if not np.isfinite(A).all() or not (own >= np.finfo(np.float64).tiny).all():
            raise InvalidProblem(
                f"J_n, J_t: expected J M^-1 J^T to be finite and > 0 on the diagonal, got normals "
                f"from {own.min():.3g} to {own.max():.3g}; choose other units"
            )
        root = np.sqrt(own)
        scale = np.repeat(1.0 / root, width)
        norm = norm if norm > 0.0 else 1.0
        return cls(A * np.outer(scale, scale), mu.copy(), directions, norm * root, norm / root)

    @property
    def num_contacts(self) -> int:
        """Count the contacts m."""
        return len(self.mu)

    @property
    def width(self) -> int:
        """Count the coordinates of one contact, 1 + d."""
        return 1 + self.directions.shape[1]

    def part(self, contacts: ArrayLike) -> ContactSpace:
        """Return some of the contacts alone."""
        own = np.asarray(contacts)
        rows = (own[:, None] * self.width + np.arange(self.width)).ravel()
        A = np.ascontiguousarray(self.A[np.ix_(rows, rows)])
        units = self.velocity_unit[own], self.impulse_unit[own]
        return ContactSpace(A, self.mu[own], self.directions, *units)

    @cached_property
    def kernel(self) -> paths.Space:
        """Pack the arrays for the kernels, with the step LCP equilibrated once."""
        W = step_matrix(self.A, self.mu, self.directions)
        return paths.Space(self.A, self.mu, self.directions, *equilibrate(W))


def impact_matrix(A: FloatArray, mu: FloatArray, directions: FloatArray) -> FloatArray:
    """Assemble the LCP matrix of Anitescu and Potra [HalmPosa, eq:AnitestcuDiscreteFormulation].

    The variables are x = (lambda_n, lambda_D, slack_velocity), with blocks of m, m k and m; the
    complements are y = (J_n v', J_D v' + slack_velocity, mu lambda_n - sum lambda_D).
    """
    m, k = len(mu), len(directions)
    basis = impulse_basis(m, directions)
    W = np.zeros((m * (2 + k), m * (2 + k)))
    W[: m * (1 + k), : m * (1 + k)] = basis.T @ A @ basis
    ones = np.kron(np.eye(m), np.ones((k, 1)))
    W[m : m * (1 + k), m * (1 + k) :] = ones
    W[m * (1 + k) :, :m] = np.diag(mu)
    W[m * (1 + k) :, m : m * (1 + k)] = -ones.T
    return W


def step_matrix(A: FloatArray, mu: FloatArray, directions: FloatArray) -> FloatArray:
    """Assemble the LCP matrix of one capped step [HalmPosa, eq:SimulationLCP].

    The variables are x = (slack_force, lambda_n, lambda_D, slack_velocity); the first block's
    complement is lambda_max - lambda_n, the others are those of `impact_matrix`.
    """
    m = len(mu)
    inner = impact_matrix(A, mu, directions)
    W = np.zeros((m + len(inner), m + len(inner)))
    W[m:, m:] = inner
    W[:m, m : 2 * m] = -np.eye(m)
    W[m : 2 * m, :m] = np.eye(m)
    return W


def impact_vector(v_c: FloatArray, directions: FloatArray) -> FloatArray:
    """Assemble w = (J_n v, J_D v, 0) of the LCP with `impact_matrix`."""
    return np.concatenate([v_c[:, 0], (v_c[:, 1:] @ directions.T).ravel(), np.zeros(len(v_c))])


def step_vector(v_c: FloatArray, lambda_max: FloatArray, directions: FloatArray) -> FloatArray:
    """Assemble w = (lambda_max, J_n v, J_D v, 0) of the LCP with `step_matrix`."""
    return np.concatenate([lambda_max, impact_vector(v_c, directions)])


def contact_impulses(x: FloatArray, m: int, directions: FloatArray) -> FloatArray:
    """Read the impulses off a solution of the LCP with `impact_matrix`."""
    lambda_D = x[m : m * (1 + len(directions))].reshape(m, -1)
    return np.column_stack([x[:m], lambda_D @ directions])


def impulse_basis(m: int, directions: FloatArray) -> FloatArray:
    """Return the matrix that turns (lambda_n, lambda_D) into contact coordinates."""
    normal = np.eye(1 + directions.shape[1], 1)
    tangent = np.vstack([np.zeros(len(directions)), directions.T])
    return np.hstack([np.kron(np.eye(m), normal), np.kron(np.eye(m), tangent)])
