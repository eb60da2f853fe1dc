"""The interface that all sets of outcomes share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from carom import checks, notebook
from carom.errors import InvalidOption, MissingExtra
from carom.io import Saved
from carom.outcomes.kinds import describe_kinds
from carom.outcomes.path import ImpactPath
from carom.problem import ImpactProblem
from carom.typing import ArrayLike, FloatArray


@dataclass(frozen=True, eq=False)
class Projection:
    """Projection of a set onto the rows of a matrix; `carom.plots` draws it.

    Attributes:
        points: (n, r) projected outcomes of a set of points; (0, r) for a union of polytopes.
        polytopes: Projected polytopes, each (k, r); empty for a set of points. With r = 2 they are
            the corners of convex polygons in order, where one corner means a point and two mean a
            segment; otherwise they are the projected vertices.

    Examples:
        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> projection = carom.Routh(num_samples=100).resolve(block).project(block.J_n)
        >>> projection.points.shape, projection.polytopes
        ((100, 2), ())
    """

    points: FloatArray
    polytopes: tuple[FloatArray, ...]

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        return np.concatenate([self.points, *self.polytopes]).astype(dtype or np.float64)


class OutcomeSet(Saved, ABC):
    """Set of the velocities in which an impact can end; every law returns one.

    Attributes:
        problem: The impact.
        law: Name of the law that computed the set.
        v_post: (n, nv) outcomes of a set of points, or the vertices of a union of polytopes.
        kinds: What contacts do after the impact, one sentence per combination that occurs.
        is_complete: Whether no outcome of the law can be missing.
        notes: Remarks on how the set was found, one sentence each.

    Examples:
        A block lands flat with 1 m/s.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.post_impact_set(block)
        >>> outcomes.contains([0.0, 0.0, 0.0]), outcomes.contains(block.v_pre)
        (True, False)
        >>> outcomes.distance([[0.0, 0.0, 0.0], block.v_pre]).round(3).tolist()
        [0.0, 1.0]
        >>> for kind in outcomes.kinds:
        ...     print(kind)
        A lifts, B sticks
        A sticks, B lifts
        A sticks, B sticks
        >>> fastest = outcomes.maximizer(block.J_n[0])
        >>> round(outcomes.support(block.J_n[0]), 2), fastest.round(2).tolist()
        (0.21, [0.21, 0.1, -0.21])
        >>> outcomes.contact_bounds().shape, outcomes.sample(5, rng=0).shape
        ((2, 2, 2), (5, 3))
        >>> outcomes.path_to(fastest).contacts
        ('A', 'B')
    """

    problem: ImpactProblem
    law: str
    v_post: FloatArray
    kinds: tuple[str, ...]
    is_complete: bool
    notes: tuple[str, ...]

    @abstractmethod
    def _distances(self, points: FloatArray, enough: float) -> FloatArray:
        """Return the distances (n,) of velocities (n, nv); those below `enough` may be inexact."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> FloatArray:
        """Return n velocities (n, nv) drawn from the set, with replacement.

        From a set of points, each outcome is equally likely. From a union, each polytope is equally
        likely, and the density within a polytope is uniform.

        Args:
            n: Number of velocities.
            rng: Random generator or seed; by default draws differ from call to call.
        """

    @abstractmethod
    def project(self, rows: ArrayLike) -> Projection:
        """Return the projection of the set onto the rows of a matrix.

        Args:
            rows: (r, nv) matrix, e.g. `problem.J_n` for the normal velocities of the contacts.
        """

    @abstractmethod
    def path_to(self, v: ArrayLike, tol: float = 1e-6) -> ImpactPath:
        """Return the steps that lead to an outcome, with their impulses.

        This also works after loading or unpickling: samples and exact searches are run again. In an
        outer set, paths lead to the samples `inner` only.

        Args:
            v: (nv,) outcome, e.g. a row of `v_post`.
            tol: Largest distance of v from the end of the path, in the units of v.

        Raises:
            CaromError: The set has no paths; the message says why.
        """

    @abstractmethod
    def summary(self) -> str:
        """Return a readable table: ranges of contact velocities, kinds of outcome, notes."""

    @abstractmethod
    def _title(self) -> str:
        """Return a one-line description of the set."""

    @cached_property
    def contact_velocities(self) -> FloatArray:
        """Return the contact velocities of `v_post`, normal first, (n, m, 1 + d) [m/s]."""
        return self.problem.contact_velocity(self.v_post)

    def contains(self, v: ArrayLike, tol: float = 1e-6) -> Any:
        """Return whether velocities are in the set: a bool, or an array (...) for a batch.

        Args:
            v: (nv,) velocity, or a batch (..., nv).
            tol: Euclidean distance up to which a velocity counts as inside, in the units of v.
        """
        distances = self._distance(v, tol) <= tol
        return bool(distances) if distances.ndim == 0 else distances

    def distance(self, v: ArrayLike) -> Any:
        """Return the Euclidean distance to the set: a float, or an array (...) for a batch.

        Args:
            v: (nv,) velocity, or a batch (..., nv).
        """
        distances = self._distance(v, 0.0)
        return float(distances) if distances.ndim == 0 else distances

    def _distance(self, v: ArrayLike, enough: float) -> FloatArray:
        points = checks.vectors("v", v, self.problem.num_velocities)
        found = self._distances(points.reshape(-1, points.shape[-1]), enough)
        return np.asarray(found).reshape(points.shape[:-1])

    def support(self, direction: ArrayLike) -> Any:
        """Return the largest direction . v over the set: a float, or an array (...) for a batch.

        Args:
            direction: (nv,) vector, or a batch (..., nv).
        """
        rows = checks.vectors("direction", direction, self.problem.num_velocities)
        most = (rows @ self.v_post.T).max(axis=-1)
        return float(most) if rows.ndim == 1 else most

    def maximizer(self, direction: ArrayLike) -> FloatArray:
        """Return the outcome (nv,) at which direction . v is largest, or (..., nv) for a batch.

        Args:
            direction: (nv,) vector, or a batch (..., nv).
        """
        rows = checks.vectors("direction", direction, self.problem.num_velocities)
        return np.asarray(self.v_post[(rows @ self.v_post.T).argmax(axis=-1)])

    def contact_bounds(self) -> FloatArray:
        """Return the smallest and largest contact velocities, normal first, (m, 1 + d, 2) [m/s]."""
        v_c = self.contact_velocities
        return np.stack([v_c.min(axis=0), v_c.max(axis=0)], axis=-1)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with one row per outcome, or per vertex of a polytope.

        Columns are the velocities v0, v1, ..., the contact velocities, e.g. "A normal" [m/s], the
        kind, and the impulses of a set of points [N s].

        Raises:
            MissingExtra: pandas is not installed.
        """
        try:
            pandas = import_module("pandas")
        except ModuleNotFoundError as error:
            raise MissingExtra.of("to_dataframe", "pandas", "tables") from error
        table = {f"v{i}": column for i, column in enumerate(self.v_post.T)}
        parts = ["normal", *(tangent_names(self.problem.num_tangents))]
        for i, name in enumerate(self.problem.contacts):
            for k, part in enumerate(parts):
                table[f"{name} {part}"] = self.contact_velocities[:, i, k]
        return pandas.DataFrame(table | self._columns())

    def _columns(self) -> dict[str, Any]:
        """Return the columns of a table besides velocities."""
        return {"kind": describe_kinds(self.problem, self.v_post)}

    def _repr_html_(self) -> str:
        bounds = self.contact_bounds()
        rows = [
            [name, *(f"{low:.5g} … {high:.5g}" for low, high in own)]
            for name, own in zip(self.problem.contacts, bounds, strict=True)
        ]
        parts = ["normal", *tangent_names(self.problem.num_tangents)]
        head = ["contact", *(f"{part} [m/s]" for part in parts)]
        notes = [*self.kinds[:MOST_KINDS], *self.notes]
        if len(self.kinds) > MOST_KINDS:
            notes.insert(MOST_KINDS, f"and {len(self.kinds) - MOST_KINDS} more kinds of outcome")
        return notebook.page(self._title(), head, rows, notes, figure_of=self)

    def __contains__(self, v: ArrayLike) -> bool:
        found = self.contains(v)
        if not isinstance(found, bool):
            raise InvalidOption("in: expected one velocity (nv,); ask contains(v) for a batch")
        return found

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        raise TypeError("len: this set has infinitely many outcomes; v_post has its extreme ones")

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        raise TypeError(
            "np.asarray: this set has infinitely many outcomes; use outcomes.v_post for the "
            "extreme ones, or outcomes.sample(n)"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._title()})"


MOST_KINDS = 8
"""Maximum number of kinds of outcome that a notebook shows."""


def tangent_names(d: int) -> Sequence[str]:
    """Return the names of the tangential velocities of a contact."""
    return ["tangential"] if d == 1 else ["tangent 1", "tangent 2"]


def checked_rows(rows: ArrayLike, nv: int) -> FloatArray:
    """Return the matrix (r, nv) of a projection, or raise an error."""
    matrix = np.atleast_2d(checks.floats("rows", rows))
    if matrix.ndim != 2 or matrix.shape[1] != nv:
        raise InvalidOption(f"rows: expected shape (r, {nv}), got {matrix.shape}")
    return matrix
