"""The step of an impact as linear programs see it: cones of velocities, caps and impulses.

For given modes a step is linear; two solutions with one velocity before and the same caps are a
point of a cone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from math import prod

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels.pieces import num_frictions
from carom.kernels.tolerances import MATCH, SINGULAR, VANISHING
from carom.outcomes.least_squares import nonnegative_least_squares
from carom.typing import FloatArray

Modes = tuple[int, ...]
MARGIN = 1e-7
"""Two outcomes must differ by this share of what leads to them. Cones that only touch leave about
1e-14 after rounding, those that overlap 1e-2 unless friction is within a hair of a limit."""


class Step:
    """Steps of contacts that all act, by their modes.

    Two solutions of one step are linear in x = (y, impulses of either, caps), where the velocities
    after the first one are Q y, with Q a basis of all that the system can have.

    Attributes:
        space: The contacts.
        before, caps: (c, n), (m, n) what both start from, as functions of x.
        impulses: Of the first and the second solution, (c, n) each.
        fixing: For each contact, the modes that K can be made of.
    """

    def __init__(self, space: ContactSpace) -> None:
        self.space = space
        m, c = space.num_contacts, len(space.A)
        size = np.sqrt(np.diag(space.A))
        size[size == 0.0] = 1.0
        values, vectors = np.linalg.eigh(space.A / np.outer(size, size))
        possible = values > SINGULAR * values[-1]
        Q = size[:, None] * vectors[:, possible]
        self._root = Q * np.sqrt(values[possible])
        rank = Q.shape[1]
        # Tangential impulses may be as large as friction lets them be.
        scale = np.column_stack([np.ones(m)] + [np.maximum(1.0, space.mu)] * (space.width - 1))
        x = np.diag(np.concatenate([np.ones(rank), scale.ravel(), scale.ravel(), np.ones(m)]))
        self.impulses = x[rank : rank + c], x[rank + c : rank + 2 * c]
        self.caps = x[rank + 2 * c :]
        self.before = Q @ x[:rank] - space.A @ self.impulses[0]
        # Outcomes that differ do so along any direction, unless it is a special one.
        direction = np.random.default_rng(20).normal(size=c) / size
        apart = direction @ space.A @ (self.impulses[0] - self.impulses[1])
        self._apart = apart / np.linalg.norm(apart)
        self._frictions = int(num_frictions(*reversed(space.directions.shape)))
        # Made when first asked for: in space a contact may have thousands of modes.
        self._parts, self._conditions = cache(self._part), cache(self._on_x)
        self.fixing = [self._fixing_modes(i) for i in range(m)]

    def _part(self, i: int, mode: int) -> tuple[FloatArray, FloatArray]:
        """Return contact i's rows of E and of B^T, with det(E B) > 0, scaled for those of K."""
        _, E, Z = _contact_law(mode, self.space.mu[i], self.space.directions)
        block = slice(i * self.space.width, (i + 1) * self.space.width)
        B = _null_space(Z[:, :-1])
        if len(E) and np.linalg.det(E @ B) < 0.0:
            B[:, 0] *= -1.0
        parts = np.zeros((2, len(E), len(self._root)))
        parts[0, :, block], parts[1, :, block] = E, B.T
        lengths = np.linalg.norm(parts @ self._root, axis=2, keepdims=True)
        parts = np.divide(parts, lengths, out=parts, where=lengths > VANISHING)
        return parts[0], parts[1]

    def _on_x(self, which: int, i: int, mode: int) -> tuple[FloatArray, FloatArray]:
        """Write contact i's law in one of two solutions as conditions >= 0 and = 0 on x."""
        G, E, Z = _contact_law(mode, self.space.mu[i], self.space.directions)
        impulses = self.impulses[which]
        block = slice(i * self.space.width, (i + 1) * self.space.width)
        after = self.before[block] + self.space.A[block] @ impulses
        forces = np.vstack([impulses[block], self.caps[i]])
        conditions = G @ np.vstack([after, forces]), np.vstack([E @ after, Z @ forces])
        return _normalized(conditions[0]), _normalized(conditions[1])

    def _fixing_modes(self, i: int) -> list[int]:
        """List contact i's closed modes, and of the compressing ones those that fix a velocity."""
        F, k = self._frictions, len(self.space.directions)
        if self.space.mu[i] == 0.0:
            return [2]
        edges = range(1 + k, F) if self.space.width == 3 else ()
        return [*range(1, 1 + F), *(1 + F + f for f in (0, *edges))]

    @property
    def num_pairs(self) -> int:
        """Return the number of `pairs`, without listing them."""
        counts = np.where(self.space.mu > 0.0, self._frictions, 1)
        return prod(int(n * (3 * n + 2)) for n in counts)

    def pairs(self) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yield the pairs of choices of modes that two solutions can be made of, per contact."""
        return product(*map(self._mode_pairs, range(self.space.num_contacts)))

    def _mode_pairs(self, i: int) -> list[tuple[int, int]]:
        """List pairs of contact i's modes, without those that others include.

        Where both are closed, or one closed and one free, the cap can be lowered until one
        compresses; where both are free, to 0, and the contact takes no part.
        """
        F = self._frictions
        frictions = range(F) if self.space.mu[i] > 0.0 else [1]
        closed, compressing = [1 + f for f in frictions], [1 + F + f for f in frictions]
        mixed = list(product(compressing, [*closed, 0]))
        return [*mixed, *((b, a) for a, b in mixed), *product(compressing, compressing)]

    def sign(self, modes: Modes) -> int:
        """Return the sign of det K, or of its limit; 0 if K leaves the velocity open."""
        parts = [self._parts(i, mode) for i, mode in enumerate(modes)]
        E = np.concatenate([rows for rows, _ in parts])
        B = np.concatenate([columns for _, columns in parts]).T
        left, right = E @ self._root, self._root.T @ B
        K = left @ right
        U, values, Vt = np.linalg.svd(K)
        rank = int((values > SINGULAR).sum())
        if rank < len(K):
            if any(np.linalg.matrix_rank(part, tol=SINGULAR) > rank for part in (left, right)):
                return 0
            U, V = U[:, rank:], Vt[rank:].T
            K = K + U @ (U.T @ E @ B @ V) @ V.T
        return int(np.sign(np.linalg.det(K)))

    def point(self, first: Modes, second: Modes, *, apart: bool, inside: bool) -> FloatArray | None:
        """Return two solutions in given modes as the shortest x (n,), or None.

        With `apart` they lead to different velocities; with `inside` they are away from the limits
        of their modes.
        """
        parts = [self._conditions(0, i, mode) for i, mode in enumerate(first)]
        parts += [self._conditions(1, i, mode) for i, mode in enumerate(second)]
        free = _null_space(np.concatenate([equations for _, equations in parts]))
        rows = np.concatenate([conditions for conditions, _ in parts]) @ free
        goal = np.full(len(rows), 1.0 if inside else 0.0)
        if apart:
            rows, goal = np.vstack([rows, self._apart @ free]), np.append(goal, 1.0)
        rows = _normalized(np.where(np.abs(rows) > MATCH, rows, 0.0))
        if apart and not rows[-1].any():
            return None
        x = _shortest(rows, np.where(rows.any(axis=1), goal, 0.0))
        return None if x is None else free @ x


def _contact_law(
    mode: int, mu: float, directions: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a mode's conditions G (v', impulse, cap) >= 0, E v' = 0 and Z (impulse, cap) = 0.

    The modes are those of `carom.kernels.pieces`; without friction all of them slide.
    """
    k, d = directions.shape
    frictions = int(num_frictions(d, k))
    unit = np.eye(3 + 2 * d)
    v_n, v_t, l_n, l_t, cap = unit[0], unit[1 : 1 + d], unit[1 + d], unit[2 + d : -1], unit[-1]
    friction = (mode - 1) % frictions
    if mode == 0:
        above, E, Z = [cap, v_n], [], [l_n]
    elif mode <= frictions:
        above, E, Z = [cap, l_n, cap - l_n], [v_n], []
    else:
        above, E, Z = [cap, -v_n], [], [l_n - cap]
    if mode == 0 or mu == 0.0:
        Z += [*l_t]
    elif friction == 0:
        E += [*v_t]
        above += [mu * offset * l_n - outward @ l_t for outward, offset in _edges(directions)]
    elif friction <= k:
        corner = directions[friction - 1]
        Z += [*(l_t - mu * np.outer(corner, l_n))]
        above += [(directions[(friction - 1 + t) % k] - corner) @ v_t for t in (-1, 1)]
    else:
        a, b = directions[friction - 1 - k], directions[(friction - k) % k]
        outward, offset = _edges(directions)[friction - 1 - k]
        E += [(b - a) @ v_t]
        Z += [outward @ l_t - mu * offset * l_n]
        above += [(b - a) @ (l_t - mu * np.outer(a, l_n)), (b - a) @ (mu * np.outer(b, l_n) - l_t)]
        above += [-outward @ v_t]
    velocities, forces = (np.array(rows).reshape(-1, len(unit)) for rows in (E, Z))
    return np.array(above), velocities[:, : 1 + d], forces[:, 1 + d :]


def _edges(directions: FloatArray) -> list[tuple[FloatArray, float]]:
    """Return outward normals of the friction polygon's edges, and their products with it there."""
    if directions.shape[1] == 1:
        return [(corner, 1.0) for corner in directions]
    along = np.roll(directions, -1, axis=0) - directions
    outward = np.column_stack([along[:, 1], -along[:, 0]])
    return [(normal, float(normal @ a)) for normal, a in zip(outward, directions, strict=True)]


def _normalized(rows: FloatArray) -> FloatArray:
    """Scale rows to length one; those that vanish become zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > VANISHING)


def _null_space(rows: FloatArray) -> FloatArray:
    _, values, Vt = np.linalg.svd(rows)
    return Vt[int((values > MATCH).sum()) :].T


def _shortest(rows: FloatArray, goal: FloatArray) -> FloatArray | None:
    """Return the shortest x with rows x >= goal, or None if it is longer than 1 / `MARGIN`.

    Least distance programming [Lawson and Hanson 1974, chapter 23].
    """
    system = np.vstack([rows.T, goal])
    target = np.append(np.zeros(rows.shape[1]), 1.0)
    weights, distance = nonnegative_least_squares(system, target)
    residual = target - system @ weights
    return -residual[:-1] / residual[-1] if distance > MARGIN else None
