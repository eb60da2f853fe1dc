"""Bound planar impacts more tightly, by a function that knows which contacts can act.

`check.py` proves that functions f_i of each contact's velocity, linear on eight sectors, together
with z and slopes q_i give a bound. All conditions are linear in these, and the bound is convex:
one cone program with some 12 m + 2 m^2 variables. Linear f_i give the proof by momentum again.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import frexp
from typing import NamedTuple

import numpy as np

from carom.problem import ImpactProblem
from carom.proofs import rounding
from carom.proofs.bounces import own_rates
from carom.proofs.certificate import Certificate
from carom.proofs.check import (
    RAYS,
    Pieces,
    changes,
    energy_terms,
    momentum_rates,
    parts,
)
from carom.proofs.cones import minimize
from carom.proofs.momentum import Prover
from carom.proofs.rational import Rational, as_array, exactly, root_above
from carom.typing import ArrayLike, FloatArray

FREE = (0, 1, 2, 3, 5, 7)
"""Rays whose values are sought. Rays 4 and 6 have value 0: linear parts of f_i belong to z."""

TILTS = (1.0, 0.5, 2.0, 4.0, 0.25)
"""Ratios t / n of the diagonal rays, in velocities that the same energy gives."""

ENDS = tuple(r for r, (n, _) in enumerate(RAYS) if n >= 0)


def prove_by_phases(
    problem: ImpactProblem, direction: ArrayLike, impulse_weights: ArrayLike | None = None
) -> Certificate:
    """Bound direction . v_post + impulse_weights . impulse_n, at least as tightly as `prove`.

    Takes some ten times as long; for contacts in space, and where contacts can jam, the result is
    that of `prove`.

    Args:
        problem: The impact.
        direction: (nv,) coefficients of the velocity after the impact.
        impulse_weights: (m,) coefficients of the normal impulses; default zero.

    Examples:
        >>> import carom
        >>> from carom.proofs import check, prove, prove_by_phases
        >>> block = carom.scenes.load("rocking-block").problem
        >>> tighter = prove_by_phases(block, block.J_n[0])
        >>> check(block, tighter)
        >>> float(tighter) <= float(prove(block, block.J_n[0]))
        True
    """
    return tightest(Prover(problem), direction, impulse_weights)


def tightest(
    prover: Prover, direction: ArrayLike, impulse_weights: ArrayLike | None = None
) -> Certificate:
    """Return the tightest certificate by momentum or phases, with what the prover knows.

    Args:
        prover: That of the impact.
        direction: (nv,) coefficients of the velocity after the impact.
        impulse_weights: (m,) coefficients of the normal impulses; default zero.
    """
    best = prover.prove(direction, impulse_weights)
    for fan in fans(prover):
        best = tightened(prover, best, fan)
    return best


def tightened(
    prover: Prover, certificate: Certificate, fan: Fan, deadline: float = np.inf
) -> Certificate:
    """Return the better of a certificate and the one by phases with such a fan, see `fans`."""
    is_zero = not (any(certificate.direction) or any(certificate.impulse_weights))
    if certificate.bound is None or is_zero:
        return certificate
    found = _with_pieces(prover, certificate, *_Program(prover, certificate, fan).solve(deadline))
    # The comparison is exact, and None is excluded.
    is_better = found.bound is not None and found.bound < certificate.bound
    return found if is_better else certificate


class Fan(NamedTuple):
    """What is chosen before a program is solved."""

    units: FloatArray  # (2 m,) of contact velocities, which tilt the diagonal rays
    rates: FloatArray  # (m,) rho of contacts with restitution


def fans(prover: Prover) -> list[Fan]:
    """Return units of all contact velocities, which tilt the diagonal rays, and rates rho.

    Where the diagonals lie decides how tight a bound is, and no choice is best for all: first those
    that pass through each contact's velocity before the impact, then several slopes. Other rates
    than those of contacts that stick are tried with the first two. In space, and where contacts can
    jam, there are none.
    """
    problem = prover.problem
    if problem.num_tangents != 1 or not prover.pointed or not problem.v_pre.any():
        return []
    lengths = np.linalg.norm(prover.whiten(problem.J), axis=1)
    lengths[lengths == 0.0] = 1.0
    normals, tangents = lengths[::2], lengths[1::2]
    start = np.abs(problem.J @ problem.v_pre) / lengths
    with np.errstate(all="ignore"):
        # A contact that bounces has more impulse before it.
        through = start[1::2] / start[::2] / (1.0 + problem.restitution)
    tilts = [np.where((through > 0.01) & (through < 100.0), through, 1.0)]
    tilts += [np.full(len(normals), tilt) for tilt in TILTS]
    units = [short(np.stack([normals, tangents * tilt], axis=1).ravel()) for tilt in tilts]
    first, *rates = short(own_rates(problem)).T
    return [Fan(each, first) for each in units] + [Fan(u, rho) for rho in rates for u in units[:2]]


def short(values: FloatArray) -> FloatArray:
    """Return positive numbers to 10 binary digits, which keeps fractions short."""
    mantissas, exponents = np.frexp(values)
    return np.asarray(np.ldexp(np.round(mantissas * 1024.0), exponents - 10))


def _with_pieces(prover: Prover, basic: Certificate, pieces: Pieces, z: Rational) -> Certificate:
    """Return the certificate of such functions, after z is raised to what they demand."""
    problem, inside = prover.problem, prover.inside
    assert inside is not None
    d, w = as_array(basic.direction), as_array(basic.impulse_weights)
    z = _raised(problem, z, pieces.demands(problem) + w[:, None], inside)
    y = w * 0
    squared, gain = energy_terms(problem, d - pieces.end_form(problem), y, z, prover.kept_energy)
    bound = root_above(squared) - gain + pieces.at_start(problem)
    return replace(
        basic,
        bound=rounding.float_above(bound),
        separation=tuple(y),
        lifts=tuple(y),
        velocity=tuple(z),
        kind="phases",
        pieces=tuple(pieces.values.ravel()),
        slopes=tuple(pieces.slopes.ravel()),
        units=tuple(pieces.units.ravel()),
        **prover.kept,
        bounces=(),
        bounce_rates=tuple(pieces.rates) if problem.bounces else (),
    ).sealed()


def _raised(problem: ImpactProblem, z: Rational, needed: Rational, inside: Rational) -> Rational:
    """Return z plus the least multiple of a velocity inside the cones that meets all demands."""
    lacking = (needed - momentum_rates(problem, z)) / momentum_rates(problem, inside)
    worst = max(lacking.ravel())
    if worst <= 0:
        return z
    # Few digits keep the sum short.
    step = Fraction(2) ** (frexp(float(worst))[1] - 7)
    return z + (worst // step + 1) * step * inside


class _Program:
    """The cone program in units in which speeds, lengths and the direction are about 1.

    Variables: k, x (nv) for z, values (m, 6), slopes (m, 2), and bounds (m, m - 1, 2) of what the
    action of another contact, with either sign, adds to f_j.
    """

    def __init__(self, prover: Prover, basic: Certificate, fan: Fan) -> None:
        problem, units = prover.problem, fan.units
        self.prover, self.m, self.nv = prover, problem.num_contacts, problem.num_velocities
        self.units, self.rates, self.e = units, fan.rates, problem.restitution
        self.rows = prover.whiten(problem.J) / units[:, None]
        self.weights = np.array([float(x) for x in basic.impulse_weights])
        self.direction = prover.whiten(np.array([float(x) for x in basic.direction]))
        self.unit = float(np.linalg.norm(self.direction))
        self.unit = max(self.unit, float((np.abs(self.weights) / self.units[::2]).max()))
        self.mu = problem.mu * self.units[1::2] / self.units[::2]
        self.values_at = 1 + self.nv
        self.slopes_at = self.values_at + len(FREE) * self.m
        self.bounds_at = self.slopes_at + 2 * self.m
        self.width = self.bounds_at + 2 * self.m * (self.m - 1)

    def solve(self, deadline: float) -> tuple[Pieces, Rational]:
        """Return the functions and z, rounded; all but the demands hold exactly."""
        start = self.prover.energy_start
        start = start / np.linalg.norm(start)
        c = np.zeros(self.width)
        c[0], c[1 : self.values_at] = self.prover.kept_share, -start
        for i, velocity in enumerate((self.rows @ start).reshape(-1, 2)):
            for part, sector in parts(velocity, self.e[i]):
                c += part @ self._gradient(i, sector)
        energy = np.zeros((1 + self.nv, self.width))
        energy[0, 0] = -1.0
        energy[1:, 1 : self.values_at] = -np.eye(self.nv)
        energy[1:, self.slopes_at : self.bounds_at] = self.rows.T
        lower, right = self._conditions()
        G = np.vstack([energy, lower])
        h = np.concatenate([[0.0], self.direction / self.unit, right])
        found = minimize(c, G, h, [1 + self.nv] + [1] * len(lower), deadline)
        return self._rounded(found.x)

    def _conditions(self) -> tuple[FloatArray, FloatArray]:
        """Return the rows and right-hand sides of (4) to (6)."""
        lower: list[FloatArray] = []
        right: list[float] = []
        gradients = [[self._gradient(i, r) for r in range(len(RAYS))] for i in range(self.m)]
        rho = self.rates / self.units[::2] ** 2
        for i in range(self.m):
            for column, sign in enumerate((1, -1)):
                action = self.rows[2 * i] - sign * self.mu[i] * self.rows[2 * i + 1]
                rates = (self.rows @ action).reshape(-1, 2)
                row = np.zeros(self.width)
                row[1 : self.values_at] = -action
                for j in range(self.m):
                    if j != i:
                        at = self.bounds_at + (j * (self.m - 1) + i - (i > j)) * 2 + column
                        row[at] = 1.0
                        for change in changes(gradients[j], rates[j], self.e[j], rho[j], 0):
                            lower.append(change)
                            lower[-1][at] -= 1.0
                            right.append(0.0)
                own = changes(gradients[i], rates[i], self.e[i], rho[i], sign)
                lower += [row + change for change in own]
                right += [-self.weights[i] / self.units[2 * i] / self.unit] * len(own)
            for r in ENDS:
                row = -self._value(i, r)
                if self.e[i] and r in (1, 7):
                    row -= self._value(i, 2 if r == 1 else 6)
                row[self.slopes_at + 2 * i : self.slopes_at + 2 * i + 2] = RAYS[r]
                lower.append(row)
                right.append(0.0)
        return np.array(lower), np.array(right)

    def _value(self, i: int, r: int) -> FloatArray:
        """Return the row of f_i's value on ray r."""
        row = np.zeros(self.width)
        r %= len(RAYS)
        if r in FREE:
            row[self.values_at + len(FREE) * i + FREE.index(r)] = 1.0
        return row

    def _gradient(self, i: int, r: int) -> FloatArray:
        """Return the rows (2, width) of f_i's gradient on sector r."""
        a, b = RAYS[r], RAYS[(r + 1) % len(RAYS)]
        first, second = self._value(i, r), self._value(i, r + 1)
        if self.e[i] and r == 1:
            # G_i vanishes where W_i = 0, and so does the value on ray 6.
            second = 0.0 * second
        return np.array([first * b[1] - second * a[1], second * a[0] - first * b[0]])

    def _rounded(self, x: FloatArray) -> tuple[Pieces, Rational]:
        """Return the functions and z as fractions, with values raised so that (6) holds."""
        values = np.zeros((self.m, len(RAYS)))
        values[:, FREE] = x[self.values_at : self.slopes_at].reshape(self.m, -1)
        slopes = x[self.slopes_at : self.bounds_at]
        # Values are of functions of c / units, which have the unit of the direction.
        size = np.array([self.unit])
        exact = rounding.rounded(values.ravel() * self.unit, np.repeat(size, values.size))
        exact = exact.reshape(values.shape)
        below = rounding.rounded(slopes * self.unit, np.repeat(size, slopes.size)).reshape(-1, 2)
        rates, e = exactly(self.rates), exactly(self.e)
        pieces = Pieces(exact, below, exactly(self.units).reshape(-1, 2), e, rates)
        missing = [slope @ np.array(RAYS, dtype=object).T for slope in below] - pieces.end_values
        exact[:, ENDS] += np.maximum(missing, 0 * missing)[:, ENDS]
        z = self.prover.exact_velocity(self.prover.unwhiten(x[1 : self.values_at] * self.unit))
        return replace(pieces, values=exact), z
