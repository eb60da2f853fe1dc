"""Scenes as data that a page draws: outlines, grounds, contacts, arrows."""

from __future__ import annotations

from typing import Any

import numpy as np

from carom.explorer.subjects import Case
from carom.systems.planar import PlanarSystem
from carom.systems.planar_bodies import Body, Circle
from carom.systems.planar_contacts import PlaneContact
from carom.systems.views import contact_points, moving_centers, view_of
from carom.typing import FloatArray

GHOSTS = 4
"""Number of positions that show where bodies go."""
REACH = 0.1
"""How far the fastest body goes in them, as a share of the view."""


def draw(case: Case) -> dict[str, Any] | None:
    """Return the drawing of a case in SI units, or None if it has no bodies."""
    system, q = case.system, case.q
    if system is None or q is None:
        return None
    at, velocity = moving_centers(system, q, case.problem.v_pre)
    places = iter(zip(at.tolist(), velocity.tolist(), _pushes(case, system), strict=True))
    poses = system.body_poses(q).tolist()
    bodies = []
    for body, pose in zip(system.bodies, poses, strict=True):
        drawn: dict[str, Any] = {"name": body.name, "pose": pose, "outline": _outline(body)}
        if body.mass > 0.0:
            drawn["center"], drawn["velocity"], drawn["push"] = next(places)
        bodies.append(drawn)
    pairs = system.contact_pairs
    planes = dict.fromkeys(pair.plane for pair in pairs if isinstance(pair, PlaneContact))
    return {
        "bodies": bodies,
        "planes": [{"point": plane.point, "normal": plane.normal} for plane in planes],
        "contacts": _contacts(system, q),
        "view": view_of(system, [q]).tolist(),
    }


def _outline(body: Body) -> list[dict[str, Any]]:
    drawn: list[dict[str, Any]] = [
        {"center": each.center, "radius": each.radius}
        if isinstance(each, Circle)
        else {"points": each.points}
        for each in body.outline
    ]
    return drawn or [{"dot": body.com}]


def _contacts(system: PlanarSystem, q: FloatArray) -> list[dict[str, Any]]:
    """Return where contacts are, and the normals of those with a half-plane."""
    found = []
    for pair, at in zip(system.contact_pairs, contact_points(system, q).tolist(), strict=True):
        normal = pair.plane.normal if isinstance(pair, PlaneContact) else None
        found.append({"name": pair.name, "at": at, "normal": normal})
    return found


def _pushes(case: Case, system: PlanarSystem) -> list[list[list[float]]]:
    """Return per body with mass the change of v (nv, 2) that adds a unit to its centre's velocity.

    It is that of an impulse at the centre of mass, M^-1 J^T (J M^-1 J^T)^-1, so that joints hold
    while an arrow is dragged.
    """
    assert case.q is not None
    units = np.eye(system.nv)
    # (nv, bodies, 2): columns of the centres' Jacobians.
    columns = np.array([moving_centers(system, case.q, unit)[1] for unit in units])
    pushes = []
    for J in columns.transpose(1, 2, 0):
        change = np.linalg.solve(case.problem.M, J.T)
        pushes.append((change @ np.linalg.pinv(J @ change)).tolist())
    return pushes


def ghosts(case: Case, v: FloatArray) -> list[list[list[float]]]:
    """Return poses of all bodies (n, bodies, 3) a little later, as they go on with a velocity."""
    system, q = case.system, case.q
    if system is None or q is None:
        return []
    _, velocity = moving_centers(system, q, v)
    size = float(np.ptp(view_of(system, [q]), axis=0).max())
    # Turning moves outlines too, at about half the view's size from the centre.
    fastest = max(
        float(np.linalg.norm(velocity, axis=1).max(initial=0.0)),
        0.25 * size * float(np.abs(v).max()),
    )
    if fastest <= 1e-9 * size:
        return []
    times = REACH * size / fastest * np.arange(1, GHOSTS + 1) / GHOSTS
    return [system.body_poses(q + t * v).tolist() for t in times]


def arrows(case: Case, v: FloatArray) -> list[list[float]]:
    """Return the velocities (bodies with mass, 2) of centres of mass [m/s]."""
    if case.system is None or case.q is None:
        return []
    return moving_centers(case.system, case.q, v)[1].tolist()
