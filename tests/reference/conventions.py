"""One state of a robot in the coordinates of several engines.

A floating base is at p with the axes R. Velocities of all engines are linear in each other.

- Pinocchio: q = (p, quaternion xyzw, joints), v = (R^T dp/dt, R^T ω, joints)
- MuJoCo:    q = (p, quaternion wxyz, joints), v = (dp/dt, R^T ω, joints)
- Drake:     q = (quaternion wxyz, p, joints), v = (ω, dp/dt, joints)
"""

import numpy as np
import pinocchio as pin


def axes(q):
    """Return the axes R of the base, as columns, of Pinocchio's q."""
    return pin.Quaternion(np.asarray(q[3:7])).matrix()


def to_mujoco(q, order):
    """Return MuJoCo's q, and T so that its velocity is T times Pinocchio's.

    Args:
        q: Pinocchio's.
        order: Which of Pinocchio's joints each of MuJoCo's is.
    """
    T = np.zeros((6 + len(order), 6 + len(order)))
    T[:3, :3], T[3:6, 3:6] = axes(q), np.eye(3)
    _joints(T, order)
    return np.concatenate([q[:3], np.roll(q[3:7], 1), q[7:][order]]), T


def to_drake(q, order):
    """Return Drake's q, and T so that its velocity is T times Pinocchio's.

    Args:
        q: Pinocchio's.
        order: Which of Pinocchio's joints each of Drake's is.
    """
    T = np.zeros((6 + len(order), 6 + len(order)))
    T[:3, 3:6] = T[3:6, :3] = axes(q)
    _joints(T, order)
    return np.concatenate([np.roll(q[3:7], 1), q[:3], q[7:][order]]), T


def _joints(T, order):
    for i, j in enumerate(order):
        T[6 + i, 6 + j] = 1.0
