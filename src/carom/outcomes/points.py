"""Base class of sets of finitely many outcomes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from carom import checks
from carom.errors import InvalidOption
from carom.outcomes.kinds import ContactStates, contact_states, distinct_kinds
from carom.outcomes.outcome_set import OutcomeSet, Projection, checked_rows
from carom.outcomes.path import ImpactPath
from carom.outcomes.summary import describe_points, points_title
from carom.typing import ArrayLike, FloatArray, IntArray


class PointSet(OutcomeSet):
    """Set of finitely many outcomes; iteration and `np.asarray` give the velocities.

    Attributes:
        impulse_n: (n, m) normal impulse of each contact, summed over the impact [N s].
        impulse_t: (n, m, d) tangential impulse likewise [N s].
        num_steps: (n,) number of steps of each outcome.
        v_unfinished: (k, nv) last velocities of what did not end; they are not outcomes.
        unfinished: Why it did not end, one sentence per reason.
    """

    impulse_n: FloatArray
    impulse_t: FloatArray
    num_steps: IntArray
    v_unfinished: FloatArray
    unfinished: tuple[str, ...]

    @abstractmethod
    def path(self, i: int) -> ImpactPath:
        """Return the path to outcome i, which may have the same velocity as others.

        Args:
            i: Index of the outcome.
        """

    def _check_shapes(self) -> None:
        """Raise an error if arrays do not fit together, as in a damaged file."""
        problem, n = self.problem, len(self.v_post)
        nv, m, d = problem.num_velocities, problem.num_contacts, problem.num_tangents
        expected = {
            "v_post": (n, nv),
            "impulse_n": (n, m),
            "impulse_t": (n, m, d),
            "num_steps": (n,),
            "v_unfinished": (len(self.v_unfinished), nv),
        }
        for name, shape in expected.items():
            array = getattr(self, name)
            if array.shape != shape or not np.isfinite(array).all():
                raise InvalidOption(f"{name}: expected finite numbers of shape {shape}")
        if not n:
            raise InvalidOption("v_post: expected at least one outcome, got none")

    def __len__(self) -> int:
        return len(self.v_post)

    def __iter__(self) -> Iterator[FloatArray]:
        return iter(self.v_post)

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        array = self.v_post if dtype is None else self.v_post.astype(dtype)
        return array.copy() if copy else array

    @property
    def num_unfinished(self) -> int:
        """Return the number of unfinished samples or sequences."""
        return len(self.v_unfinished)

    @cached_property
    def contact_states(self) -> ContactStates:
        """Return which contacts stick, slide and lift in each outcome, as three (n, m) arrays."""
        return contact_states(self.problem, self.contact_velocities)

    @cached_property
    def kinds(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return what contacts do after the impact, one sentence per combination that occurs."""
        return distinct_kinds(self.problem, self.v_post)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.v_post)

    def _distances(self, points: FloatArray, enough: float) -> FloatArray:
        return np.asarray(self._tree.query(points)[0])

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> FloatArray:
        checks.integer("n", n, 0)
        return self.v_post[np.random.default_rng(rng).integers(len(self), size=n)]

    def project(self, rows: ArrayLike) -> Projection:
        matrix = checked_rows(rows, self.problem.num_velocities)
        return Projection(self.v_post @ matrix.T, ())

    def path_to(self, v: ArrayLike, tol: float = 1e-6) -> ImpactPath:
        distance, i = self._tree.query(checks.vector("v", v, self.problem.num_velocities))
        if distance > tol:
            raise InvalidOption(f"v: expected an outcome; the nearest is {distance:.3g} away")
        return self.path(int(i))

    def summary(self) -> str:
        return describe_points(self)

    def _title(self) -> str:
        return points_title(self)

    def _columns(self) -> dict[str, Any]:
        columns = super()._columns()
        for i, name in enumerate(self.problem.contacts):
            columns[f"{name} impulse"] = self.impulse_n[:, i]
        return columns
