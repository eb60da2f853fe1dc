"""Where the parts of a planar system are in the world, for figures and pages that show it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carom.systems.planar import PlanarSystem
from carom.systems.planar_bodies import Circle
from carom.systems.planar_contacts import PlaneContact
from carom.typing import ArrayLike, FloatArray

Moving = tuple[FloatArray, FloatArray]
"""Points (n, 2) [m] and their velocities (n, 2) [m/s]."""

MARGIN = 0.12
"""Margin around all that is seen, as a share of its size."""
MOMENT = 1e-6
"""Step of the central difference that gives the velocity of centres of mass [s]."""


def view_of(system: PlanarSystem, configurations: Sequence[ArrayLike]) -> FloatArray:
    """Return the lower left and the upper right corner (2, 2) of all that is to be seen [m]."""
    seen = np.concatenate([_corners(system, q) for q in configurations])
    size = float(np.ptp(seen, axis=0).max()) or 1.0
    # Half-planes are seen where a contact is near them; contacts of two discs have no other foot.
    pairs = system.contact_pairs
    planes = [x.plane.normal if isinstance(x, PlaneContact) else (0.0, 0.0) for x in pairs]
    normals = np.array(planes).reshape(-1, 2)
    for q in configurations:
        gap = system.gap(q)
        feet = contact_points(system, q) - gap[:, None] * normals
        seen = np.concatenate([seen, feet[np.abs(gap) <= size]])
    low, high = seen.min(axis=0), seen.max(axis=0)
    margin = MARGIN * (float((high - low).max()) or 1.0)
    return np.array([low - margin, high + margin])


def contact_points(system: PlanarSystem, q: ArrayLike) -> FloatArray:
    """Return where contacts touch (m, 2) [m]: on the disc, or half way between two discs."""
    frames = system.frames(q)
    points = []
    for contact, gap in zip(system.contact_pairs, system.gap(q), strict=True):
        center = np.array(frames[contact.disc.body].point(contact.disc.center))
        if isinstance(contact, PlaneContact):
            points.append(center - contact.disc.radius * np.array(contact.plane.normal))
        else:
            other = np.array(frames[contact.other.body].point(contact.other.center))
            normal = (center - other) / np.linalg.norm(center - other)
            points.append(center - (contact.disc.radius + 0.5 * gap) * normal)
    return np.array(points).reshape(-1, 2)


def moving_centers(system: PlanarSystem, q: ArrayLike, v: ArrayLike) -> Moving:
    """Return centres of mass (n, 2) [m], of bodies that have one, and velocities (n, 2) [m/s]."""
    bodies = [body for body in system.bodies if body.mass > 0.0]
    move = MOMENT * np.asarray(v, dtype=np.float64)
    both = [system.frames(np.asarray(q) + sign * move) for sign in (-0.5, 0.5)]
    found = [[at[body.name].point(body.com) for body in bodies] for at in both]
    before, after = np.array(found).reshape(2, -1, 2)
    return 0.5 * (before + after), (after - before) / MOMENT


def _corners(system: PlanarSystem, q: ArrayLike) -> FloatArray:
    """Return points (n, 2) in the world between which all outlines lie [m]."""
    frames = system.frames(q)
    found: list[FloatArray] = []
    for body in system.bodies:
        frame = frames[body.name]
        for outline in body.outline:
            if isinstance(outline, Circle):
                center = np.array(frame.point(outline.center))
                found += [center - outline.radius, center + outline.radius]
            else:
                found += [np.array(frame.point(point)) for point in outline.points]
        if not body.outline:
            found.append(np.array(frame.point(body.com)))
    return np.array(found)
