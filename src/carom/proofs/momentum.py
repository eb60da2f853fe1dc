"""Bound every outcome of an impact in a direction, by momentum, separation and energy.

`check.py` proves that any y >= 0 and any z with J_n,i z >= mu_i |J_t,i z| + w_i give a bound,

    d . v+ + w . impulse_n <= |d + J_n' y + M z|_{M^-1} |v-|_M - z' M v-,

and that slopes h ("lifts") of separating velocities tighten it. Here the best y, h and z are
sought: a second-order cone program, which is solved in floats. Without h its dual maximizes
d . v+ + w . impulse_n over all v+ that satisfy (1) to (3) of `check.py`.

Rounded to short fractions, z is moved into its constraints by a multiple of a velocity that is
strictly inside. There is one if the friction cone is pointed. If not, the contacts whose impulses
can cancel (that jam) allow only velocities at which they rest, and z is sought among these, without
h.

Nothing depends on the tangents' bases: contacts enter by |J_t z| only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from carom import checks
from carom.errors import InvalidCertificate, InvalidOption
from carom.problem import ImpactProblem
from carom.proofs import rounding
from carom.proofs.bounces import Bounces, own_rates, rise
from carom.proofs.certificate import Certificate, digest_of
from carom.proofs.check import energy_terms, raised
from carom.proofs.cones import Solution, minimize
from carom.proofs.rational import Rational, as_array, exactly, root_above
from carom.typing import ArrayLike, FloatArray, IntArray

POINTED = 1e-9
"""Contacts jam if no velocity of unit energy separates all of them by this share of their largest
separation."""

INVOLVED = 1e-5
"""Share of the largest jamming impulse from which on a contact takes part."""

VANISHED = 1e-12
"""Share of a row's length below which nothing is left of it among the allowed velocities."""


LEAST_PRICE = 1e-9
"""Price of lifts in the program, where they cost nothing."""


def prove(
    problem: ImpactProblem, direction: ArrayLike, impulse_weights: ArrayLike | None = None
) -> Certificate:
    """Bound direction . v_post + impulse_weights . impulse_n over all outcomes, with a proof.

    Args:
        problem: The impact.
        direction: (nv,) coefficients of the velocity after the impact.
        impulse_weights: (m,) coefficients of the normal impulses; default zero.

    Returns:
        A certificate for `check`. Its bound is None, and its reason says why, where an impulse is
        unbounded because contacts can jam.

    Examples:
        A ball of 2 kg falls with 1 m/s and slips with 0.1 m/s. It cannot slip faster afterwards,
        and the impulse of 2 N s that stops it is the largest.

        >>> import carom
        >>> from carom.proofs import check, prove
        >>> ball = carom.ImpactProblem(
        ...     M=[[2.0, 0.0], [0.0, 2.0]], J_n=[[0.0, 1.0]], J_t=[[1.0, 0.0]], mu=0.0,
        ...     v_pre=[0.1, -1.0])
        >>> certificate = prove(ball, [1.0, 0.0])
        >>> round(float(certificate), 6)
        0.1
        >>> check(ball, certificate)
    """
    return Prover(problem).prove(direction, impulse_weights)


@dataclass(frozen=True, eq=False)
class Slopes:
    """Functions of one contact's velocity and energy that a proof may use, one per column.

    Args:
        contacts: (c,) whose they are.
        functions: (c,) place of rho among the contact's rates, or -1 for lifts.
        signs: (c,) of what stands in front of them.
        rates: (m, b) numbers rho.
    """

    contacts: IntArray
    functions: IntArray
    signs: FloatArray
    rates: FloatArray

    @classmethod
    def of(cls, problem: ImpactProblem) -> Slopes:
        """Return a lift for every contact without restitution, and both signs for the others."""
        rates = own_rates(problem) if problem.bounces else np.empty((problem.num_contacts, 0))
        rows = []
        for i, e in enumerate(problem.restitution):
            own = np.unique(rates[i], return_index=True)[1] if e > 0.0 else [-1]
            rows += [(i, b, sign) for b in own for sign in ((1, -1) if e > 0.0 else (1,))]
        contacts, functions, signs = np.array(rows).T
        return cls(contacts, functions, signs.astype(np.float64), rates)


@final
@dataclass(frozen=True, eq=False)
class Prover:
    """Prove bounds of one impact; what directions share is computed once.

    Args:
        problem: The impact.
        kept: Proof that energy is dissipated, from `prove_energy`, for all certificates to use.
    """

    problem: ImpactProblem
    kept: Mapping[str, Any] = field(default_factory=dict)
    # Bounds by energy alone, by direction.
    _lengths: dict[tuple[Fraction, ...], Fraction] = field(default_factory=dict, repr=False)

    @property
    def kept_energy(self) -> Fraction | None:
        """Return the number that v+' M v+ does not exceed, None without proof."""
        return self.kept["kept"][0] if self.kept else None

    @property
    def kept_share(self) -> float:
        """Return the largest |v+|_M over |v-|_M, from 0 to 1."""
        before = self.problem.energy_norm
        if self.kept_energy is None or before == 0.0:
            return 1.0
        return min(1.0, float(np.sqrt(float(self.kept_energy))) / before)

    @property
    def pointed(self) -> bool:
        """Return whether no impulses of the friction cones cancel, up to rounding."""
        return not self._jammed

    def prove(
        self,
        direction: ArrayLike,
        impulse_weights: ArrayLike | None = None,
        *,
        lifts: bool = False,
    ) -> Certificate:
        """Bound one direction, as the function `prove` does.

        Args:
            direction: (nv,) coefficients of the velocity after the impact.
            impulse_weights: (m,) coefficients of the normal impulses; default zero.
            lifts: Whether to use, too, that contacts which separate do not act, or return no more
                energy than they have stored.
        """
        unproved, d, w = self._unproved(direction, impulse_weights)
        best, reason = unproved, "the rounded multipliers do not satisfy their constraints"
        if any(w[i] > 0.0 for i in self._jammed):
            names = ", ".join(self.problem.contacts[i] for i in self._jammed)
            reason = f"the impulses are unbounded, because the contacts {names} can jam"
            return replace(unproved, reason=reason).sealed()
        for multipliers in self._candidates(d, w, lifts):
            try:
                best = self._better(best, *multipliers)
            except InvalidCertificate as error:
                reason = str(error)
        return (best if best.bound is not None else replace(best, reason=reason)).sealed()

    def prove_by_energy_alone(
        self, direction: ArrayLike, impulse_weights: ArrayLike | None = None
    ) -> Certificate:
        """Bound one direction by energy alone, which is quick; impulses have no such bound.

        Args:
            direction: (nv,) coefficients of the velocity after the impact.
            impulse_weights: (m,) coefficients of the normal impulses; default zero.
        """
        unproved, _, w = self._unproved(direction, impulse_weights)
        if (w > 0.0).any():
            reason = "the time ended before the impulse was bounded"
            return replace(unproved, reason=reason).sealed()
        # Nothing is added to d; -d, which is usually asked for as well, has the same length.
        key = max(unproved.direction, tuple(-x for x in unproved.direction))
        if key not in self._lengths:
            zero = as_array(unproved.velocity)
            none = as_array(unproved.separation)
            squared, _ = energy_terms(self.problem, as_array(key), none, zero, self.kept_energy)
            self._lengths[key] = rounding.float_above(root_above(squared))
        return replace(unproved, bound=self._lengths[key], **self.kept).sealed()

    def _unproved(
        self, direction: ArrayLike, impulse_weights: ArrayLike | None
    ) -> tuple[Certificate, FloatArray, FloatArray]:
        """Return a certificate without a bound, the direction and the weights."""
        m, nv = self.problem.num_contacts, self.problem.num_velocities
        d = _vector("direction", direction, nv)
        given = np.zeros(m) if impulse_weights is None else impulse_weights
        w = _vector("impulse_weights", given, m)
        unproved = Certificate(
            direction=tuple(exactly(d)),
            impulse_weights=tuple(exactly(w)),
            bound=None,
            separation=(Fraction(0),) * m,
            lifts=(Fraction(0),) * m,
            velocity=(Fraction(0),) * nv,
            problem_digest=digest_of(self.problem),
        )
        return unproved, d, w

    def _candidates(
        self, d: FloatArray, w: FloatArray, lift: bool
    ) -> list[tuple[Rational, Rational, Bounces, Rational]]:
        """Return rational multipliers that may serve: the best with and without lifts, and none."""
        zero, none = exactly(w) * 0, Bounces.none(self.problem)
        out: list[tuple[Rational, Rational, Bounces, Rational]] = []
        lengths = np.linalg.norm(self._normals, axis=1)
        # Programs without lifts, where these do not help, are solved more accurately.
        for has_lifts in (True, False) if lift and not self._jammed else (False,):
            y_float, found, z_float = self._multipliers(d, w, has_lifts)
            size = max(float(np.linalg.norm(self.whiten(d))), float(y_float @ lengths))
            size = max(size, float(found @ lengths[self.slopes.contacts[: len(found)]]))
            y = rounding.rounded(np.maximum(y_float, 0.0), size / lengths)
            lifts, bounces = self.with_slopes(found, size / lengths) if has_lifts else (zero, none)
            z = self.exact_velocity(z_float)
            weights = exactly(w) + raised(self.problem, lifts, bounces)
            if self.inside is not None:
                moved = rounding.repaired(self.problem, z, weights, self.inside, self._free)
            else:
                moved = z if rounding.worst_excess(self.problem, z, weights) <= 0.0 else None
            y = y - lifts - bounces.slopes
            out += [] if moved is None else [(y, lifts, bounces, moved)]
        nothing = zero, zero, none, exactly(d) * 0
        return [*out, nothing] if (w <= 0.0).all() else out

    def with_slopes(self, found: FloatArray, sizes: FloatArray) -> tuple[Rational, Bounces]:
        """Return lifts (m,) and functions of returnable energy as fractions."""
        slopes = self.slopes
        exact = rounding.rounded(np.maximum(found, 0.0), sizes[slopes.contacts])
        lifts = np.full(self.problem.num_contacts, Fraction(0), dtype=object)
        coefficients = np.full(slopes.rates.shape, Fraction(0), dtype=object)
        columns = zip(slopes.contacts, slopes.functions, slopes.signs, exact, strict=True)
        for i, b, sign, value in columns:
            if b < 0:
                lifts[i] += value
            else:
                coefficients[i, b] += int(sign) * value
        return lifts, replace(self._no_bounces, coefficients=coefficients)

    def _better(
        self, best: Certificate, y: Rational, lifts: Rational, bounces: Bounces, z: Rational
    ) -> Certificate:
        """Return the better of a certificate and the one of these multipliers."""
        d = as_array(best.direction)
        squared, gain = energy_terms(self.problem, d, y, z, self.kept_energy)
        normals = exactly(self.problem.J_n) @ exactly(self.problem.v_pre)
        offset = lifts @ np.maximum(normals, 0 * normals) + bounces.at_start(self.problem)
        bound = rounding.float_above(root_above(squared) - gain + offset)
        if best.bound is not None and best.bound <= bound:
            return best
        found = replace(best, bound=bound, separation=tuple(y), velocity=tuple(z), **self.kept)
        return replace(found, lifts=tuple(lifts), **bounces.numbers)

    def _multipliers(
        self, d: FloatArray, w: FloatArray, has_lifts: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the best multipliers of separation without slopes, slopes and z in floats."""
        start = self.energy_start
        speed = float(np.linalg.norm(start))
        a = self.whiten(d)
        lengths = np.linalg.norm(self._normals, axis=1)
        unit = max(float(np.linalg.norm(a)), float((np.abs(w) / lengths).max()))
        m, nv = self.problem.num_contacts, self.problem.num_velocities
        count = len(self.slopes.contacts) * has_lifts
        if speed == 0.0 or unit == 0.0:
            return np.zeros(m), np.zeros(count), np.zeros(nv)
        found = self._program(a / unit, w / unit, start / speed, count).x[1:]
        lifts = found[m : m + count] * unit / lengths[self.slopes.contacts[:count]]
        z = self.unwhiten(self._basis @ found[m + count :]) * unit
        return found[:m] * unit / lengths, lifts, z

    def _program(self, a: FloatArray, w: FloatArray, start: FloatArray, lifts: int) -> Solution:
        """Minimize e t + g . h - start . B x, t >= |a + N' (y - S h) + B x|; variables t, y, h, x.

        Here e is the share of speed that is kept, N has unit rows, S h are slopes at the end, g is
        their price at the start, and y here is y + S h of the certificate.
        """
        m, basis, slopes = self.problem.num_contacts, self._basis, self.slopes
        lengths = np.linalg.norm(self._normals, axis=1)
        units = self._normals / lengths[:, None]
        k, width = m + lifts, 1 + m + lifts + basis.shape[1]
        own, signs_of = slopes.contacts[:lifts], slopes.signs[:lifts]
        # Lifts that cost nothing shall not grow without end.
        normals = (units @ start)[own]
        e = np.where(slopes.functions[:lifts] < 0, 0.0, self.problem.restitution[own])
        values = np.where(normals >= 0.0, normals, -e * normals)
        price = signs_of * values + LEAST_PRICE
        c = np.concatenate([[self.kept_share], np.zeros(m), price, -start @ basis])
        energy = np.zeros((1 + len(a), width))
        energy[0, 0] = -1.0
        energy[1:, 1:] = -np.hstack([units.T, -units.T[:, own] * signs_of, basis])
        signs = np.zeros((k, width))
        signs[:, 1 : 1 + k] = -np.eye(k)
        blocks, right = [energy, signs], [np.append(0.0, a), np.zeros(k)]
        sizes = [1 + len(a)] + [1] * k
        for i in self._free:
            rows = np.zeros((len(self._cone_rows[i]), width))
            rows[:, 1 + k :] = -self._cone_rows[i] @ basis
            rows[0, 1 + m : 1 + k] = self._raising[i, :lifts]
            blocks.append(rows)
            right.append(np.append(-w[i] / lengths[i], np.zeros(len(rows) - 1)))
            sizes.append(len(rows))
        return minimize(c, np.vstack(blocks), np.concatenate(right), sizes)

    @cached_property
    def _no_bounces(self) -> Bounces:
        """Return functions of returnable energy with coefficients zero."""
        rates = exactly(self.slopes.rates)
        return Bounces(rates * 0, rates, exactly(self.problem.restitution))

    @cached_property
    def slopes(self) -> Slopes:
        """Return the functions of separating velocities and returnable energy that may help."""
        return Slopes.of(self.problem)

    @cached_property
    def _raising(self) -> FloatArray:
        """Return by how much each contact's action raises each slope, in units of |J_n| of both."""
        lengths = np.linalg.norm(self._normals, axis=1)
        normals, slopes = self._normals / lengths[:, None], self.slopes
        out = np.zeros((len(normals), len(slopes.contacts)))
        for i, rows in enumerate(self._cone_rows):
            along = rows @ normals.T
            friction = np.linalg.norm(along[1:], axis=0)
            low, high = along[0] - friction, along[0] + friction
            for column, (j, b, sign) in enumerate(
                zip(slopes.contacts, slopes.functions, slopes.signs, strict=True)
            ):
                if b < 0:
                    out[i, column] = max(high[j], 0.0) if j != i else 0.0
                    continue
                taken = slopes.rates[j, b] / lengths[j] ** 2 if j == i else 0.0
                e = self.problem.restitution[j]
                out[i, column] = max(rise(sign, low[j] - taken, high[j] - taken, e))
        return out

    def exact_velocity(self, z: FloatArray) -> Rational:
        """Return a velocity as short fractions, at which jammed contacts rest."""
        sizes = float(np.linalg.norm(self._root.T @ z)) / np.sqrt(np.diag(self.problem.M))
        short = rounding.rounded(z, sizes)
        return rounding.projected(short, *self._rest) if self._jammed else short

    @property
    def energy_start(self) -> FloatArray:
        """Return v_pre in coordinates in which energy is |x|^2 / 2."""
        return np.asarray(self._root.T @ self.problem.v_pre)

    def whiten(self, rows: FloatArray) -> FloatArray:
        """Return rows of coefficients (..., nv) in coordinates in which energy is |x|^2 / 2."""
        return np.asarray(np.linalg.solve(self._root, rows.T).T, dtype=np.float64)

    def unwhiten(self, x: FloatArray) -> FloatArray:
        """Return the velocity (nv,) of such coordinates."""
        return np.asarray(np.linalg.solve(self._root.T, x), dtype=np.float64)

    @cached_property
    def _root(self) -> FloatArray:
        return np.asarray(np.linalg.cholesky(self.problem.M), dtype=np.float64)

    @cached_property
    def _normals(self) -> FloatArray:
        return self.whiten(self.problem.J_n)

    @cached_property
    def _cone_rows(self) -> list[FloatArray]:
        """Return (J_n, mu J_t) of each contact over |J_n|; without friction only J_n."""
        out = []
        for normal, tangents, mu in zip(
            self._normals, self.problem.J_t, self.problem.mu, strict=True
        ):
            rows = [normal[None], mu * self.whiten(tangents)][: 1 + bool(mu > 0.0)]
            out.append(np.vstack(rows) / np.linalg.norm(normal))
        return out

    @property
    def _free(self) -> list[int]:
        """Return the contacts that do not jam."""
        return [i for i in range(self.problem.num_contacts) if i not in self._jammed]

    @property
    def _jammed(self) -> list[int]:
        return self._interior[0]

    @property
    def _basis(self) -> FloatArray:
        """Return an orthonormal basis (nv, k) of the velocities at which jammed contacts rest."""
        return self._interior[1]

    @cached_property
    def inside(self) -> Rational | None:
        """Return a velocity that separates all contacts that do not jam, or None."""
        found = self._interior[2]
        if found is None:
            return None
        return self.exact_velocity(self.unwhiten(found))

    @cached_property
    def _rest(self) -> tuple[Rational, list[int]]:
        return rounding.null_space(rounding.jammed_rows(self.problem, self._jammed))

    @cached_property
    def _interior(self) -> tuple[list[int], FloatArray, FloatArray | None]:
        """Return jammed contacts, a basis of the velocities they allow, and one inside."""
        jammed: list[int] = []
        basis = np.eye(self.problem.num_velocities)
        while True:
            rows = {i: r @ basis for i, r in enumerate(self._cone_rows) if i not in jammed}
            if not rows or basis.shape[1] == 0:
                return sorted({*jammed, *rows}), basis, None
            sizes = {i: np.linalg.norm(r) for i, r in rows.items()}
            gone = [i for i in rows if sizes[i] <= VANISHED * np.linalg.norm(self._cone_rows[i])]
            if gone:
                jammed += gone
                continue
            depth, x, impulses = _deepest(list(rows.values()))
            if depth > POINTED:
                return sorted(jammed), basis, basis @ x
            shares = dict(zip(rows, (impulses / impulses.max()).tolist(), strict=True))
            # Where the solver gives no numbers, all contacts count as jammed.
            jammed += [i for i, share in shares.items() if not share <= INVOLVED]
            basis = _null_basis(np.vstack([self._cone_rows[i] for i in jammed]))


def _deepest(cones: list[FloatArray]) -> tuple[float, FloatArray, FloatArray]:
    """Return the largest e with rows[0] x - e >= |rows[1:] x|, |x| <= 1, x, and the multipliers."""
    n = cones[0].shape[1]
    blocks, right, sizes = [], [], []
    for rows in cones:
        block = np.hstack([np.zeros((len(rows), 1)), -rows])
        block[0, 0] = 1.0
        blocks.append(block)
        right.append(np.zeros(len(rows)))
        sizes.append(len(rows))
    ball = np.vstack([np.zeros((1, 1 + n)), np.hstack([np.zeros((n, 1)), -np.eye(n)])])
    blocks.append(ball)
    right.append(np.append(1.0, np.zeros(n)))
    sizes.append(1 + n)
    # Without a floor, e could fall without end before x is found.
    floor = np.zeros((1, 1 + n))
    floor[0, 0] = -1.0
    blocks.append(floor)
    right.append(np.ones(1))
    sizes.append(1)
    c = np.append(-1.0, np.zeros(n))
    found = minimize(c, np.vstack(blocks), np.concatenate(right), sizes)
    heads = np.cumsum([0, *sizes])[: len(cones)]
    x = found.x[1:]
    depth = min(float(r[0] @ x - np.linalg.norm(r[1:] @ x)) for r in cones)
    return depth, x, found.multipliers[heads]


def _null_basis(rows: FloatArray) -> FloatArray:
    """Return an orthonormal basis (n, k) of the vectors on which rows vanish."""
    _, sizes, right = np.linalg.svd(rows)
    rank = int((sizes > VANISHED * sizes[0]).sum())
    return np.asarray(right[rank:].T)


def _vector(name: str, value: ArrayLike, size: int) -> FloatArray:
    array = checks.floats(name, value)
    if array.shape != (size,):
        raise InvalidOption(f"{name}: expected ({size},), got an array of shape {array.shape}")
    return array
