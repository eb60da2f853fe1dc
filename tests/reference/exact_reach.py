"""Exact post-impact sets of planar impacts: an independent reference, used only as test truth.

The impact inclusion is piecewise constant: what may happen at a velocity depends only on the
signs of the 2m contact velocities ("forms"). A *cell* is one sign vector. Within a cell the
rate of the velocity ranges over one polytope, so what is reached inside the cell from a
polyhedron is again a polyhedron (add the rates as rays, intersect with the closed cell). A
waiting list of (polyhedron, cell) pairs then explores every order of events, in exact rational
arithmetic, until nothing new is found.

Everything happens in contact space. With J the rows of J_n and J_t, the coordinates are
y = J_r v for a maximal set r of independent rows of J, impulses move y along columns of the
Delassus matrix A = J M^-1 J^T, and the remaining contact velocities are fixed linear
combinations of y. Since v stays in v_pre + range(M^-1 J^T), y determines v.

Nothing here is fast or general. It relies on pplpy (GPL-3) and shares no code with the library.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import ppl
from numpy.typing import ArrayLike, NDArray

Vector = list[Fraction]
Matrix = list[Vector]
Cell = tuple[int, ...]

SNAP = 1e-9
"""A contact velocity of v_pre below SNAP * |J_k| * |v_pre| is taken to be exactly zero."""


@dataclass(frozen=True)
class ExactReach:
    """The exact post-impact set: a union of polytopes, as vertices in the coordinates of v."""

    pieces: list[NDArray[np.float64]]
    """Vertices of each polytope, each of shape (number of vertices, nv)."""
    cells: list[Cell]
    """For each polytope the signs (J_n v, then J_t v) at a relative interior point."""
    bounds: NDArray[np.float64]
    """Least and greatest contact velocities: [contact][normal, tangential][min, max]."""
    polyhedra: int
    """How many polyhedra the reachable set (all cells, not only the last ones) took."""


@dataclass(frozen=True)
class _Problem:
    """The impact in contact space, in rationals: forms are ordered normals, then tangents."""

    m: int
    forms: Matrix  # (2m, d): every contact velocity as a combination of y
    normal: Matrix  # (m, d): rate of y per unit normal impulse
    tangent: Matrix  # (m, d): rate of y per unit tangential impulse
    mu: Vector
    y_pre: Vector
    lift: Matrix  # (nv, d): v = v_pre + lift (y - y_pre)

    def rates(self, cell: Cell) -> Matrix:
        """Return vectors whose convex hull is the set of rates of y on a cell."""
        out = []
        for i in (i for i in range(self.m) if cell[i] <= 0):
            sign = cell[self.m + i]
            for s in (sign,) if sign else (-1, 1):
                push, drag = self.normal[i], self.tangent[i]
                out.append([p - self.mu[i] * s * q for p, q in zip(push, drag, strict=True)])
        return out


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def _solve(a: Matrix, b: Matrix) -> Matrix:
    """Solve a x = b exactly, a square and regular, by Gauss-Jordan elimination."""
    n = len(a)
    rows = [list(p) + list(q) for p, q in zip(a, b, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                c = rows[i][k]
                rows[i] = [x - c * z for x, z in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


def _round(x: float, step: float) -> Fraction:
    """Round x to a multiple of the greatest power of ten that is at most step."""
    unit = Fraction(10) ** math.floor(math.log10(step))
    return round(Fraction(x) / unit) * unit


def _integers(row: Sequence[Fraction]) -> list[int]:
    """Scale a rational vector by a positive number to coprime integers."""
    common = math.lcm(*(x.denominator for x in row))
    ints = [int(x * common) for x in row]
    return [x // (math.gcd(*ints) or 1) for x in ints]


def _expression(row: Sequence[Fraction]) -> ppl.Linear_Expression:
    return ppl.Linear_Expression(_integers(row), 0)


def _rationalize(
    M: ArrayLike, J_n: ArrayLike, J_t: ArrayLike, mu: ArrayLike, v_pre: ArrayLike, grid: float
) -> _Problem:
    """Round the data once and pose the impact in contact space.

    Entries are rounded relative to their natural scale: M_ij to sqrt(M_ii M_jj), and a row of J
    to its greatest entry in coordinates in which M has a unit diagonal. Resting forms come
    first in the choice of independent rows, with y = 0 there, so that they (and all that
    depends on them alone) are at rest exactly.
    """
    mass, v = np.asarray(M, float), np.asarray(v_pre, float)
    jac = np.vstack([np.atleast_2d(J_n), np.atleast_2d(J_t)]).astype(float)
    m, nv = len(jac) // 2, len(v)
    s = np.sqrt(np.diag(mass))
    row_scale = np.max(np.abs(jac) / s, axis=1)
    mass_q = [[_round(mass[i, j], grid * s[i] * s[j]) for j in range(nv)] for i in range(nv)]
    jac_q = [
        [_round(jac[k, j], grid * row_scale[k] * s[j]) for j in range(nv)] for k in range(2 * m)
    ]
    mu_q = [_round(c, grid * c) if c else Fraction(0) for c in np.broadcast_to(mu, (m,))]

    response = _solve(mass_q, [list(column) for column in zip(*jac_q, strict=True)])  # M^-1 J^T
    columns = list(zip(*response, strict=True))
    delassus = [[_dot(row, column) for column in columns] for row in jac_q]

    speed = jac @ v
    scale = np.linalg.norm(jac, axis=1) * np.linalg.norm(v)
    rest = np.abs(speed) <= SNAP * scale
    basis: list[int] = []
    for k in sorted(range(2 * m), key=lambda k: not rest[k]):
        gram = [[delassus[i][j] for j in basis] for i in basis]
        cross = [delassus[i][k] for i in basis]
        weights = [row[0] for row in _solve(gram, [[c] for c in cross])]
        if delassus[k][k] != _dot(weights, cross):  # independent of the rows so far
            basis.append(k)

    gram = [[delassus[i][j] for j in basis] for i in basis]

    def in_basis(rows: Iterable[Sequence[Fraction]]) -> Matrix:
        """Right-multiply the basis columns of a matrix by the inverse of gram (symmetric)."""
        picked = [[row[j] for j in basis] for row in rows]
        solved = _solve(gram, [list(column) for column in zip(*picked, strict=True)])
        return [list(column) for column in zip(*solved, strict=True)]

    return _Problem(
        m=m,
        forms=in_basis(delassus),
        normal=[[delassus[k][i] for k in basis] for i in range(m)],
        tangent=[[delassus[k][m + i] for k in basis] for i in range(m)],
        mu=mu_q,
        y_pre=[Fraction(0) if rest[k] else _round(speed[k], grid * scale[k]) for k in basis],
        lift=in_basis(response),
    )


def _vertices(poly: ppl.C_Polyhedron) -> Matrix:
    """Return the vertices of a polytope (polyhedra of an impact are bounded: energy falls)."""
    out = []
    for g in poly.minimized_generators():
        if not g.is_point():
            raise ArithmeticError("an unbounded polyhedron: M is not positive definite")
        out.append([Fraction(int(c), int(g.divisor())) for c in g.coefficients()])
    return out


class _Search:
    """The waiting-list search over (polyhedron, cell) pairs."""

    def __init__(self, problem: _Problem, budget_seconds: float) -> None:
        self.problem = problem
        self.deadline = time.monotonic() + budget_seconds
        self.forms = [_expression(row) for row in problem.forms]
        self.known: dict[Cell, list[ppl.C_Polyhedron]] = {}
        self._rays: dict[Cell, list[ppl.Generator]] = {}
        self._entries: dict[Cell, list[Cell]] = {}

    def run(self) -> dict[Cell, list[ppl.C_Polyhedron]]:
        """Fill and return the reachable polyhedra by cell, the post-impact cells included."""
        y = self.problem.y_pre
        unit = math.lcm(*(x.denominator for x in y))
        start = ppl.C_Polyhedron(
            ppl.point(ppl.Linear_Expression([int(x * unit) for x in y], 0), unit)
        )
        waiting = deque([(start, self.cell_of(start))])
        while waiting:
            if time.monotonic() > self.deadline:
                raise TimeoutError(f"not finished: {len(waiting)} polyhedra are still waiting")
            poly, cell = waiting.popleft()
            if not self.is_final(cell):
                poly = self.flow(poly, cell)
            if not self.is_new(poly, cell):
                continue
            if not self.is_final(cell):
                waiting.extend(self.faces(poly, cell))
                waiting.extend((poly, entered) for entered in self.entries(cell))
        return self.known

    def is_final(self, cell: Cell) -> bool:
        """Tell whether the impact is over in a cell: no contact approaches."""
        return all(sign >= 0 for sign in cell[: self.problem.m])

    def is_new(self, poly: ppl.C_Polyhedron, cell: Cell) -> bool:
        """Record a polyhedron unless one known polyhedron of the cell contains it."""
        known = self.known.setdefault(cell, [])
        if any(other.contains(poly) for other in known):
            return False
        known[:] = [other for other in known if not poly.contains(other)] + [poly]
        return True

    def cell_of(self, poly: ppl.C_Polyhedron) -> Cell:
        """Return the smallest closed cell holding a polytope: the signs at its barycentre."""
        total = [sum(x) for x in zip(*_vertices(poly), strict=True)]
        values = [_dot(row, total) for row in self.problem.forms]
        return tuple((x > 0) - (x < 0) for x in values)

    def flow(self, poly: ppl.C_Polyhedron, cell: Cell) -> ppl.C_Polyhedron:
        """Return all that is reached from a polyhedron by motion within the closed cell."""
        out = ppl.C_Polyhedron(poly)
        for ray in self.rays(cell):
            out.add_generator(ray)
        for form, sign in zip(self.forms, cell, strict=True):
            out.add_constraint(sign * form >= 0 if sign else form == 0)
        return out

    def faces(self, poly: ppl.C_Polyhedron, cell: Cell) -> Iterable[tuple[ppl.C_Polyhedron, Cell]]:
        """Yield the parts of a polyhedron on the boundary of its cell, with their cells."""
        for form, sign in zip(self.forms, cell, strict=True):
            if sign:
                part = ppl.C_Polyhedron(poly)
                part.add_constraint(form == 0)
                if not part.is_empty():
                    yield part, self.cell_of(part)

    def rays(self, cell: Cell) -> list[ppl.Generator]:
        """Return the extreme rates that keep the zero forms of a cell at zero, as rays."""
        if cell not in self._rays:
            rates = self.problem.rates(cell)
            self._rays[cell] = []
            for g in self.weights(ppl.C_Polyhedron, rates, cell, opened=()).minimized_generators():
                if g.is_ray():
                    weights = [Fraction(int(c)) for c in g.coefficients()]
                    rate = [_dot(weights, column) for column in zip(*rates, strict=True)]
                    if any(rate):
                        self._rays[cell].append(ppl.ray(_expression(rate)))
        return self._rays[cell]

    def entries(self, cell: Cell) -> list[Cell]:
        """Return the larger cells that a motion starting in this cell can enter at once."""
        if cell not in self._entries:
            zeros = [k for k, sign in enumerate(cell) if sign == 0]
            self._entries[cell] = []
            for signs in itertools.product((-1, 0, 1), repeat=len(zeros)):
                if any(signs):
                    changed = dict(zip(zeros, signs, strict=True))
                    other = tuple(changed.get(k, sign) for k, sign in enumerate(cell))
                    opened = [k for k in zeros if other[k]]
                    rates = self.problem.rates(other)
                    if not self.weights(ppl.NNC_Polyhedron, rates, other, opened).is_empty():
                        self._entries[cell].append(other)
        return self._entries[cell]

    def weights(
        self, kind: type, rates: Matrix, cell: Cell, opened: Iterable[int]
    ) -> ppl.C_Polyhedron | ppl.NNC_Polyhedron:
        """Return the cone of weights on the rates that respects a cell.

        Forms that are zero on the cell stay zero; opened forms strictly move to their sign.
        """
        cone = kind(len(rates), "universe")
        for j in range(len(rates)):
            cone.add_constraint(ppl.Variable(j) >= 0)
        for k, sign in enumerate(cell):
            change = [_dot(self.problem.forms[k], rate) for rate in rates]
            if sign == 0:
                cone.add_constraint(_expression(change) == 0)
            elif k in opened:
                cone.add_constraint(sign * _expression(change) > 0)
        return cone


def exact_reach(
    M: ArrayLike,
    J_n: ArrayLike,
    J_t: ArrayLike,
    mu: ArrayLike,
    v_pre: ArrayLike,
    *,
    grid: float = 1e-9,
    budget_seconds: float = 60.0,
) -> ExactReach:
    """Compute the exact post-impact set of a planar impact.

    Parameters
    ----------
    M, J_n, J_t, mu, v_pre
        Mass matrix (nv, nv), normal and tangential Jacobians (m, nv), friction coefficients
        (a number or m of them), pre-impact velocity (nv,).
    grid
        Relative rounding of the data; all after it is exact.
    budget_seconds
        Time after which TimeoutError is raised.
    """
    problem = _rationalize(M, J_n, J_t, mu, v_pre, grid)
    search = _Search(problem, budget_seconds)
    known = search.run()
    final = [(cell, p) for cell, ps in known.items() if search.is_final(cell) for p in ps]
    corners = [_vertices(p) for _, p in final]
    lift = np.array(problem.lift, float)
    pieces = []
    for ys in corners:
        moved = [[a - b for a, b in zip(y, problem.y_pre, strict=True)] for y in ys]
        pieces.append(np.asarray(v_pre, float) + np.array(moved, float) @ lift.T)
    values = [[_dot(row, y) for row in problem.forms] for ys in corners for y in ys]
    ends = np.array([[min(c), max(c)] for c in zip(*values, strict=True)], float)
    return ExactReach(
        pieces=pieces,
        cells=[cell for cell, _ in final],
        bounds=ends.reshape(2, problem.m, 2).swapaxes(0, 1),
        polyhedra=sum(map(len, known.values())),
    )


def exact_contact_bounds(
    M: ArrayLike,
    J_n: ArrayLike,
    J_t: ArrayLike,
    mu: ArrayLike,
    v_pre: ArrayLike,
    *,
    grid: float = 1e-9,
    budget_seconds: float = 60.0,
) -> NDArray[np.float64]:
    """Return the least and greatest post-impact contact velocities, shape (m, 2, 2).

    Axes: contact; normal, tangential; min, max. Parameters as in `exact_reach`.
    """
    return exact_reach(M, J_n, J_t, mu, v_pre, grid=grid, budget_seconds=budget_seconds).bounds


def exact_pieces(
    M: ArrayLike,
    J_n: ArrayLike,
    J_t: ArrayLike,
    mu: ArrayLike,
    v_pre: ArrayLike,
    *,
    grid: float = 1e-9,
    budget_seconds: float = 60.0,
) -> list[NDArray[np.float64]]:
    """Return the post-impact polytopes as vertices in the coordinates of v.

    Parameters as in `exact_reach`.
    """
    return exact_reach(M, J_n, J_t, mu, v_pre, grid=grid, budget_seconds=budget_seconds).pieces
