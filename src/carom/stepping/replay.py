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
    found: list[str] = []
    u = np.asarray(start, dtype=np.float64)
    for k, row in enumerate(np.asarray(impulses, dtype=np.float64)):
        after = u + space.A @ row
        before, behind = u.reshape(-1, width), after.reshape(-1, width)
        own = row.reshape(-1, width)
        found += [f"stretch {k}: {text}" for text in _faults(space.mu, before, behind, own, tol)]
        # Contacts at rest may start an impact, so the first stretch is free to.
        if k and before[:, 0].min() > -OPEN:
            found.append(f"stretch {k}: the impact is over")
        # (u + after) . impulse / 2 is the change of kinetic energy.
        if (u + after) @ row > tol:
            found.append(f"stretch {k}: energy rises by {0.5 * (u + after) @ row:.3g}")
        u = after
    if (least := u.reshape(-1, width)[:, 0].min()) < -tol:
        found.append(f"end: a contact approaches at {-least:.3g}")
    return found


def _faults(
    mu: FloatArray, before: FloatArray, after: FloatArray, impulse: FloatArray, tol: float
) -> list[str]:
    """Return what the contacts (m, width) do wrong along one stretch."""
    found = []
    push, friction = impulse[:, 0], impulse[:, 1:]
    size = np.linalg.norm(friction, axis=1)
    for i in np.flatnonzero((push != 0.0) | (size > 0.0)):
        if push[i] < 0.0:
            found.append(f"contact {i} pulls by {-push[i]:.3g}")
        if (excess := size[i] - mu[i] * push[i]) > tol:
            found.append(f"friction of contact {i} exceeds the cone by {excess:.3g}")
        if (parting := max(before[i, 0], after[i, 0])) > tol:
            found.append(f"contact {i} acts while parting at {parting:.3g}")
        wrong = _off(mu[i] * push[i], friction[i], before[i, 1:], after[i, 1:], tol)
        if wrong > tol:
            found.append(f"friction of contact {i} is off by {wrong:.3g}")
    return found


def _off(
    limit: float, friction: FloatArray, before: FloatArray, after: FloatArray, tol: float
) -> float:
    """Return by how much friction fails to oppose slip that turns from one end to the other.

    In the plane slip cannot turn, and a velocity that changes sign cannot be opposed at both ends.
    In space friction is a mean of the directions between both ends, which lies between the chord
    and the arc. Where slip is zero at one end only, it may have turned on the way there.
    """
    slips = [slip / size for slip in (before, after) if (size := np.linalg.norm(slip)) > tol]
    if not slips:
        return 0.0
    ends = [-limit * slip for slip in slips]
    if len(friction) == 1:
        return max(float(abs(friction - end)[0]) for end in ends)
    if len(ends) == 1:
        return max(float(friction @ slips[0]), 0.0)
    # The nearest point of the chord, and the height of the arc above its middle.
    along = ends[1] - ends[0]
    share = float((friction - ends[0]) @ along) / max(float(along @ along), 1e-300)
    nearest = ends[0] + min(max(share, 0.0), 1.0) * along
    height = limit - float(np.linalg.norm(0.5 * (ends[0] + ends[1])))
    return max(float(np.linalg.norm(friction - nearest)) - height, 0.0)
