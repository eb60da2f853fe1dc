"""Bound the outcomes by energy, momentum and separation, for any number of contacts.

At the end of an impact no contact approaches, the velocity has changed by a combination of the
rates, and energy has not risen. Multipliers of these three facts bound one direction; any
multipliers do, and the bound is checked in rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import ppl
from gmpy2 import mpq
from scipy.optimize import minimize

from carom.reach.flow import expression
from carom.reach.inclusion import Inclusion, Rate
from carom.reach.rational import ZERO, Exact, integers, solve
from carom.typing import FloatArray

DIGITS = 9
"""Decimals to which multipliers and bounds are rounded."""


class Limit(NamedTuple):
    """A proof that direction . y <= bound at the end of an impact."""

    direction: Exact
    bound: mpq
    separation: Exact  # (m,) multipliers >= 0 of the normal velocities
    momentum: Exact  # (d,) a form that no rate lowers


def limits(inclusion: Inclusion) -> list[tuple[Limit, Limit]]:
    """Return bounds on the negative and the positive value of every contact velocity."""
    facets = _facets(all_rates(inclusion), inclusion.dimension)
    return [
        (limit(inclusion, -row, facets), limit(inclusion, row, facets)) for row in inclusion.rows
    ]


def proved_end(inclusion: Inclusion) -> ppl.C_Polyhedron | None:
    """Return the polyhedron of these bounds, or None if a proof fails its check."""
    end = ppl.C_Polyhedron(inclusion.dimension, "universe")
    for normal in _normals(inclusion):
        end.add_constraint(expression(normal) >= 0)
    for found in (each for pair in limits(inclusion) for each in pair):
        if not is_proved(inclusion, found):
            return None
        *form, bound = integers([*found.direction, found.bound])
        end.add_constraint(ppl.Linear_Expression(form, 0) <= bound)
    return end


def limit(inclusion: Inclusion, direction: Exact, facets: list[Exact]) -> Limit:
    """Bound one direction with the best multipliers found in floats."""
    normals = _normals(inclusion)
    rows = np.vstack([normals, *(facet / max(map(abs, facet)) for facet in facets)])
    weights = _best_weights(inclusion, direction, rows, len(normals))
    momentum = np.where(np.arange(len(rows)) < len(normals), ZERO, weights) @ rows
    trial = Limit(direction, ZERO, weights[: len(normals)], momentum)
    root = _root_above(_power(inclusion, trial))
    return trial._replace(bound=root - momentum @ inclusion.y_start)


def is_proved(inclusion: Inclusion, limit: Limit) -> bool:
    """Return whether the multipliers of a bound prove it, exactly."""
    # With p the direction plus the multipliers' forms, direction . y <= p . y - momentum . y_start,
    # and energy bounds p . y by the root of (p . A p) (y_start . A^-1 y_start).
    room = limit.bound + limit.momentum @ inclusion.y_start
    return (
        all(x >= 0 for x in limit.separation)
        and all(limit.momentum @ rate.y >= 0 for rate in all_rates(inclusion))
        and room >= 0
        and room * room >= _power(inclusion, limit)
    )


def all_rates(inclusion: Inclusion) -> list[Rate]:
    """Return the rates of all cells, which act where all contacts stick."""
    return inclusion.acting((0,) * len(inclusion.forms))


def _power(inclusion: Inclusion, limit: Limit) -> mpq:
    """Return (p . A p) (y_start . A^-1 y_start)."""
    p = limit.direction + limit.momentum + limit.separation @ _normals(inclusion)
    A, start = inclusion.delassus, inclusion.y_start
    return (p @ A @ p) * (start @ solve(A, start[:, None])[:, 0])


def _normals(inclusion: Inclusion) -> Exact:
    return inclusion.rows[:: inclusion.width]


def _facets(rates: Sequence[Rate], dimension: int) -> list[Exact]:
    """Return the extreme forms that no rate lowers."""
    polar = ppl.C_Polyhedron(dimension, "universe")
    for rate in rates:
        polar.add_constraint(expression(rate.y) >= 0)
    out: list[Exact] = []
    for generator in polar.minimized_generators():
        numbers = np.array([mpq(x) for x in generator.coefficients()])
        if not generator.is_point():
            out += [numbers, -numbers] if generator.is_line() else [numbers]
    return out


def _best_weights(inclusion: Inclusion, direction: Exact, rows: Exact, num_normals: int) -> Exact:
    """Return rounded multipliers >= 0 that minimize the bound."""
    root = np.linalg.cholesky(inclusion.delassus.astype(np.float64))
    start = inclusion.y_start.astype(np.float64)
    speed = float(np.linalg.norm(np.linalg.solve(root, start)))
    forms = rows.astype(np.float64)
    lengths = np.linalg.norm(forms @ root, axis=1)
    lengths[lengths == 0.0] = 1.0
    forms = forms / lengths[:, None]
    fixed = direction.astype(np.float64)
    gains = forms @ start
    gains[:num_normals] = 0.0

    def value(weights: FloatArray) -> tuple[float, FloatArray]:
        p = (fixed + weights @ forms) @ root
        length = float(np.sqrt(p @ p + 1e-20 * (fixed @ root) @ (fixed @ root)))
        slope = speed * (forms @ (root @ p)) / max(length, 1e-300) - gains
        return speed * length - float(weights @ gains), slope

    found = minimize(value, np.zeros(len(forms)), jac=True, bounds=[(0.0, None)] * len(forms))
    weights = (found.x / lengths).tolist()
    return np.array([mpq(round(max(x, 0.0) * 10**DIGITS), 10**DIGITS) for x in weights])


def _root_above(x: mpq) -> mpq:
    """Return a rational slightly above the square root of x."""
    if not x:
        return ZERO
    guess = mpq(float(x) ** 0.5) * (1 + mpq(1, 10**DIGITS))
    while guess * guess < x:
        guess *= 2
    return guess
