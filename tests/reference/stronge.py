"""One planar impact by Stronge's law, as a curve of work over normal impulse, in 36 digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

import carom

DIGITS = 36
HALVINGS = 70
INFINITY = Decimal("Infinity")


@dataclass(frozen=True)
class Reference:
    """An outcome, and what happened on the way.

    Attributes:
        v_post: (nv,) velocity after the impact.
        impulse: (2,) impulse, normal first [N s].
        is_driven_in: Whether friction drives the contact in while it first slides.
        stops: "never", or in which part of the impact slip stops: "compression", "restitution".
        after: What happens then: "sticks" or "slides".
    """

    v_post: NDArray[np.float64]
    impulse: NDArray[np.float64]
    is_driven_in: bool
    stops: str
    after: str


def stronge(problem: carom.ImpactProblem) -> Reference:
    """Return the outcome at the one contact of a problem, which approaches."""
    with localcontext() as context:
        context.prec = DIGITS
        J = [_exact(problem.J_n[0]), _exact(problem.J_t[0, 0])]
        responses = [_solve([_exact(row) for row in problem.M], row) for row in J]
        v = _exact(problem.v_pre)
        nn, nt = _dot(J[0], responses[0]), _dot(J[0], responses[1])
        tt = _dot(J[1], responses[1])
        mu, e = Decimal(float(problem.mu[0])), Decimal(float(problem.restitution[0]))
        u, s = _dot(J[0], v), _dot(J[1], v)
        # Friction per unit of normal impulse, before slip stops at the impulse p_stop and after.
        first = -mu if s > 0 else mu
        second = _friction_from_rest(nt, tt, mu)
        rate = nt + tt * first
        p_stop = Decimal(0) if s == 0 else (-s / rate if s * rate < 0 else INFINITY)
        before, after = nn + nt * first, nn + nt * second

        def normal_velocity(p: Decimal) -> Decimal:
            early = min(p, p_stop)
            return u + before * early + after * (p - early)

        def work(p: Decimal) -> Decimal:
            """Return the work of the normal force: the integral of the normal velocity."""
            early = min(p, p_stop)
            late = p - early
            middle = normal_velocity(early)
            return early * (u + middle) / 2 + late * (middle + middle + after * late) / 2

        p_compressed = _root(normal_velocity, Decimal(0), -u / nn)
        least = work(p_compressed)
        target = (1 - e * e) * least
        p_end = p_compressed
        if e > 0:
            p_end = _root(lambda p: work(p) - target, p_compressed, p_compressed)
        early = min(p_end, p_stop)
        total = [p_end, first * early + second * (p_end - early)]
        change = [total[0] * a + total[1] * b for a, b in zip(*responses, strict=True)]
        stops = "never" if p_stop >= p_end else "restitution"
        return Reference(
            np.array([float(a + b) for a, b in zip(v, change, strict=True)]),
            np.array([float(p) for p in total]),
            before <= 0 and p_stop > 0,
            "compression" if p_stop < p_compressed else stops,
            "sticks" if abs(second) < mu else "slides",
        )


def _friction_from_rest(nt: Decimal, tt: Decimal, mu: Decimal) -> Decimal:
    """Return the one friction that agrees with the slip to which it leads, from no slip."""
    for friction in (mu, -mu):
        if (nt + tt * friction) * friction < 0:
            return friction
    return -nt / tt if mu > 0 and tt > 0 else Decimal(0)


def _root(function: Callable[[Decimal], Decimal], low: Decimal, scale: Decimal) -> Decimal:
    """Return where a function turns positive for good, beyond low, by bisection."""
    high = low + scale
    while function(high) < 0:
        high += high - low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return high


def _exact(row: NDArray[np.float64]) -> list[Decimal]:
    return [Decimal(x) for x in row.tolist()]


def _dot(one: list[Decimal], other: list[Decimal]) -> Decimal:
    return sum((a * b for a, b in zip(one, other, strict=True)), Decimal(0))


def _solve(matrix: list[list[Decimal]], side: list[Decimal]) -> list[Decimal]:
    """Return the solution of a positive definite system, by elimination."""
    n = len(side)
    rows = [[*row, b] for row, b in zip(matrix, side, strict=True)]
    for i in range(n):
        for j in range(i + 1, n):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [b - factor * a for a, b in zip(rows[i], rows[j], strict=True)]
    x = [Decimal(0)] * n
    for i in reversed(range(n)):
        x[i] = (rows[i][n] - _dot(rows[i][i + 1 : n], x[i + 1 :])) / rows[i][i]
    return x
