"""Random exact solutions of the planar impact inclusion, from event to event, in plain NumPy.

Steps of `carom.Routh` are implicit, so that its outcomes are off by something that vanishes with
the step. A motion here is straight until a contact velocity becomes zero, where that is set to zero
and the next direction is drawn: but for rounding it is a solution of the inclusion [HalmPosa,
eq:multicontact], whose end lies in the post-impact set.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Cell = tuple[int, ...]

ZERO = 1e-11
"""Contact velocities below this share of what the energy could give are zero: wider than rounding,
narrower than what chance leaves."""

MOST_EVENTS = 400
"""Motions that have not ended by then are given up: contacts may take turns for ever."""

MOST_DRAWS = 100_000
"""Wherever a contact approaches there is some direction; two contacts have 81 cells at most."""


class RandomMotions:
    """The inclusion of one impact; signs are ordered normals, then tangents."""

    def __init__(
        self, M: FloatArray, J_n: FloatArray, J_t: FloatArray, mu: FloatArray, v_pre: FloatArray
    ) -> None:
        self.m = len(J_n)
        self.mu, self.v_pre = mu, v_pre
        self.J = np.vstack([J_n, J_t])
        self.to_velocity = np.linalg.solve(M, self.J.T)
        self.A = self.J @ self.to_velocity
        self.unit = np.sqrt(np.diag(self.A)) * np.sqrt(v_pre @ M @ v_pre)
        self._rays: dict[Cell, FloatArray] = {}

    def ends(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Return the ends of at most `count` motions: velocities (n, nv)."""
        found = [self.run(rng) for _ in range(count)]
        return np.array([v for v in found if v is not None]).reshape(-1, len(self.v_pre))

    def run(self, rng: np.random.Generator) -> FloatArray | None:
        """Follow one motion to its end; None if that does not come."""
        impulse = np.zeros(2 * self.m)
        y = self._snapped(self.J @ self.v_pre)
        eager = rng.random()
        for _ in range(MOST_EVENTS):
            if (y[: self.m] >= 0.0).all():
                return self.v_pre + self.to_velocity @ impulse
            direction, cell = self._direction(rng, y)
            rate = self.A @ direction
            signs = np.array(cell)
            towards = (signs != 0) & (rate * signs < 0.0)
            lengths = np.full(len(y), np.inf)
            lengths[towards] = -y[towards] / rate[towards]
            length = lengths.min()
            # Energy falls: every motion meets an event. Some are broken off before.
            share = 1.0 if rng.random() < eager else rng.random()
            impulse = impulse + share * length * direction
            y = y + share * length * rate
            y[signs == 0] = 0.0
            if share == 1.0:
                y[lengths == length] = 0.0
            y = self._snapped(y)
        return None

    def _snapped(self, y: FloatArray) -> FloatArray:
        return np.where(np.abs(y) <= ZERO * self.unit, 0.0, y)

    def _direction(self, rng: np.random.Generator, y: FloatArray) -> tuple[FloatArray, Cell]:
        """Draw a direction of impulses, and the signs that contact velocities have along it."""
        now = np.sign(y).astype(int)
        zero = now == 0
        for _ in range(MOST_DRAWS):
            # Where a velocity is zero it may stay so, or become positive or negative.
            cell = tuple(np.where(zero, rng.integers(-1, 2, len(y)), now))
            rays = self._cone(cell)
            if not len(rays):
                continue
            weights = rng.exponential(size=len(rays)) * (rng.random(len(rays)) < 0.6)
            direction = weights @ rays
            rate = self.A @ direction
            scale = np.abs(self.A) @ np.abs(direction)
            opened = zero & (np.array(cell) != 0)
            if (rate * cell > 1e-9 * scale)[opened].all() and (np.abs(rate) > 1e-9 * scale).any():
                return direction, cell
        raise ArithmeticError("no direction was found, though some contact approaches")

    def _cone(self, cell: Cell) -> FloatArray:
        """Return extreme directions of impulses that keep the zero velocities of a cell at zero."""
        if cell not in self._rays:
            columns = []
            for i in range(self.m):
                if cell[i] <= 0:
                    slip = cell[self.m + i]
                    for s in (slip,) if slip else (-1, 1):
                        column = np.zeros(2 * self.m)
                        column[i], column[self.m + i] = 1.0, -self.mu[i] * s
                        columns.append(column)
            rows = self.A[[k for k, sign in enumerate(cell) if sign == 0]]
            self._rays[cell] = _extreme(np.array(columns).reshape(-1, 2 * self.m), rows)
        return self._rays[cell]


def _extreme(columns: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the extreme w @ columns with w >= 0 and rows @ (w @ columns) = 0.

    An extreme w has a support on which it is, up to a factor, the only solution.
    """
    found = []
    for count in range(1, len(columns) + 1):
        for support in combinations(range(len(columns)), count):
            part = columns[list(support)]
            _, values, basis = np.linalg.svd(rows @ part.T) if len(rows) else (0, (), np.eye(count))
            rank = int((np.array(values) > 1e-10 * np.abs(rows).max(initial=0.0)).sum())
            if count - rank != 1:
                continue
            w = basis[-1] * np.sign(basis[-1].sum())
            if (w > 1e-12).all():
                found.append(w @ part)
    return np.array(found).reshape(-1, columns.shape[1])
