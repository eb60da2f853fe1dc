"""One contact in space with Coulomb's round friction cone, by the method of Routh and Keller.

    dv/ds = M^-1 (J_n^T - mu J_t^T u),   u = J_t v / |J_t v|,   until J_n v = 0

[HalmPosa, eq:routhsingle]. The direction u of slip turns faster and faster as slip ends, so slip is
written as exp(sigma) u(theta) and followed in a time tau with ds = |J_t v| dtau, in which all is
smooth. Where slip has ended, the contact sticks if the cone holds the friction that it takes, and
else slips on in the only direction that keeps itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import carom

FloatArray = NDArray[np.float64]

ACCURACY = 1e-12
"""Relative, of the integration."""

MOST_PHASES = 100
"""Phases of slip and rest; a handful is usual."""

ROUNDING = 1e-10
"""Normal velocity that may be left."""

STOPPED = 1e-13
"""Slip below this, in units of the impact's speed, has ended."""

LONGEST = 1e6
"""No slip takes that long in tau: its logarithm, or the normal velocity, goes on at some rate."""


class RoundConePhase(NamedTuple):
    """A part of an impact: its impulse (3,), how far slip turns in it [rad], and what it is."""

    impulse: FloatArray
    turn: float
    word: str


class RoundConeMotion(NamedTuple):
    """An impact at one contact.

    Attributes:
        impulse: (3,) normal first.
        turn: How far slip turns in all, to either side [rad].
        phases: "slips", "sticks", or "leaves rest" for slip that begins where it has ended.
    """

    impulse: FloatArray
    turn: float
    phases: tuple[str, ...]


def round_cone_outcome(problem: carom.ImpactProblem, impulse_n: float = np.inf) -> FloatArray:
    """Return the velocity (nv,) after an impact at one contact in space, with the round cone.

    Args:
        problem: The impact.
        impulse_n: Stop at this normal impulse, if the impact is not over before [N s].
    """
    return follow_round_cone(problem, impulse_n)[0]


def follow_round_cone(
    problem: carom.ImpactProblem, impulse_n: float = np.inf
) -> tuple[FloatArray, RoundConeMotion]:
    """Return the velocity (nv,) as `round_cone_outcome` does, and the motion that leads there."""
    J = np.vstack([problem.J_n, problem.J_t[0]])
    pushed = np.linalg.solve(problem.M, J.T)
    speed = np.sqrt(2.0 * problem.kinetic_energy(problem.v_pre))
    A = J @ pushed
    root = np.sqrt(A[0, 0])
    motion = round_cone_motion(
        A / root**2,
        problem.mu[0],
        J @ problem.v_pre / (speed * root),
        impulse_n * root / speed,
    )
    return problem.v_pre + pushed @ motion.impulse * speed / root, motion


def round_cone_impulse(
    A: FloatArray, mu: float, v_c: FloatArray, most: float = np.inf
) -> FloatArray:
    """Return the impulse (3,) of `round_cone_motion`."""
    return round_cone_motion(A, mu, v_c, most).impulse


def round_cone_motion(
    A: FloatArray, mu: float, v_c: FloatArray, most: float = np.inf
) -> RoundConeMotion:
    """Return the motion that ends an impact at one contact.

    Args:
        A: (3, 3) Delassus matrix, normal first; 1 for the normal itself.
        mu: Friction coefficient.
        v_c: (3,) contact velocity, of size 1 or so.
        most: Normal impulse to stop at, if the impact is not over before.
    """
    impulse, after = np.zeros(3), v_c
    total, phases = 0.0, []
    for _ in range(MOST_PHASES):
        if after[0] >= -STOPPED or impulse[0] >= most - STOPPED:
            return RoundConeMotion(impulse, total, tuple(phases))
        is_slipping = np.linalg.norm(after[1:]) > STOPPED
        act = _slip if is_slipping else _leave_rest
        push, turn, word = act(A, mu, after, most - impulse[0])
        impulse, total, phases = impulse + push, total + turn, [*phases, word]
        after = v_c + A @ impulse
    # With mu = 1000, rounding of friction can move the normal velocity by more than STOPPED.
    assert after[0] > -ROUNDING
    return RoundConeMotion(impulse, total, tuple(phases))


def _slip(A: FloatArray, mu: float, v_c: FloatArray, most: float) -> RoundConePhase:
    """Return the phase until slip, or the impact, ends."""

    def rates(_: float, state: FloatArray) -> FloatArray:
        """Tell how fast log slip, its angle and the impulse go."""
        u = np.array([np.cos(state[1]), np.sin(state[1])])
        push = np.array([1.0, *(-mu * u)])
        turn = A[1:] @ push
        along, across = u @ turn, u[0] * turn[1] - u[1] * turn[0]
        return np.array([along, across, *(np.exp(state[0]) * push)])

    def parts(_: float, state: FloatArray) -> float:
        return float(v_c[0] + A[0] @ state[2:])

    def stops(_: float, state: FloatArray) -> float:
        return float(state[0] - np.log(STOPPED / 2.0))

    def enough(_: float, state: FloatArray) -> float:
        return float(state[2] - most) if np.isfinite(most) else -1.0

    enough.terminal = True  # type: ignore[attr-defined]
    parts.terminal, parts.direction = True, 1.0  # type: ignore[attr-defined]
    stops.terminal, stops.direction = True, -1.0  # type: ignore[attr-defined]
    start = [np.log(np.linalg.norm(v_c[1:])), np.arctan2(v_c[2], v_c[1]), 0.0, 0.0, 0.0]
    found = solve_ivp(
        rates,
        (0.0, LONGEST),
        start,
        method="DOP853",
        events=(parts, stops, enough),
        rtol=ACCURACY,
        atol=ACCURACY,
    )
    assert found.status == 1, found.message
    return RoundConePhase(found.y[2:, -1], float(np.abs(np.diff(found.y[1])).sum()), "slips")


def _leave_rest(A: FloatArray, mu: float, v_c: FloatArray, most: float) -> RoundConePhase:
    """Return the phase from where slip is zero until the impact ends.

    Slip that starts in direction u keeps it, since A_tn - mu A_tt u = a u for some a > 0: then
    u = (mu A_tt + a)^-1 A_tn, whose length falls with a, is 1 for one a at most, and for none if
    the contact can stick.
    """
    A_tn, A_tt = A[1:, 0], A[1:, 1:]
    friction, word = -np.linalg.solve(A_tt, A_tn), "sticks"
    if np.linalg.norm(friction) > mu:

        def direction(a: float) -> FloatArray:
            return np.linalg.solve(mu * A_tt + a * np.eye(2), A_tn)

        largest = float(np.linalg.norm(A_tn))
        a = brentq(
            lambda a: np.linalg.norm(direction(a)) - 1.0, 0.0, largest, xtol=1e-15, rtol=1e-14
        )
        friction, word = -mu * direction(a), "leaves rest"
    push = np.array([1.0, *friction])
    return RoundConePhase(push * min(-v_c[0] / (A[0] @ push), most), 0.0, word)
