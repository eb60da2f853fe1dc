"""The questions that every set of outcomes answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from carom.errors import InvalidProblem
from carom.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem


class OutcomeSet(ABC):
    """Hold the velocities in which an impact can end.

    Attributes:
        problem: The impact.
        v_post: (n, nv) samples, or the vertices of polyhedra.
        is_complete: True only where no outcome of the law can be missing.

    Examples:
        Every law returns such a set. A block lands flat with 1 m/s:

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.post_impact_set(block)
        >>> outcomes.contains([0.0, 0.0, 0.0]), outcomes.contains(block.v_pre)
        (True, False)
        >>> round(outcomes.support([0.0, 0.0, 1.0]), 9)
        0.21
        >>> outcomes.contact_bounds().shape, outcomes.sample(5).shape
        ((2, 2, 2), (5, 3))
        >>> max(float(piece.max()) for piece in outcomes.project(block.J_n)) < 0.22
        True
        >>> print(outcomes.summary().splitlines()[0])
        Routh, exact: every way in which the impact can end, and nothing else (3 polytopes)
    """

    problem: ImpactProblem
    v_post: FloatArray
    is_complete: bool

    @abstractmethod
    def contains(self, v: ArrayLike, tol: float = 1e-6) -> bool:
        """Tell whether a velocity lies within a distance of the set.

        Args:
            v: (nv,) velocity.
            tol: Euclidean distance, in the units of v.

        Raises:
            InvalidProblem: v has another shape.
        """

    @abstractmethod
    def support(self, direction: ArrayLike) -> float:
        """Return the largest direction . v over the set.

        Args:
            direction: (nv,) vector.

        Raises:
            InvalidProblem: The direction has another shape.
        """

    @abstractmethod
    def contact_bounds(self) -> FloatArray:
        """Return the least and largest velocity of each contact, (m, 1 + d, 2) [m/s].

        The normal comes first.
        """

    @abstractmethod
    def sample(self, n: int, seed: int = 0) -> FloatArray:
        """Return n velocities (n, nv) drawn from the set.

        Args:
            n: Number of velocities.
            seed: Of the draws.
        """

    @abstractmethod
    def project(self, rows: ArrayLike) -> FloatArray:
        """Return rows @ v for the velocities of the set.

        Args:
            rows: (r, nv) matrix, e.g. `problem.J_n` for the normal velocities of the contacts.
        """

    @abstractmethod
    def summary(self) -> str:
        """Describe the set as a table for people."""

    def _velocity(self, name: str, value: ArrayLike) -> FloatArray:
        """Take a vector (nv,) that the caller gave as `name`."""
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidProblem(
                f"{name}: expected numbers of shape {self.problem.v_pre.shape}, got {value!r}"
            ) from error
        if array.shape != self.problem.v_pre.shape:
            raise InvalidProblem(
                f"{name}: expected shape {self.problem.v_pre.shape}, got {array.shape}"
            )
        return array
