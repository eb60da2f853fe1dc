"""Contacts that Drake's scene graph finds between shapes of bodies."""

from __future__ import annotations

from typing import Any

from pydrake.geometry import HalfSpace as GroundShape

from carom.adapters.pairs import Nearest, Slot


class ScenePairs:
    """All pairs of shapes of a scene that may collide, but for those with a half-space.

    Args:
        plant: `MultibodyPlant`, finalized.
        scene_graph: `SceneGraph` that it is registered with.
        names: Names of bodies by their index.
        friction: Function that returns the friction coefficient of two shapes.
    """

    def __init__(self, plant: Any, scene_graph: Any, names: dict[Any, str], friction: Any) -> None:
        self._plant, self._scene = plant, scene_graph
        self._context = scene_graph.CreateDefaultContext()
        inspector = scene_graph.model_inspector()
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
            mu = friction(inspector, *pair)
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
