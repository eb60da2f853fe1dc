"""Write down what an exact search found, or that there was nothing to search."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from carom.errors import InvalidOption
from carom.kernels.tolerances import MATCH, STICKING
from carom.outcomes.kinds import describe_kinds, describe_mode
from carom.outcomes.path import ImpactPath
from carom.outcomes.polyhedral import PolyhedralSet
from carom.outcomes.polytope import Polytope
from carom.outcomes.summary import ROUNDED, STAYS
from carom.typing import FloatArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem
    from carom.reach.inclusion import Cell, Inclusion
    from carom.reach.witness import Step

MOST_DIMENSIONS = 6
"""Beyond so many independent contact velocities one operation on polyhedra can take minutes, and
could not be stopped when the budget ends."""

MOST_CELLS = 5000
"""In space a contact has many ways to slide. Beyond so many choices of what all contacts do, say
with three of them, listing those that can follow one takes minutes, and could not be stopped."""


def nothing_happens(problem: ImpactProblem) -> PolyhedralSet:
    """Return {v_pre}: no contact approaches."""
    exact = [Fraction(float(x)) for x in problem.v_pre]
    rows = [[Fraction(int(i == j)) for j in range(len(exact))] for i in range(len(exact))]
    equations = tuple((*row, x) for row, x in zip(rows, exact, strict=True))
    kind = describe_kinds(problem, problem.v_pre[None])[0]
    piece = Polytope((tuple(exact),), (), equations, kind)
    return PolyhedralSet(problem, "Routh", (piece,), (kind,), True, (STAYS,), 1, origin=_Stays())


class _Stays:
    """Nothing collides: the only path has no steps."""

    def path_to(self, problem: ImpactProblem, v: FloatArray, tol: float) -> ImpactPath:
        if float(np.linalg.norm(v - problem.v_pre)) > tol:
            raise InvalidOption("v: expected an outcome; nothing collides and v_pre stays")
        return path_of(problem, [])


def path_of(problem: ImpactProblem, steps: list[Step]) -> ImpactPath:
    """Write a witness in floats; velocities follow from the impulses.

    A path leads to a velocity in floats, which lies beside the vertex that is meant. What contacts
    do on that last bit of the way is no part of the story, and is left out.
    """
    m, width = problem.num_contacts, 1 + problem.num_tangents
    impulses = np.array([[float(x) for x in step.impulse] for step in steps])
    blocks = impulses.reshape(len(steps), m, width)
    acts = np.abs(blocks).max(axis=2, initial=0.0) > MATCH * problem.space.impulse_unit
    blocks = np.where(acts[:, :, None], blocks, 0.0)
    kept = np.flatnonzero(acts.any(axis=1))
    modes = (_modes(steps[i].cell, blocks[i]) for i in kept)
    return ImpactPath.of_impulses(problem, blocks[kept].reshape(len(kept), m * width), modes)


def _modes(cell: Cell, blocks: FloatArray) -> tuple[str, ...]:
    """Say what every contact does in a cell, where impulses (m, 1 + d) act."""
    width = len(cell) // len(blocks)
    return tuple(
        describe_mode(cell[i * width : (i + 1) * width], block) for i, block in enumerate(blocks)
    )


def roundings(inclusion: Inclusion, names: tuple[str, ...], grid: float) -> tuple[str, ...]:
    """Say what was snapped and rounded."""
    words = ("normal velocity", "tangential velocity", "second tangential velocity")
    snapped = tuple(
        f"taken to be zero: {words[snap.component]} of {names[snap.contact]}, {snap.speed:.3g} m/s"
        for snap in inclusion.snapped
    )
    rounded = (
        f"J M^-1 J^T, mu and J v_pre were rounded to {grid:g} of their size; v_pre moved by "
        f"{inclusion.moved:.2g} of its size"
    )
    return (*snapped, rounded if inclusion.moved > STICKING else ROUNDED + rounded)


def too_much(problem: ImpactProblem, inclusion: Inclusion) -> str | None:
    """Say why no budget would do for an exact search, if so."""
    if inclusion.dimension > MOST_DIMENSIONS:
        return (
            f"{inclusion.dimension} independent contact velocities are too many for an exact set "
            f"(at most {MOST_DIMENSIONS})"
        )
    m = problem.num_contacts
    cells = (3 * len(inclusion.frictions)) ** m
    if problem.num_tangents > 1 and cells > MOST_CELLS:
        return (
            f"{m} contacts in space with {problem.num_directions} friction directions are too many "
            f"for an exact set"
        )
    return None
