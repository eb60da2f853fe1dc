"""Find the best planar motion through a given word of cells by one linear program.

A *cell* is a vector of signs (-1, 0, 1) of the contact velocities u, contact by contact, normal
first. On it the rates of the impact inclusion are one polytope [HalmPosa, eq:multicontact], and it
is convex: what motions reach within it is reached along a straight line. For a *word*, a sequence
of cells, the end points of all motions through these closed cells in this order are therefore
given by linear conditions on the impulses of its stretches.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq
from scipy.optimize import linprog
from scipy.sparse import csr_array

from carom.contact_space import ContactSpace
from carom.typing import BoolArray, FloatArray

SignArray = NDArray[np.int8]

ZERO = 1e-10
"""Contact velocities below this are zero: wider than rounding after some hundred events."""

EXACT = 1e-11
"""Variables below this are at their bound in a vertex: a simplex solver leaves 1e-15 there."""

TIGHT = 1e-10
"""Tolerance of the linear programs, the smallest that HiGHS accepts."""

ROUNDING = 1e-13
"""Stretches that change no velocity by more than this are dropped from a refined motion."""

OPEN = 1e-12
"""Some contact has to approach faster than this, or the impact is over."""

MARGIN = 1e-10
"""Approach that is kept where the best motion would touch the end of the impact and go on."""

LONGEST = 1.0
"""Time for the linear programs of one word [s]; most take some milliseconds."""

MOST_TOUCHES = 6
"""Maximum number of programs that keep a motion from touching the end of the impact."""


@dataclass(frozen=True, eq=False)
class Word:
    """The best motion through a word: one row per stretch, none of them empty."""

    cells: SignArray  # (K, 2 m) signs of the contact velocities along each stretch
    impulses: FloatArray  # (K, 2 m) dimensionless impulses of each stretch
    value: float  # of the objective


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
        rows = impulse.reshape(2 * m, 2 * m)
        rate = rows @ space.A
        size = np.abs(rate).max(axis=1)
        return cls(rows, rate / size[:, None], size)

    @staticmethod
    def acting(cells: SignArray, mu: FloatArray) -> BoolArray:
        """Return which vertices (K, 2 m) may act in each cell."""
        n, t = cells[:, ::2], cells[:, 1::2]
        # Without friction both vertices are the same.
        return np.hstack([(n <= 0) & (t >= 0), (n <= 0) & ((t < 0) | ((t == 0) & (mu > 0.0)))])


@dataclass(frozen=True, eq=False)
class Solution:
    """A vertex of the program of one word, as a solver left it."""

    amounts: FloatArray  # (K, 2 m) of the vertices
    after: FloatArray  # (K, 2 m) contact velocities after each stretch
    prices: FloatArray  # (K, 2 m) gains per change of the velocity after each stretch
    value: float  # of the objective, less the penalty
    approach: float  # sum of the velocities at which contacts approach at the end

    @property
    def used(self) -> NDArray[np.int64]:
        """Return the stretches in which anything acts."""
        return np.flatnonzero((self.amounts > EXACT).any(axis=1))


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

    def solve(
        self, q: FloatArray, *, penalty: float = np.inf, max_seconds: float = LONGEST
    ) -> Solution | None:
        """Return the best motion, or None if no motion ends the impact.

        With a finite penalty motions may approach at the end, at this cost per velocity.
        """
        K, c = self.cells.shape
        stretch, vertex = np.nonzero(self.acting)
        count, extra = len(stretch), c // 2 if penalty < np.inf else 0
        every, first = np.arange(K * c), count + extra
        # Row (k, j): u_k,j - u_{k-1},j - sum of rates = 0, with u_0 on the right side.
        parts = (
            (-self.vertices.rate[vertex].ravel(), -np.ones(extra), np.ones(K * c)),
            ((stretch[:, None] * c + np.arange(c)).ravel(), every[-c::2][:extra], every),
            (np.repeat(np.arange(count), c), count + np.arange(extra), first + every),
        )
        data = np.concatenate([*parts[0], -np.ones((K - 1) * c)])
        rows = np.concatenate([*parts[1], every[c:]])
        columns = np.concatenate([*parts[2], first + every[:-c]])
        right = np.zeros(K * c)
        right[:c] = self.start
        cost = np.zeros(first + K * c)
        cost[:count] = -(self.vertices.impulse @ q / self.vertices.size)[vertex]
        cost[count:first] = penalty
        lower = np.concatenate([np.zeros(first), self.lower.ravel()])
        upper = np.concatenate([np.full(first, np.inf), self.upper.ravel()])
        # Only where the last cell approaches.
        upper[count:first] = np.where(self.cells[-1, ::2] < 0, np.inf, 0.0)[:extra]
        matrix = csr_array((data, (rows, columns)), shape=(K * c, first + K * c))
        bounds = np.column_stack([lower, upper])
        # Sparse matrices and arrays of bounds are missing from the stubs.
        found: Any = linprog(  # type: ignore[call-overload]
            cost,
            A_eq=matrix,
            b_eq=right,
            bounds=bounds,
            method="highs",
            options={
                "primal_feasibility_tolerance": TIGHT,
                "dual_feasibility_tolerance": TIGHT,
                "time_limit": max_seconds,
            },
        )
        if found.status != 0:
            return None
        amounts = np.zeros(self.acting.shape)
        amounts[stretch, vertex] = found.x[:count]
        after = found.x[first:].reshape(K, c)
        after[-1, ::2][:extra] -= found.x[count:first]
        left = float(found.x[count:first].sum())
        prices = -found.eqlin.marginals.reshape(K, c)
        return Solution(amounts, after, prices, -float(found.fun), left)

    def refined(self, solution: Solution) -> FloatArray:
        """Return the impulses (K, 2 m) of a vertex, whose active equations are solved again."""
        size = self.vertices.size
        u, amounts = solution.after, np.where(solution.amounts <= EXACT, 0.0, solution.amounts)
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
            change = lstsq(response, off, cond=1e-12, lapack_driver="gelsy")[0]
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


def solve(
    space: ContactSpace,
    start: FloatArray,
    cells: SignArray,
    q: FloatArray,
    *,
    penalty: float = np.inf,
    deadline: float = np.inf,
) -> tuple[Program, Solution] | None:
    """Find the best motion through a word that does not go on after the end of the impact."""
    if not len(cells) or not approaching(cells[1:]).all():
        return None
    if (start * cells[0] < 0.0).any() or (start[cells[0] == 0] != 0.0).any():
        return None
    program = Program(space, start, cells)
    end = min(time.monotonic() + LONGEST, deadline)
    for _ in range(MOST_TOUCHES):
        if (left := end - time.monotonic()) <= 0.0:
            return None
        found = program.solve(q, penalty=penalty, max_seconds=left)
        if found is None:
            return None
        used = found.used
        before = found.after[used[:-1]][:, ::2]
        over = before.min(axis=1) > -OPEN
        if not over.any():
            return program, found
        k = int(over.argmax())
        # The motion would go on where it is over: keep some contact approaching until then.
        shared = (cells[used[k] : used[k + 1] + 1, ::2] < 0).all(axis=0)
        if not shared.any():
            return None
        i = int(np.where(shared, before[k], np.inf).argmin())
        program.upper[used[k] : used[k + 1], 2 * i] = -MARGIN
        if (program.lower > program.upper).any():
            return None
    return None


def polish(
    space: ContactSpace,
    start: FloatArray,
    cells: SignArray,
    q: FloatArray,
    deadline: float = np.inf,
) -> Word | None:
    """Maximize q . impulse over all motions through a word of cells that end an impact."""
    found = solve(space, start, cells, q, deadline=deadline)
    if found is None:
        return None
    program, solution = found
    impulses = program.refined(solution)
    # What a solver's tolerance left of an empty stretch is now rounding.
    used = np.flatnonzero(np.abs(impulses @ space.A).max(axis=1) > ROUNDING)
    impulses = impulses[used]
    return Word(cells[used], impulses, float(q @ impulses.sum(axis=0)))
