"""Unit quaternions (w, x, y, z), turns and rotation matrices; vector products."""

from __future__ import annotations

import math

import numpy as np

from carom.typing import ArrayLike, FloatArray

_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


def cross(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the vector products along the last axis: NumPy's own takes many times longer."""
    return np.asarray(one[..., _NEXT] * other[..., _LAST] - one[..., _LAST] * other[..., _NEXT])


def product(one: ArrayLike, other: ArrayLike) -> FloatArray:
    """Return the product of two quaternions (4,): the other turn first, then the one."""
    a, b, c, d = (float(x) for x in np.asarray(one))
    w, x, y, z = (float(x) for x in np.asarray(other))
    return np.array(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]
    )


def turn(angle: ArrayLike) -> FloatArray:
    """Return the quaternion (4,) of a turn about a vector (3,) by its length [rad]."""
    x, y, z = (0.5 * float(each) for each in np.asarray(angle))
    half = math.sqrt(x * x + y * y + z * z)
    # sin(half) / half keeps its digits down to zero.
    share = math.sin(half) / half if half > 1e-8 else 1.0
    return np.array([math.cos(half), share * x, share * y, share * z])


def turned(quaternion: ArrayLike, angle: ArrayLike, *, in_body: bool = False) -> FloatArray:
    """Return a unit quaternion (4,) turned by a vector (3,) [rad], in the world's axes.

    If `in_body`, the vector is in the axes of the body instead.
    """
    by = turn(angle)
    end = product(quaternion, by) if in_body else product(by, quaternion)
    return end / math.sqrt(float(end @ end))


def rotation(quaternion: ArrayLike) -> FloatArray:
    """Return the rotation matrix (3, 3) of a unit quaternion: columns are the body's axes."""
    w, x, y, z = (float(each) for each in np.asarray(quaternion))
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )
