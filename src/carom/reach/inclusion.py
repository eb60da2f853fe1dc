"""The impact inclusion in contact coordinates, in rationals: cells and rates.

What may happen at a velocity depends only on the signs of a few linear *forms*: the normal
velocity of every contact, and what tells its friction directions apart (in the plane its
tangential velocity, in space the differences between neighbouring directions). A *cell* is one
sign of each form; on it the rate of the velocity ranges over one polytope [HalmPosa,
eq:multicontact].

The coordinates are y = J_r v for a maximal set r of independent rows of J: the velocity stays in
v_pre + range(M^-1 J^T), so that y determines it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from carom.contact_space import friction_directions
from carom.reach.rational import (
    Matrix,
    Vector,
    add_scaled,
    dot,
    round_to,
    solve,
    times,
    transpose,
)
from carom.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem

DEPENDENT = 1e-12
"""A row of which less than this share (of its squared length) is independent of others counts as
dependent on them."""

Cell = tuple[int, ...]
"""A sign of every form, contact by contact, the normal first."""


class Rate(NamedTuple):
    """One extreme way in which a contact acts.

    Attributes:
        y: Rate of the coordinates.
        impulse: Rate of all contacts' impulses (c,), contact by contact, normal first.
        forms: Rate of every form (f,).
    """

    y: Vector
    impulse: Vector
    forms: Vector


class Snap(NamedTuple):
    """A contact velocity of v_pre that was taken to be zero.

    Attributes:
        contact: Number of the contact.
        component: 0 for its normal velocity, 1 or 2 for a tangential one.
        speed: What it was [m/s].
    """

    contact: int
    component: int
    speed: float


@dataclass(frozen=True, eq=False)
class Inclusion:
    """An impact, rounded once and exact from there.

    Attributes:
        rows: (c, d) every contact velocity as a combination of y, contact by contact.
        lift: (nv, d) v = v_start + lift (y - y_start).
        pull: (d, nv) y = pull v on the velocities that can be reached.
        rates: (c, d) rate of y per unit of each contact impulse.
        mu: (m,) friction coefficients.
        directions: (k, t) friction directions.
        y_start, v_start: Where the impact starts, after snapping.
        speeds: (c,) the largest contact velocities that the impact's energy could give [m/s].
        snapped: Which contact velocities were taken to be zero.
        moved: How far snapping and rounding moved v_pre, as a share of |v_pre|.
    """

    rows: Matrix
    lift: Matrix
    pull: Matrix
    rates: Matrix
    mu: Vector
    directions: Matrix
    y_start: Vector
    v_start: Vector
    speeds: FloatArray
    snapped: tuple[Snap, ...]
    moved: float
    _active: dict[tuple[int, ...], list[int]] = field(default_factory=dict)
    _made: dict[tuple[int, int], Rate] = field(default_factory=dict)

    @property
    def num_contacts(self) -> int:
        """Count the contacts m."""
        return len(self.mu)

    @property
    def dimension(self) -> int:
        """Count the coordinates d."""
        return len(self.y_start)

    @property
    def width(self) -> int:
        """Count the velocities of one contact."""
        return len(self.rows) // len(self.mu)

    @cached_property
    def delassus(self) -> Matrix:
        """Return the rates (d, d) of y per impulse along each coordinate."""
        d = self.dimension
        basis = [[Fraction(int(i == j)) for j in range(d)] for i in range(d)]
        return [self.rates[self.rows.index(row)] for row in basis]

    @cached_property
    def reach(self) -> FloatArray:
        """Return R (d, d): the impact's energy can give y = R x for any |x| <= 1, and no more."""
        root = np.linalg.cholesky(np.array(self.delassus, np.float64))
        start = np.array(self.y_start, np.float64)
        return np.asarray(root * np.linalg.norm(np.linalg.solve(root, start)))

    @cached_property
    def forms(self) -> Matrix:
        """Return the forms (f, d), contact by contact, the normal first."""
        forms = []
        for i in range(self.num_contacts):
            block = self.rows[i * self.width : (i + 1) * self.width]
            forms.append(block[0])
            columns = transpose(block[1:])
            forms += [times(columns, difference) for difference in self.differences]
        return forms

    @cached_property
    def differences(self) -> Matrix:
        """Return what tells friction directions apart: d_a - d_(a+1), or 1 in the plane."""
        if self.width == 2:
            return [[Fraction(1)]]
        following = self.directions[1:] + self.directions[:1]
        return [
            add_scaled(a, Fraction(-1), b) for a, b in zip(self.directions, following, strict=True)
        ]

    @cached_property
    def frictions(self) -> list[tuple[int, ...]]:
        """Return the sign vectors that the friction forms of one contact can take."""
        if self.width == 2:
            return [(-1,), (0,), (1,)]
        rays = []
        for x, y in self.differences:
            rays += [[-y, x], [y, -x]]
        ordered = sorted(rays, key=lambda ray: np.arctan2(float(ray[1]), float(ray[0])))
        between = [
            add_scaled(a, Fraction(1), b)
            for a, b in zip(ordered, ordered[1:] + ordered[:1], strict=True)
        ]
        points = [[Fraction(0), Fraction(0)], *rays, *(p for p in between if any(p))]
        return sorted({signs(times(self.differences, point)) for point in points})

    @property
    def block(self) -> int:
        """Count the forms of one contact."""
        return 1 + len(self.differences)

    def normals(self, cell: Cell) -> Cell:
        """Return the signs of the normal velocities."""
        return cell[:: self.block]

    def is_final(self, cell: Cell) -> bool:
        """Tell whether the impact is over in a cell: no contact approaches."""
        return all(sign >= 0 for sign in self.normals(cell))

    def cell_of(self, y: Sequence[Fraction]) -> Cell:
        """Return the signs of all forms at y."""
        return signs(times(self.forms, y))

    def acting(self, cell: Cell) -> list[Rate]:
        """Return the rates whose convex hull is what may happen on a cell."""
        out = []
        for i in range(self.num_contacts):
            own = cell[i * self.block : (i + 1) * self.block]
            if own[0] <= 0:
                out += [self._rate(i, a) for a in self._opposed(own[1:])]
        return out

    def _opposed(self, friction: tuple[int, ...]) -> list[int]:
        """Return the friction directions that oppose a tangential velocity most."""
        if friction not in self._active:
            if self.width == 2:
                # Directions are +1 and -1; friction opposes the velocity.
                chosen = [1] if friction[0] > 0 else ([0] if friction[0] < 0 else [0, 1])
            else:
                # d_a . v_t is least where it is not above that of either neighbour.
                chosen = [
                    a for a in range(len(friction)) if friction[a] <= 0 and friction[a - 1] >= 0
                ]
            self._active[friction] = chosen
        return self._active[friction]

    def _rate(self, i: int, a: int) -> Rate:
        """Return the rate of contact i with friction along direction a."""
        if (i, a) not in self._made:
            impulse = [Fraction(0)] * len(self.rows)
            impulse[i * self.width] = Fraction(1)
            for t, component in enumerate(self.directions[a]):
                impulse[i * self.width + 1 + t] = self.mu[i] * component
            y = self.rate_of(impulse)
            self._made[i, a] = Rate(y, impulse, times(self.forms, y))
        return self._made[i, a]

    def rate_of(self, impulse: Sequence[Fraction]) -> Vector:
        """Return the change of y by an impulse (c,)."""
        y = [Fraction(0)] * self.dimension
        for x, rate in zip(impulse, self.rates, strict=True):
            if x:
                y = add_scaled(y, x, rate)
        return y

    def velocity(self, y: Sequence[Fraction]) -> Vector:
        """Return the velocity (nv,) at y."""
        moved = [a - b for a, b in zip(y, self.y_start, strict=True)]
        return [a + dot(row, moved) for a, row in zip(self.v_start, self.lift, strict=True)]

    def coordinates(self, v: Sequence[Fraction]) -> Vector:
        """Return y at a velocity (nv,)."""
        moved = [a - b for a, b in zip(v, self.v_start, strict=True)]
        return [a + dot(row, moved) for a, row in zip(self.y_start, self.pull, strict=True)]

    def offset(self, factors: Sequence[Fraction]) -> Fraction:
        """Return factors . (pull v - y), which is the same for every y and its velocity."""
        return dot(factors, times(self.pull, self.v_start)) - dot(factors, self.y_start)

    def larger_cells(self, cell: Cell) -> Iterable[Cell]:
        """Yield the cells that a motion may enter when zero forms become nonzero."""
        blocks = []
        for i in range(self.num_contacts):
            own = cell[i * self.block : (i + 1) * self.block]
            normals = (own[0],) if own[0] else (-1, 0, 1)
            fits = [
                friction
                for friction in self.frictions
                if all(a in (0, b) for a, b in zip(own[1:], friction, strict=True))
            ]
            blocks.append([(n, *friction) for n in normals for friction in fits])
        for parts in itertools.product(*blocks):
            larger = tuple(itertools.chain(*parts))
            if larger != cell:
                yield larger


def signs(values: Iterable[Fraction]) -> tuple[int, ...]:
    """Return the sign of each number."""
    return tuple((x > 0) - (x < 0) for x in values)


def rationalize(problem: ImpactProblem, *, grid: float = 1e-14, zero: float = 1e-9) -> Inclusion:
    """Pose an impact in contact coordinates and round it once.

    What is rounded is what the inclusion consists of: the Delassus matrix A = J M^-1 J^T of the
    independent rows, relative to sqrt(A_ii A_jj), how the other rows depend on these, mu, and the
    contact velocities of v_pre. Short numbers keep exact arithmetic quick. Contact velocities that
    count as zero come first in the choice of independent rows, so that they, and all that depends
    on them alone, are exactly zero.

    Args:
        problem: An impact with a contact that approaches.
        grid: Relative rounding.
        zero: Contact velocities below this share of what the energy could give are taken to be
            zero.
    """
    J, v_pre, width = problem.J, problem.v_pre, 1 + problem.num_tangents
    response = problem.impulse_to_velocity
    A = 0.5 * (J @ response + (J @ response).T)
    size = np.sqrt(np.maximum(np.diag(A), 0.0))
    v_c = J @ v_pre
    speeds = size * problem.energy_norm
    rest = np.abs(v_c) <= zero * speeds
    basis = _independent(A, rest)
    A_q = _rounded(A[np.ix_(basis, basis)], grid * np.outer(size[basis], size[basis]))
    rows = _dependence(A, basis, size, grid)
    lift, pull = _inverses(response, J, A, basis)
    y_start = [Fraction(0) if rest[k] else round_to(float(v_c[k]), grid * speeds[k]) for k in basis]
    v_q = _exactly(v_pre[None])[0]
    # The least move, in the norm of M, that puts the resting contacts at rest.
    move = [b - dot(row, v_q) for b, row in zip(y_start, pull, strict=True)]
    v_start = [a + dot(row, move) for a, row in zip(v_q, lift, strict=True)]
    moved = max(abs(float(a - b)) for a, b in zip(v_start, v_q, strict=True))
    return Inclusion(
        rows=rows,
        lift=lift,
        pull=pull,
        rates=[times(A_q, row) for row in rows],
        mu=[round_to(float(x), grid * float(x)) if x else Fraction(0) for x in problem.mu],
        directions=_rounded(friction_directions(width - 1, problem.num_directions), grid),
        y_start=y_start,
        v_start=v_start,
        speeds=speeds,
        snapped=tuple(
            Snap(k // width, k % width, float(v_c[k])) for k in range(len(J)) if rest[k] and v_c[k]
        ),
        moved=moved / float(np.abs(v_pre).max()),
    )


def _independent(A: FloatArray, rest: BoolArray) -> list[int]:
    """Choose a maximal set of rows that are independent in the norm of A, resting ones first.

    Among these the row goes next of which most is independent of those chosen before.
    """
    basis: list[int] = []
    scale = np.where(np.diag(A) > 0.0, np.diag(A), 1.0)
    left = A / np.sqrt(np.outer(scale, scale))
    for first in (True, False):
        while True:
            candidates = np.where(rest == first, np.diag(left), 0.0)
            k = int(candidates.argmax())
            if candidates[k] <= DEPENDENT:
                break
            basis.append(k)
            left = left - np.outer(left[:, k], left[k]) / left[k, k]
    return basis


def _dependence(A: FloatArray, basis: list[int], size: FloatArray, grid: float) -> Matrix:
    """Return every contact velocity as a combination (c, d) of the independent ones."""
    weights = np.asarray(np.linalg.solve(A[np.ix_(basis, basis)], A[basis]).T, np.float64)
    units = np.where(size > 0.0, size, 1.0)
    rows = _rounded(weights, grid * units[:, None] / units[basis])
    for place, k in enumerate(basis):
        rows[k] = [Fraction(int(place == j)) for j in range(len(basis))]
    return rows


def _inverses(
    response: FloatArray, J: FloatArray, A: FloatArray, basis: list[int]
) -> tuple[Matrix, Matrix]:
    """Return lift (nv, d) and pull (d, nv), of which one is exactly an inverse of the other."""
    pull = _exactly(J[basis])
    inverse = np.linalg.solve(A[np.ix_(basis, basis)], response[:, basis].T)
    rough = _exactly(np.asarray(inverse, np.float64))
    nearly_one = [times(rough, row) for row in pull]
    return transpose(solve(transpose(nearly_one), rough)), pull


def _rounded(matrix: FloatArray, step: float | FloatArray) -> Matrix:
    steps = np.broadcast_to(step, matrix.shape)
    return [
        [round_to(float(x), float(unit)) for x, unit in zip(row, units, strict=True)]
        for row, units in zip(matrix, steps, strict=True)
    ]


def _exactly(matrix: FloatArray) -> Matrix:
    return [[Fraction(float(x)) for x in row] for row in matrix]
