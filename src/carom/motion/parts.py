"""What the record of a motion consists of: smooth segments, and impacts between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from carom import checks
from carom.errors import InvalidOption
from carom.kernels.segment import DEGREE, FIT, NODES
from carom.typing import FloatArray

KINDS = ("collision", "without collision", "accumulation")
"""What an impact may be."""
MODES = ("free", "sticking", "sliding +", "sliding -", "closed", "sliding")
"""What a contact may do between impacts, in the order of the kernels' numbers; "sliding" in space,
where the direction is that of the friction."""

QUADRATIC = 3
"""Number of coefficients of a parabola, which records a time step."""

_KNOWN_MODES = frozenset(MODES)


class States(NamedTuple):
    """Hold states along a motion, one per row.

    Attributes:
        t: (n,) time [s].
        s: (n,) the paper's parameter.
        q: (n, nq) configurations.
        v: (n, nv) velocities.
        impulse: (n, m, 1 + d) contact impulses accrued since the start, normal first [N s].
        rate: (n, m, 1 + d) how fast they accrue, by s in an impact and by t elsewhere.
    """

    t: FloatArray
    s: FloatArray
    q: FloatArray
    v: FloatArray
    impulse: FloatArray
    rate: FloatArray


class Layout(NamedTuple):
    """Describe how q, v and impulses are packed into one vector.

    Attributes:
        nq: Number of configuration coordinates.
        nv: Number of velocities.
        num_contacts: Number m of contacts.
        num_tangents: Number d of tangents of each contact, 1 in the plane and 2 in space.
    """

    nq: int
    nv: int
    num_contacts: int
    num_tangents: int = 1

    @property
    def width(self) -> int:
        """Return the number of impulses of a contact, 1 + d."""
        return 1 + self.num_tangents

    @property
    def size(self) -> int:
        """Return the length of the vector."""
        return self.nq + self.nv + self.width * self.num_contacts

    def unpack(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return q (..., nq), v (..., nv) and impulses (..., m, 1 + d) of vectors (..., size)."""
        nq, end = self.nq, self.nq + self.nv
        shape = *y.shape[:-1], self.num_contacts, self.width
        return y[..., :nq], y[..., nq:end], y[..., end:].reshape(shape)

    def pack(self, q: FloatArray, v: FloatArray, impulse: FloatArray) -> FloatArray:
        """Return q, v and impulses (m, 1 + d), normal first [N s], as one vector, (size,)."""
        return np.concatenate([q, v, impulse.ravel()])


@dataclass(frozen=True, eq=False)
class Segment:
    """Hold a stretch of smooth motion.

    Attributes:
        knots: (k + 1,) ends of the integrator's steps [s].
        coefficients: (k, n, size) Chebyshev coefficients of q, v and impulses over each step: 8
            of an event-driven motion, 3 of one in time steps.
        modes: What each contact does, e.g. "free" or "sticking".
        num_solutions: Number of ways to go on; above 1 is Painleve's indeterminacy, and this one
            was drawn.
    """

    knots: FloatArray
    coefficients: FloatArray
    modes: tuple[str, ...]
    num_solutions: int = 1

    def __post_init__(self) -> None:
        knots = np.asarray(self.knots)
        _shaped("knots", knots, (None,))
        times = knots.tolist()
        if len(times) < 2 or times != sorted(times):
            raise InvalidOption("knots: expected two or more times, none before the one before it")
        _shaped("coefficients", self.coefficients, (len(knots) - 1, None, None))
        if (count := self.coefficients.shape[1]) not in (DEGREE + 1, QUADRATIC):
            raise InvalidOption(
                f"coefficients: expected {DEGREE + 1} or {QUADRATIC} of each step, got {count}"
            )
        if not _KNOWN_MODES.issuperset(self.modes):
            for mode in self.modes:
                checks.choice("modes", mode, MODES)
        checks.integer("num_solutions", self.num_solutions, 1)

    @property
    def start(self) -> float:
        """Return the time at which it begins [s]."""
        return float(self.knots[0])

    @property
    def end(self) -> float:
        """Return the time at which it ends [s]."""
        return float(self.knots[-1])

    def values(self, t: FloatArray, *, derivative: bool = False) -> FloatArray:
        """Return q, v and impulses, or their derivatives by time, at n times [s], (n, size)."""
        index = np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, len(self.knots) - 2)
        left, right = self.knots[index], self.knots[index + 1]
        width = np.where(right > left, right - left, 1.0)
        x = (2.0 * t - left - right) / width
        if derivative:
            slopes = chebyshev.chebder(self.coefficients, axis=1)[index]
            basis = chebyshev.chebvander(x, slopes.shape[1] - 1) * (2.0 / width)[:, None]
            return np.einsum("ni,nij->nj", basis, slopes)
        terms = chebyshev.chebvander(x, self.coefficients.shape[1] - 1)
        return np.einsum("ni,nij->nj", terms, self.coefficients[index])


@dataclass(frozen=True, eq=False)
class Impact:
    """Record an impact, in which time stands still while impulses accrue.

    Attributes:
        kind: "collision"; "without collision" (Painleve); or "accumulation", which stands for
            infinitely many impacts within a short `duration`.
        t: When it begins [s].
        duration: 0 except for an accumulation [s].
        contacts: Names of the contacts that touch.
        q: (2, nq) configuration before and after, the same except for an accumulation.
        v: (k + 1, nv) velocities from before to after.
        impulse: (k + 1, m, 1 + d) impulses accrued since the start of the motion, contact by
            contact of the system, normal first [N s].
        energy: (2,) energy before and after [J].
        modes: What each touching contact does, step by step.
    """

    kind: str
    t: float
    duration: float
    contacts: tuple[str, ...]
    q: FloatArray
    v: FloatArray
    impulse: FloatArray
    energy: FloatArray
    modes: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        checks.choice("kind", self.kind, KINDS)
        if not checks.is_number(self.t):
            checks.floats("t", self.t)
        checks.positive("duration", self.duration, or_zero=True)
        rows = len(self.modes) + 1
        _shaped("q", self.q, (2, None))
        _shaped("v", self.v, (rows, None))
        _shaped("impulse", self.impulse, (rows, None, None))
        _shaped("energy", self.energy, (2,))
        if {*map(len, self.modes)} - {len(self.contacts)}:
            raise InvalidOption("modes: expected one for each contact that touches, in every step")

    @property
    def start(self) -> float:
        """Return the time at which it begins [s]."""
        return self.t

    @property
    def end(self) -> float:
        """Return the time at which it ends [s]."""
        return self.t + self.duration

    @property
    def v_pre(self) -> FloatArray:
        """Return the velocity before, (nv,)."""
        return np.asarray(self.v[0])

    @property
    def v_post(self) -> FloatArray:
        """Return the velocity after, (nv,)."""
        return np.asarray(self.v[-1])

    @property
    def energy_lost(self) -> float:
        """Return the energy that it takes [J]."""
        return float(self.energy[0] - self.energy[1])


def record_step(values: FloatArray) -> FloatArray:
    """Return Chebyshev coefficients (8, size) from values (8, size) at `step_nodes`."""
    if not np.isfinite(values).all():
        raise FloatingPointError("the motion leaves the range of numbers")
    return np.asarray(FIT @ values)


def step_nodes(start: float, end: float) -> FloatArray:
    """Return the times of `NODES` over a step."""
    return np.asarray(0.5 * (start + end) + 0.5 * (end - start) * NODES)


def _shaped(name: str, value: FloatArray, shape: tuple[int | None, ...]) -> None:
    """Refuse an array of another shape, where None is any length, or with a number not finite."""
    # A short way for arrays: a motion makes hundreds of them.
    is_array = isinstance(value, np.ndarray) and value.dtype == np.float64
    if not (is_array and np.count_nonzero(np.isfinite(value)) == value.size):
        checks.floats(name, value)
    got = np.shape(value)
    fits = len(got) == len(shape)
    for expected, length in zip(shape, got, strict=False):
        fits = fits and expected in (None, length)
    if not fits:
        words = ", ".join("any" if n is None else str(n) for n in shape)
        raise InvalidOption(f"{name}: expected shape ({words}), got {got}")
