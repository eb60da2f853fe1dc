"""A user's own System: a rod that keeps its angle as a point of the circle, so that nq > nv.

It takes nothing from PlanarSystem, and leaves `dynamics` to its base.
"""

from __future__ import annotations

import math

import numpy as np

from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact, System

HALF, MASS, INERTIA, GRAVITY = 0.6, 1.4, 0.21, 9.81
MU = (0.3, 0.8)


class RodOnCircle(System):
    """Coordinates (x, y, cos, sin), velocities (dx, dy, rate); contacts: both ends on a floor."""

    nq = 4
    nv = 3
    contacts = ("left", "right")
    mu = np.array(MU)

    def mass_matrix(self, q):
        return np.diag([MASS, MASS, INERTIA])

    def velocity_map(self, q):
        return np.array([[1, 0, 0], [0, 1, 0], [0, 0, -q[3]], [0, 0, q[2]]])

    def smooth_force(self, q, v, t=0.0):
        return np.array([0.0, -MASS * GRAVITY, 0.0])

    def potential_energy(self, q):
        return MASS * GRAVITY * q[1]

    def gap(self, q):
        return np.array([q[1] - HALF * q[3], q[1] + HALF * q[3]])

    def normal_jacobian(self, q):
        return np.array([[0, 1, -HALF * q[2]], [0, 1, HALF * q[2]]])

    def tangent_jacobian(self, q):
        return np.array([[[1, 0, HALF * q[3]]], [[1, 0, -HALF * q[3]]]])

    def contact_bias(self, q, v):
        pull = HALF * v[2] ** 2 * np.array([q[3], q[2]])
        return np.array([pull, -pull])


def planar_rod():
    """Return the same rod as a PlanarSystem."""
    ends = zip(("left", "right"), (-HALF, HALF), MU, strict=True)
    return PlanarSystem(
        [Body("rod", MASS, INERTIA)],
        [PlaneContact(name, Disc("rod", (x, 0.0)), FLOOR, mu) for name, x, mu in ends],
    )


def on_circle(q):
    """Return its configuration from that of the planar rod."""
    return np.array([q[0], q[1], math.cos(q[2]), math.sin(q[2])])
