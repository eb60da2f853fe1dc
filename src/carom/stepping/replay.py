"""Judge a motion of an impact by the inclusion itself [HalmPosa, eq:multicontact].

Nothing is taken on trust but the impulses: a motion is a sequence of straight stretches of the
contact velocities, one per row of impulses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carom.contact_space import ContactSpace
from carom.typing import BoolArray, FloatArray

OPEN = 1e-12
"""Some contact has to approach faster than this, or the impact is over: wider than rounding."""


ROUNDING = 1e-3
"""Share of the tolerance by which a contact may return more energy than it has, time and again."""

NUM_PARTS, MOST_PARTS = 32, 2000
"""Number of steps by which slip that turns is integrated along a stretch, and the most if it turns
fast."""


def replay(
    space: ContactSpace,
    start: FloatArray,
    impulses: FloatArray,
    tol: float = 1e-9,
    restitution: FloatArray | None = None,
) -> list[str]:
    """Return what is illegal in a motion, one sentence each; none if it obeys the inclusion.

    Args:
        space: The impact.
        start: Dimensionless contact velocities (c,) before the motion.
        impulses: Dimensionless impulses (n, c) of its stretches.
        tol: Tolerance of dimensionless velocities, impulses and energies.
        restitution: Coefficients (m,), if contacts return energy.
    """
    width = space.width
    rows = np.asarray(impulses, dtype=np.float64).reshape(-1, len(start))
    first = np.asarray(start, dtype=np.float64)
    after = first + np.cumsum(rows @ space.A.T, axis=0)
    u = np.vstack([first, after])
    parts = u.reshape(len(u), -1, width)
    stretches = parts[:-1], parts[1:], rows.reshape(len(rows), -1, width)
    off = _off(space.mu, *stretches, tol)
    if width == 3:
        for k in np.flatnonzero((off > tol).any(axis=1)):
            before, end, impulse = (each[k] for each in stretches)
            off[k] = _off_on_the_way(space, before, end, impulse, off[k], tol)
    e = np.zeros(len(space.mu)) if restitution is None else restitution
    energies, lacking = _energies(space, e, *stretches, tol)
    found = _faults(space.mu, *stretches, off, e, tol)
    found += [
        f"stretch {k}: contact {i} returns {lacking[k, i]:.3g} more than it has"
        for k, i in np.argwhere(lacking > tol)
    ]
    # Contacts at rest may start an impact, so the first stretch is free to.
    over = (parts[:-1, :, 0].min(axis=1) > -OPEN) & (energies[:-1].max(axis=1) <= 0.0)
    found += [f"stretch {k}: the impact is over" for k in np.flatnonzero(over) if k]
    # (u + after) . impulse / 2 is the change of kinetic energy.
    rises = 0.5 * ((u[:-1] + after) * rows).sum(axis=1) + np.diff(energies.sum(axis=1))
    found += [
        f"stretch {k}: energy rises by {rises[k]:.3g}" for k in np.flatnonzero(2.0 * rises > tol)
    ]
    if (least := parts[-1, :, 0].min()) < -tol:
        found.append(f"end: a contact approaches at {-least:.3g}")
    if (most := energies[-1].max()) > tol:
        found.append(f"end: a contact still has energy {most:.3g}")
    return found


def _faults(
    mu: FloatArray,
    before: FloatArray,
    after: FloatArray,
    impulse: FloatArray,
    off: FloatArray,
    restitution: FloatArray,
    tol: float,
) -> list[str]:
    """Return what the contacts do wrong along stretches; arrays are (n, m, width)."""
    push, friction = impulse[..., 0], impulse[..., 1:]
    size = np.linalg.norm(friction, axis=-1)
    acts = (push != 0.0) | (size > 0.0)
    excess = size - mu * push
    # A contact that returns energy parts; whether it has any is judged by itself.
    parting = np.where(restitution > 0.0, 0.0, np.maximum(before[..., 0], after[..., 0]))
    judged = (
        ("contact {} pulls by {:.3g}", push < 0.0, -push),
        ("friction of contact {} exceeds the cone by {:.3g}", excess > tol, excess),
        ("contact {} acts while parting at {:.3g}", parting > tol, parting),
        ("friction of contact {} is off by {:.3g}", off > tol, off),
    )
    return [
        f"stretch {k}: {text.format(i, amount[k, i])}"
        for text, is_wrong, amount in judged
        for k, i in np.argwhere(acts & is_wrong)
    ]


def _off(
    mu: FloatArray, before: FloatArray, after: FloatArray, impulse: FloatArray, tol: float
) -> FloatArray:
    """Return by how much friction fails to oppose slip that turns from one end to the other.

    In the plane slip cannot turn, and a velocity that changes sign cannot be opposed at both ends.
    In space friction is a mean of the directions between both ends, which lies between the chord
    and the arc. Where slip is zero at one end only, it may have turned on the way there.
    """
    limit, friction = mu * impulse[..., 0], impulse[..., 1:]
    sizes = [np.linalg.norm(each[..., 1:], axis=-1) for each in (before, after)]
    slips = [
        np.where((size > tol)[..., None], each[..., 1:] / np.maximum(size, 1e-300)[..., None], 0.0)
        for each, size in zip((before, after), sizes, strict=True)
    ]
    moves = [size > tol for size in sizes]
    if friction.shape[-1] == 1:
        worst = [
            np.where(own, np.linalg.norm(friction + limit[..., None] * slip, axis=-1), 0.0)
            for own, slip in zip(moves, slips, strict=True)
        ]
        return np.where(limit == 0.0, 0.0, np.maximum(*worst))
    first, last = (-limit[..., None] * slip for slip in slips)
    # The nearest point of the chord, and the height of the arc above its middle.
    along = last - first
    share = ((friction - first) * along).sum(-1) / np.maximum((along * along).sum(-1), 1e-300)
    nearest = first + np.clip(share, 0.0, 1.0)[..., None] * along
    height = limit - np.linalg.norm(0.5 * (first + last), axis=-1)
    turning = np.maximum(np.linalg.norm(friction - nearest, axis=-1) - height, 0.0)
    # Friction is not against slip, at least; the other slip is zero here.
    against = np.maximum((friction * (slips[0] + slips[1])).sum(-1), 0.0)
    off = np.where(moves[0] & moves[1], turning, against)
    return np.where(limit == 0.0, 0.0, off)


def _energies(
    space: ContactSpace,
    restitution: FloatArray,
    before: FloatArray,
    after: FloatArray,
    impulse: FloatArray,
    tol: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the energies (n + 1, m) between stretches, and what is returned beyond them (n, m)."""
    energies = np.zeros((len(before) + 1, len(space.mu)))
    if not restitution.any():
        return energies, np.zeros(before.shape[:2])
    done = 0.5 * impulse[..., 0] * (before[..., 0] + after[..., 0])
    for k in range(len(before)):
        if before.shape[-1] == 3:
            way = _Way.of(space, before[k], after[k], impulse[k], tol)
            done[k] = done[k] if way is None else way.work
        left = energies[k] - np.where(done[k] < 0.0, restitution**2, 1.0) * done[k]
        # Debts are kept, but for rounding: a contact may begin anew with very little energy.
        energies[k + 1] = np.where((left < 0.0) & (left > -ROUNDING * tol), 0.0, left)
    return energies, np.maximum(-energies[1:], 0.0)


def _off_on_the_way(
    space: ContactSpace,
    before: FloatArray,
    after: FloatArray,
    impulse: FloatArray,
    off: FloatArray,
    tol: float,
) -> FloatArray:
    """Return by how much the friction of a stretch (m,) differs from that of slip integrated."""
    way = _Way.of(space, before, after, impulse, tol)
    if way is None:
        return off
    difference = np.linalg.norm(way.impulse[:, 1:] - impulse[:, 1:], axis=1)
    is_elsewhere = np.abs(way.u - after.ravel()).max() > tol
    # Friction of contacts that stick need not be unique, and their velocity stays zero.
    return np.where(way.slips, difference, np.where(is_elsewhere, off, 0.0))


class _Way(NamedTuple):
    """A stretch in space, integrated: who slips, where it ends, impulses, work of normal forces."""

    slips: BoolArray  # (m,)
    u: FloatArray  # (c,)
    impulse: FloatArray  # (m, 3)
    work: FloatArray  # (m,)

    @classmethod
    def of(
        cls,
        space: ContactSpace,
        before: FloatArray,
        after: FloatArray,
        impulse: FloatArray,
        tol: float,
    ) -> _Way | None:
        """Integrate a stretch by the method of Runge and Kutta; None if slip begins or ends in it.

        Slip may turn back on the way, and then does not lie between both ends. With the stretch's
        rates of normal impulses, Coulomb's law says how it turns.
        """
        speeds = [np.linalg.norm(each[:, 1:], axis=1) for each in (before, after)]
        slips, sticks = np.minimum(*speeds) > tol, np.maximum(*speeds) <= tol
        acts = impulse[:, 0] > 0.0
        if (acts & ~slips & ~sticks).any():
            return None
        held = np.flatnonzero(np.repeat(acts & sticks, 3) & (np.arange(3 * len(acts)) % 3 > 0))
        response = np.linalg.pinv(space.A[np.ix_(held, held)], 1e-12)

        normal, limit = impulse.copy(), np.where(slips, -space.mu * impulse[:, 0], 0.0)
        normal[:, 1:] = 0.0

        def force(u: FloatArray) -> FloatArray:
            # Called thousands of times for one motion: few calls of NumPy.
            f, t = normal.copy(), u.reshape(-1, 3)
            size = np.sqrt(t[:, 1] * t[:, 1] + t[:, 2] * t[:, 2])
            f[:, 1:] = (limit / np.maximum(size, 1e-300))[:, None] * t[:, 1:]
            flat = f.ravel()
            if len(held):
                flat[held] = -response @ (space.A[held] @ flat)
            return flat

        # Slip turns at the rate of friction over slip, which explicit steps have to follow.
        pull = space.mu * impulse[:, 0] * np.abs(np.diag(space.A).reshape(-1, 3)[:, 1:]).sum(1)
        turning = np.where(acts & slips, pull / np.maximum(np.minimum(*speeds), tol), 0.0).max()
        num_parts = int(min(NUM_PARTS + turning, MOST_PARTS))
        u, total, h = before.ravel(), np.zeros(before.size), 1.0 / num_parts
        work, last = np.zeros(len(acts)), force(u)
        for _ in range(num_parts):
            first = last
            second = force(u + 0.5 * h * space.A @ first)
            third = force(u + 0.5 * h * space.A @ second)
            fourth = force(u + h * space.A @ third)
            part = h / 6.0 * (first + 2.0 * second + 2.0 * third + fourth)
            ends = u, u + space.A @ part
            last = force(ends[1])
            # Euler and Maclaurin's correction, with the rates of u at both ends.
            mean = 0.5 * (ends[0] + ends[1]) + h / 12.0 * space.A @ (first - last)
            work += h * impulse[:, 0] * mean[::3]
            total, u = total + part, ends[1]
        return cls(slips, u, total.reshape(-1, 3), work)
