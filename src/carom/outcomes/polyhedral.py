"""A union of polytopes: all outcomes of an impact, or a set outside of which there are none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from carom.errors import CaromError
from carom.kernels.tolerances import STICKING, VANISHING
from carom.outcomes.distances import farthest
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.path import ImpactPath
from carom.outcomes.polytope import Polytope
from carom.outcomes.sampled import SampledSet
from carom.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem


@final
@dataclass(frozen=True, eq=False)
class PolyhedralSet(OutcomeSet):
    """Hold post-impact velocities as a union of polytopes.

    Attributes:
        problem: The impact.
        pieces: The polytopes.
        kinds: Every combination of what contacts do that occurs in the set.
        is_complete: True if the set is exactly the set of outcomes.
        is_outer: True if outcomes may be fewer, but nothing outside the set can happen. It was
            checked that no motion leaves it.
        notes: What was snapped to zero and rounded, how the set was found, one line each.
        num_polyhedra: How many polyhedra the search kept, the way there included.
        inner: Samples of an outer set, which err by about their step: a hundredth of the impact,
            or with many contacts the default of `Routh`. None if the set is complete.
        v_post: (n, nv) the vertices of all pieces, one after another.

    Examples:
        A block lands flat with 1 m/s.

        >>> import numpy as np
        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.RouthExact().resolve(block)
        >>> outcomes.kinds
        ('A lifts, B sticks', 'A sticks, B lifts', 'A sticks, B sticks')
        >>> outcomes.contains([0.0, 0.0, 0.0]), round(outcomes.distance(block.v_pre), 9)
        (True, 1.0)
        >>> fastest = outcomes.maximizer(block.J_n[0])
        >>> round(outcomes.support(block.J_n[0]), 9), fastest.round(3).tolist()
        (0.21, [0.21, 0.105, -0.21])
        >>> outcomes.witness(fastest).modes[-1]
        ('free', 'compressing, sticking')
        >>> outcomes.contact_bounds()[:, 0, 1].round(9).tolist(), outcomes.gap
        ([0.21, 0.21], None)
        >>> outcomes.contains(outcomes.sample(1)[0]), sorted(map(len, outcomes.project(block.J_n)))
        (True, [1, 2, 2])
        >>> print(outcomes.summary().splitlines()[0])
        Routh, exact: every way in which the impact can end, and nothing else (3 polytopes)

        The simultaneous law knows one outcome only, rest:

        >>> rest = carom.AnitescuPotra().resolve(block)
        >>> round(outcomes.hausdorff(rest), 3), round(float(np.linalg.norm(fastest)), 3)
        (0.315, 0.315)
    """

    problem: ImpactProblem
    pieces: tuple[Polytope, ...]
    kinds: tuple[str, ...]
    is_complete: bool
    is_outer: bool
    notes: tuple[str, ...] = ()
    num_polyhedra: int = 0
    inner: SampledSet | None = None
    v_post: FloatArray = field(init=False)
    _witness: Callable[[FloatArray, float], ImpactPath] | None = None

    def __post_init__(self) -> None:
        vertices = np.concatenate([piece.vertices for piece in self.pieces])
        object.__setattr__(self, "v_post", vertices)

    def __len__(self) -> int:
        return len(self.pieces)

    def __repr__(self) -> str:
        kind = "complete" if self.is_complete else "outer"
        what = f"{len(self)} polytope{'s' if len(self) > 1 else ''}"
        return f"PolyhedralSet({kind}, {what} in {self.problem.num_velocities} dimensions)"

    def contains(self, v: ArrayLike, tol: float = 1e-6) -> bool:
        """Tell whether a velocity lies within a distance of the set.

        Args:
            v: (nv,) velocity.
            tol: Euclidean distance, in the units of v.

        Raises:
            InvalidProblem: v has another shape.
        """
        return bool(self.distance(self._velocity("v", v), tol) <= tol)

    def distance(self, v: ArrayLike, enough: float = 0.0) -> float:
        """Return the Euclidean distance from a velocity to the set.

        Args:
            v: (nv,) velocity.
            enough: Where the distance is less, any number below this may be returned.

        Raises:
            InvalidProblem: v has another shape.
        """
        point = self._velocity("v", v)
        least = np.array([piece.violation(point[None])[0] for piece in self.pieces])
        best = np.inf
        for i in np.argsort(least):
            if least[i] >= best or best <= enough:
                break
            best = min(best, float(np.linalg.norm(self.pieces[i].nearest(point) - point)))
        return best

    def support(self, direction: ArrayLike) -> float:
        """Return the largest direction . v over the set.

        Args:
            direction: (nv,) vector.

        Raises:
            InvalidProblem: The direction has another shape.
        """
        return float((self.v_post @ self._velocity("direction", direction)).max())

    def maximizer(self, direction: ArrayLike) -> FloatArray:
        """Return the vertex (nv,) at which direction . v is largest.

        Args:
            direction: (nv,) vector.

        Raises:
            InvalidProblem: The direction has another shape.
        """
        return self.v_post[(self.v_post @ self._velocity("direction", direction)).argmax()]

    def contact_bounds(self) -> FloatArray:
        """Return the least and largest velocity of each contact, (m, 1 + d, 2) [m/s].

        The normal comes first. What cannot be told from zero, being rounding of the floats that a
        velocity is summed up from, is zero.
        """
        v_c = self.problem.contact_velocity(self.v_post)
        noise = VANISHING * self.problem.space.velocity_unit[:, None]
        v_c = np.where(np.abs(v_c) <= noise, 0.0, v_c)
        return np.stack([v_c.min(axis=0), v_c.max(axis=0)], axis=-1)

    @property
    def gap(self) -> FloatArray | None:
        """Return by how much the bounds exceed those of the samples `inner`, (m, 1 + d, 2) [m/s].

        None where the set is complete.
        """
        if self.inner is None:
            return None
        beyond = self.contact_bounds() - self.inner.contact_bounds()
        return np.maximum(beyond * np.array([-1.0, 1.0]), 0.0)

    def sample(self, n: int, seed: int = 0) -> FloatArray:
        """Return n velocities (n, nv): a piece with equal chances, and uniform within it.

        Args:
            n: Number of velocities.
            seed: Of the draws.
        """
        rng = np.random.default_rng(seed)
        chosen = rng.integers(len(self.pieces), size=n)
        out = np.empty((n, self.problem.num_velocities))
        for i, piece in enumerate(self.pieces):
            out[chosen == i] = piece.sample(int((chosen == i).sum()), rng)
        return out

    def project(self, rows: ArrayLike) -> list[FloatArray]:  # type: ignore[override]
        """Return the projection of every piece.

        For two rows these are the corners (k, 2) of convex polygons, in order, ready to draw: one
        corner is a point, two are a segment. Otherwise they are the projected vertices (k, r).

        Args:
            rows: (r, nv) matrix, e.g. `problem.J_n` for the normal velocities of the contacts.
        """
        matrix = np.atleast_2d(np.asarray(rows, dtype=np.float64))
        if len(matrix) == 2:
            thin = STICKING * float(np.abs(matrix @ self.v_post.T).max(initial=0.0))
            thin = max(thin, STICKING * float(self.problem.space.velocity_unit.min()) * 1e-3)
            return [piece.outline(matrix, thin) for piece in self.pieces]
        return [piece.vertices @ matrix.T for piece in self.pieces]

    def witness(self, v: ArrayLike, tol: float = 1e-6) -> ImpactPath:
        """Return how an outcome comes about: straight motions, with the impulses of each.

        Args:
            v: (nv,) an outcome.
            tol: How far from the set v may lie; the path then leads to the nearest point.

        Raises:
            InvalidProblem: v has another shape.
            CaromError: v is no outcome, or the set is an outer one or was loaded from a file,
                which know no paths.
        """
        if self._witness is None:
            raise CaromError(
                "witness: this set knows no paths; resolve the problem with carom.RouthExact and "
                "ask a set that is complete"
            )
        return self._witness(self._velocity("v", v), tol)

    def hausdorff(self, other: OutcomeSet, tol: float = 1e-3) -> float:
        """Return the Hausdorff distance to another set, to within tol times the larger size.

        It is the largest distance of a point of either set from the other set, in velocity.

        Args:
            other: The other set, of the same problem.
            tol: Accuracy, as a share of the size of the sets.

        Raises:
            InvalidProblem: The other set is neither samples nor polyhedra.
        """
        return max(farthest(self, other, tol), farthest(other, self, tol))

    def summary(self) -> str:
        """Describe the set for people."""
        from carom.outcomes.summary import describe_polyhedral

        return describe_polyhedral(self)
