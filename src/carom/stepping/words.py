"""Find the best planar motion through a given word of cells by one linear program.

A *cell* is a vector of signs (-1, 0, 1) of the contact velocities u, contact by contact, normal
first. On it the rates of the impact inclusion are one polytope [HalmPosa, eq:multicontact], and it
is convex: what motions reach within it is reached along a straight line. For a *word*, a sequence
of cells, the end points of all motions through these closed cells in this order are therefore
given by linear conditions on the impulses of its stretches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from carom.contact_space import ContactSpace
from carom.typing import BoolArray, FloatArray

SignArray = NDArray[np.int8]

ZERO = 1e-10
"""Contact velocities below this are zero: wider than rounding after some hundred events."""

EXACT = 1e-11
"""Variables below this are at their bound in a vertex: a simplex solver leaves 1e-15 there."""

OPEN = 1e-12
"""Some contact has to approach faster than this, or the impact is over."""

MARGIN = 1e-10
"""Approach that is kept where the best motion would touch the end of the impact and go on."""

MOST_TOUCHES = 6
"""Maximum number of programs that keep a motion from touching the end of the impact."""


@dataclass(frozen=True, eq=False)
class Word:
    """The best motion through a word: one row per stretch, none of them empty."""

    cells: SignArray  # (K, 2 m) signs of the contact velocities along each stretch
    impulses: FloatArray  # (K, 2 m) dimensionless impulses of each stretch
    value: float  # of the objective
    prices: FloatArray  # (K, 2 m) what the objective gains per change of velocity before a stretch


def cells_of_path(space: ContactSpace, start: FloatArray, impulses: FloatArray) -> SignArray:
    """Return the cells (K, 2 m) that a path of straight stretches (rows of impulses) visits."""
    cells: list[SignArray] = []
    u = np.asarray(start, dtype=np.float64)
    for row in impulses:
        change = space.A @ row
        after = u + change
        crossed = (np.minimum(u, after) < -ZERO) & (np.maximum(u, after) > ZERO)
        times = np.unique(np.concatenate([[0.0, 1.0], -u[crossed] / change[crossed]]))
        middle = u + 0.5 * (times[1:] + times[:-1])[:, None] * change
        # A form that leaves or reaches zero has half of its change in the middle.
        signs = np.where(np.abs(middle) <= 0.5 * ZERO, 0.0, np.sign(middle)).astype(np.int8)
        cells += [cell for cell in signs if not cells or (cell != cells[-1]).any()]
        u = np.where(np.abs(after) <= 1e-3 * ZERO, 0.0, after)
    return np.array(cells, dtype=np.int8).reshape(-1, len(start))


def approaching(cells: SignArray) -> BoolArray:
    """Return for each cell whether the impact goes on in it, because some contact approaches."""
    return np.asarray((cells[:, ::2] < 0).any(axis=1))


@dataclass(frozen=True, eq=False)
class Vertices:
    """The extreme actions of single contacts: friction of either sign."""

    impulse: FloatArray  # (2 m, 2 m) impulses, one row per vertex; first those against t > 0
    rate: FloatArray  # (2 m, 2 m) changes of the contact velocities, the largest of each is 1
    size: FloatArray  # (2 m,) by which they were divided: friction may be huge

    @classmethod
    def of(cls, space: ContactSpace) -> Vertices:
        """Return the vertices of an impact."""
        m = space.num_contacts
        impulse = np.zeros((2, m, m, 2))
        own = np.arange(m)
        impulse[:, own, own, 0] = 1.0
        impulse[0, own, own, 1] = -space.mu
        impulse[1, own, own, 1] = space.mu
        impulse = impulse.reshape(2 * m, 2 * m)
        rate = impulse @ space.A
        size = np.abs(rate).max(axis=1)
        return cls(impulse, rate / size[:, None], size)

    @staticmethod
    def acting(cells: SignArray, mu: FloatArray) -> BoolArray:
        """Return which vertices (K, 2 m) may act in each cell."""
        n, t = cells[:, ::2], cells[:, 1::2]
        # Without friction both vertices are the same.
        return np.hstack([(n <= 0) & (t >= 0), (n <= 0) & ((t < 0) | ((t == 0) & (mu > 0.0)))])


class Program:
    """The linear program of one word; its variables are impulses of vertices, then velocities."""

    def __init__(self, space: ContactSpace, start: FloatArray, cells: SignArray) -> None:
        self.space, self.start, self.cells = space, start, cells
        self.vertices = Vertices.of(space)
        self.acting = self.vertices.acting(cells, space.mu)
        self.lower, self.upper = self._bounds()

    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return bounds (K, 2 m) of the velocity after each stretch: in this cell and the next."""
        after = np.vstack([self.cells[1:], self.cells[-1:]])
        lower = np.where(np.maximum(self.cells, after) >= 0, 0.0, -np.inf)
        upper = np.where(np.minimum(self.cells, after) <= 0, 0.0, np.inf)
        # Nothing approaches at the end.
        lower[-1, ::2] = 0.0
        return lower, upper

    def solve(self, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return the amounts of the vertices, velocities and prices, all (K, 2 m), or None."""
        K, c = self.cells.shape
        stretch, vertex = np.nonzero(self.acting)
        count = len(stretch)
        # Row (k, j): u_k,j - u_{k-1},j - sum of rates = 0, with u_0 on the right side.
        rows = (stretch[:, None] * c + np.arange(c)).ravel()
        columns = np.repeat(np.arange(count), c)
        every = np.arange(K * c)
        entries = -self.vertices.rate[vertex].ravel()
        data = np.concatenate([entries, np.ones(K * c), -np.ones((K - 1) * c)])
        i = np.concatenate([rows, every, every[c:]])
        j = np.concatenate([columns, count + every, count + every[:-c]])
        right = np.zeros(K * c)
        right[:c] = self.start
        cost = np.zeros(count + K * c)
        cost[:count] = -(self.vertices.impulse @ q / self.vertices.size)[vertex]
        bounds = np.column_stack(
            [
                np.concatenate([np.zeros(count), self.lower.ravel()]),
                np.concatenate([np.full(count, np.inf), self.upper.ravel()]),
            ]
        )
        matrix = csr_array((data, (i, j)), shape=(K * c, count + K * c))
        found = linprog(cost, A_eq=matrix, b_eq=right, bounds=bounds, method="highs", options=TIGHT)
        if found.status != 0:
            return None
        amounts = np.zeros(self.acting.shape)
        amounts[stretch, vertex] = found.x[:count]
        after = found.x[count:].reshape(K, c)
        return amounts, after, -found.eqlin.marginals.reshape(K, c)

    def refined(self, amounts: FloatArray, u: FloatArray) -> FloatArray:
        """Return the impulses (K, 2 m) of a vertex, whose active equations are solved again."""
        size = self.vertices.size
        amounts = np.where(amounts <= EXACT, 0.0, amounts)
        impulses = (amounts / size) @ self.vertices.impulse
        goal = np.where(np.abs(u - self.lower) <= EXACT, self.lower, self.upper)
        tight = np.abs(u - goal) <= EXACT
        stretch, direction = self._directions(amounts > 0.0)
        after, form = np.nonzero(tight)
        rates = direction @ self.space.A
        length = np.abs(rates).max(axis=1, initial=1e-300)[:, None]
        rates, direction = rates / length, direction / length
        response = rates[:, form].T * (stretch <= after[:, None])
        for _ in range(2):
            off = (goal - self.velocities(impulses))[tight]
            change = np.linalg.lstsq(response, off, rcond=1e-12)[0]
            np.add.at(impulses, stretch, change[:, None] * direction)
        return impulses

    def _directions(self, used: BoolArray) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the stretches (n,) and directions (n, 2 m) in which a vertex can be corrected."""
        m = self.space.num_contacts
        both = used[:, :m] & used[:, m:]
        # Where both signs act, friction is free: with large friction the difference of two huge
        # numbers would hide it.
        own, k = np.nonzero(np.hstack([used & ~np.hstack([both, both]), both, both]))
        unit = np.eye(2 * m)
        return own, np.vstack([self.vertices.impulse, unit[::2], unit[1::2]])[k]

    def velocities(self, impulses: FloatArray) -> FloatArray:
        """Return the contact velocities (K, 2 m) after each stretch."""
        return np.asarray(self.start + np.cumsum(impulses @ self.space.A, axis=0))


TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def polish(space: ContactSpace, start: FloatArray, cells: SignArray, q: FloatArray) -> Word | None:
    """Maximize q . impulse over all motions through a word of cells that end an impact."""
    if not len(cells) or not approaching(cells[1:]).all():
        return None
    if (start * cells[0] < 0.0).any() or (start[cells[0] == 0] != 0.0).any():
        return None
    program = Program(space, start, cells)
    for _ in range(MOST_TOUCHES):
        found = program.solve(q)
        if found is None:
            return None
        amounts, u, prices = found
        impulses = program.refined(amounts, u)
        used = np.flatnonzero(impulses.any(axis=1))
        if not len(used):
            return None
        before = program.velocities(impulses)[used[:-1]]
        impulses = impulses[used]
        over = before[:, ::2].min(axis=1) > -OPEN
        if not over.any():
            prices = np.vstack([prices[:1], prices])[used]
            return Word(cells[used], impulses, float(q @ impulses.sum(axis=0)), prices)
        k = int(over.argmax())
        # The motion would go on where it is over: keep some contact approaching until then.
        shared = (cells[used[k], ::2] < 0) & (cells[used[k + 1], ::2] < 0)
        if not shared.any():
            return None
        i = int(np.where(shared, before[k, ::2], np.inf).argmin())
        program.upper[used[k] : used[k + 1], 2 * i] = -MARGIN
        if (program.lower > program.upper).any():
            return None
    return None
