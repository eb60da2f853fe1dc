"""Improve a motion in space by successive linear programs.

A motion is a sequence of stretches, in each of which contacts push by given normal impulses. Where
a stretch leads depends on where it begins and on its impulses, and both dependences are
differentiated. The best small change of all impulses together then is a linear program: contacts
that act must not part, and no contact may approach at the end. The motion with the changed impulses
is exact again. If it is better, the next program starts from it; if not, changes become smaller.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from carom.contact_space import ContactSpace
from carom.kernels.ascent import change_rows, effects, group
from carom.kernels.plans import LONGEST
from carom.kernels.shooting import linearize, shoot
from carom.kernels.slip import ACCURACY
from carom.kernels.stretches import make_work
from carom.stepping.motions import Plans
from carom.typing import FloatArray

NUM_ROWS = 16
"""Number of stretches: more take longer, and their derivatives go wrong sooner."""

FIRST_CHANGE = 0.02
"""Largest change of an impulse in the first program; the impulse of an impact is about one."""

LEAST_CHANGE = 1e-4
"""Changes that have to be smaller than this are not worth a program."""

LONGER, SHORTER = 1.5, 1.0 / 3.0
"""Factors of the largest change after a program that was a success, and after one that was not."""

STEP = 1e-5
"""Difference with which derivatives are taken: between the accuracy of motions and the distances
at which contacts start or end to slip."""

AWAY = 4.0
"""Number of steps by which contacts approach faster while derivatives are taken."""

PENALTY = 50.0
"""What an approach at the end costs in a linear program, as a multiple of the objective. Some must
be allowed, or there might be no solution; the motion then ends with further stretches."""

WORTH = 1e-4
"""Gain, as a share of the value, below which a program is no success worth another."""

INSERTED = 0.008, 0.08
"""Least and largest impulse of a push that is inserted; drawn, so that repetitions differ."""

NUM_TRIED = 2
"""Number of programs after which motions with a push more are compared."""

NUM_PROMISING = 3
"""Number of such motions that are improved to the end."""

WORTH_INSERTING = 5e-3
"""Gain, as a share of the value, below which no further pushes are inserted."""

RANK = 1e-10
"""Share of the largest singular value below which others are rounding."""

EMPTY = 1e-12
"""Impulses below this are none."""

SAME = 1e-6
"""Differences of rates below this are none: pieces of one stretch."""

LOGGED = 2**12
"""Number of straight pieces of a motion for which there is room."""


class _Shot(NamedTuple):
    """What becomes of the rows of a motion."""

    value: float  # q . impulse, or -inf if the motion does not end
    velocities: FloatArray  # (K + 1, c) before each row and after the last one
    impulses: FloatArray  # (pieces, c)


class _Effects(NamedTuple):
    """What the impulses of all K rows change, to first order."""

    gain: FloatArray  # (K m,) of the objective
    normal: FloatArray  # (K m, K m) of the normal velocities after each row


@dataclass(frozen=True, eq=False)
class Ascent:
    """Motions of an impact in space that go further and further in one direction."""

    space: ContactSpace
    start: FloatArray
    q: FloatArray  # maximize q . impulse

    def warm_up(self) -> None:
        """Compile what is needed."""
        rows = np.full((1, self.space.num_contacts), 1e-3)
        velocities = self._shoot(rows).velocities
        self._changed(rows, velocities, self._effects(rows, velocities), FIRST_CHANGE)
        self._rows(np.ones((1, len(self.start))))

    def climb(self, impulses: FloatArray, deadline: float = np.inf) -> FloatArray:
        """Return the impulses of a motion at least as good as the given one, near it."""
        value = float(self.q @ impulses.sum(axis=0))
        climb = _Climb(self, self._rows(impulses), value)
        while climb.change > LEAST_CHANGE and time.monotonic() < deadline:
            climb.go_on()
        return impulses if climb.best is None else climb.best

    def explore(
        self, impulses: FloatArray, rng: np.random.Generator, deadline: float = np.inf
    ) -> FloatArray:
        """Return a motion at least as good as the given one, in which pushes may be inserted.

        The best motions mostly have one contact act at a time. A short push that is missing between
        others often pays only after all of them have followed, which no small change finds out. So
        all insertions are tried: each for a few programs, and the most promising to the end.
        """
        value = float(self.q @ impulses.sum(axis=0))
        while time.monotonic() < deadline:
            found, best = impulses, value
            for motion in self._inserted(impulses, rng, deadline):
                higher = self.climb(motion, deadline)
                if (after := float(self.q @ higher.sum(axis=0))) > best:
                    found, best = higher, after
            is_worth = best > value + WORTH_INSERTING * abs(value)
            impulses, value = found, best
            if not is_worth:
                break
        return impulses

    def _inserted(
        self, impulses: FloatArray, rng: np.random.Generator, deadline: float
    ) -> list[FloatArray]:
        """Return the most promising motions with one push more, the best first."""
        rows = self._rows(impulses)
        normal = self._shoot(rows).velocities[:, :: self.space.width]
        tried: list[tuple[float, FloatArray]] = []
        for k, i in np.argwhere(normal < 0.0):
            if time.monotonic() > deadline:
                break
            changed = np.insert(rows, k, 0.0, axis=0)
            changed[k, i] = np.exp(rng.uniform(*np.log(INSERTED)))
            climb = _Climb(self, changed)
            for _ in range(NUM_TRIED):
                climb.go_on()
            if climb.best is not None:
                tried.append((climb.value, climb.best))
        tried.sort(key=lambda each: -each[0])
        return [motion for _, motion in tried[:NUM_PROMISING]]

    def plan(self, impulses: FloatArray) -> Plans:
        """Return a plan that leads along a motion, in at most `NUM_ROWS` stretches."""
        rows = self._rows(impulses)
        velocities = self._shoot(rows).velocities[:-1]
        acting = np.where(velocities[:, :: self.space.width] <= 0.0, rows, 0.0)
        acting = acting[acting.sum(axis=1) > EMPTY][: LONGEST - 1]
        sums = acting.sum(axis=1, keepdims=True)
        # A negative share of the way is an impulse; at the end, contacts aim to stop together.
        own = np.vstack([np.hstack([acting / sums, -sums, 0.0 * sums]), np.ones(rows.shape[1] + 2)])
        plan = np.zeros((1, LONGEST, own.shape[1]))
        plan[0, : len(own)] = own
        return Plans(plan, np.array([len(own)]))

    @cached_property
    def _basis(self) -> FloatArray:
        """Return an orthonormal basis (r, c) of the contact velocities that are possible."""
        values, vectors = np.linalg.eigh(self.space.A)
        return np.ascontiguousarray(vectors.T[values > RANK * values[-1]])

    @cached_property
    def _normals(self) -> FloatArray:
        """Return the normal velocities (m, r) by coordinates of the velocity."""
        return np.ascontiguousarray(self._basis[:, :: self.space.width].T)

    @cached_property
    def _away(self) -> FloatArray:
        """Return a velocity (c,) with which all contacts approach, as far as there is one."""
        # Normals of many contacts depend on each other, but for rounding.
        faster = np.linalg.lstsq(self._normals, -np.ones(len(self._normals)), rcond=RANK)[0]
        return np.asarray(AWAY * faster @ self._basis)

    @cached_property
    def _work(self) -> np.record:
        return make_work(self.space.num_contacts, self.space.width, ACCURACY)

    def _rows(self, impulses: FloatArray) -> FloatArray:
        """Return the normal impulses (K, m) of stretches: pieces with the same rates are joined."""
        rows = np.zeros((NUM_ROWS, self.space.num_contacts))
        group(np.ascontiguousarray(impulses), self.space.width, SAME, rows)
        return rows

    def _shoot(self, rows: FloatArray) -> _Shot:
        """Follow a motion by its rows until it ends."""
        c, space = len(self.start), self.space
        velocities, log = np.empty((len(rows) + 1, c)), np.empty((LOGGED, c))
        logged = np.zeros(1, np.int64)
        ends = shoot(space.A, space.mu, self.start, rows, velocities, self._work, log, logged)
        total = self._work.total[:c]
        value = float(self.q @ total) if ends and logged[0] < LOGGED else -np.inf
        return _Shot(value, velocities, log[: logged[0]])

    def _changed(
        self, rows: FloatArray, velocities: FloatArray, effects: _Effects, change: float
    ) -> FloatArray | None:
        """Return the rows that are best to first order, all of them changed by little."""
        changed = np.empty_like(rows)
        penalty = PENALTY * float(np.abs(self.q).max())
        width = self.space.width
        found = change_rows(*effects, rows, velocities, width, change, penalty, changed)
        return changed if found else None

    def _effects(self, rows: FloatArray, velocities: FloatArray) -> _Effects:
        """Differentiate a motion by all its impulses."""
        (K, m), r, c = rows.shape, len(self._basis), len(self.start)
        F, G = np.empty((K, r + 1, r)), np.empty((K, r + 1, m))
        linearize(
            *(self.space.A, self.space.mu, velocities, rows, self._basis, self._away, self.q),
            *(STEP, F, G, self._work, np.empty((0, c))),
        )
        found = _Effects(np.empty(K * m), np.empty((K * m, K * m)))
        effects(F, G, self._normals, *found)
        return found


class _Climb:
    """A motion on its way up, one program at a time."""

    def __init__(self, ascent: Ascent, rows: FloatArray, value: float = -np.inf) -> None:
        self.ascent, self.value, self.change = ascent, value, FIRST_CHANGE
        self.best: FloatArray | None = None  # impulses, if better than the value to begin with
        self._start(rows)

    def _start(self, rows: FloatArray) -> None:
        self.rows = rows
        self.shot = self.ascent._shoot(rows)
        # Derivatives serve all programs from here.
        self.effects: _Effects | None = None

    def go_on(self) -> None:
        """Solve one program, and go on from its motion if that is better."""
        if self.effects is None:
            self.effects = self.ascent._effects(self.rows, self.shot.velocities)
        velocities = self.shot.velocities
        changed = self.ascent._changed(self.rows, velocities, self.effects, self.change)
        after = self.ascent._shoot(changed) if changed is not None else None
        if after is None or after.value <= max(self.value, self.shot.value):
            self.change *= SHORTER
            return
        # An infinite value is that of a motion that is only tried.
        is_worth = not after.value <= self.value + WORTH * abs(self.value)
        self.best, self.value = after.impulses, after.value
        self._start(self.ascent._rows(self.best))
        self.change *= LONGER if is_worth else SHORTER
