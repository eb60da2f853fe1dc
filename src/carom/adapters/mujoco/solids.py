"""Geoms of a MuJoCo model as solids."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from carom.systems.solids import NO_FACES, NO_VERTICES, Solid, pose
from carom.typing import FloatArray

KINDS: dict[int, str] = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE): "sphere",
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): "capsule",
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): "ellipsoid",
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): "cylinder",
    int(mujoco.mjtGeom.mjGEOM_BOX): "box",
    int(mujoco.mjtGeom.mjGEOM_MESH): "mesh",
}
HIDDEN = 3
"""Geoms in this group and above are hidden in MuJoCo's own viewer: shapes to collide with."""


def drawn_geoms(model: Any) -> list[int]:
    """Return the geoms that people expect to see; grounds are drawn as a grid."""
    known = [i for i in range(model.ngeom) if int(model.geom_type[i]) in KINDS]
    return [i for i in known if model.geom_group[i] < HIDDEN] or known


def solids_of(model: Any) -> list[Solid]:
    """Return the solids of a model."""
    return [_solid(model, i) for i in drawn_geoms(model)]


def placements_of(model: Any, data: Any) -> FloatArray:
    """Return the poses (n, 4, 4) of all solids where the data are."""
    geoms = drawn_geoms(model)
    return np.array([pose(data.geom_xpos[i], data.geom_xmat[i].reshape(3, 3)) for i in geoms])


def _solid(model: Any, i: int) -> Solid:
    kind, vertices, faces = KINDS[int(model.geom_type[i])], NO_VERTICES, NO_FACES
    if kind == "mesh":
        mesh = int(model.geom_dataid[i])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        vertices = np.array(model.mesh_vert[first : first + count], dtype=np.float64)
        first, count = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        faces = np.array(model.mesh_face[first : first + count], dtype=np.int64)
    red, green, blue = (float(x) for x in model.geom_rgba[i][:3])
    name = model.geom(i).name or f"geom {i}"
    size = np.array(model.geom_size[i], dtype=np.float64)
    return Solid(name, kind, size, vertices, faces, (red, green, blue))
