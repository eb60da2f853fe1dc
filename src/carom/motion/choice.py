"""Choose the modes with which a motion goes on.

At the moment of an event several choices of modes work, with one acceleration: sticking at the
edge of its cone, and sliding that has not begun. They are told apart by how they work a moment
later. Ways with different accelerations are indeterminacy, and all are returned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carom.motion.sustained import HOLDS, STICKING, ContactLaw, Sustained, solutions
from carom.systems.system import Dynamics, System
from carom.typing import FloatArray, IntArray

LOOK_AHEAD = 1e-8
"""Modes that work at a moment are judged by how they work so much later [s]."""

SAME = 1e-7
"""Accelerations that differ by no more than this share of the largest count as one."""


class Moment(NamedTuple):
    """A state, and what its contacts do.

    Attributes:
        system: What moves.
        t: Time [s].
        q: (nq,) configuration.
        v: (nv,) velocity.
        touching: Contacts that touch and do not part.
        slip: (m,) sign of each contact's slip, 0 at rest.
    """

    system: System
    t: float
    q: FloatArray
    v: FloatArray
    touching: IntArray
    slip: FloatArray

    def dynamics(self) -> Dynamics:
        """Return the system at this moment."""
        return self.system.dynamics(self.q, self.v, self.t)

    def later(self, acceleration: FloatArray, usual: float) -> Moment:
        """Return the moment to look ahead at, with the same contacts and slips.

        It is the nearer the larger the acceleration is than what is usual: near Painleve's paradox
        forces are so large that slip ends in no time.
        """
        largest = float(np.abs(acceleration).max())
        h = LOOK_AHEAD * (min(1.0, usual / largest) if largest > 0.0 < usual else 1.0)
        v = self.v + h * acceleration
        q = self.q + h * self.system.velocity_map(self.q) @ (0.5 * (self.v + v))
        return self._replace(t=self.t + h, q=q, v=v)


class _Way(NamedTuple):
    """Modes that work, and their margin a moment later."""

    law: ContactLaw
    found: Sustained
    ahead: float

    @property
    def merit(self) -> tuple[bool, int, float]:
        """Rank modes with one acceleration: those that last, with most contacts at rest."""
        return self.ahead > -HOLDS, int((self.law.modes == STICKING).sum()), self.ahead


def ways_on(moment: Moment) -> list[ContactLaw]:
    """Return modes for every acceleration with which a motion can go on.

    None if no finite force solves the contacts, now or a moment later. Where no modes work both
    now and then, those of then are returned.
    """
    ways = _ways(moment)
    lasting = [way for way in ways if way.ahead > -HOLDS]
    if ways and not lasting:
        best = max(ways, key=lambda way: way.merit)
        lasting = _ways(moment.later(best.found.acceleration, _usual(moment.dynamics())))
    return [way.law for way in lasting]


def _ways(moment: Moment) -> list[_Way]:
    """Return the best modes for each acceleration that solves the contacts."""
    here = moment.dynamics()
    usual = _usual(here)
    best: list[_Way] = []
    for law, found in solutions(here, moment.v, moment.system.mu, moment.touching, moment.slip):
        later = moment.later(found.acceleration, usual)
        way = _Way(law, found, law.evaluate(later.dynamics(), later.v).margin)
        for k, other in enumerate(best):
            if _is_same(other.found.acceleration, found.acceleration, usual):
                best[k] = max(other, way, key=lambda each: each.merit)
                break
        else:
            best.append(way)
    return best


def _usual(here: Dynamics) -> float:
    """Return the size of the acceleration without contact."""
    return float(np.abs(np.linalg.solve(here.M, here.force)).max())


def _is_same(one: FloatArray, other: FloatArray, usual: float) -> bool:
    """Tell whether two accelerations are one, as seen from that without contact."""
    size = max(np.abs(one).max(), np.abs(other).max(), usual)
    return bool((np.abs(one - other) <= SAME * size).all())
