"""Symmetries of a planar impact: exchanges of contacts, and of left and right, that change nothing.

The image of a motion under a symmetry is a motion, so what is reached on one side is reached on the
other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from carom.contact_space import ContactSpace
from carom.typing import FloatArray

SAME = 1e-9
"""Differences of dimensionless numbers below this are rounding."""

MOST = 16
"""Maximum number of symmetries; more of them repeat each other's work."""


def symmetries(space: ContactSpace, start: FloatArray) -> list[FloatArray]:
    """Return matrices (c, c) that map motions to motions, the identity first.

    Each exchanges contacts and turns some tangents around, so that A, mu and the start stay as they
    are. In space only the identity is returned.
    """
    found: list[FloatArray] = [np.eye(len(start))]
    if space.width != 2:
        return found
    for matrix in _extended(space, start, []):
        if len(found) < MOST and (matrix != found[0]).any():
            found.append(matrix)
        if len(found) == MOST:
            break
    return found


def _extended(
    space: ContactSpace, start: FloatArray, images: list[tuple[int, int]]
) -> Iterator[FloatArray]:
    """Generate the symmetries under which contact i becomes (contact, sign of the tangent)."""
    m, i = space.num_contacts, len(images)
    if i == m:
        matrix = np.zeros((2 * m, 2 * m))
        for k, (image, sign) in enumerate(images):
            matrix[2 * image, 2 * k] = 1.0
            matrix[2 * image + 1, 2 * k + 1] = sign
        yield matrix
        return
    for j in set(range(m)) - {image for image, _ in images}:
        for sign in (1, -1):
            if _fits(space, start, [*images, (j, sign)]):
                yield from _extended(space, start, [*images, (j, sign)])


def _fits(space: ContactSpace, start: FloatArray, images: list[tuple[int, int]]) -> bool:
    """Return whether the last contact goes with those before it."""
    i, (j, sign) = len(images) - 1, images[-1]
    turn = np.array([1.0, sign])
    if abs(space.mu[i] - space.mu[j]) > SAME * (1.0 + abs(space.mu[i])):
        return False
    own, other = start[2 * i : 2 * i + 2], start[2 * j : 2 * j + 2]
    if np.abs(own - turn * other).max() > SAME:
        return False
    for k, (image, mark) in enumerate(images):
        block = space.A[2 * i : 2 * i + 2, 2 * k : 2 * k + 2]
        moved = space.A[2 * j : 2 * j + 2, 2 * image : 2 * image + 2]
        if np.abs(block - np.outer(turn, [1.0, mark]) * moved).max() > SAME:
            return False
    return True
