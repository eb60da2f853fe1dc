"""Bound all outcomes of a search that has not ended.

What a search has not followed yet starts in the polyhedra of its waiting list. Each of them gets
multipliers of energy, momentum and separation; the bound is the largest of these and of the ends
that were found. Multipliers come from floats, the bounds from integers that are rounded upwards.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import gmpy2
import numpy as np
import ppl
from gmpy2 import mpq, mpz

from carom.reach.flow import OutOfTime, Part
from carom.reach.inclusion import Inclusion
from carom.reach.multipliers import Chooser, Multipliers
from carom.reach.rational import Exact, identity, integers, solve
from carom.reach.search import Search
from carom.typing import FloatArray, IntArray

BITS = 60
"""Binary digits of coordinates, relative to the impact's speed, and of bounds."""

MOST_CHOICES = 60
"""Maximum number of multipliers per direction."""

LEAST_SECONDS = 0.005
"""Time for the first multipliers of a direction, even if its own time is over [s]."""

CLOSE = 1e-4
"""Share of the impact's speed by which multipliers must lower the bound to try others."""


@dataclass(frozen=True, eq=False)
class Ruler:
    """Energy norms of an impact, rounded upwards."""

    inclusion: Inclusion

    @cached_property
    def chooser(self) -> Chooser:
        return Chooser(self.inclusion)

    @cached_property
    def units(self) -> list[mpq]:
        """Return the unit of every coordinate: a power of two near what the energy could give."""
        speeds = self.inclusion.speeds[self.inclusion.basis]
        return [mpq(2) ** (round(float(np.log2(x))) - BITS) for x in speeds]

    @cached_property
    def inverse(self) -> Exact:
        """Return A^-1 (d, d) in these units."""
        A = self.inclusion.delassus
        units = np.array(self.units)
        return np.asarray(solve(A, identity(len(A))) * units[:, None] * units)

    @cached_property
    def square(self) -> tuple[Exact, mpz]:
        """Return |c|_E^2 in units of both, as integers (d, d) and their denominator."""
        *numbers, common = integers([*(self.inverse / self.energy_unit**2).ravel(), mpq(1)])
        return np.array(numbers, dtype=object).reshape(self.inverse.shape), common

    @cached_property
    def blur(self) -> mpz:
        """Return the largest |c|_E, in units of `energy_unit`, of one unit of all coordinates."""
        return sum((_root_up(x / self.energy_unit**2) for x in self.inverse.diagonal()), mpz(0))

    @cached_property
    def energy_unit(self) -> mpq:
        start = self.inclusion.y_start
        whole = start @ solve(self.inclusion.delassus, start[:, None])[:, 0]
        return mpq(2) ** (round(float(np.log2(float(whole))) / 2) - BITS)

    def length(self, form: Exact) -> mpq:
        """Return a rational slightly above |form|_A."""
        square = form @ self.inclusion.delassus @ form
        unit = _unit_below(square)
        return _root_up(square / unit**2) * unit


@dataclass(frozen=True, eq=False)
class Corners:
    """Vertices of polytopes, truncated to `Ruler.units`, with their energy norms from above."""

    ruler: Ruler
    numbers: Exact  # (n, d) integers
    energies: Exact  # (n,) integers, in units of `energy_unit`
    points: FloatArray  # (n, d) in the coordinates of `Chooser`

    @classmethod
    def of(
        cls, ruler: Ruler, polyhedra: Iterable[ppl.C_Polyhedron], deadline: float = math.inf
    ) -> Corners:
        """Return the vertices of some polytopes, one after the other.

        Raises:
            OutOfTime: There are too many.
        """
        rows: list[list[int]] = []
        for polyhedron in polyhedra:
            if time.monotonic() > deadline:
                raise OutOfTime
            rows += truncated(ruler, polyhedron)
        d = ruler.inclusion.dimension
        numbers = np.array(rows, dtype=object).reshape(-1, d)
        units = np.array([float(x) for x in ruler.units])
        points = (numbers.astype(np.float64) * units) @ ruler.chooser.to_energy.T
        return cls(ruler, numbers, _energies(ruler, numbers), points)

    def bound(self, direction: Exact, chosen: Multipliers, rows: IntArray) -> mpq:
        """Return what the multipliers prove for motions through some of the vertices."""
        ruler = self.ruler
        p = direction + chosen.momentum + chosen.separation @ ruler.chooser.normals
        *form, unit = integers([*(-chosen.momentum * ruler.units), mpq(1)])
        # A truncated vertex is off by less than one unit in every coordinate.
        slack = mpq(sum(map(abs, form), mpz(0)), unit)
        gains = self.numbers[rows] @ np.array(form, dtype=object)
        length = ruler.length(p) * ruler.energy_unit * unit
        # With common denominators, the largest is found among integers.
        totals = self.energies[rows] * length.numerator + gains * length.denominator
        return mpq(totals.max(), length.denominator * unit) + slack

    def support(self, direction: Exact) -> mpq | None:
        """Return an upper bound on a direction over all vertices, or None if there are none."""
        *form, unit = integers([*(direction * self.ruler.units), mpq(1)])
        if not len(self.numbers):
            return None
        slack = sum(map(abs, form), mpz(0))
        return mpq(max(self.numbers @ np.array(form, dtype=object)) + slack, unit)


@dataclass(frozen=True, eq=False)
class Proof:
    """A bound on one direction, with the multipliers of every waiting polyhedron."""

    direction: Exact
    bound: mpq
    multipliers: list[Multipliers]
    which: list[int]  # index of the multipliers of each polyhedron


@dataclass(frozen=True, eq=False)
class Unfinished:
    """What a search has found and what it has not followed."""

    ruler: Ruler
    parts: list[Part]  # what waits
    ends: list[ppl.C_Polyhedron]
    deadline: float = math.inf  # for vertices, else OutOfTime; after it multipliers are zero

    @classmethod
    def of(cls, search: Search, deadline: float = math.inf) -> Unfinished:
        """Return the state of a search."""
        parts = [
            part
            for *_, part, parent in sorted(search.waiting, key=lambda entry: entry[:2])
            if parent is None or not parent.is_dropped
        ]
        if not search.num_pushed:
            parts = [search.flow.start(), *search.starts]
        ends = [node.reached for node in search.finals()]
        return cls(Ruler(search.flow.inclusion), parts, ends, deadline)

    @cached_property
    def polyhedra(self) -> list[ppl.C_Polyhedron]:
        """Return what waits, without repetition: one polyhedron may enter several cells."""
        return list({id(part.polyhedron): part.polyhedron for part in self.parts}.values())

    @cached_property
    def corners(self) -> Corners:
        return Corners.of(self.ruler, self.polyhedra, self.deadline)

    @cached_property
    def firsts(self) -> IntArray:
        """Return the index of every waiting polyhedron's first vertex."""
        counts = [len(polyhedron.minimized_generators()) for polyhedron in self.polyhedra]
        return np.cumsum([0, *counts])

    @cached_property
    def found(self) -> Corners:
        return Corners.of(self.ruler, self.ends, self.deadline)

    def bound(self, direction: Exact, deadline: float) -> Proof | None:
        """Return a proved bound on a direction (d,); None if there are no outcomes at all."""
        found = self.found.support(direction)
        if not self.polyhedra:
            return None if found is None else Proof(direction, found, [], [])
        chosen, which = self._choose(direction, found, deadline)
        bounds = [] if found is None else [found]
        for k, multipliers in enumerate(chosen):
            own = [np.arange(*self.firsts[i : i + 2]) for i in np.flatnonzero(which == k)]
            if own:
                bounds.append(self.corners.bound(direction, multipliers, np.concatenate(own)))
        return Proof(direction, max(bounds), chosen, which.tolist())

    def _choose(
        self, direction: Exact, found: mpq | None, deadline: float
    ) -> tuple[list[Multipliers], IntArray]:
        """Choose multipliers for the worst polyhedron, until that does not lower the bound."""
        chooser, points = self.ruler.chooser, self.corners.points
        start = chooser.to_energy @ self.ruler.inclusion.y_start.astype(np.float64)
        reached = -np.inf if found is None else float(found)
        unit = float(np.linalg.norm(direction.astype(np.float64) @ self.ruler.inclusion.reach))
        is_late = time.monotonic() > self.deadline
        # Programs end here, or a few could use up the time of all directions.
        end = min(self.deadline, max(deadline, time.monotonic() + LEAST_SECONDS))
        first = chooser.nothing if is_late else chooser.choose(direction, start[None], end)
        chosen = [first]
        best = self._values(direction, chosen[0])
        which = np.zeros(len(best), dtype=np.int64)
        tried: set[int] = set()
        while len(chosen) < MOST_CHOICES and time.monotonic() < deadline:
            worst = int(best.argmax())
            if worst in tried or best[worst] <= reached + CLOSE * unit:
                break
            tried.add(worst)
            own = points[slice(*self.firsts[worst : worst + 2])]
            chosen.append(chooser.choose(direction, own, end))
            values = self._values(direction, chosen[-1])
            better = values < best
            which[better] = len(chosen) - 1
            best = np.minimum(best, values)
        return chosen, which

    def _values(self, direction: Exact, chosen: Multipliers) -> FloatArray:
        """Return the bounds of all waiting polyhedra by some multipliers, in floats."""
        chooser, points = self.ruler.chooser, self.corners.points
        p = direction + chosen.momentum + chosen.separation @ chooser.normals
        reach = self.ruler.inclusion.reach
        length = float(np.linalg.norm(p.astype(np.float64) @ reach))
        gains = points @ (chosen.momentum.astype(np.float64) @ reach)
        values = length * np.linalg.norm(points, axis=1) - gains
        return np.asarray(np.maximum.reduceat(values, self.firsts[:-1]))


def is_valid(chooser: Chooser, chosen: Multipliers) -> bool:
    """Return whether multipliers have the right signs, exactly."""
    return all(x >= 0 for x in chosen.separation) and all(
        chosen.momentum @ rate >= 0 for rate in chooser.inclusion.extreme_rates
    )


def truncated(ruler: Ruler, polyhedron: ppl.C_Polyhedron) -> list[list[int]]:
    """Return the vertices of a polytope in the units of a ruler, truncated to integers."""
    units = [(unit.numerator, unit.denominator) for unit in ruler.units]
    rows = []
    for vertex in polyhedron.minimized_generators():
        below = vertex.divisor()
        # PPL may omit trailing zeros.
        numbers = [*vertex.coefficients(), *(mpz(0),) * len(units)]
        pairs = zip(numbers, units, strict=False)
        rows.append([x * down // (below * up) for x, (up, down) in pairs])
    return rows


def _energies(ruler: Ruler, numbers: Exact) -> Exact:
    """Return upper bounds (n,) on the energy norms of vertices, in units of `energy_unit`."""
    form, divisor = ruler.square
    totals = ((numbers @ form) * numbers).sum(axis=1)
    return np.array([_root_up(mpq(x, divisor)) + ruler.blur for x in totals], dtype=object)


def _root_up(x: mpq) -> mpz:
    """Return the least integer whose square is at least x."""
    whole = gmpy2.isqrt(-(-x.numerator // x.denominator))
    return whole if whole * whole >= x else whole + 1


def _unit_below(square: mpq) -> mpq:
    """Return a power of two so small against a root that rounding to it does not matter."""
    if not square:
        return mpq(1)
    exponent = square.numerator.bit_length() - square.denominator.bit_length()
    return mpq(2) ** (exponent // 2 - BITS)
