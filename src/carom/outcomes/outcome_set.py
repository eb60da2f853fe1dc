"""The questions that every set of outcomes answers."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from typing import Any, NoReturn

import numpy as np

from carom import checks, io, notebook
from carom.errors import InvalidOption, MissingExtra
from carom.outcomes.path import ImpactPath
from carom.problem import ImpactProblem
from carom.typing import ArrayLike, FloatArray


@dataclass(frozen=True, eq=False)
class Projection:
    """Hold what a set looks like along some rows of a matrix; `carom.plots` draws it.

    Attributes:
        points: (n, r) projected outcomes of a set of points; (0, r) for a union of polytopes.
        polytopes: Projected polytopes of a union, each (k, r); empty for a set of points. With two
            rows these are the corners of convex polygons in order: one corner is a point, two are a
            segment. Otherwise they are the projected vertices.

    Examples:
        A block lands flat with 1 m/s: one point, and two segments that end in it.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> samples = carom.Routh(num_samples=100).resolve(block).project(block.J_n)
        >>> samples.points.shape, samples.polytopes
        ((100, 2), ())
    """

    points: FloatArray
    polytopes: tuple[FloatArray, ...]

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        return np.concatenate([self.points, *self.polytopes]).astype(dtype or np.float64)


class OutcomeSet(ABC):
    """Hold the velocities in which an impact can end.

    Attributes:
        problem: The impact.
        law: Name of the law that made the set.
        v_post: (n, nv) outcomes of a set of points, or the vertices of a union of polytopes.
        kinds: What contacts do after the impact, one sentence per combination that occurs.
        is_complete: True only where no outcome of the law can be missing.
        notes: How the set was found and what to know about it, one sentence each.

    Examples:
        Every law returns such a set. A block lands flat with 1 m/s:

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
        """Return the distances (n,) of velocities (n, nv) from the set.

        Where a distance is below `enough`, any number below it may be returned.
        """

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> FloatArray:
        """Return n velocities (n, nv) drawn from the set, with replacement.

        Outcomes of a set of points have equal chances. Of a union, polytopes have equal chances,
        and points within a polytope have uniform density.

        Args:
            n: Number of velocities.
            rng: Generator, or a seed for one; by default draws differ from call to call.

        Raises:
            InvalidOption: n is no integer >= 0.
        """

    @abstractmethod
    def project(self, rows: ArrayLike) -> Projection:
        """Return the set as seen along the rows of a matrix.

        Args:
            rows: (r, nv) matrix, e.g. `problem.J_n` for the normal velocities of the contacts.

        Raises:
            InvalidOption: The rows have another shape.
        """

    @abstractmethod
    def path_to(self, v: ArrayLike, tol: float = 1e-6) -> ImpactPath:
        """Return how an outcome comes about: the steps that lead to it, with their impulses.

        Sets that were loaded or unpickled know their paths too: samples are run again, and an
        exact search is repeated as it was. In an outer set, paths lead to the samples `inner` only.

        Args:
            v: (nv,) an outcome, e.g. a row of `v_post`.
            tol: Largest distance of v from the outcome that the path leads to, in the units of v.

        Raises:
            InvalidOption: v has another shape, or is no outcome.
            CaromError: This set cannot tell how its outcomes come about; the message says why.
        """

    @abstractmethod
    def summary(self) -> str:
        """Return a table for people: ranges of contact velocities, kinds of outcome, notes."""

    @abstractmethod
    def _title(self) -> str:
        """Return what this set is, in one line."""

    @cached_property
    def contact_velocities(self) -> FloatArray:
        """Return the contact velocities of `v_post`, normal first, (n, m, 1 + d) [m/s]."""
        return self.problem.contact_velocity(self.v_post)

    def contains(self, v: ArrayLike, tol: float = 1e-6) -> Any:
        """Return whether velocities lie within a distance of the set.

        Args:
            v: (nv,) velocity, or a batch (..., nv).
            tol: Euclidean distance, in the units of v.

        Returns:
            A bool for v (nv,), an array (...) for v (..., nv).

        Raises:
            InvalidOption: v has another shape.
        """
        distances = self._distance(v, tol) <= tol
        return bool(distances) if distances.ndim == 0 else distances

    def distance(self, v: ArrayLike) -> Any:
        """Return the Euclidean distance from velocities to the set.

        Args:
            v: (nv,) velocity, or a batch (..., nv).

        Returns:
            A float for v (nv,), an array (...) for v (..., nv).

        Raises:
            InvalidOption: v has another shape.
        """
        distances = self._distance(v, 0.0)
        return float(distances) if distances.ndim == 0 else distances

    def _distance(self, v: ArrayLike, enough: float) -> FloatArray:
        points = checks.vectors("v", v, self.problem.num_velocities)
        found = self._distances(points.reshape(-1, points.shape[-1]), enough)
        return np.asarray(found).reshape(points.shape[:-1])

    def support(self, direction: ArrayLike) -> Any:
        """Return the largest direction . v over the set.

        Args:
            direction: (nv,) vector, or a batch (..., nv).

        Returns:
            A float for a direction (nv,), an array (...) for (..., nv).

        Raises:
            InvalidOption: The direction has another shape.
        """
        rows = checks.vectors("direction", direction, self.problem.num_velocities)
        most = (rows @ self.v_post.T).max(axis=-1)
        return float(most) if rows.ndim == 1 else most

    def maximizer(self, direction: ArrayLike) -> FloatArray:
        """Return the outcome at which direction . v is largest.

        Args:
            direction: (nv,) vector, or a batch (..., nv).

        Returns:
            (nv,) or (..., nv) outcomes.

        Raises:
            InvalidOption: The direction has another shape.
        """
        rows = checks.vectors("direction", direction, self.problem.num_velocities)
        return np.asarray(self.v_post[(rows @ self.v_post.T).argmax(axis=-1)])

    def contact_bounds(self) -> FloatArray:
        """Return the least and largest velocity of each contact, (m, 1 + d, 2) [m/s].

        The normal comes first.
        """
        v_c = self.contact_velocities
        return np.stack([v_c.min(axis=0), v_c.max(axis=0)], axis=-1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to a .json or .npz file that `carom.load` reads, to the last bit.

        The file appears whole or not at all.

        Args:
            path: The file.

        Raises:
            InvalidOption: The file has another ending.
            OSError: The file cannot be written.
        """
        io.save(self, path)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with one row per outcome, or per vertex of a polytope.

        Columns are the velocities v0, v1, ..., the contact velocities, e.g. "A normal" [m/s], and
        what is known of each outcome besides.

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
        """Return what a table says of each row besides its velocities."""
        return {}

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

    def __getstate__(self) -> dict[str, Any]:
        # Only fields: what is derived or cached is made again where it is needed.
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]


MOST_KINDS = 8
"""Number of kinds of outcome that a notebook shows; `kinds` has all."""


def tangent_names(d: int) -> Sequence[str]:
    """Return what the tangential velocities of a contact are called."""
    return ["tangential"] if d == 1 else ["tangent 1", "tangent 2"]


def checked_rows(rows: ArrayLike, nv: int) -> FloatArray:
    """Return a matrix (r, nv) that a set is projected with, or refuse it."""
    matrix = np.atleast_2d(checks.floats("rows", rows))
    if matrix.ndim != 2 or matrix.shape[1] != nv:
        raise InvalidOption(f"rows: expected shape (r, {nv}), got {matrix.shape}")
    return matrix


def not_an_array(what: str, instead: str) -> NoReturn:
    """Refuse to be used as an array, and say what to use."""
    raise TypeError(f"{what}: a union of polytopes has infinitely many outcomes; use {instead}")
