"""Energy that contacts store in compression and return: none in an inelastic impact.

The record of a motion tells when code is compiled whether contacts bounce: then it has the fields

    energy: (m,) E_i, which contact i can still return; in units in which the impact has 1/2.
    returned: (m,) e_i^2, the share of the work of compression that contact i stores.

Inelastic impacts are compiled without any of it, so that they keep their bits and their speed.
"""

from functools import wraps
from typing import Any

import numpy as np
from numba.extending import overload

from carom.kernels.jit import LEAN, inlined

DEAD = 1e-25
"""Energy below this is none: it moves nothing by more than 1e-12 of the impact's speed."""

PHASE, WHOLE = 1.0, 2.0
"""Ways to go in a stretch of an impact that bounces: until a contact that acts ends its compression
or has returned its energy, or until all contacts that act have done both."""


def fields(m: int) -> list[tuple[str, type, tuple[int, ...]]]:
    """Return the fields of the record of motions of up to m contacts that bounce."""
    return [("energy", np.float64, (m,)), ("returned", np.float64, (m,))]


def _bounces(work: Any) -> bool:
    """Return whether a record, or its type, has energies."""
    names: Any = work.dtype.names if isinstance(work, np.record) else work.fields
    return "energy" in names


_INLINED: Any = LEAN | {"forceinline": True}


def where_bouncing(otherwise: Any) -> Any:
    """Return a decorator of functions of a record that are others where contacts do not bounce."""

    def decorate(function: Any) -> Any:
        @wraps(function)
        def call(work: Any, *given: Any) -> Any:
            return (function if _bounces(work) else otherwise)(work, *given)

        @overload(call, strict=False, jit_options=_INLINED)
        def _choose(work: Any, *given: Any) -> Any:  # noqa: ARG001
            return function if _bounces(work) else otherwise

        return call

    return decorate


def _nothing(work, *given):
    pass


only_bouncing = where_bouncing(_nothing)
"""Decorator of functions of a record that do nothing where contacts do not bounce."""


@where_bouncing(lambda work, i: 0.0)  # noqa: ARG005
def stored(work, i):
    """Return the energy that contact i can still return."""
    return work.energy[i]


@where_bouncing(lambda work, i: work.u[i * work.width] < 0.0)
def is_pending(work, i):
    """Return whether the impact goes on because of contact i: it approaches, or stores energy."""
    return (work.u[i * work.width] < 0.0) | (work.energy[i] > 0.0)


@inlined
def goes_on(work):
    """Return whether a contact approaches or stores energy, so that the impact is not over."""
    for i in range(work.m):
        if is_pending(work, i):
            return True
    return False


@where_bouncing(lambda work, share, lot: share)  # noqa: ARG005
def way_to_end(work, share, lot):  # noqa: ARG001
    """Return a share of the way, or where all of it is to be gone and contacts bounce, which way.

    Half of these stretches end with a phase of a contact, the others when all of them are over.
    """
    return WHOLE if share >= PHASE and lot < 0.5 else share


@only_bouncing
def begin_without_energy(work):
    """Let no contact store energy."""
    for i in range(work.m):
        work.energy[i] = 0.0


@only_bouncing
def keep_energies(work, state, at):
    """Write energies into a state, from an entry on."""
    for i in range(work.m):
        state[at + i] = work.energy[i]


@only_bouncing
def resume_energies(work, state, at):
    """Read energies from a state, as `keep_energies` wrote them."""
    for i in range(work.m):
        work.energy[i] = state[at + i]


@only_bouncing
def log_energies(work, c, row, log):
    """Write energies behind the c impulses of a row of the log, if there is room."""
    if row < len(log):
        for i in range(work.m):
            log[row, c + i] = work.energy[i]


@inlined
def phase_end(n, dn, energy, rate):
    """Return the impulse until a contact has ended its compression, or returned its energy.

    Infinite if it does neither. Energy falls by rate n ds, a quadratic function of s.
    """
    if n < 0.0:
        return -n / dn if dn > 0.0 else np.inf
    square = n * n + 2.0 * dn * energy / rate
    if square < 0.0:
        return np.inf
    root = n + np.sqrt(square)
    return 2.0 * energy / (rate * root) if root > 0.0 else np.inf


@inlined
def exchanged(energy, returned, work):
    """Return a contact's energy after its normal force has done work: < 0 in compression."""
    left = energy - (work if work > 0.0 else returned * work)
    # Energy next to nothing has no end in `phase_end`: its products underflow.
    return left if left > DEAD else 0.0
