"""Collision geometry of Drake: ground, contacts with it, and contacts of shapes with each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from pydrake.geometry import Box, Capsule, Convex, Mesh, Role, Sphere
from pydrake.geometry import HalfSpace as GroundShape
from pydrake.multibody.plant import CalcContactFrictionFromSurfaceProperties

from carom.adapters.contact_points import ContactPoint, hull_points, names_of, shape_points
from carom.adapters.drake_plant import body_names, check_plant
from carom.adapters.pairs import Nearest, Slot
from carom.errors import InvalidProblem
from carom.systems.half_space import HalfSpace


def scene_contacts(
    plant: Any, scene_graph: Any, bodies: Iterable[str] | None = None
) -> tuple[HalfSpace, list[ContactPoint]]:
    """Return the ground of a scene, and the contacts of collision geometry with it.

    A sphere has one contact, a capsule two, a box its corners, a mesh those of its convex hull, up
    to 64: against a half-space nothing else of them can touch first. Pairs that the scene filters
    out are left out. Dynamic friction is combined as in Drake's time stepping.

    Args:
        plant: `MultibodyPlant`, finalized.
        scene_graph: `SceneGraph` that it is registered with.
        bodies: Names of the bodies whose geometry may touch; all if not given.
    """
    check_plant(plant)
    inspector = scene_graph.model_inspector()
    ground_id = _ground(inspector)
    pose = inspector.GetPoseInFrame(ground_id)
    ground = HalfSpace(pose.translation(), pose.rotation().matrix()[:, 2])
    names = body_names(plant)
    chosen = names_of("body", names.values() if bodies is None else bodies, names.values())
    contacts = []
    for shape_id in inspector.GetAllGeometryIds(Role.kProximity):
        body = plant.GetBodyFromFrameId(inspector.GetFrameId(shape_id))
        is_pair = shape_id != ground_id and not inspector.CollisionFiltered(shape_id, ground_id)
        if body is not None and names[body.index()] in chosen and is_pair:
            mu = combined_friction(inspector, shape_id, ground_id)
            contacts += _points_of(inspector, shape_id, names[body.index()], mu)
    return ground, contacts


def _ground(inspector: Any) -> Any:
    """Return the half-space that is fixed to the world."""
    found = [
        shape_id
        for shape_id in inspector.GetAllGeometryIds(Role.kProximity)
        if isinstance(inspector.GetShape(shape_id), GroundShape)
        and inspector.GetFrameId(shape_id) == inspector.world_frame_id()
    ]
    if len(found) != 1:
        raise InvalidProblem(
            f"scene_graph: expected one HalfSpace with collision geometry at the world's body, got "
            f"{len(found)}; register one, or give contacts and ground by hand"
        )
    return found[0]


def combined_friction(inspector: Any, one: Any, other: Any) -> float:
    """Return the coefficient of dynamic friction of two shapes, combined as Drake does."""
    frictions = []
    for shape_id in (one, other):
        properties = inspector.GetProximityProperties(shape_id)
        if not properties.HasProperty("material", "coulomb_friction"):
            raise InvalidProblem(
                f"geometry {inspector.GetName(shape_id)!r} has no friction; add a CoulombFriction "
                f"to its ProximityProperties"
            )
        frictions.append(properties.GetProperty("material", "coulomb_friction"))
    return float(CalcContactFrictionFromSurfaceProperties(*frictions).dynamic_friction())


def _points_of(inspector: Any, shape_id: Any, frame: str, mu: float) -> list[ContactPoint]:
    pose, shape = inspector.GetPoseInFrame(shape_id), inspector.GetShape(shape_id)
    name = f"{frame}::{inspector.GetName(shape_id).split('::')[-1]}"
    if isinstance(shape, Sphere):
        half, radius = (0.0, 0.0, 0.0), shape.radius()
    elif isinstance(shape, Box):
        half, radius = tuple(np.array(shape.size()) / 2.0), 0.0
    elif isinstance(shape, Capsule):
        half, radius = (0.0, 0.0, shape.length() / 2.0), shape.radius()
    elif isinstance(shape, Convex | Mesh):
        hull = shape.GetConvexHull()
        vertices = np.array([hull.vertex(k) for k in range(hull.num_vertices())])
        owner = ContactPoint(frame, pose.translation(), 0.0, name, mu)
        return hull_points(owner, pose.rotation().matrix(), vertices)
    else:
        raise InvalidProblem(
            f"geometry {name!r} is a {type(shape).__name__}, and only spheres, boxes, capsules and "
            f"meshes are supported; choose bodies, or give ContactPoints of its frame {frame!r}"
        )
    owner = ContactPoint(frame, pose.translation(), radius, name, mu)
    return shape_points(owner, pose.rotation().matrix(), half)


class ScenePairs:
    """All pairs of shapes of a scene that may collide, but for those with a half-space.

    Args:
        plant: `MultibodyPlant`, finalized.
        scene_graph: `SceneGraph` that it is registered with.
    """

    def __init__(self, plant: Any, scene_graph: Any) -> None:
        self._plant, self._scene = plant, scene_graph
        self._context = scene_graph.CreateDefaultContext()
        inspector, names = scene_graph.model_inspector(), body_names(plant)
        self._pairs: list[tuple[Any, Any]] = []
        self.slots: list[Slot] = []
        candidates = inspector.GetCollisionCandidates()
        for pair in sorted(candidates, key=lambda ids: [each.get_value() for each in ids]):
            planes = [isinstance(inspector.GetShape(each), GroundShape) for each in pair]
            if any(planes):
                continue
            bodies = [plant.GetBodyFromFrameId(inspector.GetFrameId(each)) for each in pair]
            frames = [names[body.index()] for body in bodies]
            shapes = [inspector.GetName(each).split("::")[-1] for each in pair]
            words = (f"{frame}::{shape}" for frame, shape in zip(frames, shapes, strict=True))
            mu = combined_friction(inspector, *pair)
            self.slots.append(Slot("/".join(words), frames[0], frames[1], mu))
            self._pairs.append(pair)

    def nearest(self, context: Any) -> Nearest:
        """Return where all slots are in a context of the plant."""
        poses = self._plant.get_geometry_pose_output_port().Eval(context)
        port = self._scene.get_source_pose_port(self._plant.get_source_id())
        port.FixValue(self._context, poses)
        query = self._scene.get_query_output_port().Eval(self._context)
        rows = []
        for one, other in self._pairs:
            found = query.ComputeSignedDistancePairClosestPoints(one, other)
            ends = (found.id_A, found.p_ACa), (found.id_B, found.p_BCb)
            points = [query.GetPoseInWorld(each).multiply(point) for each, point in ends]
            # The normal points from B to A.
            if found.id_A != one:
                rows.append((found.distance, -found.nhat_BA_W, points[1], points[0]))
            else:
                rows.append((found.distance, found.nhat_BA_W, *points))
        return Nearest.of(rows)
