"""Measure how ambiguous an impact is, and find what of the motion it cannot change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from scipy.spatial.distance import cdist

from carom.errors import InvalidOption
from carom.kernels.tolerances import DISTINCT, STICKING
from carom.outcomes.kinds import describe_kinds, describe_signs
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.points import PointSet
from carom.outcomes.polyhedral import PolyhedralSet
from carom.problem import ImpactProblem
from carom.typing import FloatArray

RANK = DISTINCT
"""A direction counts as not changed if no difference has more of |v_pre|_M along it than this."""
PAIR = 1e-12
"""Pairs are as far apart as the farthest if they miss it by less than this share of the largest
change of velocity: half of the samples may be one and the same end."""
MOST_LISTED = 12
"""Number of kinds that are printed."""
MOST_TOLD_APART = 10
"""Number of contacts whose 3^m kinds are listed."""
STICKS, SLIDES, LIFTS = (0, 0), (0, 1), (1, 0)
"""What a contact does, as the signs of its normal and tangential velocity."""
MOST_PAIRS = 2**22
"""Number of pairs whose distances are computed together."""


@dataclass(frozen=True)
class Kind:
    """Describe outcomes in which every contact does the same, e.g. "A sticks, B lifts".

    Of samples it has a share, of polytopes the largest dimension of their parts of this kind.
    """

    words: str
    share: float | None = None
    dimension: int | None = None

    def __str__(self) -> str:
        if self.share is not None:
            return f"{self.words} ({100 * self.share:.3g} % of the samples)"
        return f"{self.words} (dimension {self.dimension})"


@dataclass(frozen=True, eq=False)
class Ambiguity:
    """Hold how much the outcomes of an impact differ, and along what the impact acts.

    Attributes:
        problem: The impact.
        kinds: What contacts can do: most frequent, or largest dimension, first.
        distance: Largest |v - w|_M of two outcomes [sqrt(J)].
        pair: (2, nv) two outcomes at that distance.
        basis: (nv, r) basis of the span of v_post - v_pre over the set, with B^T M B = 1. Columns
            are in order of how much the outcomes differ from v_pre along them.
        residual: Largest |P (v_post - v_pre)|_M over the set, as a share of |v_pre|_M: at most
            `RANK`.
    """

    problem: ImpactProblem
    kinds: tuple[Kind, ...]
    distance: float
    pair: FloatArray
    basis: FloatArray
    residual: float

    @property
    def num_kinds(self) -> int:
        """Return the number of kinds."""
        return len(self.kinds)

    @property
    def rank(self) -> int:
        """Return the dimension r of the span of v_post - v_pre."""
        return self.basis.shape[1]

    @property
    def relative_distance(self) -> float:
        """Return the largest distance of two outcomes as a share of |v_pre|_M: at most 2."""
        return self.distance / (self.problem.energy_norm or 1.0)

    @cached_property
    def euclidean_basis(self) -> FloatArray:
        """Return a basis Q (nv, r) of the same span with Q^T Q = 1."""
        return np.asarray(np.linalg.qr(self.basis)[0])

    @cached_property
    def projector(self) -> FloatArray:
        """Return P = 1 - B B^T M (nv, nv), with P v_post = P v_pre for every outcome.

        The impact cannot be seen in y = P v, nor in any rows C P. P P = P, M P is symmetric, and
        P v is what is nearest to v, by energy, of all that the impact does not act on.
        """
        return np.eye(len(self.basis)) - self.basis @ self.basis.T @ self.problem.M

    @cached_property
    def euclidean_projector(self) -> FloatArray:
        """Return P = 1 - Q Q^T (nv, nv), which is symmetric and does the same."""
        return np.eye(len(self.basis)) - self.euclidean_basis @ self.euclidean_basis.T

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the answer in words, one line per kind of outcome."""
        count, more = self.num_kinds, self.num_kinds - MOST_LISTED
        apart = self.relative_distance if self.relative_distance > RANK else 0.0
        return (
            f"{count} kind{'s' if count > 1 else ''} of outcome; two outcomes differ by up to "
            f"{100 * apart:.3g} % of |v_pre|_M",
            *(f"  - {kind}" for kind in self.kinds[:MOST_LISTED]),
            *([f"  - and {more} more"] if more > 0 else []),
            f"  the impact acts along {self.rank} of {len(self.basis)} directions of velocity",
        )

    def __str__(self) -> str:
        return "\n".join(self.lines)


def ambiguity(outcomes: OutcomeSet) -> Ambiguity:
    """Measure how much outcomes differ: exactly for an exact set, else for these samples."""
    if isinstance(outcomes, PolyhedralSet):
        kinds = _kinds_of_polytopes(outcomes)
    elif isinstance(outcomes, PointSet):
        kinds = _kinds_of_points(outcomes)
    else:
        raise InvalidOption(
            f"outcomes: expected a set of points or polytopes, got {type(outcomes).__name__}"
        )
    problem = outcomes.problem
    root = np.linalg.cholesky(problem.M)
    # Norms are convex and spans linear: of polyhedra the corners are enough.
    changes = (outcomes.v_post - problem.v_pre) @ root
    i, j = farthest_pair(changes)
    directions, residual = _span(changes, problem.energy_norm)
    distance, pair = float(np.linalg.norm(changes[i] - changes[j])), outcomes.v_post[[i, j]]
    basis = np.linalg.solve(root.T, directions)
    return Ambiguity(problem, kinds, distance, pair, basis, residual)


def _kinds_of_points(outcomes: PointSet) -> tuple[Kind, ...]:
    _, slides, lifts = outcomes.contact_states
    rows = (slides + 2 * lifts).astype(np.int8)
    # Seen as one item each: rows of an array would be sorted column by column.
    items = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}").ravel()
    _, first, counts = np.unique(items, return_index=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    words = describe_kinds(outcomes.problem, outcomes.v_post[first[order]])
    shares = counts[order] / len(outcomes)
    return tuple(Kind(word, share=float(x)) for word, x in zip(words, shares, strict=True))


def _kinds_of_polytopes(outcomes: PolyhedralSet) -> tuple[Kind, ...]:
    problem = outcomes.problem
    m = problem.num_contacts
    # Outer sets of many contacts have one kind, which says that kinds were not told apart.
    choices = product((STICKS, SLIDES, LIFTS), repeat=m) if m <= MOST_TOLD_APART else ()
    signs = {describe_signs(problem.contacts, choice): choice for choice in choices}
    known = []
    for words in outcomes.kinds:
        parts = (polytope.vertices for polytope in outcomes.polytopes)
        if words in signs:
            parts = (_face(problem, corners, signs[words]) for corners in parts)
        known.append((max(_dimension(part, problem) for part in parts), words))
    known.sort(key=lambda pair: -pair[0])
    return tuple(Kind(words, dimension=dimension) for dimension, words in known)


def _face(
    problem: ImpactProblem, vertices: FloatArray, signs: tuple[tuple[int, int], ...]
) -> FloatArray:
    """Return the corners (k, nv) of the part of a polytope that is of one kind, if there is any."""
    # Within a polytope no contact approaches and none slides both ways. Those of its points at
    # which a contact is at rest are therefore a face, and its corners are corners of the polytope.
    v_c = problem.contact_velocity(vertices)
    small = STICKING * problem.space.velocity_unit
    parts = v_c[..., 0] > small
    moves = np.linalg.norm(v_c[..., 1:], axis=-1) > small
    lifts = np.array([sign == LIFTS for sign in signs])
    sticks = np.array([sign == STICKS for sign in signs])
    on_face = ~(parts & ~lifts | moves & sticks).any(axis=1)
    # Inside of the face a contact lifts or slides if it does so at some corner.
    happens = sticks | np.where(lifts, parts, moves)[on_face].any(axis=0)
    return vertices[on_face & happens.all()]


def _dimension(corners: FloatArray, problem: ImpactProblem) -> int:
    """Return the dimension of the hull of corners (k, nv), or -1 of none."""
    changes = (corners - corners[:1]) @ np.linalg.cholesky(problem.M)
    return _span(changes, problem.energy_norm)[0].shape[1] if len(corners) else -1


def _span(changes: FloatArray, energy_norm: float) -> tuple[FloatArray, float]:
    """Return an orthonormal basis (k, r) of what changes (n, k) span up to `RANK`, and the rest."""
    # Two steps: the triangle is small, and no product of changes squares their rounding.
    _, _, directions = np.linalg.svd(np.linalg.qr(changes, mode="r"))
    parts = changes @ directions.T / (energy_norm or 1.0)
    # Column r is what is left of each change with r directions.
    left = np.sqrt(np.cumsum(parts[:, ::-1] ** 2, axis=1))[:, ::-1].max(axis=0)
    left = np.append(left, 0.0)
    rank = int((left <= RANK).argmax())
    return directions[:rank].T, float(left[rank])


def farthest_pair(points: FloatArray) -> tuple[int, int]:
    """Return the indices of two points (n, k) that are farthest from each other."""
    # All pairs that can be farther apart than one that was found are compared: if it is d apart,
    # the two distances of such a pair from its middle add up to more than d, so that one of them
    # exceeds d / 2. Few points are so far out, unless all lie about a sphere.
    slack = PAIR * float(np.abs(points).max())
    i = int(np.linalg.norm(points - points[0], axis=1).argmax())
    away = np.linalg.norm(points - points[i], axis=1)
    j, best = int(away.argmax()), float(away.max())
    radius = np.linalg.norm(points - 0.5 * (points[i] + points[j]), axis=1)
    order = np.argsort(-radius)
    radius, start = radius[order], 0
    while start < len(order):
        # Those nearer to the middle are too near to all that begin with `start`.
        stop = int(np.searchsorted(-radius, radius[start] - best - slack))
        if stop <= start:
            break
        rows = order[start : start + max(1, MOST_PAIRS // (stop - start))]
        others = order[start:stop]
        away = cdist(points[rows], points[others])
        row, column = divmod(int(away.argmax()), len(others))
        if away[row, column] > best:
            i, j, best = int(rows[row]), int(others[column]), float(away[row, column])
        start += len(rows)
    return i, j
