"""Kinematics, inertia and contacts of a tree of planar bodies.

Every function works on a `Tree` and fills arrays that it is given, by loops over numbers: copies of
whole rows take far longer to compile. A frame is an array (3, 2 + j) of rows x, y and angle. Its
first column is where it is; its second one the bias of x and y, and the rate of turning; the others
are Jacobians. What is left of an acceleration where dv/dt = 0 is called its bias: for a point at
offset r, a_origin - w^2 r. Angles add up, so they have none.
"""

import math
from typing import NamedTuple

import numpy as np

from carom.kernels.jit import filling, kernel, lean

WORLD, PRISMATIC, REVOLUTE = -1, 0, 1

PARENT, NUM_JOINTS, PLACE_X, PLACE_Y, COM_X, COM_Y, MASS, INERTIA = range(8)
"""Columns of a tree's bodies: the one that carries each, listed before it, or `WORLD`; number of
joints; the first joint in the parent's frame; centre of mass, mass and moment of inertia."""
KIND, AXIS_X, AXIS_Y = range(3)
"""Columns of a tree's joints: `PRISMATIC` or `REVOLUTE`; the axis of prismatic ones."""
BODY, CENTER_X, CENTER_Y, RADIUS, OTHER, OTHER_X, OTHER_Y, OTHER_RADIUS, NORMAL_X, NORMAL_Y = range(
    10
)
"""Columns of a tree's contacts: body, centre and radius of a disc; the same of the other disc, or
`WORLD`, a point of a half-plane's edge and 0; the half-plane's normal."""


class Tree(NamedTuple):
    """A planar system as arrays: b bodies, j joints, m contacts.

    Contacts are between a disc on a body and either a half-plane of the world or another disc.
    """

    bodies: np.ndarray  # (b, 8)
    joints: np.ndarray  # (j, 3)
    contacts: np.ndarray  # (m, 10)
    gravity: np.ndarray  # (2,) acceleration


@lean
def place(tree, q, v, frames):
    """Fill the frame of every body."""
    k = 0
    for i in range(len(tree.bodies)):
        parent = int(tree.bodies[i, PARENT])
        for a in range(3):
            for b in range(frames.shape[2]):
                frames[i, a, b] = 0.0 if parent == WORLD else frames[parent, a, b]
        _shift(frames, i, tree.bodies[i, PLACE_X], tree.bodies[i, PLACE_Y])
        for _ in range(int(tree.bodies[i, NUM_JOINTS])):
            if tree.joints[k, KIND] == REVOLUTE:
                frames[i, 2, 0] += q[k]
                frames[i, 2, 1] += v[k]
                frames[i, 2, 2 + k] += 1.0
            else:
                axis_x, axis_y = tree.joints[k, AXIS_X], tree.joints[k, AXIS_Y]
                c, s = math.cos(frames[i, 2, 0]), math.sin(frames[i, 2, 0])
                x, y = c * axis_x - s * axis_y, s * axis_x + c * axis_y
                _shift(frames, i, q[k] * axis_x, q[k] * axis_y)
                frames[i, 0, 2 + k] += x
                frames[i, 1, 2 + k] += y
                frames[i, 0, 1] -= 2.0 * frames[i, 2, 1] * v[k] * y
                frames[i, 1, 1] += 2.0 * frames[i, 2, 1] * v[k] * x
            k += 1


@lean
def _shift(frames, i, x, y):
    """Move the origin of frame i to a point that is fixed in it."""
    c, s = math.cos(frames[i, 2, 0]), math.sin(frames[i, 2, 0])
    x, y = c * x - s * y, s * x + c * y
    frames[i, 0, 0] += x
    frames[i, 1, 0] += y
    rate = frames[i, 2, 1]
    frames[i, 0, 1] -= rate * rate * x
    frames[i, 1, 1] -= rate * rate * y
    for k in range(2, frames.shape[2]):
        frames[i, 0, k] -= y * frames[i, 2, k]
        frames[i, 1, k] += x * frames[i, 2, k]


@lean
def _place_point(frames, i, x, y, k):
    """Let frame k be that of body i with its origin at a point."""
    for a in range(3):
        for b in range(frames.shape[2]):
            frames[k, a, b] = frames[i, a, b]
    _shift(frames, k, x, y)


@lean
def inertia(tree, frames, M, force):
    """Fill the mass matrix and the generalized force of gravity and of inertia.

    M = sum m J_c^T J_c + I J_w^T J_w,    force = sum m J_c^T (g - bias of the centre of mass).
    """
    n, b = len(M), len(tree.bodies)
    for i in range(n):
        force[i] = 0.0
        for j in range(n):
            M[i, j] = 0.0
    for k in range(b):
        _place_point(frames, k, tree.bodies[k, COM_X], tree.bodies[k, COM_Y], b)
        m, turning = tree.bodies[k, MASS], tree.bodies[k, INERTIA]
        pull_x = m * (tree.gravity[0] - frames[b, 0, 1])
        pull_y = m * (tree.gravity[1] - frames[b, 1, 1])
        for i in range(n):
            x, y, angle = frames[b, 0, 2 + i], frames[b, 1, 2 + i], frames[b, 2, 2 + i]
            force[i] += x * pull_x + y * pull_y
            for j in range(n):
                M[i, j] += m * (x * frames[b, 0, 2 + j] + y * frames[b, 1, 2 + j])
                M[i, j] += turning * angle * frames[b, 2, 2 + j]


@lean
def touch(tree, v, frames, phi, J_n, J_t, bias):
    """Fill the gap (m,), J_n = d gap / dq and J_t (m, j), and biases (m, 2) of every contact.

    J_t are rows of the material points along the tangent; biases have the normal first. Return -1,
    or the first contact between discs whose centres coincide: it has no normal.
    """
    here, there = len(tree.bodies), len(tree.bodies) + 1
    for i in range(len(phi)):
        contact = tree.contacts[i]
        _place_point(frames, int(contact[BODY]), contact[CENTER_X], contact[CENTER_Y], here)
        n_x, n_y, curvature = contact[NORMAL_X], contact[NORMAL_Y], 0.0
        if contact[OTHER] == WORLD:
            for a in range(3):
                for b in range(frames.shape[2]):
                    frames[there, a, b] = 0.0
            x, y = frames[here, 0, 0] - contact[OTHER_X], frames[here, 1, 0] - contact[OTHER_Y]
            distance = n_x * x + n_y * y
        else:
            _place_point(frames, int(contact[OTHER]), contact[OTHER_X], contact[OTHER_Y], there)
            x = frames[here, 0, 0] - frames[there, 0, 0]
            y = frames[here, 1, 0] - frames[there, 1, 0]
            # Not hypot, whose last bit depends on who computes it.
            distance = math.sqrt(x * x + y * y)
            if distance == 0.0:
                return i
            n_x, n_y, curvature = x / distance, y / distance, 1.0 / distance
        radius, other_radius = contact[RADIUS], contact[OTHER_RADIUS]
        phi[i] = distance - radius - other_radius
        parting, passing = 0.0, 0.0
        for k in range(len(v)):
            x = frames[here, 0, 2 + k] - frames[there, 0, 2 + k]
            y = frames[here, 1, 2 + k] - frames[there, 1, 2 + k]
            J_n[i, k] = n_x * x + n_y * y
            J_t[i, k] = n_y * x - n_x * y
            parting += J_n[i, k] * v[k]
            passing += J_t[i, k] * v[k]
            J_t[i, k] += radius * frames[here, 2, 2 + k] + other_radius * frames[there, 2, 2 + k]
        x, y = frames[here, 0, 1] - frames[there, 0, 1], frames[here, 1, 1] - frames[there, 1, 1]
        # A normal between discs turns with the rate passing / distance.
        bias[i, 0] = n_x * x + n_y * y + curvature * passing * passing
        bias[i, 1] = n_y * x - n_x * y - curvature * passing * parting
    return -1


@filling
def look_round(tree, q, v, frames, M, force, phi, J_n, J_t, bias):
    """Fill the equations of motion at a state, and return what is wrong there.

    That is -1, the first contact that has no normal, or the number of contacts if a number is not
    finite.
    """
    place(tree, q, v, frames)
    inertia(tree, frames, M, force)
    wrong = touch(tree, v, frames, phi, J_n, J_t, bias)
    for k in range(len(q)):
        if not (np.isfinite(q[k]) and np.isfinite(v[k])):
            wrong = len(phi)
    return wrong


@kernel
def poses(tree, q):
    """Return x, y and angle of every body's frame, (b, 3)."""
    b, n = len(tree.bodies), len(tree.joints)
    frames = np.empty((b, 3, 2 + n))
    place(tree, q, np.zeros(n), frames)
    out = np.empty((b, 3))
    for i in range(b):
        for a in range(3):
            out[i, a] = frames[i, a, 0]
    return out


@kernel
def potential_energy(tree, q):
    """Return the potential energy of gravity."""
    b, n = len(tree.bodies), len(tree.joints)
    frames, total = np.empty((b + 2, 3, 2 + n)), 0.0
    place(tree, q, np.zeros(n), frames)
    for k in range(b):
        _place_point(frames, k, tree.bodies[k, COM_X], tree.bodies[k, COM_Y], b)
        height = tree.gravity[0] * frames[b, 0, 0] + tree.gravity[1] * frames[b, 1, 0]
        total -= tree.bodies[k, MASS] * height
    return total
