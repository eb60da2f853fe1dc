"""The questions that every set of outcomes answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from carom.errors import InvalidProblem
from carom.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from carom.impact.problem import ImpactProblem


class OutcomeSet(ABC):
    """The set of velocities in which an impact can end.

    Attributes:
        problem: The impact.
        v_post: (n, nv) samples, or the vertices of polyhedra.
        is_complete: True only where no outcome of the law can be missing.
    """

    problem: ImpactProblem
    v_post: FloatArray
    is_complete: bool

    @abstractmethod
    def contains(self, v: ArrayLike, tol: float = 1e-6) -> bool:
        """Tell whether v (nv,) lies within a Euclidean distance tol of the set."""

    @abstractmethod
    def support(self, direction: ArrayLike) -> float:
        """Return the largest direction . v over the set, for a direction (nv,)."""

    @abstractmethod
    def contact_bounds(self) -> FloatArray:
        """Return (m, 1 + d, 2): least and largest velocity of each contact, normal first."""

    @abstractmethod
    def sample(self, n: int, seed: int = 0) -> FloatArray:
        """Return n velocities (n, nv) drawn from the set."""

    @abstractmethod
    def project(self, rows: ArrayLike) -> FloatArray:
        """Return rows @ v for the velocities of the set, e.g. rows = problem.J_n."""

    @abstractmethod
    def summary(self) -> str:
        """Describe the set as a table for people."""

    def _velocity(self, name: str, value: ArrayLike) -> FloatArray:
        """Take a vector (nv,) that the caller gave as `name`."""
        array = np.asarray(value, dtype=np.float64)
        if array.shape != self.problem.v_pre.shape:
            raise InvalidProblem(
                f"{name}: expected shape {self.problem.v_pre.shape}, got {array.shape}"
            )
        return array
