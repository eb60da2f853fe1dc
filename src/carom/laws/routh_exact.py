"""The set-valued law of Halm and Posa, exactly [HalmPosa, eq:multicontact]."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, final

import numpy as np

from carom import checks
from carom.errors import InvalidOption, MissingExtra, NotResolvedExactly
from carom.laws.law import ImpactLaw
from carom.laws.routh import Routh
from carom.outcomes.kinds import describe_signs
from carom.outcomes.path import ImpactPath, Origin
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.polytope import Polytope
from carom.outcomes.sampled import SampledSet
from carom.reach.results import nothing_happens, path_of, roundings, too_much
from carom.stepping import nothing_acts
from carom.typing import FloatArray

if TYPE_CHECKING:
    import ppl

    from carom.problem import ImpactProblem
    from carom.reach.check import Pieces
    from carom.reach.flow import Part
    from carom.reach.inclusion import Cell, Inclusion
    from carom.reach.search import Node, Search

MOST_DIMENSIONS_OUTSIDE = 10
"""Bounds in more dimensions have thousands of corners, which take minutes in rational numbers."""

SMALL_STEP = 0.01
"""Steps of the samples that go with an outer set, as a share of the impulse that stops the impact:
a sample leaves the inclusion by about its step."""

MOST_STEPS = 100_000

FIRST_SAMPLES = 64
"""So many samples tell how long one takes."""

FIRST_LOOK = 0.05
"""Share of the time after which an outer set is tried: if it adds nothing, nothing is missing."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class RouthExact(ImpactLaw):
    """Compute every way in which an impact can end, as a union of polytopes.

    Works for planar contact, and in space for the k friction directions of the problem. It needs
    pplpy: `pip install "carom[exact]"`.

    With the problem's `without_collision`, and where nothing collides, the impact starts with any
    motion that contacts at rest can cause; v_pre itself, where nothing happens, is left out.

    Args:
        max_seconds: Budget of time [s].
        max_polyhedra: Budget of polyhedra.
        on_budget: What to do when a budget ends: "raise", or "outer": return a set outside of
            which nothing can happen, with samples.
        zero: Contact velocities of v_pre below this share of what the impact's energy could give
            are taken to be zero.
        grid: Relative rounding of J M^-1 J^T, mu and J v_pre; all after it is exact.
        num_samples: Samples that go with an outer set.
        seed: Of these samples.

    Raises:
        InvalidOption: An option is out of range; the message names it.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.RouthExact().resolve(block)
        >>> outcomes.is_complete, len(outcomes.kinds), round(outcomes.support(block.J_n[0]), 9)
        (True, 3, 0.21)
        >>> carom.RouthExact().draw_path(block, seed=0).num_steps > 0
        True
    """

    max_seconds: float = 10.0
    max_polyhedra: int = 20_000
    on_budget: str = "raise"
    zero: float = 1e-9
    grid: float = 1e-14
    num_samples: int = 2**14
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("max_polyhedra", "num_samples"):
            checks.integer(name, getattr(self, name), 1)
        checks.integer("seed", self.seed, 0, 2**53 - 1)
        if self.on_budget not in ("raise", "outer"):
            raise InvalidOption(f"on_budget: expected raise or outer, got {self.on_budget!r}")
        for name, least, most in (
            ("max_seconds", 0.0, np.inf),
            ("zero", 0.0, 1.0),
            ("grid", 1e-17, 1e-10),
        ):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not least <= value <= most:
                raise InvalidOption(
                    f"{name}: expected a number from {least:g} to {most:g}, got {value!r}"
                )

    def resolve(self, problem: ImpactProblem) -> PolyhedralSet:
        """Return the exact post-impact set.

        Args:
            problem: The impact.

        Raises:
            NotResolvedExactly: The budget ended, and on_budget is "raise". An outer set may take
                twice the budget again.
            ImpactNotResolved: Contacts at rest should act, and cannot.
            MissingExtra: pplpy is not installed.
        """
        _check_installed()
        if not problem.is_colliding(problem.v_pre) and not problem.without_collision:
            return nothing_happens(problem)
        from carom.reach.flow import Flow
        from carom.reach.inclusion import rationalize
        from carom.reach.search import Search, first_motions, start_search

        if not problem.v_pre.any():
            raise nothing_acts(problem)
        search = Search(Flow(rationalize(problem, grid=self.grid, zero=self.zero)))
        starts = []
        if problem.starts_at_rest:
            starts = first_motions(search.flow)
            if not starts:
                raise nothing_acts(problem)
            start_search(search, starts)
        return _Task(self, problem, search, starts).run()

    def draw_path(self, problem: ImpactProblem, seed: int) -> ImpactPath:
        """Pick one outcome by a seed, as `PolyhedralSet.sample` does, with the way to it.

        Args:
            problem: The impact.
            seed: Decides which outcome, an integer >= 0.

        Raises:
            InvalidOption: The seed is no integer >= 0.
            NotResolvedExactly: The budget ended, so that outcomes and ways are not known.
            ImpactNotResolved: Contacts at rest should act, and cannot.
            MissingExtra: pplpy is not installed.
        """
        checks.integer("seed", seed, 0)
        outcomes = self.resolve(problem)
        if not outcomes.is_complete:
            raise NotResolvedExactly(
                f"not resolved exactly: {outcomes.notes[0]}; points of an outer set need not be "
                f"outcomes: allow more with max_seconds and max_polyhedra, or use carom.Routh",
                problem,
            )
        v = outcomes.sample(1, rng=seed)[0]
        return outcomes.path_to(v, max(1e-6, 1e-6 * float(np.linalg.norm(v))))


def _check_installed() -> None:
    if find_spec("ppl") is None:
        raise MissingExtra('exact sets need pplpy: pip install "carom[exact]"')


@dataclass(eq=False)
class _Task:
    """One run of the law.

    Attributes:
        law: The law.
        problem: The impact.
        search: What is known, and what waits.
        starts: What waits at first where contacts at rest start the impact, else none.
    """

    law: RouthExact
    problem: ImpactProblem
    search: Search
    starts: list[Part]

    @property
    def inclusion(self) -> Inclusion:
        return self.search.flow.inclusion

    def run(self) -> PolyhedralSet:
        if self._too_much is not None:
            return self._outer(self._too_much)
        end = time.monotonic() + self.law.max_seconds
        self.search.run(FIRST_LOOK * self.law.max_seconds, self.law.max_polyhedra)
        if not self.search.is_complete:
            # Some lists never empty, though all that can happen is found early.
            joined = self._enclosed(self._joined, FIRST_LOOK * self.law.max_seconds)
            if joined is not None and self._adds_nothing(joined):
                return self._complete("a set that no motion leaves adds nothing to what was found")
            self.search.run(end - time.monotonic(), self.law.max_polyhedra)
        if self.search.is_complete:
            return self._complete("every order of events was followed to its end")
        return self._outer(f"the budget of {self._budget()} ended")

    @cached_property
    def _too_much(self) -> str | None:
        """Say why no budget would do, if so."""
        return too_much(self.problem, self.inclusion)

    def _budget(self) -> str:
        if self.search.num_steps >= self.law.max_polyhedra:
            return f"{self.law.max_polyhedra:,} polyhedra"
        return f"{self.law.max_seconds:g} s"

    def _complete(self, how: str) -> PolyhedralSet:
        nodes = [node for node in self.search.finals() if not self._stays(node.reached)]
        if not nodes:
            raise nothing_acts(self.problem)
        polyhedra = [(node.cell, node.reached) for node in nodes]
        return self._set(polyhedra, True, (how,), origin=_LiveSearch(self, nodes))

    def _enclosed(
        self, find: Callable[[float], Pieces | None], max_seconds: float
    ) -> Pieces | None:
        """Return polyhedra by cell that no motion leaves, if they are found and pass the check."""
        from carom.reach.check import is_closed, is_inside

        pieces = find(max_seconds)
        # The check takes a start at which nothing collides for an end, and asks no more.
        if (
            pieces is not None
            and all(is_inside(p, pieces.get(cell, [])) for p, cell in self.starts)
            and is_closed(self.inclusion, pieces, self._energy, max_seconds)
        ):
            return pieces
        return None

    def _closed(self, max_seconds: float) -> Pieces | None:
        """Return what a search reaches that is closed from outside, if it is in time."""
        from carom.reach.closing import Closing
        from carom.reach.search import start_search

        closing = Closing(self.search.flow)
        if self.starts:
            start_search(closing, self.starts)
        closing.run(max_seconds, self.law.max_polyhedra)
        if not closing.is_complete:
            return None
        return {cell: [node.reached for node in nodes] for cell, nodes in closing.known.items()}

    def _joined(self, max_seconds: float) -> Pieces | None:
        """Return one polyhedron per cell that holds all that is reached, if found in time."""
        from carom.reach.envelope import enclose

        envelope = enclose(self.search.flow, self._energy, max_seconds)
        return envelope and {cell: [polyhedron] for cell, polyhedron in envelope.items()}

    def _stays(self, polyhedron: ppl.C_Polyhedron) -> bool:
        """Tell whether contacts at rest should act, and a polyhedron is where they do not."""
        return bool(self.starts) and bool(self.starts[0].polyhedron.contains(polyhedron))

    @cached_property
    def _energy(self) -> ppl.Constraint_System:
        from carom.reach.envelope import energy_bounds

        return energy_bounds(self.inclusion)

    def _adds_nothing(self, pieces: Pieces) -> bool:
        """Tell whether the ends in a set that no motion leaves are all known to be reached."""
        from carom.reach.check import is_inside

        known = self.search.known
        return all(
            is_inside(end, [node.reached for node in known.get(cell, [])])
            for cell, end in self._ends(pieces)
        )

    def _ends(self, pieces: Pieces) -> list[tuple[Cell, ppl.C_Polyhedron]]:
        """Return the polyhedra in which the impact is over."""
        return [
            (cell, polyhedron)
            for cell, polyhedra in pieces.items()
            if self.inclusion.is_final(cell)
            for polyhedron in polyhedra
        ]

    def _outer(self, reason: str) -> PolyhedralSet:
        """Return an outer set, or say why there is none."""
        advice = "allow more with max_seconds and max_polyhedra, or sample with carom.Routh"
        if self.law.on_budget == "raise":
            raise NotResolvedExactly(
                f"not resolved exactly: {reason}; {advice}, or take on_budget='outer'", self.problem
            )
        if self.inclusion.dimension > MOST_DIMENSIONS_OUTSIDE:
            raise NotResolvedExactly(
                f"not resolved exactly: {reason}, and for an outer set (at most "
                f"{MOST_DIMENSIONS_OUTSIDE}); sample with carom.Routh",
                self.problem,
            )
        inner = self._samples()
        for find in () if self._too_much else (self._closed, self._joined):
            pieces = self._enclosed(find, 0.5 * self.law.max_seconds)
            if pieces is not None:
                ends = [end for end in self._ends(pieces) if not self._stays(end[1])]
                how = f"{reason}; it was checked that no motion leaves this outer set"
                return self._set(ends, False, (how,), inner=inner)
        return self._limits(reason, advice, inner)

    def _samples(self) -> SampledSet:
        """Return samples, in small steps: as many as a first few say that time allows."""
        routh = Routh(self.law.num_samples, seed=self.law.seed)
        if self._too_much is not None:
            # Small steps of many contacts would take minutes.
            return routh.resolve(self.problem)
        step = SMALL_STEP * float(self.problem.space.impulse_unit.max())
        routh = replace(routh, step_impulse=step, max_steps=MOST_STEPS)
        few = min(FIRST_SAMPLES, self.law.num_samples)
        # What is prepared for the first of all would count otherwise.
        replace(routh, num_samples=1).resolve(self.problem)
        begin = time.monotonic()
        replace(routh, num_samples=few).resolve(self.problem)
        allowed = int(few * self.law.max_seconds / (time.monotonic() - begin))
        number = min(max(allowed, few), self.law.num_samples)
        return replace(routh, num_samples=number).resolve(self.problem)

    def _limits(self, reason: str, advice: str, inner: SampledSet) -> PolyhedralSet:
        """Return bounds by energy, momentum and separation alone."""
        from carom.reach.limits import proved_end
        from carom.reach.velocities import in_velocities

        end = proved_end(self.inclusion)
        if end is None:
            raise NotResolvedExactly(
                f"not resolved exactly: {reason}; no outer set was found either; {advice}",
                self.problem,
            )
        how = (
            f"{reason}; the outer set follows no order of events: it is bounds by energy, momentum "
            f"and separation, which are loose, each with a proof that was checked"
        )
        kind = "not told apart"
        return PolyhedralSet(
            problem=self.problem,
            law="Routh",
            polytopes=(Polytope(*in_velocities(self.inclusion, end), kind),),
            kinds=(kind,),
            is_complete=False,
            notes=(how, *roundings(self.inclusion, self.problem.contacts, self.law.grid)),
            num_polyhedra=self.search.num_polyhedra,
            inner=inner,
        )

    def _set(
        self,
        polyhedra: list[tuple[Cell, ppl.C_Polyhedron]],
        is_complete: bool,
        notes: tuple[str, ...],
        inner: SampledSet | None = None,
        origin: Origin | None = None,
    ) -> PolyhedralSet:
        from carom.reach.velocities import cells_of, in_velocities

        flow, names = self.search.flow, self.problem.contacts
        polytopes = [
            Polytope(*in_velocities(self.inclusion, p), self._kind(cell)) for cell, p in polyhedra
        ]
        cells = {c for cell, p in polyhedra for c in cells_of(flow, p, cell)}
        return PolyhedralSet(
            problem=self.problem,
            law="Routh",
            polytopes=tuple(polytopes),
            kinds=tuple(sorted({self._kind(cell) for cell in cells})),
            is_complete=is_complete,
            notes=(*notes, *roundings(self.inclusion, names, self.law.grid)),
            num_polyhedra=self.search.num_polyhedra,
            inner=inner,
            origin=origin,
        )

    def _kind(self, cell: Cell) -> str:
        block = self.inclusion.block
        signs = [cell[i : i + block] for i in range(0, len(cell), block)]
        return describe_signs(self.problem.contacts, signs)


@dataclass(frozen=True, eq=False)
class _LiveSearch:
    """A search that has ended, and the ways to what it found."""

    task: _Task
    nodes: list[Node]

    def path_to(self, problem: ImpactProblem, v: FloatArray, tol: float) -> ImpactPath:
        from carom.reach.witness import nearest, trace

        inclusion = self.task.inclusion
        y = inclusion.coordinates([Fraction(float(x)) for x in v])
        best = min(((*nearest(n.reached, y), n) for n in self.nodes), key=lambda found: found[1])
        end = np.array([float(x) for x in inclusion.velocity(best[0])])
        if float(np.linalg.norm(end - v)) > tol:
            raise InvalidOption(
                f"v: expected an outcome; the nearest is {np.linalg.norm(end - v):.3g} away"
            )
        return path_of(problem, trace(self.task.search.flow, best[2], best[0]))
