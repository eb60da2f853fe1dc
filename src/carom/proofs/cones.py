"""Minimize a linear function over an intersection of second-order cones, accurately.

The program is: minimize c . x subject to h - G x in K, a product of cones {(s_0, s_1): s_0 >=
|s_1|}; a cone of dimension 1 is a half line. The method is the primal-dual interior point method
with the scaling of Nesterov and Todd and Mehrotra's corrector, as in L. Vandenberghe, "The CVXOPT
linear and quadratic cone program solvers" (2010). Steps come from a QR decomposition of the scaled
constraints, which keeps some ten digits where normal equations lose half of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

import numpy as np
from scipy.linalg import solve_triangular

from carom.typing import FloatArray, IntArray

MOST_STEPS = 60
"""Maximum number of steps; most programs take 10 to 20."""

CLOSED = 1e-13
"""Relative duality gap at which to stop; in practice steps stop improving first."""

NEARLY = 0.99
"""Share of the way to the boundary that one step goes."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Hold a solution, its multipliers, and how well both hold (relative)."""

    x: FloatArray
    multipliers: FloatArray
    gap: float


@dataclass(frozen=True, eq=False)
class _Cones:
    """Second-order cones that stand one after the other in a vector of length n."""

    heads: IntArray  # (k,) where each cone starts
    owner: IntArray  # (n,) cone of each entry

    @classmethod
    def of(cls, sizes: list[int]) -> _Cones:
        heads = np.cumsum([0, *sizes[:-1]])
        return cls(heads, np.repeat(np.arange(len(sizes)), sizes))

    def dot(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the scalar product of each cone (k,)."""
        return np.add.reduceat(a * b, self.heads)

    def tail(self, a: FloatArray) -> FloatArray:
        """Return the length of each cone's vector without its head (k,)."""
        square = a * a
        square[self.heads] = 0.0
        return np.sqrt(np.add.reduceat(square, self.heads))

    def flip(self, a: FloatArray) -> FloatArray:
        """Return J a: heads as they are, everything else negated."""
        out = -a
        out[self.heads] = a[self.heads]
        return out

    def unit(self) -> FloatArray:
        out = np.zeros(len(self.owner))
        out[self.heads] = 1.0
        return out

    def product(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the Jordan product of each cone."""
        out = a[self.heads][self.owner] * b + b[self.heads][self.owner] * a
        out[self.heads] = self.dot(a, b)
        return out

    def divide(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return x with a o x = b."""
        head = a[self.heads]
        det = self.determinant(a)
        first = self.dot(self.flip(a), b) / det
        out = (b - first[self.owner] * a) / head[self.owner]
        out[self.heads] = first
        return out

    def determinant(self, a: FloatArray) -> FloatArray:
        head, tail = a[self.heads], self.tail(a)
        return (head - tail) * (head + tail)

    def margin(self, a: FloatArray) -> float:
        """Return how far inside its cones a is, the least over all."""
        return float((a[self.heads] - self.tail(a)).min())

    def longest(self, a: FloatArray, step: FloatArray) -> float:
        """Return the largest t with a + t step in the cones, for a inside."""
        # In the frame where a is the unit, t is the inverse of the step's least eigenvalue.
        root = np.sqrt(self.determinant(a))
        norm = a / root[self.owner]
        head = self.dot(self.flip(norm), step)
        rest = step - ((head + step[self.heads]) / (norm[self.heads] + 1.0))[self.owner] * norm
        least = float(((head - self.tail(rest)) / root).min())
        return np.inf if least >= 0.0 else -1.0 / least


@dataclass(frozen=True, eq=False)
class _Scaling:
    """The symmetric matrix W with W z = W^-1 s, cone by cone eta (2 v v' - J)."""

    cones: _Cones
    v: FloatArray
    eta: FloatArray  # (n,)

    @classmethod
    def of(cls, cones: _Cones, s: FloatArray, z: FloatArray) -> _Scaling:
        ds, dz = cones.determinant(s), cones.determinant(z)
        s_unit, z_unit = s / np.sqrt(ds)[cones.owner], z / np.sqrt(dz)[cones.owner]
        gamma = np.sqrt(0.5 * (1.0 + cones.dot(s_unit, z_unit)))
        w = (s_unit + cones.flip(z_unit)) / (2.0 * gamma)[cones.owner]
        v = (w + cones.unit()) / np.sqrt(2.0 * (w[cones.heads] + 1.0))[cones.owner]
        return cls(cones, v, ((ds / dz) ** 0.25)[cones.owner])

    def times(self, a: FloatArray) -> FloatArray:
        along = self.cones.dot(self.v, a)[self.cones.owner]
        return self.eta * (2.0 * along * self.v - self.cones.flip(a))

    def inverse(self, a: FloatArray) -> FloatArray:
        flipped = self.cones.flip(self.v)
        along = self.cones.dot(flipped, a)[self.cones.owner]
        return (2.0 * along * flipped - self.cones.flip(a)) / self.eta

    def inverse_rows(self, G: FloatArray) -> FloatArray:
        """Return W^-1 G."""
        flipped = self.cones.flip(self.v)[:, None]
        along = np.add.reduceat(flipped * G, self.cones.heads, axis=0)[self.cones.owner]
        signed = -G
        signed[self.cones.heads] *= -1.0
        return (2.0 * along * flipped - signed) / self.eta[:, None]


def minimize(
    c: FloatArray, G: FloatArray, h: FloatArray, sizes: list[int], deadline: float = np.inf
) -> Solution:
    """Return the best x that was found, and multipliers that bound its value.

    Args:
        c: (n,) coefficients of the objective.
        G: (p, n) matrix of full column rank.
        h: (p,) right-hand side.
        sizes: Dimensions of the cones, which add up to p.
        deadline: Value of `time.monotonic` after which no step is begun.
    """
    cones = _Cones.of(sizes)
    # In coordinates in which the columns are orthonormal, rows of any size keep their digits.
    G, R = np.linalg.qr(G)
    found = _follow(solve_triangular(R, c, trans="T"), G, h, cones, deadline)
    return Solution(solve_triangular(R, found.x), found.multipliers, found.gap)


def _follow(
    c: FloatArray, G: FloatArray, h: FloatArray, cones: _Cones, deadline: float
) -> Solution:
    """Follow the central path until numbers give out, or the time."""
    x, s, z = _start(c, G, h, cones)
    best = Solution(x, z, np.inf)
    with np.errstate(all="ignore"):
        for _ in range(MOST_STEPS):
            r_dual, r_primal = G.T @ z + c, G @ x + s - h
            scale = max(1.0, abs(float(c @ x)))
            gap = (abs(float(s @ z)) + float(np.abs(r_primal @ z)) + np.abs(r_dual @ x)) / scale
            gap += float(np.abs(r_primal).max()) + float(np.abs(r_dual).max())
            if gap < best.gap:
                best = Solution(x, z, float(gap))
            if not np.isfinite(gap) or gap < CLOSED or monotonic() > deadline:
                break
            moved = _step(G, cones, (x, s, z), (r_dual, r_primal))
            if moved is None:
                break
            x, s, z = moved
    return best


def _start(
    c: FloatArray, G: FloatArray, h: FloatArray, cones: _Cones
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the least-squares solutions of both programs, moved into the cones.

    The columns of G are orthonormal.
    """
    x, z = G.T @ h, -G @ c
    out = []
    for inside in (h - G @ x, z):
        margin = cones.margin(inside)
        lacking = 1.0 - margin if margin < 1e-8 * max(1.0, float(np.linalg.norm(inside))) else 0.0
        out.append(inside + lacking * cones.unit())
    return x, out[0], out[1]


def _step(
    G: FloatArray,
    cones: _Cones,
    point: tuple[FloatArray, FloatArray, FloatArray],
    residuals: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return the next point of the central path, or None where numbers give out."""
    x, s, z = point
    scaling = _Scaling.of(cones, s, z)
    scaled = scaling.inverse_rows(G)
    if not np.isfinite(scaled).all():
        return None
    Q, R = np.linalg.qr(scaled)
    if not np.abs(np.diag(R)).min() > 0.0:
        return None
    lam, r_scaled = scaling.times(z), scaling.inverse(residuals[1])

    def solve(target: FloatArray, share: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        # `target` is what lam o (ds + dz) shall be, divided by lam, in scaled coordinates.
        right = share * r_scaled + target
        dx = solve_triangular(
            R, solve_triangular(R, -share * residuals[0], trans="T") - Q.T @ right
        )
        dz = scaled @ dx + right
        return dx, target - dz, dz

    _, ds, dz = solve(-lam, 1.0)
    if not (np.isfinite(ds).all() and np.isfinite(dz).all()):
        return None
    reach = min(1.0, cones.longest(lam, ds), cones.longest(lam, dz))
    centring = (1.0 - reach) ** 3
    mean = float(lam @ lam) / len(cones.heads)
    extra = centring * mean * cones.unit() - cones.product(ds, dz)
    dx, ds, dz = solve(cones.divide(lam, extra) - lam, 1.0 - centring)
    if not (np.isfinite(ds).all() and np.isfinite(dz).all()):
        return None
    reach = min(1.0, NEARLY * min(cones.longest(lam, ds), cones.longest(lam, dz)))
    moved = x + reach * dx, s + reach * scaling.times(ds), z + reach * scaling.inverse(dz)
    inside = cones.margin(moved[1]) > 0.0 and cones.margin(moved[2]) > 0.0
    return moved if inside and reach > 1e-9 else None
