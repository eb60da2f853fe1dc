"""Impacts of rigid bodies in space: an ellipsoid, a body on feet, a box, two flat feet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import carom
from tests.reference.set_checks import changed

FloatArray = NDArray[np.float64]


def ellipsoid(rng: np.random.Generator, num_directions: int = 8) -> carom.ImpactProblem:
    """Return an ellipsoid, up to ten times as long as wide, that touches where chance has it."""
    axes, mass = 10.0 ** rng.uniform(-1, 0, 3), 10.0 ** rng.uniform(-1, 1)
    outward = rng.normal(size=3)
    point = axes * outward / np.linalg.norm(outward)
    normal = -point / axes**2
    normal /= np.linalg.norm(normal)
    # The tangents of a singular value decomposition are turned by chance.
    tangents = turn(rng.uniform(0.0, 2.0 * np.pi)) @ np.linalg.svd(normal[None])[2][1:]
    J = point_jacobian(point)
    v = rng.normal(size=6)
    v[3:] /= axes.mean()
    return carom.ImpactProblem(
        M=inertia(mass, axes),
        J_n=[normal @ J],
        J_t=[tangents @ J],
        mu=rng.uniform(0.1, 1.5),
        v_pre=v if normal @ J @ v < 0.0 else -v,
        num_directions=num_directions,
    )


def on_feet(
    rng: np.random.Generator, m: int, num_directions: int = 8, most_friction: float = 1.5
) -> carom.ImpactProblem:
    """Return a body that lands on m point feet, which stand around it on flat ground."""
    height = rng.uniform(0.1, 0.5)
    angles = 2.0 * np.pi * (np.arange(m) + rng.uniform(-0.2, 0.2, m)) / m + rng.uniform(0.0, 6.0)
    reach = rng.uniform(0.2, 0.5, m)
    feet = [(r * np.cos(a), r * np.sin(a), -height) for r, a in zip(reach, angles, strict=True)]
    v = rng.normal(size=6)
    v[2] = -1.0 - abs(v[2])
    return on_points(
        inertia(10.0 ** rng.uniform(0, 1), rng.uniform(0.1, 0.4, 3)),
        feet,
        rng.uniform(0.1, most_friction),
        v,
        num_directions,
    )


def box(
    mu: float = 0.6,
    num_directions: int = 8,
    v: Sequence[float] = (0.3, 0.1, -1.0, 0.2, -0.3, 0.4),
) -> carom.ImpactProblem:
    """Return a box of 2 kg that lands on its four lower corners: 12 rows for 6 velocities."""
    a, b, c = 0.3, 0.2, 0.1
    M = np.diag(
        [2.0, 2.0, 2.0, *(2.0 / 3.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b]))]
    )
    corners = [(x, y, -c) for x in (a, -a) for y in (b, -b)]
    return on_points(M, corners, mu, v, num_directions)


def flat_feet(mu: float = 0.7, num_directions: int = 8) -> carom.ImpactProblem:
    """Return a body on two flat feet, each of which touches at four corners."""
    corners = [
        (x, side + y, -0.8) for side in (0.15, -0.15) for x in (0.12, -0.08) for y in (0.05, -0.05)
    ]
    M = inertia(40.0, np.array([0.2, 0.3, 0.9]))
    return on_points(M, corners, mu, (0.4, 0.1, -0.5, 0.1, 0.2, -0.1), num_directions)


def on_points(
    M: FloatArray,
    points: Sequence[Sequence[float]],
    mu: float,
    v: Sequence[float] | FloatArray,
    num_directions: int,
) -> carom.ImpactProblem:
    """Return a body that touches flat ground at points given from its centre of mass."""
    J = np.array([point_jacobian(np.array(point)) for point in points])
    return carom.ImpactProblem(M, J[:, 2], J[:, :2], mu, v, num_directions=num_directions)


def inertia(mass: float, axes: FloatArray) -> FloatArray:
    """Return the mass matrix (6, 6) of a solid ellipsoid with these half axes."""
    square = axes**2
    return np.diag([mass] * 3 + list(mass / 5.0 * (square.sum() - square)))


def point_jacobian(arm: FloatArray) -> FloatArray:
    """Return the Jacobian (3, 6) of a point of a body: velocity + turn x arm."""
    return np.hstack([np.eye(3), np.cross(np.eye(3), arm).T])


def turn(angle: float) -> FloatArray:
    """Return a turn (2, 2) of the tangents."""
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def with_tangents(problem: carom.ImpactProblem, turns: Sequence[FloatArray]) -> carom.ImpactProblem:
    """Return the same impact with other tangents: a matrix (2, 2) for each contact."""
    return changed(problem, J_t=np.einsum("mij,mjv->miv", np.array(turns), problem.J_t))


def distance(problem: carom.ImpactProblem, v: FloatArray, other: FloatArray) -> FloatArray:
    """Return |v - other|_M as a share of |v_pre|_M, for (..., nv) velocities."""
    return np.sqrt(2.0 * problem.kinetic_energy(np.atleast_2d(v - other))) / problem.energy_norm


def rates(rng: np.random.Generator, num_samples: int, m: int, num_steps: int = 400) -> FloatArray:
    """Return points for `Routh`: some contacts act at rates that last for three steps."""
    shape = (num_samples, -(-num_steps // 3), m)
    points = rng.uniform(size=shape) * (rng.random(shape) < 0.6)
    return np.repeat(points, 3, axis=1)[:, :num_steps].reshape(num_samples, -1)
