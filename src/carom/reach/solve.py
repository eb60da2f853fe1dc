"""Compute the post-impact set of an impact within a budget, or an outer set.

A search is tried first. If it does not terminate, the start is enclosed by a set that no motion
leaves; if that adds no outcomes, nothing is missing. When the time of the search is over, the outer
set is the intersection of all that is proved: such a set if one is found, and bounds by energy and
momentum on what the search has not followed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import ppl
from gmpy2 import mpq

from carom.errors import NotResolvedExactly
from carom.outcomes.kinds import describe_signs
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.polytope import Polytope
from carom.problem import ImpactProblem
from carom.proofs import Prover, tighten
from carom.reach.check import Cover, is_closed, is_inside
from carom.reach.closing import LITTLE, Closing
from carom.reach.energetic import continued
from carom.reach.envelope import (
    enclose,
    end_within,
    energy_bound,
    energy_bounds,
    has_few_vertices,
)
from carom.reach.flow import OutOfTime
from carom.reach.inclusion import Cell, Inclusion, by_contact
from carom.reach.rational import Exact
from carom.reach.record import LAW, SearchRecord, nothing_happens
from carom.reach.search import Search, pose
from carom.reach.velocities import by_conditions, in_velocities
from carom.reach.waiting import Proof, Unfinished

MOST_DIMENSIONS = 6
"""Maximum number of coordinates of a search; with more, one operation can exceed any budget."""

MOST_DIMENSIONS_OUTSIDE = 10
"""The same for outer sets, whose bounds are looser the more there are."""

MOST_VERTICES = 128
"""Maximum number of vertices of an outer polytope that are listed; 1,000 take 0.3 s."""

MOST_CELLS = 5000
"""Maximum number of cells in space; with more, listing the neighbours of one takes minutes."""

FIRST_LOOK = 0.05
"""Share of the time after which an enclosure is tried."""

SEARCH, CLOSING, COARSE, JOINING, ENERGETIC, BOUNDS = 0.65, 0.7, 0.78, 0.8, 0.86, 1.05
"""Shares of the time at which the stages end if an outer set is wanted."""

LATE = 1.1
"""Share of the time after which bounds are by energy alone."""

COARSER = 10.0
"""Factor by which larger violations are relaxed where small ones do not close all rounds."""

FINDING = 0.75
"""Share of a stage that searches for a set that no motion leaves; the rest is for its check."""

NEGLIGIBLE = 1e-9
"""Share of a contact velocity that may be dropped, as in the default of `zero`."""

CHECK = 1e-8
"""Share of what the energy could give that checks allow: ten times the default of `zero`."""

BOUNCING = (
    "with restitution, what contacts can still return is quadratic in the velocity, so that the "
    "outcomes are no union of polytopes"
)

ADVICE = "raise max_seconds and max_polyhedra, or sample with carom.Routh"


@dataclass(frozen=True)
class Budget:
    """Options of `RouthExact`."""

    max_seconds: float
    max_polyhedra: int
    on_budget: str
    zero: float
    grid: float


def solve(problem: ImpactProblem, budget: Budget) -> PolyhedralSet | None:
    """Return all outcomes, or an outer set without samples; None if contacts at rest cannot act."""
    if problem.stays:
        return nothing_happens(problem)
    if not problem.v_pre.any():
        return None
    begin = time.monotonic()
    search = pose(problem, zero=budget.zero, grid=budget.grid)
    if problem.starts_at_rest and not search.starts:
        return None
    return Task(problem, budget, search, begin).run()


def too_much(problem: ImpactProblem, inclusion: Inclusion) -> str | None:
    """Return why an impact is too large for an exact search, or None."""
    if inclusion.dimension > MOST_DIMENSIONS:
        return (
            f"{inclusion.dimension} independent contact velocities are too many for an exact set "
            f"(at most {MOST_DIMENSIONS})"
        )
    m, k = problem.num_contacts, problem.num_directions
    # A contact has at least 2 k + 1 friction cells; computing `frictions` takes k^2.
    if problem.num_tangents > 1 and (
        (3 * (2 * k + 1)) ** m > MOST_CELLS or (3 * len(inclusion.frictions)) ** m > MOST_CELLS
    ):
        return (
            f"{m} contact{'s' if m > 1 else ''} in space with {k} friction directions are too "
            f"many for an exact set"
        )
    return None


@dataclass(eq=False)
class Task:
    """An impact with its budget and its search, and what was proved of it so far."""

    problem: ImpactProblem
    budget: Budget
    search: Search
    begin: float  # value of `time.monotonic`
    cover: Cover | None = None  # polyhedra by cell that no motion leaves

    @property
    def inclusion(self) -> Inclusion:
        return self.search.flow.inclusion

    @cached_property
    def too_much(self) -> str | None:
        return too_much(self.problem, self.inclusion)

    @cached_property
    def energy(self) -> ppl.Constraint_System:
        return energy_bounds(self.inclusion)

    def run(self) -> PolyhedralSet | None:
        self.check_rank()
        if self.problem.bounces:
            return self.outer(BOUNCING)
        if self.too_much is not None:
            return self.outer(self.too_much)
        how = self.follow()
        if how is not None:
            return self.complete(how)
        polyhedra, seconds = self.budget.max_polyhedra, self.budget.max_seconds
        is_long = self.search.num_steps >= polyhedra
        ended = f"{polyhedra:,} polyhedra" if is_long else f"{seconds:g} s"
        return self.outer(f"the budget of {ended} ended")

    def follow(self) -> str | None:
        """Run the search; return why nothing is missing, or None if something may be."""
        seconds, polyhedra = self.budget.max_seconds, self.budget.max_polyhedra
        end = self.time_at(SEARCH if self.budget.on_budget == "outer" else 1.0)
        self.search.run(FIRST_LOOK * seconds, polyhedra)
        if not self.search.is_complete:
            # Some searches never terminate, although all outcomes are found early.
            cover = self.enclosed(self.joined, time.monotonic() + FIRST_LOOK * seconds)
            if cover is not None and self.adds_nothing(cover):
                self.cover = cover
                return "a set that no motion leaves adds nothing to what was found"
            self.search.run(end - time.monotonic(), polyhedra)
        if not self.search.is_complete:
            return None
        known = self.search.known.items()
        self.cover = {cell: [node.reached for node in nodes] for cell, nodes in known}
        return "every order of events was followed to its end"

    def enclose(self) -> None:
        """Look for polyhedra that no motion leaves, in stages, and keep them as the cover."""
        stages = ((self.closed, CLOSING), (self.coarsely_closed, COARSE), (self.joined, JOINING))
        for find, share in stages:
            self.cover = self.enclosed(find, self.time_at(share))
            if self.cover is not None:
                return

    def check_rank(self) -> None:
        """Raise an error if contacts are neither dependent nor independent enough."""
        neglected = self.inclusion.neglected
        if neglected.max() > NEGLIGIBLE:
            k = int(neglected.argmax())
            raise NotResolvedExactly(
                f"only {neglected[k]:.1g} of the velocity of contact "
                f"{self.problem.contacts[k // self.inclusion.width]} is independent of the others, "
                f"which is too little for exact arithmetic",
                "make them depend exactly, or sample with carom.Routh",
                self.problem,
            )

    def complete(self, how: str) -> PolyhedralSet | None:
        """Return what was found; raise an error if a contact approaches or energy has risen."""
        ends = [(node.cell, node.reached) for node in self.search.finals()]
        if not ends:
            return None
        found = self.set_of(ends, True, how)
        problem, v = self.problem, found.v_post
        # Rounding errors where large velocities cancel.
        noise = 1e-12 * np.abs(v) @ np.abs(problem.J_n).T
        approach = (-(v @ problem.J_n.T) - noise).max(axis=0) / problem.space.velocity_unit
        energy_norm = float(np.sqrt(((v @ problem.M) * v).sum(axis=1).max()))
        gain = energy_norm / problem.energy_norm - 1.0
        if approach.max() > CHECK or gain > CHECK:
            name = problem.contacts[int(approach.argmax())]
            what = f"{name} still approaches" if approach.max() > CHECK else "energy rises"
            raise NotResolvedExactly(
                f"{what} in the set that was found, because the data are too ill-conditioned to be "
                f"rounded to {self.budget.grid:g}",
                "sample with carom.Routh",
                problem,
            )
        return found

    def time_at(self, share: float) -> float:
        """Return when a share of the budget is over."""
        return self.begin + share * self.budget.max_seconds

    def enclosed(self, find: Callable[[float], Cover | None], end: float) -> Cover | None:
        """Return polyhedra by cell that no motion leaves, if found and checked before the end."""
        cover = find(FINDING * (end - time.monotonic()))
        # The check takes a start without collision for an end; check the first motions here.
        if (
            cover is not None
            and all(is_inside(p, cover.get(cell, [])) for p, cell in self.search.starts)
            and is_closed(self.inclusion, cover, self.energy, end - time.monotonic())
        ):
            return cover
        return None

    def coarsely_closed(self, max_seconds: float) -> Cover | None:
        """Return the same as `closed`, with larger violations relaxed."""
        return self.closed(max_seconds, COARSER * LITTLE)

    def closed(self, max_seconds: float, little: float = LITTLE) -> Cover | None:
        """Return what a search with relaxed conditions reaches, if it terminates in time."""
        closing = Closing(self.search.flow, self.search.starts, little=little)
        closing.run(max_seconds, self.budget.max_polyhedra)
        if not closing.is_complete:
            return None
        return {cell: [node.reached for node in nodes] for cell, nodes in closing.known.items()}

    def joined(self, max_seconds: float) -> Cover | None:
        """Return one polyhedron per cell that contains all that is reached, if found in time."""
        envelope = enclose(self.search.flow, self.energy, max_seconds)
        return envelope and {cell: [polyhedron] for cell, polyhedron in envelope.items()}

    def adds_nothing(self, cover: Cover) -> bool:
        """Return whether the search has already reached all ends in a set."""
        known = self.search.known
        return all(
            is_inside(end, [node.reached for node in known.get(cell, [])])
            for cell, end in self.ends(cover)
        )

    def ends(self, cover: Cover) -> list[tuple[Cell, ppl.C_Polyhedron]]:
        """Return the polyhedra of final cells."""
        return [
            (cell, polyhedron)
            for cell, polyhedra in cover.items()
            if self.inclusion.is_final(cell)
            for polyhedron in polyhedra
        ]

    def outer(self, reason: str) -> PolyhedralSet:
        """Return an outer set, or raise an error."""
        bounces, advice = self.problem.bounces, "sample with carom.Routh"
        if self.budget.on_budget == "raise":
            advice = advice if bounces else ADVICE
            raise NotResolvedExactly(reason, f"{advice}, or use on_budget='outer'", self.problem)
        if self.inclusion.dimension > MOST_DIMENSIONS_OUTSIDE:
            raise NotResolvedExactly(
                f"{self.inclusion.dimension} independent contact velocities are too many for an "
                f"outer set (at most {MOST_DIMENSIONS_OUTSIDE})"
                if bounces
                else f"{reason}, and for an outer set (at most {MOST_DIMENSIONS_OUTSIDE})",
                advice,
                self.problem,
            )
        # In space a cover holds for the friction directions only, an outer set for the round cone.
        by_multipliers = self.problem.num_tangents > 1 or bounces
        if not self.too_much and not by_multipliers:
            self.enclose()
        cover = self.cover
        bounds = self.round_bounds() if by_multipliers else self.straight_bounds()
        if cover is None:
            of_what = "" if bounces else " on all that was not followed"
            how = (
                f"{reason}; the outer set consists of proved but loose bounds by energy, momentum "
                f"and separation{of_what}"
            )
            end, kind = end_within(self.inclusion, bounds), "not told apart"
            write = in_velocities if has_few_vertices(end, MOST_VERTICES) else by_conditions
            polytope = write(self.inclusion, end, kind)
            return self._polyhedral((polytope,), (kind,), False, how)
        ends = []
        for cell, polyhedron in self.ends(cover):
            within = end_within(self.inclusion, bounds)
            within.intersection_assign(polyhedron)
            if not within.is_empty() and not self.search.stays(within):
                ends.append((cell, within))
        how = f"{reason}; it was checked that no motion leaves this outer set"
        return self.set_of(ends, False, how)

    def energetic(self) -> Search:
        """Return the search, continued so that little energy is left in what waits."""
        left = self.time_at(ENERGETIC) - time.monotonic()
        if self.too_much or left <= 0.0:
            return self.search
        return continued(self.search, left, self.budget.max_polyhedra)

    def bounds(self, state: Unfinished, directions: list[Exact]) -> list[Proof | None]:
        """Return proved bounds on directions (d,), for equal shares of the time that is left."""
        begin, last = time.monotonic(), self.time_at(BOUNDS)
        return [
            state.bound(direction, begin + (last - begin) * k / len(directions))
            for k, direction in enumerate(directions, start=1)
        ]

    def straight_bounds(self) -> list[tuple[Exact, mpq]]:
        """Return proved bounds on the negative and the positive of every contact velocity."""
        directions = [sign * row for row in self.inclusion.rows for sign in (-1, 1)]
        state = Unfinished.of(self.search if self.cover else self.energetic(), self.time_at(LATE))
        try:
            proofs = self.bounds(state, directions)
        except OutOfTime:
            # All outcomes come from the start, too.
            parts = [self.search.flow.start(), *self.search.starts]
            proofs = self.bounds(Unfinished(state.ruler, parts, []), directions)
        return [(proof.direction, proof.bound) for proof in proofs if proof is not None]

    def round_bounds(self) -> list[tuple[Exact, mpq]]:
        """Return the same by multipliers: in space for the round cone, and with restitution."""
        prover, found = Prover(self.problem), []
        signed = [(sign, k) for k in range(len(self.problem.J)) for sign in (-1, 1)]
        proofs = []
        for sign, k in signed:
            row = sign * self.problem.J[k]
            if time.monotonic() < self.time_at(BOUNDS):
                proofs.append(prover.prove(row, lifts=True))
            else:
                # What the energy could give needs no program.
                proofs.append(prover.prove_by_energy_alone(row))
        if self.problem.num_tangents == 1:
            proofs = tighten(prover, proofs, self.time_at(BOUNDS) - time.monotonic())
        for (sign, k), proof in zip(signed, proofs, strict=True):
            most = energy_bound(self.inclusion.speeds[k])
            most = most if proof.bound is None else min(mpq(proof.bound), most)
            found.append((sign * self.inclusion.rows[k], most))
        return found

    def set_of(
        self, polyhedra: list[tuple[Cell, ppl.C_Polyhedron]], is_complete: bool, how: str
    ) -> PolyhedralSet:
        polytopes = tuple(
            in_velocities(self.inclusion, p, self.kind(cell)) for cell, p in polyhedra
        )
        cells = {c for cell, p in polyhedra for c in self.search.flow.cells_of(p, cell)}
        kinds = tuple(sorted({self.kind(cell) for cell in cells}))
        return self._polyhedral(polytopes, kinds, is_complete, how)

    def _polyhedral(
        self, polytopes: tuple[Polytope, ...], kinds: tuple[str, ...], is_complete: bool, how: str
    ) -> PolyhedralSet:
        budget, search = self.budget, self.search
        record = SearchRecord(budget.zero, budget.grid, search.num_steps, search)
        return PolyhedralSet(
            problem=self.problem,
            polytopes=polytopes,
            law=LAW,
            kinds=kinds,
            is_complete=is_complete,
            notes=(how, *self.inclusion.notes),
            # A search knows its start, however short it is.
            num_polyhedra=0
            if self.too_much or self.problem.bounces
            else max(1, search.num_polyhedra),
            # Points of an outer set need not be outcomes, so they have no path.
            origin=record if is_complete else None,
        )

    def kind(self, cell: Cell) -> str:
        contacts = self.problem.contacts
        return describe_signs(contacts, by_contact(cell, len(contacts)))
