"""A finite set of outcomes: samples of a law, or the few answers of a classical one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from scipy.spatial import cKDTree

from carom.errors import CaromError
from carom.outcomes.holdout import Holdout
from carom.outcomes.kinds import contact_kinds
from carom.outcomes.outcome_set import OutcomeSet
from carom.outcomes.path import ImpactPath
from carom.outcomes.summary import describe, head_line
from carom.typing import ArrayLike, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from carom.problem import ImpactProblem


@final
@dataclass(frozen=True, eq=False)
class SampledSet(OutcomeSet):
    """Hold finitely many outcomes of an impact.

    Attributes:
        problem: The impact.
        law: Name of the law that made the set.
        v_post: (n, nv) outcomes.
        impulse_n: (n, m) normal impulse of each contact, summed over the impact [N s].
        impulse_t: (n, m, d) tangential impulse likewise [N s].
        num_steps: (n,) steps (or single impacts) that each outcome took.
        is_complete: True only where no outcome of the law can be missing.
        labels: What led to each outcome, where there are words for it.
        v_unfinished: (k, nv) last velocities of samples that did not end; they are no outcomes.
        unfinished: Why samples did not end, one line a reason.
        holdout: What fresh draws showed to be missed, where it was asked for.
        step_impulse: Largest normal impulse h of a step, where samples err in proportion to it
            [N s]; else None.

    Examples:
        A block lands flat with 1 m/s.

        >>> import carom
        >>> block = carom.scenes.load("rocking-block", speed=1.0).problem
        >>> outcomes = carom.Routh(num_samples=1000).resolve(block)
        >>> len(outcomes), outcomes.num_unfinished, outcomes.has_paths
        (1000, 0, True)
        >>> outcomes.contains([0.0, 0.0, 0.0]), round(outcomes.distance(block.v_pre), 3)
        (True, 1.0)
        >>> round(outcomes.support(block.J_n[0]), 3), outcomes.contact_bounds().shape
        (0.21, (2, 2, 2))
        >>> outcomes.contact_velocities.shape, outcomes.project(block.J_n).shape
        ((1000, 2, 2), (1000, 2))
        >>> sticks, slides, lifts = outcomes.kinds()
        >>> bool(slides.any()), bool((lifts[:, 0] & lifts[:, 1]).any())
        (False, False)
        >>> path = outcomes.path(7)
        >>> bool(abs(path.v[-1] - outcomes.v_post[7]).max() < 1e-12), outcomes.sample(5).shape
        (True, (5, 3))
        >>> print(outcomes.summary().splitlines()[0])
        Routh, persistent draws: 1,000 outcomes (outcomes may be missing)
    """

    problem: ImpactProblem
    law: str
    v_post: FloatArray
    impulse_n: FloatArray
    impulse_t: FloatArray
    num_steps: IntArray
    is_complete: bool
    labels: tuple[str, ...] | None = None
    v_unfinished: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    unfinished: tuple[str, ...] = ()
    holdout: Holdout | None = None
    step_impulse: float | None = None
    _replay: Callable[[int], ImpactPath] | None = None

    def __post_init__(self) -> None:
        if not len(self.v_unfinished):
            object.__setattr__(self, "v_unfinished", np.empty((0, self.v_post.shape[1])))

    def __len__(self) -> int:
        return len(self.v_post)

    def __repr__(self) -> str:
        return f"SampledSet({head_line(self)})"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            hint = ""
            if name == "witness":
                hint = "; samples have path(i), and a witness needs the exact set of RouthExact"
            raise AttributeError(f"SampledSet has no attribute {name!r}{hint}", name=name, obj=self)

    @property
    def num_unfinished(self) -> int:
        """Count the samples that did not end."""
        return len(self.v_unfinished)

    @cached_property
    def contact_velocities(self) -> FloatArray:
        """Return the contact velocities of all outcomes, normal first, (n, m, 1 + d) [m/s]."""
        return self.problem.contact_velocity(self.v_post)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.v_post)

    def contains(self, v: ArrayLike, tol: float = 1e-6) -> bool:
        """Tell whether some outcome lies within a distance of a velocity.

        Args:
            v: (nv,) velocity.
            tol: Euclidean distance, in the units of v.

        Raises:
            InvalidProblem: v has another shape.
        """
        return self.distance(v) <= tol

    def distance(self, v: ArrayLike) -> float:
        """Return the Euclidean distance from a velocity to the nearest outcome.

        Args:
            v: (nv,) velocity.

        Raises:
            InvalidProblem: v has another shape.
        """
        return float(self._tree.query(self._velocity("v", v))[0])

    def support(self, direction: ArrayLike) -> float:
        """Return the largest direction . v over the outcomes.

        Args:
            direction: (nv,) vector.

        Raises:
            InvalidProblem: The direction has another shape.
        """
        return float((self.v_post @ self._velocity("direction", direction)).max())

    def contact_bounds(self) -> FloatArray:
        """Return the least and largest velocity of each contact, (m, 1 + d, 2) [m/s].

        The normal comes first.
        """
        v_c = self.contact_velocities
        return np.stack([v_c.min(axis=0), v_c.max(axis=0)], axis=-1)

    def sample(self, n: int, seed: int = 0) -> FloatArray:
        """Return n outcomes (n, nv) drawn with equal chances, with replacement.

        Args:
            n: Number of outcomes.
            seed: Of the draws.
        """
        return self.v_post[np.random.default_rng(seed).integers(len(self), size=n)]

    def project(self, rows: ArrayLike) -> FloatArray:
        """Return rows @ v for every outcome, (n, r).

        Args:
            rows: (r, nv) matrix, e.g. `problem.J_n` for the normal velocities of the contacts.
        """
        return self.v_post @ np.asarray(rows, dtype=np.float64).T

    @property
    def has_paths(self) -> bool:
        """Tell whether `path` can say how an outcome came about."""
        return self._replay is not None

    def path(self, i: int) -> ImpactPath:
        """Return how outcome i came about, step by step.

        Args:
            i: Number of the outcome.

        Raises:
            CaromError: The law of this set does not step.
            IndexError: There is no such outcome.
        """
        if self._replay is None:
            raise CaromError(f"{self.law}: this law has no paths; use carom.Routh")
        if not -len(self) <= i < len(self):
            raise IndexError(f"outcome {i} of {len(self)}")
        return self._replay(i % len(self))

    def kinds(self) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Tell which contacts (n, m) stick, slide and lift in each outcome.

        A contact lifts if it parts; else it slides if its tangential velocity is not zero. Speeds
        below a 1e-9th of the impact's speed count as zero.
        """
        return contact_kinds(self.problem, self.contact_velocities)

    def summary(self) -> str:
        """Describe the set as a table: ranges, what contacts do, energy, steps, unfinished.

        What fresh draws showed is its last line.
        """
        text = describe(self)
        return text if self.holdout is None else f"{text}\n  missed       {self.holdout}"
