"""Kinematics, inertia and contacts of a tree of planar bodies.

Every function works on a `Tree` of arrays and fills arrays that it is given. A body's frame has a
position and an angle; their Jacobians are rows x, y, angle of `J`. What is left of an acceleration
where dv/dt = 0 is called its bias: for a point at offset r, a_origin - w^2 r. Angles add up, so
they have none.
"""

import math
from typing import NamedTuple

import numpy as np

from carom.kernels.jit import kernel

WORLD, PRISMATIC, REVOLUTE = -1, 0, 1


class Tree(NamedTuple):
    """A planar system as arrays: b bodies, j joints, m contacts.

    Contacts are between a disc on a body and either a half-plane of the world (`other` is
    `WORLD`; `other_center` is a point of its edge) or a disc on another body.
    """

    parent: np.ndarray  # (b,) body that carries each one, listed before it, or `WORLD`
    placement: np.ndarray  # (b, 2) first joint in the parent's frame
    first_joint: np.ndarray  # (b + 1,) joints of body i are from entry i up to entry i + 1
    com: np.ndarray  # (b, 2) centre of mass in the body's frame
    mass: np.ndarray  # (b,)
    inertia: np.ndarray  # (b,) moments of inertia
    joint: np.ndarray  # (j,) `PRISMATIC` or `REVOLUTE`
    axis: np.ndarray  # (j, 2) axes of prismatic joints
    body: np.ndarray  # (m,) body that carries the disc of each contact
    center: np.ndarray  # (m, 2) its centre in the body's frame
    radius: np.ndarray  # (m,) its radius
    other: np.ndarray  # (m,) body of the other disc, or `WORLD`
    other_center: np.ndarray  # (m, 2) its centre, or a point of the half-plane's edge
    other_radius: np.ndarray  # (m,) its radius
    normal: np.ndarray  # (m, 2) normal of the half-plane
    gravity: np.ndarray  # (2,) acceleration


@kernel
def place(tree, q, v, pose, bias, J):
    """Fill every body's pose (b, 4), bias of the origin (b, 2) and Jacobians (b, 3, j).

    A pose is x, y, angle and rate of turning.
    """
    for i in range(len(tree.parent)):
        p = tree.parent[i]
        if p == WORLD:
            pose[i], bias[i], J[i] = 0.0, 0.0, 0.0
        else:
            pose[i], bias[i], J[i] = pose[p], bias[p], J[p]
        _shift(pose[i], bias[i], J[i], tree.placement[i, 0], tree.placement[i, 1])
        for k in range(tree.first_joint[i], tree.first_joint[i + 1]):
            if tree.joint[k] == REVOLUTE:
                pose[i, 2] += q[k]
                pose[i, 3] += v[k]
                J[i, 2, k] += 1.0
            else:
                x, y = _turned(pose[i, 2], tree.axis[k, 0], tree.axis[k, 1])
                _shift(pose[i], bias[i], J[i], q[k] * tree.axis[k, 0], q[k] * tree.axis[k, 1])
                J[i, 0, k] += x
                J[i, 1, k] += y
                bias[i, 0] -= 2.0 * pose[i, 3] * v[k] * y
                bias[i, 1] += 2.0 * pose[i, 3] * v[k] * x


@kernel
def _turned(angle, x, y):
    """Return a vector given in a frame in world coordinates."""
    c, s = math.cos(angle), math.sin(angle)
    return c * x - s * y, s * x + c * y


@kernel
def _shift(pose, bias, J, x, y):
    """Move a frame's origin to a point that is fixed in it."""
    x, y = _turned(pose[2], x, y)
    pose[0] += x
    pose[1] += y
    rate = pose[3]
    bias[0] -= rate * rate * x
    bias[1] -= rate * rate * y
    for k in range(J.shape[1]):
        J[0, k] -= y * J[2, k]
        J[1, k] += x * J[2, k]


@kernel
def inertia(tree, pose, bias, J, M, force):
    """Fill the mass matrix and the generalized force of gravity and of inertia.

    M = sum m J_c^T J_c + I J_w^T J_w,    force = sum m J_c^T (g - bias of the centre of mass).
    """
    n = len(M)
    point, offset, rows = np.empty(4), np.empty(2), np.empty((3, n))
    M[:] = 0.0
    force[:] = 0.0
    for i in range(len(tree.parent)):
        point[:], offset[:], rows[:] = pose[i], bias[i], J[i]
        _shift(point, offset, rows, tree.com[i, 0], tree.com[i, 1])
        m, turning = tree.mass[i], tree.inertia[i]
        pull_x = m * (tree.gravity[0] - offset[0])
        pull_y = m * (tree.gravity[1] - offset[1])
        for a in range(n):
            force[a] += rows[0, a] * pull_x + rows[1, a] * pull_y
            for b in range(n):
                M[a, b] += m * (rows[0, a] * rows[0, b] + rows[1, a] * rows[1, b])
                M[a, b] += turning * rows[2, a] * rows[2, b]


@kernel
def touch(tree, v, pose, bias, J, gap, J_n, J_t, contact_bias):
    """Fill the gap (m,), J_n = d gap / dq and J_t (m, j), and biases (m, 2) of every contact.

    J_t are rows of the material points along the tangent; biases have the normal first. Return -1,
    or the first contact between discs whose centres coincide: it has no normal.
    """
    n = J.shape[2]
    point, offset, rows = np.empty(4), np.empty(2), np.empty((3, n))
    there, there_offset, there_rows = np.empty(4), np.empty(2), np.empty((3, n))
    for i in range(len(gap)):
        point[:], offset[:], rows[:] = pose[tree.body[i]], bias[tree.body[i]], J[tree.body[i]]
        _shift(point, offset, rows, tree.center[i, 0], tree.center[i, 1])
        n_x, n_y = tree.normal[i]
        if tree.other[i] == WORLD:
            there[:], there_offset[:], there_rows[:] = 0.0, 0.0, 0.0
            there[:2] = tree.other_center[i]
            distance = n_x * (point[0] - there[0]) + n_y * (point[1] - there[1])
            curvature = 0.0
        else:
            k = tree.other[i]
            there[:], there_offset[:], there_rows[:] = pose[k], bias[k], J[k]
            x, y = tree.other_center[i]
            _shift(there, there_offset, there_rows, x, y)
            distance = math.hypot(point[0] - there[0], point[1] - there[1])
            if distance == 0.0:
                return i
            n_x, n_y = (point[0] - there[0]) / distance, (point[1] - there[1]) / distance
            curvature = 1.0 / distance
        gap[i] = distance - tree.radius[i] - tree.other_radius[i]
        parting, passing = 0.0, 0.0
        for k in range(n):
            x, y = rows[0, k] - there_rows[0, k], rows[1, k] - there_rows[1, k]
            J_n[i, k] = n_x * x + n_y * y
            J_t[i, k] = n_y * x - n_x * y
            parting += J_n[i, k] * v[k]
            passing += J_t[i, k] * v[k]
            J_t[i, k] += tree.radius[i] * rows[2, k] + tree.other_radius[i] * there_rows[2, k]
        x, y = offset[0] - there_offset[0], offset[1] - there_offset[1]
        # A normal between discs turns with the rate passing / distance.
        contact_bias[i, 0] = n_x * x + n_y * y + curvature * passing * passing
        contact_bias[i, 1] = n_y * x - n_x * y - curvature * passing * parting
    return -1
