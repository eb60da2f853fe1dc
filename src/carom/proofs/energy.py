"""Bound the energy that planar impacts keep, by a piecewise quadratic function.

`lifted.py` proves that a matrix N with numbers for sticking and multipliers bounds the energy. All
conditions are linear in these, once the largest of several numbers is a variable above them: a
linear program, which is solved in floats. What they miss adds little to the bound.
"""

from __future__ import annotations

from fractions import Fraction
from time import monotonic
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from carom.errors import InvalidCertificate
from carom.problem import ImpactProblem
from carom.proofs import rounding
from carom.proofs.certificate import Certificate, Exact
from carom.proofs.check import momentum_rates
from carom.proofs.lifted import (
    Numbers,
    Setting,
    energy_function,
    exact_setting,
    largest_rise,
    worst_coefficient,
)
from carom.proofs.momentum import Prover
from carom.proofs.phases import fans, short, tightened, tightest
from carom.proofs.rational import as_array, exactly
from carom.typing import ArrayLike, FloatArray

SHARE_OF_ENERGY = 0.5
"""Share of the time in which a bound on the energy is sought, before it is used."""

MOST_CONTACTS = 3
"""Contacts up to which `tighten` seeks dissipated energy; for four it takes minutes, in vain."""

MOST = 1e3
"""Largest size of any number of a proof."""

TOLERANCES = (1e-10, 1e-8, 1e-7)
"""Errors that the solver may leave, tried in turn: it fails now and then at small ones."""

BITS = 40
"""Binary digits after the point of the numbers of a proof."""

FORM_BITS = 24
"""Binary digits after the point of further forms, whose exact place does not matter."""


def prove_by_energy(
    problem: ImpactProblem,
    direction: ArrayLike,
    impulse_weights: ArrayLike | None = None,
    *,
    seconds: float = 10.0,
) -> Certificate:
    """Bound direction . v_post + impulse_weights . impulse_n, at least as tightly as by phases.

    For several directions of one impact, make `Prover(problem, prove_energy(Prover(problem)))` once
    and pass it to `tightest`.

    Args:
        problem: The impact.
        direction: (nv,) coefficients of the velocity after the impact.
        impulse_weights: (m,) coefficients of the normal impulses; default zero.
        seconds: Time after which the search for dissipated energy is given up.

    Examples:
        >>> import carom
        >>> from carom.proofs import check, prove_by_energy, prove_by_phases
        >>> box = carom.scenes.load("box-wall").problem
        >>> tighter = prove_by_energy(box, box.J_t[0, 0])
        >>> check(box, tighter)
        >>> float(tighter) < 0.7 * float(prove_by_phases(box, box.J_t[0, 0]))
        True
    """
    kept = prove_energy(Prover(problem), seconds)
    return tightest(Prover(problem, kept), direction, impulse_weights)


def prove_energy(prover: Prover, seconds: float = 10.0) -> dict[str, Exact]:
    """Bound v+' M v+ of every outcome, for certificates in any direction.

    Args:
        prover: That of the impact.
        seconds: Time after which the search is given up.

    Returns:
        The fields of a certificate whose names begin with "kept"; none for contacts in space or
        with restitution, and where no bound below v-' M v- was found.
    """
    problem, deadline = prover.problem, monotonic() + seconds
    if problem.num_tangents != 1 or problem.bounces or not problem.v_pre.any():
        return {}
    lengths = np.linalg.norm(prover.whiten(problem.J), axis=1)
    units = short(np.where(lengths > 0.0, lengths, 1.0))
    rows = prover.whiten(problem.J) / units[:, None]
    forms = _forms(rows, problem.mu * units[1::2] / units[::2])
    delassus = rows @ rows.T * np.outer(units, units)
    further = exactly(forms[len(units) :])
    exact = exact_setting(problem, further, exactly(units), relations(problem, units))
    setting = Setting(forms, units, delassus, problem.mu, exact.relations.astype(np.float64))
    program = _Program(setting, problem.J @ problem.v_pre, prover.energy_start)
    if not program.build(deadline):
        return {}
    for tolerance in TOLERANCES:
        found = program.solve(tolerance, deadline)
        if found is not None:
            return _exact(prover, exact, found)
    return {}


def tighten(prover: Prover, certificates: list[Certificate], seconds: float) -> list[Certificate]:
    """Return tighter certificates for the same directions, by energy, lifts and phases in turn.

    Args:
        prover: That of the impact, without a proof of energy.
        certificates: Those to improve.
        seconds: Time that both may take.
    """
    begin, best = monotonic(), list(certificates)
    few = prover.problem.num_contacts <= MOST_CONTACTS
    kept = prove_energy(prover, SHARE_OF_ENERGY * seconds) if few and best and seconds > 0 else {}
    prover = Prover(prover.problem, kept) if kept else prover
    for fan in (None, *fans(prover)):
        for k, each in enumerate(best):
            if monotonic() > begin + seconds:
                return best
            if fan is not None:
                best[k] = tightened(prover, each, fan, begin + seconds)
            else:
                best[k] = prover.prove(*each.claim, lifts=True)
    return best


def relations(problem: ImpactProblem, units: FloatArray) -> Numbers:
    """Return combinations (q, 2 m) of contact velocities in their units that are exactly zero."""
    rows = (exactly(problem.J) / exactly(units)[:, None]).T
    echelon, pivots = rounding.null_space(rows)
    free = [k for k in range(rows.shape[1]) if k not in pivots]
    out = np.full((len(free), rows.shape[1]), Fraction(0), dtype=object)
    for row, k in zip(out, free, strict=True):
        row[k] = Fraction(1)
        row[pivots] = -echelon[:, k]
    return out


def _forms(rows: FloatArray, mu: FloatArray) -> FloatArray:
    """Return the contact velocities, the lines along which contacts brake, and impulses.

    Where a contact that acts alone comes to stick or to separate depends on the side of the line on
    which it starts; impulses A^+ c change only while their own contact acts.
    """
    m = len(mu)
    A = rows @ rows.T
    out = []
    inverse = np.linalg.pinv(A, rcond=1e-9)
    for i in range(m):
        n, t = 2 * i, 2 * i + 1
        for s in (1.0, -1.0):
            rate = A[[n, t], n] - s * mu[i] * A[[n, t], t]
            if rate[0] > 0.0 > s * rate[1]:
                line = np.zeros(2 * m)
                line[[n, t]] = rate[1], -rate[0]
                out.append(line)
    for i in range(m):
        for s in (1.0, -1.0):
            if mu[i] > 0.1:
                out.append(inverse[2 * i] + s * inverse[2 * i + 1] / mu[i])
            elif s > 0.0:
                out.append(inverse[2 * i])
    extra = np.array([row / np.abs(row).max() for row in out if row.any()]).reshape(-1, 2 * m)
    scale = 2.0**FORM_BITS
    return np.vstack([np.eye(2 * m), np.round(extra * scale) / scale])


def _exact(
    prover: Prover, setting: Setting, found: tuple[FloatArray, FloatArray, FloatArray]
) -> dict[str, Exact]:
    """Return the rounded numbers, none if they are no proof."""
    problem = prover.problem
    quadratic, sticking, multipliers = (_as_fractions(x) for x in found)
    final = [place for place in range(len(quadratic)) if setting.is_final(place)]
    block = np.ix_(final, final)
    quadratic[block] = np.maximum(quadratic[block], 0 * quadratic[block])
    z = as_array((Fraction(0),) * problem.num_velocities)
    if prover.pointed and prover.inside is not None:
        z = prover.inside / momentum_rates(problem, prover.inside).min()
    start = exactly(problem.v_pre)
    worst = worst_coefficient(setting, quadratic, sticking, multipliers)
    try:
        rise = largest_rise(problem, setting, worst, z)
    except InvalidCertificate:
        return {}
    kept = energy_function(problem, setting, quadratic) + rise
    if kept >= start @ exactly(problem.M) @ start:
        return {}
    numbers = {
        "kept": np.array([rounding.float_above(kept)], dtype=object),
        "kept_units": setting.units,
        "kept_forms": setting.forms[2 * setting.m :],
        "kept_relations": setting.relations,
        "kept_quadratic": quadratic[np.tril_indices(len(quadratic))],
        "kept_sticking": sticking,
        "kept_multipliers": multipliers,
        "kept_velocity": z,
    }
    return {name: tuple(values.ravel()) for name, values in numbers.items()}


def _as_fractions(values: FloatArray) -> Numbers:
    step = Fraction(1, 2**BITS)
    fractions = (round(Fraction(x) / step) * step for x in values.ravel().tolist())
    return as_array(tuple(fractions)).reshape(values.shape)


class _Program:
    """The linear program; variables N, h, multipliers, and bounds of largest numbers."""

    def __init__(self, setting: Setting, velocities: FloatArray, start: FloatArray) -> None:
        self.setting, self.energy = setting, float(start @ start)
        size = self.size = 2 * len(setting.forms)
        rows, columns = np.tril_indices(size)
        self.entry = np.zeros((size, size), dtype=int)
        self.entry[rows, columns] = self.entry[columns, rows] = np.arange(len(rows))
        self.situations = list(setting.situations())
        self.rests = len(rows) + np.arange(setting.m * size).reshape(setting.m, size)
        used = len(rows) + self.rests.size
        self.equations = setting.equations
        shape = (len(self.situations), len(self.equations))
        self.relations = used + np.arange(shape[0] * shape[1]).reshape(shape)
        self.width = used + self.relations.size
        self.scales = np.ones(len(self.situations))
        self.lines: list[tuple[list[int], list[float]]] = []
        self.right: list[float] = []
        x = setting.lifted(velocities)
        self.cost = np.zeros(len(rows))
        np.add.at(self.cost, self.entry, np.outer(x, x) / self.energy)
        self.largest: dict[tuple[int, int, int, int], int] = {}

    def build(self, deadline: float) -> bool:
        """Collect all conditions; return whether the time sufficed."""
        for number in range(len(self.situations)):
            if monotonic() >= deadline:
                return False
            self._conditions(number)
        return True

    def solve(
        self, tolerance: float, deadline: float
    ) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """Return N, h and multipliers, or None."""
        lower, upper = np.full(self.width, -MOST), np.full(self.width, MOST)
        final = np.array([self.setting.is_final(p) for p in range(self.size)])
        lower[self.entry[np.ix_(final, final)]] = 0.0
        opposite = self.entry[np.arange(0, self.size, 2), np.arange(1, self.size, 2)]
        lower[opposite] = upper[opposite] = 0.0
        cost = np.zeros(self.width)
        cost[: len(self.cost)] = self.cost
        heads = np.repeat(np.arange(len(self.lines)), [len(c) for c, _ in self.lines])
        columns = np.concatenate([c for c, _ in self.lines])
        values = np.concatenate([v for _, v in self.lines])
        matrix: Any = csr_array((values, (heads, columns)), shape=(len(self.lines), self.width))
        options: Any = {
            "time_limit": max(deadline - monotonic(), 0.0),
            "primal_feasibility_tolerance": tolerance,
        }
        bounds: Any = np.stack([lower, upper], axis=1)
        found = linprog(
            cost,
            A_ub=matrix,
            b_ub=self.right,
            bounds=bounds,
            method="highs",
            options=options,
        )
        if found.status != 0 or found.x is None:
            return None
        multipliers = found.x[self.relations] * self.scales[:, None]
        return found.x[self.entry], found.x[self.rests], multipliers

    def _add(self, terms: dict[int, float], right: float) -> None:
        self.lines.append((list(terms), list(terms.values())))
        self.right.append(right)

    def _conditions(self, number: int) -> None:
        setting = self.setting
        i, s, signs, _ = self.situations[number]
        # Conditions of large friction are divided by it.
        rates = setting.rates(i, s)
        scale = self.scales[number] = float(np.abs(rates).max())
        rates = rates / scale
        for place in range(self.size):
            if not setting.occurs(signs, place):
                continue
            sign = 1 - 2 * (place % 2)
            fixed = signs | {place // 2: sign}
            terms: dict[int, float] = {}
            for equation, column in zip(self.equations, self.relations[number], strict=True):
                if equation[place // 2]:
                    terms[int(column)] = sign * float(equation[place // 2])
            for k, rate in enumerate(rates):
                for column, value in self._slope(i, s, place, k, rate, fixed.get(k)):
                    terms[column] = terms.get(column, 0.0) + value
            self._add(terms, -float(setting.energy_rate(i, s, place)) / scale)

    def _slope(
        self, i: int, s: int, place: int, k: int, rate: float, sign: int | None
    ) -> list[tuple[int, float]]:
        """Return the terms of 2 r_k g_kl, or of a variable above all that it may be."""
        rest = 2 * rate
        sides = {
            1: (int(self.entry[2 * k, place]), rest),
            -1: (int(self.entry[2 * k + 1, place]), -rest),
        }
        if k < 2 * self.setting.m and k % 2:
            sides[0] = (int(self.rests[k // 2, place]), rest)
        if sign is not None:
            return [sides[sign]]
        key = (i, s, place, k)
        if key not in self.largest:
            self.largest[key] = self.width
            self.width += 1
            for column, value in sides.values():
                self._add({column: value, self.largest[key]: -1.0}, 0.0)
        return [(self.largest[key], 1.0)]
