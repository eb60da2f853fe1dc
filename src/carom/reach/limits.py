"""Bound the outcomes by energy, momentum and separation, for any number of contacts.

At the end of an impact no contact approaches, the velocity has changed by a combination of the
rates, and energy has not risen. Multipliers of these three facts bound one direction; any
multipliers do, and the bound is checked in rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import ppl
from gmpy2 import mpq

from carom.reach.flow import expression
from carom.reach.inclusion import Inclusion
from carom.reach.multipliers import Chooser
from carom.reach.rational import ZERO, Exact, integers, solve

MARGIN = mpq(1, 10**9)
"""Relative margin of rational square roots."""


class Limit(NamedTuple):
    """A proof that direction . y <= bound at the end of an impact."""

    direction: Exact
    bound: mpq
    separation: Exact  # (m,) multipliers >= 0 of the normal velocities
    momentum: Exact  # (d,) a form that no rate lowers


def limits(inclusion: Inclusion) -> list[tuple[Limit, Limit]]:
    """Return bounds on the negative and the positive value of every contact velocity."""
    chooser = Chooser(inclusion)
    return [(limit(chooser, -row), limit(chooser, row)) for row in inclusion.rows]


def end_within(inclusion: Inclusion, bounds: Iterable[tuple[Exact, mpq]]) -> ppl.C_Polyhedron:
    """Return the polyhedron where no contact approaches and directions (d,) are bounded."""
    end = ppl.C_Polyhedron(inclusion.dimension, "universe")
    for normal in inclusion.rows[:: inclusion.width]:
        end.add_constraint(expression(normal) >= 0)
    for direction, bound in bounds:
        *form, most = integers([*direction, bound])
        end.add_constraint(ppl.Linear_Expression(form, 0) <= most)
    return end


def limit(chooser: Chooser, direction: Exact) -> Limit:
    """Bound one direction with the best multipliers found in floats."""
    inclusion = chooser.inclusion
    start = chooser.to_energy @ inclusion.y_start.astype(np.float64)
    separation, momentum = chooser.choose(direction, start[None])
    trial = Limit(direction, ZERO, separation, momentum)
    root = _root_above(_power(inclusion, trial))
    return trial._replace(bound=root - momentum @ inclusion.y_start)


def is_proved(inclusion: Inclusion, limit: Limit) -> bool:
    """Return whether the multipliers of a bound prove it, exactly."""
    # With p the direction plus the multipliers' forms, direction . y <= p . y - momentum . y_start,
    # and energy bounds p . y by the root of (p . A p) (y_start . A^-1 y_start).
    room = limit.bound + limit.momentum @ inclusion.y_start
    return (
        all(x >= 0 for x in limit.separation)
        and all(limit.momentum @ rate >= 0 for rate in inclusion.extreme_rates)
        and room >= 0
        and room * room >= _power(inclusion, limit)
    )


def _power(inclusion: Inclusion, limit: Limit) -> mpq:
    """Return (p . A p) (y_start . A^-1 y_start)."""
    normals = inclusion.rows[:: inclusion.width]
    p = limit.direction + limit.momentum + limit.separation @ normals
    A, start = inclusion.delassus, inclusion.y_start
    return (p @ A @ p) * (start @ solve(A, start[:, None])[:, 0])


def _root_above(x: mpq) -> mpq:
    """Return a rational slightly above the square root of x."""
    if not x:
        return ZERO
    guess = mpq(float(x) ** 0.5) * (1 + MARGIN)
    while guess * guess < x:
        guess *= 2
    return guess
