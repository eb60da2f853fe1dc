"""One stretch of an impact, in the plane or in space; which one is known when code is compiled.

All that a motion works with is one NumPy record, which functions hand on as one pointer: a tuple of
its arrays takes several times as long to compile. A record has a fixed size, so it has room for
more contacts than there are, and one compilation serves them all.
"""

from functools import cache
from typing import Any

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from carom.kernels import bounce, slip, slip_bounce, stored, stretch
from carom.kernels.jit import LEAN, plain
from carom.kernels.tolerances import RESIDUAL

INTEGRATED = 30.0
"""Largest relative residual with which a motion in space is accepted, as a multiple of the accuracy
with which slip is integrated."""

MOST_EVENTS = 20_000
"""Maximum number of events of a motion. Those that end have some hundred, a few 14,000; those that
do not would have 90,000, and the time of many others."""

MOST_STRETCHES, MOST_BOUNCED = 200, 4000
"""Maximum number of stretches of a motion, of an inelastic one and of one that bounces. Contacts
that return energy take turns for long where friction drives them into each other."""

FEWEST = 8
"""Number of contacts for which there is room at least; there is room for this number's powers."""


@cache
def _record(m: int, width: int, bounces: bool) -> np.dtype:
    """Return the type of the record for up to m contacts with `width` velocities each.

    Fields, besides those of `stretch.scratch` or `slip.scratch`, and of `stored.fields` for impacts
    that bounce:
        m, width: Number of contacts, and of velocities of each.
        events, begun: Number of events so far, and of the stretch with which contacts begin to act.
        accuracy: Largest estimated error of a step, as a share of the impact's speed.
        residual: Largest relative residual with which a motion is accepted.
        most_events, most_stretches: Numbers of events, and of stretches since contacts began to
            act, after which a motion counts as unfinished.
        rates: (m,) rates of the normal impulses.
        u, total: (c,) contact velocities, normal first, and impulses so far.
    """
    fields = [
        # At the front: Numba takes a record that another one continues for one of the same kind.
        *(stored.fields(m) if bounces else []),
        *(slip_bounce.fields(m) if bounces and width == 3 else []),
        ("m", np.int64),
        ("width", np.int64),
        ("events", np.int64),
        ("begun", np.int64),
        ("accuracy", np.float64),
        ("residual", np.float64),
        ("most_events", np.int64),
        ("most_stretches", np.int64),
        ("rates", np.float64, (m,)),
        ("u", np.float64, (m * width,)),
        ("total", np.float64, (m * width,)),
        *(stretch.scratch(m) if width == 2 else slip.scratch(m)),
    ]
    return np.dtype((np.record, fields))


def make_work(
    m: int, width: int, accuracy: float = slip.ACCURACY, most_events: int = MOST_EVENTS
) -> np.record:
    """Make the record that `follow_stretch` works with, for m inelastic contacts at rest."""
    return make_room(m, width, accuracy, most_events)[0]


def make_room(
    m: int,
    width: int,
    accuracy: float = slip.ACCURACY,
    most_events: int = MOST_EVENTS,
    restitution: NDArray[np.float64] | None = None,
) -> NDArray[np.void]:
    """Make the same record as the one entry of an array; with coefficients (m,) for bounces.

    Kernels that Python calls often take this: to hand over a record itself, NumPy spells out the
    names and types of all its fields in every call, which takes longer than a motion.
    """
    kind, blank = _blank(m, width, accuracy, most_events, restitution is not None)
    # As bytes: NumPy would copy a record field by field.
    room = np.ndarray(1, kind, blank.copy())
    if restitution is not None:
        room["returned"][0, :m] = restitution**2
    return room


@cache
def _blank(
    m: int, width: int, accuracy: float, most_events: int, bounces: bool
) -> tuple[np.dtype, NDArray[np.uint8]]:
    room = FEWEST
    while room < m:
        room *= FEWEST
    blank = np.zeros(1, _record(room, width, bounces))
    work = blank[0]
    work.m, work.width, work.accuracy, work.most_events = m, width, accuracy, most_events
    work.most_stretches = MOST_BOUNCED if bounces else MOST_STRETCHES
    work.residual = RESIDUAL if width == 2 else INTEGRATED * accuracy
    return blank.dtype, blank.view(np.uint8)


def _room(names: Any) -> Any:
    """Return the module that follows stretches, by the fields of a record."""
    if "push" in names:
        return bounce if "energy" in names else stretch
    return slip


def follow_stretch(A, mu, share, aims, work, log, logged):
    """Follow one stretch; see `carom.kernels.stretch`, `bounce` and `slip`."""
    return plain(_room(work.dtype.names).follow_stretch)(A, mu, share, aims, work, log, logged)


@overload(
    follow_stretch,
    jit_options=LEAN,  # type: ignore[arg-type]
)
def _follow(A, mu, share, aims, work, log, logged):  # noqa: ARG001
    return plain(_room(work.fields).follow_stretch)
