"""The record of a motion: smooth segments, and impacts between them.

A motion has two clocks. Time t stands still in an impact; the paper's parameter s goes on always:
ds = dt + the normal impulse that accrues [HalmPosa, Section 4]. Positions, velocities and impulses
are continuous in s; in t velocities and impulses jump.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from carom import checks, notebook
from carom.errors import InvalidOption
from carom.io import Saved
from carom.motion.parts import Impact, Layout, Segment, States
from carom.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from carom.systems.system import System

MOST_ROWS = 20
"""Number of rows that a notebook shows."""


@dataclass(frozen=True, eq=False)
class Trajectory(Saved):
    """Record a motion through impacts.

    Attributes:
        contacts: Names of the system's contacts.
        layout: Sizes of q, v and contacts.
        parts: Segments and impacts, in their order.
        status: "finished", or why the motion ends before its time, in one word or two.
        message: The same as a sentence that says what to do.
        seed: Seed of every draw.
        system: The system that moved; None after loading, until `with_system` gives it.

    Examples:
        A block rocks on its corner A with 0.3 rad/s, falls back, and pivots on B with 0.7 of that.

        >>> import carom
        >>> block = carom.scenes.load("zeno-block", rate=0.3)
        >>> motion = carom.simulate(block.system, block.q, block.v, 0.3, carom.Sequential())
        >>> motion.segments[-1].modes, motion.impacts[0].v[:, 2].round(6).tolist()
        (('free', 'sticking'), [-0.3, -0.21])
    """

    contacts: tuple[str, ...]
    layout: Layout
    parts: tuple[Segment | Impact, ...]
    status: str
    message: str
    seed: int
    system: System | None = field(default=None, metadata={"saved": False})

    def __post_init__(self) -> None:
        self._check_parts()
        for name, text in (("status", self.status), ("message", self.message)):
            if not isinstance(text, str):
                raise InvalidOption(f"{name}: expected text, got {text!r}")
        checks.integer("seed", self.seed, 0)
        (nq, nv, *_), system = self.layout, self.system
        expected = (nq, nv, self.contacts)
        if system is not None and (system.nq, system.nv, system.contacts) != expected:
            raise InvalidOption(
                f"system: expected one with {nq} coordinates and contacts "
                f"{', '.join(self.contacts)}, got {system.nq} and {', '.join(system.contacts)}"
            )

    def _check_parts(self) -> None:
        """Refuse parts that do not fit each other or the contacts."""
        nq, nv, m, d = self.layout
        checks.integer("num_tangents", d, 1, 2)
        if m != len(self.contacts) or len(set(self.contacts)) != m:
            raise InvalidOption(f"contacts: expected {m} names, got {self.contacts!r}")
        if not self.parts:
            raise InvalidOption("parts: expected at least one segment or impact, got none")
        for part in self.parts:
            if isinstance(part, Segment):
                fits = (len(part.modes), part.coefficients.shape[2]) == (m, self.layout.size)
            elif isinstance(part, Impact):
                got = (part.q.shape[1], part.v.shape[1], *part.impulse.shape[1:])
                fits = got == (nq, nv, m, 1 + d) and set(part.contacts) <= set(self.contacts)
            else:
                raise InvalidOption(f"parts: expected segments and impacts, got {part!r}")
            if not fits:
                raise InvalidOption(
                    f"parts: expected {nq} coordinates, {nv} velocities and contacts "
                    f"{', '.join(self.contacts)} of {d} tangents in each, got others in that at "
                    f"{part.start:g} s"
                )
        for before, after in pairwise(self.parts):
            if before.end != after.start:
                raise InvalidOption(
                    f"parts: expected each to begin where the one before it ends, got "
                    f"{after.start!r} s after {before.end!r} s"
                )

    def __repr__(self) -> str:
        impacts = f"{len(self.impacts)} impact{'' if len(self.impacts) == 1 else 's'}"
        times = f"t = {self.start_time:g} … {self.end_time:g} s"
        return f"Trajectory({self.status}, {times}, {impacts})"

    def _repr_html_(self) -> str:
        head = ("from [s]", "to [s]", "what", "contacts", "energy lost [J]")
        rows = []
        for part in self.parts[:MOST_ROWS]:
            if isinstance(part, Impact):
                what = part.kind, ", ".join(part.contacts), f"{part.energy_lost:.3g}"
            else:
                doing = map(" ".join, zip(self.contacts, part.modes, strict=True))
                what = "smooth", ", ".join(doing), ""
            rows.append((f"{part.start:.6g}", f"{part.end:.6g}", *what))
        notes = (self.message, f"{len(self.segments)} segments and {len(self.impacts)} impacts")
        return notebook.page(repr(self), head, rows, notes, figure_of=self)

    def with_system(self, system: System) -> Trajectory:
        """Return the same motion with its system, which energy and animation need."""
        return replace(self, system=system)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Return the smooth stretches."""
        return tuple(part for part in self.parts if isinstance(part, Segment))

    @property
    def impacts(self) -> tuple[Impact, ...]:
        """Return the impacts."""
        return tuple(part for part in self.parts if isinstance(part, Impact))

    @property
    def is_finished(self) -> bool:
        """Return whether the motion lasts as long as was asked."""
        return self.status == "finished"

    @property
    def start_time(self) -> float:
        """Return the time at which it begins [s]."""
        return self.parts[0].start

    @property
    def end_time(self) -> float:
        """Return the time at which it ends [s]."""
        return self.parts[-1].end

    @cached_property
    def states(self) -> States:
        """Return the states at the ends of steps, and before, within and after impacts."""
        rows = [self._knot_states(part) for part in self.parts]
        states = States(*(np.concatenate(column) for column in zip(*rows, strict=True)))
        # Where segments meet, rounding must not let a clock go back.
        return states._replace(s=np.maximum.accumulate(states.s))

    @property
    def t(self) -> FloatArray:
        """Return the times of `states`, (n,) [s]."""
        return self.states.t

    @property
    def s(self) -> FloatArray:
        """Return the paper's parameter at `states`, (n,)."""
        return self.states.s

    @property
    def q(self) -> FloatArray:
        """Return the configurations of `states`, (n, nq)."""
        return self.states.q

    @property
    def v(self) -> FloatArray:
        """Return the velocities of `states`, (n, nv)."""
        return self.states.v

    @property
    def impulse(self) -> FloatArray:
        """Return the contact impulses of `states`, (n, m, 1 + d) [N s]."""
        return self.states.impulse

    @property
    def energy(self) -> FloatArray:
        """Return the energy at `states`, (n,) [J]."""
        system = self.require_system()
        return np.array([system.energy(q, v) for q, v in zip(self.q, self.v, strict=True)])

    def require_system(self) -> System:
        """Return the system, or refuse a motion that was loaded and has none yet."""
        if self.system is None:
            raise InvalidOption("a loaded motion has no system yet; give it by with_system(system)")
        return self.system

    def at(self, *, t: ArrayLike | None = None, s: ArrayLike | None = None) -> States:
        """Return the states at times t [s] in any order, or at values s of the paper's parameter.

        At the time of an impact the state is that after it.
        """
        clock, values = ("t", t) if s is None else ("s", s)
        if values is None or (t is not None and s is not None):
            raise InvalidOption("at: give either t or s")
        asked = np.atleast_1d(checks.floats(clock, values))
        if asked.ndim != 1:
            raise InvalidOption(f"{clock}: expected a number or a list, got shape {asked.shape}")
        ends = [x.end if clock == "t" else self._knot_states(x).s[-1] for x in self.parts]
        bounds = np.maximum.accumulate([self.start_time if clock == "t" else 0.0, *ends])
        if not ((asked >= bounds[0]) & (asked <= bounds[-1])).all():
            raise InvalidOption(
                f"{clock}: expected values from {bounds[0]:g} to {bounds[-1]:g}, got "
                f"{float(asked.min())!r} to {float(asked.max())!r}"
            )
        which = np.clip(np.searchsorted(bounds, asked, side="right") - 1, 0, len(self.parts) - 1)
        like = self._knot_states(self.parts[0])
        out = States(*(np.empty((len(asked), *column.shape[1:])) for column in like))
        for index in np.unique(which):
            rows = which == index
            found = self._part_states(self.parts[index], clock, asked[rows])
            for column, value in zip(out, found, strict=True):
                column[rows] = value
        return out

    def _knot_states(self, part: Segment | Impact) -> States:
        if isinstance(part, Impact):
            return self._impact_states(part, np.linspace(0.0, 1.0, len(part.v)))
        return self.segment_states(part, part.knots)

    def _part_states(self, part: Segment | Impact, clock: str, asked: FloatArray) -> States:
        if isinstance(part, Segment):
            return self.segment_states(part, asked if clock == "t" else self._times(part, asked))
        if clock == "t":
            share = (asked - part.t) / part.duration if part.duration else np.ones_like(asked)
            return self._impact_states(part, share)
        s = self._knot_states(part).s
        return self._impact_states(part, np.interp(asked, s, np.linspace(0.0, 1.0, len(s))))

    def segment_states(self, part: Segment, t: FloatArray) -> States:
        """Return the states of a segment at some times, (n,) [s]."""
        q, v, impulse = self.layout.unpack(part.values(t))
        rate = self.layout.unpack(part.values(t, derivative=True))[2]
        return States(t, self._parameter(t, impulse), q, v, impulse, rate)

    def _impact_states(self, part: Impact, share: FloatArray) -> States:
        """Return the states at some shares of an impact's steps, from 0 to 1."""
        steps = np.linspace(0.0, 1.0, len(part.v))
        t = part.t + share * part.duration
        q = _interpolate(share, np.array([0.0, 1.0]), part.q)
        impulse = _interpolate(share, steps, part.impulse)
        change = np.diff(part.impulse, axis=0)
        accrued = change[..., 0].sum(axis=1)[:, None, None] + part.duration / len(change)
        index = np.clip(np.searchsorted(steps, share, side="right") - 1, 0, len(change) - 1)
        rate = np.divide(change, accrued, out=np.zeros_like(change), where=accrued > 0.0)[index]
        v = _interpolate(share, steps, part.v)
        return States(t, self._parameter(t, impulse), q, v, impulse, rate)

    def _parameter(self, t: FloatArray, impulse: FloatArray) -> FloatArray:
        return np.asarray(t - self.start_time + impulse[..., 0].sum(axis=-1))

    def _times(self, part: Segment, s: FloatArray) -> FloatArray:
        """Find the times at which s has some values: it rises by at least 1 a second."""
        low, high = np.full_like(s, part.start), np.full_like(s, part.end)
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self.segment_states(part, middle).s < s
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return 0.5 * (low + high)


def _interpolate(x: FloatArray, knots: FloatArray, values: FloatArray) -> FloatArray:
    columns = [np.interp(x, knots, column) for column in values.reshape(len(values), -1).T]
    return np.stack(columns, axis=-1).reshape(*x.shape, *values.shape[1:])
