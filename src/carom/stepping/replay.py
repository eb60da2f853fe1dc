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
    found = _faults(space.mu, parts[:-1], parts[1:], rows.reshape(len(rows), -1, width), tol)
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
    mu: FloatArray, before: FloatArray, after: FloatArray, impulse: FloatArray, tol: float
) -> list[str]:
    """Return what the contacts do wrong along stretches; arrays are (n, m, width)."""
    push, friction = impulse[..., 0], impulse[..., 1:]
    size = np.linalg.norm(friction, axis=-1)
    acts = (push != 0.0) | (size > 0.0)
    excess = size - mu * push
    parting = np.maximum(before[..., 0], after[..., 0])
    off = _off(mu * push, friction, before[..., 1:], after[..., 1:], tol)
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
    limit: FloatArray, friction: FloatArray, before: FloatArray, after: FloatArray, tol: float
) -> FloatArray:
    """Return by how much friction fails to oppose slip that turns from one end to the other.

    In the plane slip cannot turn, and a velocity that changes sign cannot be opposed at both ends.
    In space friction is a mean of the directions between both ends, which lies between the chord
    and the arc. Where slip is zero at one end only, it may have turned on the way there.
    """
    sizes = [np.linalg.norm(slip, axis=-1) for slip in (before, after)]
    slips = [
        np.where((size > tol)[..., None], slip / np.maximum(size, 1e-300)[..., None], 0.0)
        for slip, size in zip((before, after), sizes, strict=True)
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
