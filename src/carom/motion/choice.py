"""Choose the modes with which a motion goes on.

Trying all choices of modes finds all solutions: none is Painleve's paradox, several with different
accelerations are indeterminacy, and all are returned. At the moment of an event several choices
work with one acceleration: sticking at the edge of its cone, and sliding that has not begun. They
are told apart by how they work a moment later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from carom.kernels.onward import LOOK_AHEAD
from carom.kernels.sustained_calls import candidates, rest_and_slip
from carom.motion import spatial_choice
from carom.motion.spatial_law import SpatialLaw
from carom.motion.sustained import FREE, HOLDS, STICKING, ContactLaw, Sustained
from carom.systems.system import Dynamics, System
from carom.typing import BoolArray, FloatArray, IntArray

SAME = 1e-7
"""Accelerations that differ by no more than this share of the largest count as one."""
COUPLED = 1e-12
"""Contacts move each other if one's impulse moves the other by more than this share."""


class Moment(NamedTuple):
    """A state, with its contacts that touch and do not part, and how all contacts slip.

    Slip is a sign (m,) in the plane, and a direction (m, 2) in space; it is zero where there is
    none.
    """

    system: System
    t: float
    q: FloatArray
    v: FloatArray
    here: Dynamics
    touching: IntArray = np.empty(0, np.int64)
    slip: FloatArray = np.empty(0)

    @property
    def is_spatial(self) -> bool:
        """Return whether contacts have two tangents."""
        return self.here.J_t.shape[1] == 2

    @property
    def usual(self) -> float:
        """Return the size of the acceleration without contact."""
        return float(np.abs(np.linalg.solve(self.here.M, self.here.force)).max())

    def later(self, acceleration: FloatArray, usual: float) -> Moment:
        """Return the moment to look ahead at, with the same contacts and slips."""
        # Near Painleve's paradox forces are so large that slip ends in no time.
        largest = float(np.abs(acceleration).max())
        h = LOOK_AHEAD * (min(1.0, usual / largest) if largest > 0.0 < usual else 1.0)
        v = self.v + h * acceleration
        q = self.q + h * self.system.velocity_map(self.q) @ (0.5 * (self.v + v))
        here = self.system.dynamics(q, v, self.t + h)
        return self._replace(t=self.t + h, q=q, v=v, here=here)


def choose(
    moment: Moment,
    near: BoolArray,
    *,
    rest_speed: float,
    still: float,
    least_hop: float,
    draw: Callable[[int], int],
) -> tuple[ContactLaw, int] | None:
    """Return the modes to go on with and how many ways there were, or None if none works.

    Contact velocities below `rest_speed`, or a share `still` of their terms, are rest. Contacts
    that come back from no higher than `least_hop` do so before their gap has a digit: they rest.
    `draw` picks one of several ways.
    """
    here, v = moment.here, moment.v
    if moment.is_spatial:
        rules = rest_speed, still
        touching, speed, slip = spatial_choice.rest_and_slip(here, v, near, *rules)
    else:
        touching, speed, slip = rest_and_slip(here.J_n, here.J_t[:, 0], v, near, rest_speed, still)
    chosen = None
    while True:
        ways = ways_on(moment._replace(touching=touching, slip=slip))
        if not ways:
            # Where contacts that hop could not rest, they hop.
            return chosen
        law = ways[draw(len(ways)) if len(ways) > 1 else 0]
        chosen = law, len(ways)
        _, acceleration = law.solve(here, v)
        pull = -(here.J_n @ acceleration + here.bias[:, 0])
        hops = near & (speed > 0.0) & (speed**2 < 2.0 * pull * least_hop)
        hops[touching] = False
        if not hops.any():
            return chosen
        touching = np.union1d(touching, np.flatnonzero(hops))


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
    """Return modes for every acceleration with which a motion can go on, now and a moment later."""
    # Contacts that do not move each other are looked at apart, since choices multiply.
    groups = _groups(moment.here, moment.touching)
    apart = [_lasting(moment._replace(touching=group)) for group in groups]
    if len(apart) == 1:
        return apart[0]
    return [_together(moment, laws) for laws in product(*apart)]


def _together(moment: Moment, laws: tuple[ContactLaw, ...]) -> ContactLaw:
    """Return the law of all contacts, whose groups have laws of their own."""
    # Each group's law leaves all other contacts free, which is mode 0.
    mu = moment.system.mu
    free, none = np.zeros(len(mu), np.int64), np.zeros(len(mu), np.bool_)
    own = sum((x.modes for x in laws), free), mu, sum((x.resting for x in laws), none)
    if not moment.is_spatial:
        return ContactLaw(*own)
    aims = np.zeros((len(mu), 2))
    for law in laws:
        assert isinstance(law, SpatialLaw)
        aims[law.sliding] = law.aims[law.sliding]
    return SpatialLaw(*own, aims=aims)


def _groups(here: Dynamics, touching: IntArray) -> list[IntArray]:
    """Return the contacts in groups that do not move each other."""
    if len(touching) < 2:
        return [touching] * len(touching)
    J = np.concatenate([here.J_n[touching, None], here.J_t[touching]], axis=1)
    flat = J.reshape(-1, J.shape[-1])
    A = np.abs(flat @ np.linalg.solve(here.M, flat.T))
    size = np.sqrt(np.diagonal(A))
    width = J.shape[1]
    tied = (COUPLED * np.outer(size, size) < A).reshape(len(touching), width, len(touching), width)
    count, label = connected_components(tied.any(axis=(1, 3)), directed=False)
    return [touching[label == k] for k in range(count)]


def _lasting(moment: Moment) -> list[ContactLaw]:
    """Return the modes that work now and a moment later, or else those that work then."""
    ways = _ways(moment)
    lasting = [way for way in ways if way.ahead > -HOLDS]
    if ways and not lasting:
        best = max(ways, key=lambda way: way.merit)
        lasting = _ways(moment.later(best.found.acceleration, moment.usual))
    return [way.law for way in lasting]


def _ways(moment: Moment) -> list[_Way]:
    """Return the best modes for each acceleration that solves the contacts."""
    here, usual = moment.here, moment.usual
    best: list[_Way] = []

    def is_beaten(modes: IntArray, acceleration: FloatArray) -> bool:
        """Return whether a way that lasts has this acceleration with more contacts at rest."""
        rank = (True, int((modes == STICKING).sum()) + 1)
        return any(
            way.merit >= rank and _is_same(way.found.acceleration, acceleration, usual)
            for way in best
        )

    def is_beaten_in_space(modes: IntArray, acceleration: FloatArray) -> bool:
        """Return whether a way that lasts has this acceleration with as many contacts at rest."""
        sticks, closed = (modes == STICKING).sum(), (modes != FREE).sum()
        return any(
            way.ahead > -HOLDS
            and (way.law.modes == STICKING).sum() >= sticks
            and (way.law.modes != FREE).sum() >= closed
            and _is_same(way.found.acceleration, acceleration, usual)
            for way in best
        )

    given = here, moment.v, moment.system.mu, moment.touching, moment.slip
    found_ways: Iterator[tuple[ContactLaw, Sustained]] = (
        spatial_choice.solutions(*given, is_beaten_in_space)
        if moment.is_spatial
        else solutions(*given, is_beaten)
    )
    for law, found in found_ways:
        later = moment.later(found.acceleration, usual)
        way = _Way(law, found, law.evaluate(later.here, later.v).margin)
        for k, other in enumerate(best):
            if _is_same(other.found.acceleration, found.acceleration, usual):
                best[k] = max(other, way, key=lambda each: each.merit)
                break
        else:
            best.append(way)
    return best


def _is_same(one: FloatArray, other: FloatArray, usual: float) -> bool:
    """Return whether two accelerations are one, as seen from that without contact."""
    size = max(np.abs(one).max(), np.abs(other).max(), usual)
    return bool((np.abs(one - other) <= SAME * size).all())


def solutions(
    here: Dynamics,
    v: FloatArray,
    mu: FloatArray,
    touching: IntArray,
    slip: FloatArray,
    is_beaten: Callable[[IntArray, FloatArray], bool] = lambda *_: False,
) -> Iterator[tuple[ContactLaw, Sustained]]:
    """Yield every choice of modes whose conditions hold, but for those that are beaten."""
    resting = np.zeros(len(mu), np.bool_)
    resting[touching] = True
    for modes in candidates(
        *(here.M, here.force, here.phi, here.J_n, here.J_t[:, 0], here.bias),
        *(v, mu, touching, slip),
    ):
        # A contact that slides already has no condition on how its slip goes on.
        law = ContactLaw(modes, mu, resting & ~((slip != 0.0) & (modes != FREE)))
        found = law.evaluate(here, v, is_beaten)
        if found.holds:
            yield law, found
