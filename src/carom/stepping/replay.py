"""Judge a motion of an impact by the inclusion itself [HalmPosa, eq:multicontact].

Nothing is taken on trust but the impulses: a motion is a sequence of straight stretches of the
contact velocities, one per row of impulses.
"""

from __future__ import annotations

import numpy as np

from carom.contact_space import ContactSpace
from carom.typing import FloatArray

OPEN = 1e-12
"""Some contact has to approach faster than this, or the impact is over: wider than rounding."""


NUM_PARTS = 32
"""Number of steps by which slip that turns is integrated along a stretch."""


def replay(
    space: ContactSpace, start: FloatArray, impulses: FloatArray, tol: float = 1e-9
) -> list[str]:
    """Return what is illegal in a motion, one sentence each; none if it obeys the inclusion.

    Args:
        space: The impact.
        start: Dimensionless contact velocities (c,) before the motion.
        impulses: Dimensionless impulses (n, c) of its stretches.
        tol: Tolerance of dimensionless velocities and impulses.
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
    found = _faults(space.mu, *stretches, off, tol)
    # Contacts at rest may start an impact, so the first stretch is free to.
    over = parts[:-1, :, 0].min(axis=1) > -OPEN
    found += [f"stretch {k}: the impact is over" for k in np.flatnonzero(over) if k]
    # (u + after) . impulse / 2 is the change of kinetic energy.
    rises = 0.5 * ((u[:-1] + after) * rows).sum(axis=1)
    found += [
        f"stretch {k}: energy rises by {rises[k]:.3g}" for k in np.flatnonzero(2.0 * rises > tol)
    ]
    if (least := parts[-1, :, 0].min()) < -tol:
        found.append(f"end: a contact approaches at {-least:.3g}")
    return found


def _faults(
    mu: FloatArray,
    before: FloatArray,
    after: FloatArray,
    impulse: FloatArray,
    off: FloatArray,
    tol: float,
) -> list[str]:
    """Return what the contacts do wrong along stretches; arrays are (n, m, width)."""
    push, friction = impulse[..., 0], impulse[..., 1:]
    size = np.linalg.norm(friction, axis=-1)
    acts = (push != 0.0) | (size > 0.0)
    excess = size - mu * push
    parting = np.maximum(before[..., 0], after[..., 0])
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


def _off_on_the_way(
    space: ContactSpace,
    before: FloatArray,
    after: FloatArray,
    impulse: FloatArray,
    off: FloatArray,
    tol: float,
) -> FloatArray:
    """Return by how much the friction of a stretch (m,) differs from that of slip integrated.

    Slip may turn back on the way, and then does not lie between both ends. With the stretch's rates
    of normal impulses, Coulomb's law says how it turns, by the method of Runge and Kutta. Contacts
    whose slip begins or ends are not looked at again.
    """
    speeds = [np.linalg.norm(each[:, 1:], axis=1) for each in (before, after)]
    slips, sticks = np.minimum(*speeds) > tol, np.maximum(*speeds) <= tol
    acts = impulse[:, 0] > 0.0
    if (acts & ~slips & ~sticks).any():
        return off
    held = np.flatnonzero(np.repeat(acts & sticks, 3) & (np.arange(3 * len(acts)) % 3 > 0))
    response = np.linalg.pinv(space.A[np.ix_(held, held)], 1e-12)

    def force(u: FloatArray) -> FloatArray:
        t = u.reshape(-1, 3)[:, 1:]
        f = np.zeros_like(before)
        f[:, 0] = impulse[:, 0]
        size = np.maximum(np.linalg.norm(t, axis=1), 1e-300)
        f[:, 1:] = np.where(slips, -space.mu * impulse[:, 0] / size, 0.0)[:, None] * t
        flat = f.ravel()
        flat[held] = -response @ (space.A[held] @ flat)
        return flat

    u, total, h = before.ravel(), np.zeros(before.size), 1.0 / NUM_PARTS
    for _ in range(NUM_PARTS):
        first = force(u)
        second = force(u + 0.5 * h * space.A @ first)
        third = force(u + 0.5 * h * space.A @ second)
        fourth = force(u + h * space.A @ third)
        part = h / 6.0 * (first + 2.0 * second + 2.0 * third + fourth)
        total += part
        u = u + space.A @ part
    difference = np.linalg.norm(total.reshape(-1, 3)[:, 1:] - impulse[:, 1:], axis=1)
    # Friction of contacts that stick need not be unique, and their velocity stays zero.
    return np.where(slips, difference, np.where(np.abs(u - after.ravel()).max() > tol, off, 0.0))
