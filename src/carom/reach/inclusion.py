"""The impact inclusion in contact coordinates and rational numbers: cells and rates.

The rates of change at a velocity depend only on the signs of a few linear *forms*: the normal
velocity of every contact, and its tangential velocity, in space along the differences between
neighbouring friction directions. A *cell* is one choice of signs, on which the rates are one
polytope [HalmPosa, eq:multicontact].

The coordinates are y = J_r v for a maximal set r of independent rows of J. They determine the
velocity, which stays in v_pre + range(M^-1 J^T).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import mul
from typing import NamedTuple

import gmpy2
import numpy as np
from gmpy2 import mpq

from carom.contact_space import friction_directions
from carom.kernels.tolerances import STICKING
from carom.outcomes.summary import ROUNDED
from carom.problem import ImpactProblem
from carom.reach.rational import (
    ONE,
    Exact,
    exactly,
    identity,
    integers,
    null_space,
    rounded,
    solve,
)
from carom.typing import BoolArray, FloatArray

TINY = 1e-300
"""Smallest step to which friction coefficients are rounded: smaller ones would vanish."""

DEPENDENT = 1e-12
"""Share of a row's squared length below which it is dependent: rounding errors of J M^-1 J^T."""

ROUNDING = 1e-15
"""Rounding errors of a solution in floats, times the condition number."""

NOISE = 1e-10
"""Largest share of a contact velocity that counts as such errors."""

CERTAIN = 1e-9
"""Share of the largest number above which the signs of floats are certain."""

Cell = tuple[int, ...]
"""Signs of all forms, contact by contact, the normal first."""


class Rate(NamedTuple):
    """Extreme action of contacts, up to a positive factor, which makes all numbers integers."""

    y: list[gmpy2.mpz]  # (d,) rates of y
    impulse: list[gmpy2.mpz]  # (c,) rates of all impulses
    forms: list[gmpy2.mpz]  # (f,) rates of the forms
    signs: list[int]  # (f,) and their signs


@dataclass(frozen=True, eq=False)
class Inclusion:
    """An impact, rounded once and exact from there."""

    basis: list[int]  # (d,) indices of the contact velocities that y consists of
    rows: Exact  # (c, d) every contact velocity as a combination of y, contact by contact
    lift: Exact  # (nv, d) matrix of v = v_start + lift (y - y_start)
    pull: Exact  # (d, nv) matrix of y = pull v on reachable velocities
    rates: Exact  # (c, d) rates of y per unit of each contact impulse
    mu: Exact  # (m,)
    directions: Exact  # (k, t) friction directions
    y_start: Exact  # (d,) start of the impact, after rounding
    v_start: Exact  # (nv,) the same as a velocity
    speeds: FloatArray  # (c,) largest contact velocities that the energy could give [m/s]
    neglected: FloatArray  # (c,) dropped shares, independent of y in the norm of M
    notes: tuple[str, ...]  # what was set to zero and rounded, one sentence each
    _made: dict[tuple[int, int], Rate] = field(default_factory=dict, init=False)
    _acting: dict[Cell, list[Rate]] = field(default_factory=dict, init=False)
    _larger: dict[Cell, list[Cell]] = field(default_factory=dict, init=False)

    @property
    def dimension(self) -> int:
        """Return the number of coordinates d."""
        return len(self.y_start)

    @property
    def width(self) -> int:
        """Return the number of velocities of one contact."""
        return len(self.rows) // len(self.mu)

    @cached_property
    def delassus(self) -> Exact:
        """Return the Delassus matrix (d, d) of the coordinates."""
        return self.rates[self.basis]

    @cached_property
    def reach(self) -> FloatArray:
        """Return R (d, d): the impact's energy allows y = R x exactly for |x| <= 1."""
        root = np.linalg.cholesky(self.delassus.astype(np.float64))
        start = self.y_start.astype(np.float64)
        return np.asarray(root * np.linalg.norm(np.linalg.solve(root, start)))

    @cached_property
    def forms(self) -> Exact:
        """Return the forms (f, d), contact by contact, the normal first."""
        blocks = self.rows.reshape(len(self.mu), self.width, self.dimension)
        return np.vstack([part for b in blocks for part in (b[:1], self.differences @ b[1:])])

    @cached_property
    def differences(self) -> Exact:
        """Return the differences d_a - d_(a+1) of friction directions, or 1 in the plane."""
        if self.width == 2:
            return identity(1)
        return self.directions - np.roll(self.directions, -1, axis=0)

    @cached_property
    def frictions(self) -> list[tuple[int, ...]]:
        """Return the possible signs of the friction forms of one contact."""
        if self.width == 2:
            return [(-1,), (0,), (1,)]
        across = self.differences[:, ::-1] * np.array([-1, 1])
        rays = np.vstack([across, -across])
        rays = rays[np.argsort(np.arctan2(*rays.T[::-1].astype(np.float64)))]
        points = np.vstack([0 * rays[:1], rays, rays + np.roll(rays, -1, axis=0)])
        # Floats decide most of the many signs.
        rough = points.astype(np.float64) @ self.differences.T.astype(np.float64)
        found = np.sign(rough).astype(int)
        for i, j in np.argwhere(np.abs(rough) <= CERTAIN * np.abs(rough).max()).tolist():
            found[i, j] = gmpy2.sign(points[i] @ self.differences[j])
        return sorted({tuple(row) for row in found.tolist()})

    @cached_property
    def block(self) -> int:
        """Return the number of forms of one contact."""
        return 1 + len(self.differences)

    def normals(self, cell: Cell) -> Cell:
        """Return the signs of the normal velocities."""
        return cell[:: self.block]

    def is_final(self, cell: Cell) -> bool:
        """Return whether the impact is over in a cell: no contact approaches."""
        return min(cell[:: self.block]) >= 0

    def cell_of(self, y: Exact) -> Cell:
        """Return the signs of all forms at y."""
        return tuple(map(gmpy2.sign, self.forms @ y))

    def acting(self, cell: Cell) -> list[Rate]:
        """Return the rates that span the cone of the inclusion on a cell."""
        if cell not in self._acting:
            self._acting[cell] = [
                self._rate(i, a)
                for i, (normal, *friction) in enumerate(by_contact(cell, len(self.mu)))
                if normal <= 0
                for a in self._opposed(friction)
            ]
        return self._acting[cell]

    def _opposed(self, friction: list[int]) -> list[int]:
        """Return the friction directions that oppose a tangential velocity most."""
        if self.width == 2:
            # Directions are +1 and -1; friction opposes the velocity.
            return [[0, 1], [1], [0]][friction[0]]
        # d_a . v_t is least where neither neighbour is smaller.
        return [a for a in range(len(friction)) if friction[a] <= 0 and friction[a - 1] >= 0]

    def _rate(self, i: int, a: int) -> Rate:
        """Return the rate of contact i with friction along direction a."""
        if (i, a) not in self._made:
            first, width, d = i * self.width, self.width, self.dimension
            # In integers, each over a unit of its own: quotients would be reduced at every step.
            weights = integers([ONE, *(self.mu[i] * self.directions[a])])
            rates, rate_unit = self._integer_rates
            rows, row_unit = self._integer_forms
            columns = zip(*rates[first : first + width], strict=True)
            y = [sum(map(mul, weights, column)) for column in columns]
            forms = [sum(map(mul, row, y)) for row in rows]
            impulse = [gmpy2.mpz(0)] * len(self.rows)
            impulse[first : first + width] = [x * rate_unit * row_unit for x in weights]
            numbers = [*(x * row_unit for x in y), *impulse, *forms]
            divisor = gmpy2.gcd(*numbers)
            numbers = [x // divisor for x in numbers]
            forms = numbers[d + len(impulse) :]
            signs = [gmpy2.sign(x) for x in forms]
            self._made[i, a] = Rate(numbers[:d], numbers[d : d + len(impulse)], forms, signs)
        return self._made[i, a]

    @cached_property
    def _integer_rates(self) -> tuple[list[list[gmpy2.mpz]], gmpy2.mpz]:
        return _with_unit(self.rates)

    @cached_property
    def _integer_forms(self) -> tuple[list[list[gmpy2.mpz]], gmpy2.mpz]:
        return _with_unit(self.forms)

    @cached_property
    def extreme_rates(self) -> Exact:
        """Return the rates of y (m k, d) of all contacts along all friction directions."""
        blocks = self.rates.reshape(len(self.mu), self.width, self.dimension)
        parts = zip(blocks, self.mu, strict=True)
        return np.vstack([b[:1] + mu * (self.directions @ b[1:]) for b, mu in parts])

    def velocity(self, y: Exact) -> Exact:
        """Return the velocity (nv,) at y."""
        *numbers, divisor = integers([*y, ONE])
        above, below = self.velocity_of(numbers, divisor)
        return np.array([mpq(x, below) for x in above])

    def velocity_of(
        self, numbers: Sequence[gmpy2.mpz], divisor: gmpy2.mpz
    ) -> tuple[list[gmpy2.mpz], gmpy2.mpz]:
        """Return numerators of the velocity (nv,) at integers (d,) over a divisor, and theirs."""
        rows, unit = self._lift
        # PPL may omit trailing zeros, so the constant is added by itself.
        return [sum(map(mul, row, numbers), row[-1] * divisor) for row in rows], unit * divisor

    @cached_property
    def fixed(self) -> Exact:
        """Return the equations (k, nv + 1) of v that hold whatever impulses do."""
        if self.dimension == len(self.v_start):
            return np.empty((0, 1 + self.dimension), object)
        normals = null_space(self.lift.T)
        return np.hstack([normals, (normals @ self.v_start)[:, None]])

    @cached_property
    def _lift(self) -> tuple[list[list[gmpy2.mpz]], gmpy2.mpz]:
        """Return rows of `lift`, each with v_start - lift y_start, as integers, and their unit."""
        # Common denominators save most of the time.
        constant = self.v_start - self.lift @ self.y_start
        return _with_unit(np.hstack([self.lift, constant[:, None]]))

    @cached_property
    def pulled(self) -> tuple[list[list[gmpy2.mpz]], gmpy2.mpz]:
        """Return columns of `pull`, and pull v - y, which is constant, in the same way."""
        constant = self.pull @ self.v_start - self.y_start
        return _with_unit(np.vstack([self.pull.T, constant]))

    def coordinates(self, v: Exact) -> Exact:
        """Return y at a velocity (nv,)."""
        return np.asarray(self.y_start + self.pull @ (v - self.v_start))

    def larger_cells(self, cell: Cell) -> Iterable[Cell]:
        """Return the cells that arise when zero forms become nonzero."""
        fits = self._fits
        blocks = [fits(own) for own in by_contact(cell, len(self.mu))]
        cells = (tuple(itertools.chain(*parts)) for parts in itertools.product(*blocks))
        return (larger for larger in cells if larger != cell)

    def _fits(self, own: Cell) -> list[Cell]:
        """Return the signs of one contact that arise when zeros among its own become nonzero."""
        if own not in self._larger:
            normal, *friction = own
            fits = [
                f
                for f in self.frictions
                if all(a in (0, b) for a, b in zip(friction, f, strict=True))
            ]
            normals = (normal,) if normal else (-1, 0, 1)
            self._larger[own] = [(n, *each) for n in normals for each in fits]
        return self._larger[own]


def _with_unit(matrix: Exact) -> tuple[list[list[gmpy2.mpz]], gmpy2.mpz]:
    """Return the rows of a matrix as integers, and their common denominator."""
    *numbers, unit = integers([*matrix.ravel(), ONE])
    width = matrix.shape[1]
    return [numbers[i : i + width] for i in range(0, len(numbers), width)], unit


def by_contact(cell: Cell, num_contacts: int) -> list[Cell]:
    """Return the signs of each contact's forms."""
    block = len(cell) // num_contacts
    return [cell[i : i + block] for i in range(0, len(cell), block)]


def rationalize(problem: ImpactProblem, *, grid: float = 1e-14, zero: float = 1e-9) -> Inclusion:
    """Write an impact in contact coordinates, rounded to short numbers that keep arithmetic fast.

    Rounded are the Delassus matrix A = J M^-1 J^T of the independent rows, relative to
    sqrt(A_ii A_jj), the dependence of the other rows, mu, and J v_pre. Contact velocities below
    `zero` of what the energy could give are chosen first as independent rows, so that they, and all
    that depends only on them, are exactly zero.
    """
    J, v_pre, width = problem.J, problem.v_pre, 1 + problem.num_tangents
    response = np.linalg.solve(problem.M, J.T)
    A = 0.5 * (J @ response + (J @ response).T)
    size = np.sqrt(np.maximum(np.diag(A), 0.0))
    v_c = J @ v_pre
    speeds = size * problem.energy_norm
    rest = np.abs(v_c) <= zero * speeds
    basis = _independent(A, rest)
    own = A[np.ix_(basis, basis)]
    A_q = rounded(own, grid * np.outer(size[basis], size[basis]))
    units = np.where(size > 0.0, size, 1.0)
    rows = rounded(_dependence(A, basis, units, grid), grid * units[:, None] / units[basis])
    rows[basis] = identity(len(basis))
    pull = exactly(J[basis])
    rough = exactly(np.linalg.solve(own, response[:, basis].T))
    # Corrected, so that pull @ lift is exactly the identity.
    lift = solve(rough @ pull.T, rough).T
    y_start = rounded(np.where(rest, 0.0, v_c)[basis], grid * speeds[basis])
    # The smallest change, in the norm of M, that makes these velocities zero.
    move = lift @ (y_start - pull @ exactly(v_pre))
    moved = float(abs(move).max()) / float(np.abs(v_pre).max())
    return Inclusion(
        basis=basis,
        rows=rows,
        lift=lift,
        pull=pull,
        rates=rows @ A_q.T,
        mu=rounded(problem.mu, np.maximum(grid * problem.mu, TINY)),
        directions=rounded(friction_directions(width - 1, problem.num_directions), grid),
        y_start=y_start,
        v_start=exactly(v_pre) + move,
        speeds=speeds,
        neglected=_neglected(problem, basis, rows),
        notes=_notes(problem, np.where(rest, v_c, 0.0), grid, moved),
    )


def _notes(
    problem: ImpactProblem, dropped: FloatArray, grid: float, moved: float
) -> tuple[str, ...]:
    """Return sentences on rounding and on the contact velocities (c,) that were set to zero."""
    words = ("normal velocity", "tangential velocity", "second tangential velocity")
    width = 1 + problem.num_tangents
    snapped = tuple(
        f"taken to be zero: {words[k % width]} of {problem.contacts[k // width]}, "
        f"{dropped[k]:.3g} m/s"
        for k in np.flatnonzero(dropped)
    )
    rounded = (
        f"J M^-1 J^T, mu and J v_pre were rounded to {grid:g} of their size; v_pre moved by "
        f"{moved:.2g} of its size"
    )
    return (*snapped, rounded if moved > STICKING else ROUNDED + rounded)


def _independent(A: FloatArray, rest: BoolArray) -> list[int]:
    """Choose a maximal set of independent rows by pivoted Cholesky of A, resting ones first."""
    basis: list[int] = []
    scale = np.where(np.diag(A) > 0.0, np.diag(A), 1.0)
    left = A / np.sqrt(np.outer(scale, scale))
    for first in (True, False):
        while True:
            candidates = np.where(rest == first, left.diagonal(), 0.0)
            k = int(candidates.argmax())
            if candidates[k] <= DEPENDENT:
                break
            basis.append(k)
            left = left - np.outer(left[:, k], left[k]) / left[k, k]
    return basis


def _dependence(A: FloatArray, basis: list[int], units: FloatArray, grid: float) -> FloatArray:
    """Return every contact velocity as a combination (c, d) of those of the basis, in floats.

    Shares that may be rounding errors are exactly zero. Else two opposite normals, n and -n up to
    1e-15 of a third velocity, would separate at one sign of that velocity only.
    """
    own = A[np.ix_(basis, basis)]
    rows = np.linalg.solve(own, A[basis]).T
    shares = np.abs(rows) * units[basis] / units[:, None]
    small = shares <= NOISE
    if not shares[small].any():
        # The condition number, which takes as long as all the rest, decides nothing.
        return np.asarray(rows, dtype=np.float64)
    scaled = own / np.outer(units[basis], units[basis])
    noise = min(max(grid, ROUNDING * float(np.linalg.cond(scaled))), NOISE)
    return np.where(shares <= noise, 0.0, rows)


def _neglected(problem: ImpactProblem, basis: list[int], rows: Exact) -> FloatArray:
    """Return the share (c,) of every row of J that is independent of the basis."""
    # J M^-1 J^T squares such shares and hides those below 1e-8; L^-1 J^T with M = L L^T does not.
    columns = np.linalg.solve(np.linalg.cholesky(problem.M), problem.J.T)
    left = columns - columns[:, basis] @ rows.T.astype(np.float64)
    size = np.linalg.norm(columns, axis=0)
    return np.asarray(np.linalg.norm(left, axis=0) / np.where(size > 0.0, size, 1.0))
