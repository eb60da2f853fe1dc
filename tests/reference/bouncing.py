"""Random motions of planar impacts with restitution, slowly: one contact at a time.

    v' = M^-1 sum_i l_i (J_n,i' + J_t,i' f_i),  E_i' = l_i (e_i^2 max(-u_i, 0) - max(u_i, 0)),

where contact i acts (l_i > 0) only if u_i <= 0 or E_i > 0, until all u_i >= 0 and E = 0. Many
motions of one impact are stepped side by side. A contact that is drawn acts alone for a random
normal impulse, which ends early where it turns from compression to restitution, has returned all
its energy, or starts to stick. So every stretch is exact, up to rounding. Contacts that act at once
are the limit of many short turns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import carom

FloatArray = NDArray[np.float64]

DONE = 1e-10
"""Share of the impact's speed below which a contact has nothing to compress."""

EMPTY = 1e-16
"""Share of the impact's energy below which a contact has nothing to return."""


@dataclass
class Bundle:
    """Motions side by side, in contact coordinates.

    Attributes:
        A: (c, c) inverse inertia of the contacts.
        c: (n, c) contact velocities.
        E: (n, m) energies that contacts can still return.
        impulses: (n, c) accrued impulses.
        kinetic: (n,) changes of kinetic energy.
        worst_rise: Largest rise of kinetic energy plus sum E in one stretch, as a share.
        ended: (n,) whether motions have ended.
    """

    A: FloatArray
    c: FloatArray
    E: FloatArray
    impulses: FloatArray
    kinetic: FloatArray
    ended: NDArray[np.bool_]
    worst_rise: float = -np.inf


def random_bounces(
    problem: carom.ImpactProblem,
    rng: np.random.Generator,
    num_motions: int,
    *,
    largest: float = 0.3,
    num_steps: int = 2000,
) -> Bundle:
    """Return motions after at most num_steps stretches.

    Args:
        problem: The impact, with planar contacts.
        rng: The only source of chance.
        num_motions: Number of motions.
        largest: Largest impulse of one stretch, as a share of what stops a contact that has all
            of the energy.
        num_steps: Number of stretches after which motions are given up.
    """
    m, width = problem.num_contacts, 2
    A = problem.J @ np.linalg.solve(problem.M, problem.J.T)
    speed = float(np.sqrt(problem.v_pre @ problem.M @ problem.v_pre))
    normal = np.sqrt(np.diag(A)[::width])
    c = np.tile(problem.J @ problem.v_pre, (num_motions, 1))
    c[:, ::width][np.abs(c[:, ::width]) < DONE * speed * normal] = 0.0
    zeros = np.zeros((num_motions, m))
    out = Bundle(A, c, zeros, np.zeros_like(c), np.zeros(num_motions), zeros.any(axis=1))
    # Each motion favours contacts of its own, takes stretches of its own, and keeps to one contact
    # for a while or not.
    favour = rng.dirichlet(np.ones(m) * 0.5, num_motions) + 1e-3
    length = largest * 10.0 ** rng.uniform(-1.5, 0.0, num_motions)
    for _ in range(num_steps):
        acts = (out.c[:, ::width] < -DONE * speed * normal) | (EMPTY * speed**2 < out.E)
        out.ended = ~acts.any(axis=1)
        if out.ended.all():
            break
        fade = rng.random((num_motions, m)) ** (1.0 / favour)
        chosen = np.where(acts, fade, -1.0).argmax(axis=1)
        for i in range(m):
            own = np.flatnonzero((chosen == i) & ~out.ended)
            if len(own):
                most = length[own] * rng.random(len(own)) * speed / normal[i]
                _stretch(out, own, i, most, problem, speed)
    return out


def _stretch(
    out: Bundle,
    own: NDArray[np.int64],
    i: int,
    most: FloatArray,
    problem: carom.ImpactProblem,
    speed: float,
) -> None:
    """Let contact i act alone in some motions, for at most these normal impulses."""
    width, e, mu = 2, float(problem.restitution[i]), float(problem.mu[i])
    rows = slice(i * width, (i + 1) * width)
    block, before = out.A[rows, rows], out.c[own, rows].copy()
    E, scale = out.E[own, i], speed * np.sqrt(block[0, 0])
    force = _planar(block, mu, before, speed)
    p, empties, sticks = _end(before, force @ block.T, E, most)
    u, r = before[:, 0], (force @ block.T)[:, 0]
    impulse = np.zeros((len(own), len(out.A)))
    impulse[:, rows] = force * p[:, None]
    change = impulse @ out.A
    mean = u + 0.5 * r * p
    gain = np.where(mean < 0.0, -(e**2) * mean, -mean) * p
    kinetic = ((out.c[own] + 0.5 * change) * impulse).sum(axis=1)
    left = np.where(empties, 0.0, np.maximum(E + gain, 0.0))
    rise = (kinetic + left - E).max() / speed**2
    out.worst_rise = max(out.worst_rise, float(rise))
    out.c[own] += change
    out.impulses[own] += impulse
    out.kinetic[own] += kinetic
    out.E[own, i] = left
    after = out.c[own, rows]
    after[:, 0] = np.where(np.abs(after[:, 0]) < 1e-14 * scale, 0.0, after[:, 0])
    after[:, 1] = np.where(sticks, 0.0, after[:, 1])
    out.c[own, rows] = after


def _end(
    before: FloatArray, rate: FloatArray, E: FloatArray, most: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where stretches end, whether all energy is returned then, and whether slip ends."""
    u, r, t = before[:, 0], rate[:, 0], before[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        # From compression to restitution.
        p = np.where((u < 0.0) & (r > 0.0), np.minimum(most, -u / r), most)
        # All is returned: u p + r p^2 / 2 = E, which is a rising branch until u = 0.
        square = u * u + 2.0 * r * E
        sum_ = u + np.sqrt(np.maximum(square, 0.0))
        back = np.where(sum_ > 0.0, 2.0 * E, 0.0) / sum_
        empties = (u >= 0.0) & (square >= 0.0) & (back > 0.0) & (back <= p)
        p = np.where(empties, back, p)
        # Restitution ends where u = 0, if friction slows it down, and compression begins.
        stops = (u > 0.0) & (r < 0.0) & (-u / r < p)
        p, empties = np.where(stops, -u / r, p), empties & ~stops
        slips = np.where(t * rate[:, 1] < 0.0, -t / rate[:, 1], np.inf)
        sticks = slips <= p
    return np.where(sticks, slips, p), empties & (~sticks | (slips == p)), sticks


def _planar(block: FloatArray, mu: float, before: FloatArray, speed: float) -> FloatArray:
    """Return the force per unit of normal impulse (n, 2) of a contact that acts alone."""
    slip = before[:, 1]
    rest = np.abs(slip) <= 1e-14 * speed * np.sqrt(block[1, 1])
    held = -block[1, 0] / block[1, 1] if block[1, 1] > 0.0 else 0.0
    # Where friction cannot hold it, slip sets out the way it is pushed.
    at_rest = held if abs(held) <= mu else -mu * np.sign(block[1, 0])
    friction = np.where(rest, at_rest, -mu * np.sign(slip))
    return np.stack([np.ones_like(slip), friction], axis=1)
