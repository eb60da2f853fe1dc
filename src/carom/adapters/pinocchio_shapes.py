"""Collision geometry of Pinocchio: contacts with a ground, and of shapes with each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from carom.adapters.contact_points import ContactPoint, hull_points, names_of, shape_points
from carom.adapters.pairs import Nearest, Slot
from carom.errors import InvalidOption, InvalidProblem
from carom.typing import FloatArray

TOLERANCE = 1e-12
"""Of nearest points that are found by iteration [m]; the library's own 1e-6 shows in Jacobians."""
HALF_SPACE = "Halfspace"


class GeometryPairs:
    """The collision pairs of a geometry model, with their slots.

    Args:
        model: The robot, which every shape belongs to.
        geometry: `pinocchio.GeometryModel`, which is copied.
    """

    def __init__(self, model: Any, geometry: Any) -> None:
        if not isinstance(geometry, pin.GeometryModel):
            raise InvalidOption(f"geometry: expected a pinocchio.GeometryModel, got {geometry!r}")
        self._geometry = geometry.copy()
        self._data = self._geometry.createData()
        for request in self._data.distanceRequests:
            request.gjk_tolerance = request.epa_tolerance = TOLERANCE
        self.slots: list[Slot] = []
        # Of each slot: its pair, and the corner over a half-space, if it has one.
        self._found: list[tuple[int, ContactPoint | None]] = []
        for k, pair in enumerate(self._geometry.collisionPairs):
            shapes = [self._geometry.geometryObjects[i] for i in (pair.first, pair.second)]
            frames = [model.frames[shape.parentFrame].name for shape in shapes]
            name = f"{shapes[0].name}/{shapes[1].name}"
            corners = _corners(shapes, name) if _plane(shapes) is not None else [None]
            for corner in corners:
                word = name if corner is None else corner.name
                self.slots.append(Slot(word, frames[0], frames[1]))
                self._found.append((k, corner))

    def nearest(self, model: Any, data: Any, q: FloatArray) -> Nearest:
        """Return where all slots are at a configuration."""
        geometry, own = self._geometry, self._data
        pin.updateGeometryPlacements(model, data, geometry, own, q)
        rows = []
        for k, corner in self._found:
            pair = geometry.collisionPairs[k]
            if corner is not None:
                rows.append(self._over_half_space((pair.first, pair.second), corner))
                continue
            pin.computeDistance(geometry, own, k)
            result = own.distanceResults[k]
            # The library's normal points from the first shape to the second.
            ends = result.getNearestPoint1(), result.getNearestPoint2()
            rows.append((result.min_distance, -result.normal, *(np.array(end) for end in ends)))
        return Nearest.of(rows)

    def _over_half_space(
        self, ids: tuple[int, int], corner: ContactPoint
    ) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Return gap, normal and points of a corner over a half-space."""
        shapes = [self._geometry.geometryObjects[i] for i in ids]
        plane = _plane(shapes)
        assert plane is not None
        places = [self._data.oMg[i] for i in ids]
        surface, ground = shapes[plane].geometry, places[plane]
        normal = ground.rotation @ np.array(surface.n)
        centre = places[1 - plane].act(corner.offset)
        height = float(normal @ (centre - ground.translation) - surface.d)
        touching = centre - corner.radius * normal
        points = touching, centre - height * normal
        # The normal points to the first shape.
        if plane == 0:
            return height - corner.radius, -normal, points[1], points[0]
        return height - corner.radius, normal, *points


def _plane(shapes: list[Any]) -> int | None:
    """Return which of two shapes is a half-space, if one is."""
    kinds = [type(shape.geometry).__name__ for shape in shapes]
    return kinds.index(HALF_SPACE) if HALF_SPACE in kinds else None


def _corners(shapes: list[Any], name: str) -> list[ContactPoint]:
    """Return the corners of a shape over a half-space, in its own axes."""
    plane = _plane(shapes)
    assert plane is not None
    return _outline(shapes[1 - plane], ContactPoint("shape", name=name), np.eye(3))


def collision_points(
    model: Any, geometry_model: Any, names: Sequence[str] | None = None
) -> list[ContactPoint]:
    """Return the contacts of collision geometry: spheres, ends of capsules, corners of the rest.

    The rest are boxes, and meshes by their convex hulls of up to 64 corners. Against a half-space
    nothing else of them can touch first.

    Args:
        model: `pinocchio.Model`.
        geometry_model: `pinocchio.GeometryModel` that belongs to it.
        names: Names of geometries, or of links, which stand for all their geometries; all
            geometries if not given.
    """
    owners = [
        (model.frames[each.parentFrame].name, each) for each in geometry_model.geometryObjects
    ]
    if names is not None:
        known = [*dict.fromkeys(link for link, _ in owners), *(each.name for _, each in owners)]
        wanted = names_of("link with collision geometry, or geometry,", names, known)
        owners = [pair for name in wanted for pair in owners if name in (pair[0], pair[1].name)]
    return [point for _, each in owners for point in _points_of(model, each)]


def _points_of(model: Any, geometry: Any) -> list[ContactPoint]:
    frame = model.frames[geometry.parentFrame]
    # Both are placed in their joint; a ContactPoint is placed in its frame.
    placement = frame.placement.actInv(geometry.placement)
    owner = ContactPoint(frame.name, placement.translation, 0.0, geometry.name)
    return _outline(geometry, owner, placement.rotation)


def _outline(geometry: Any, owner: ContactPoint, rotation: FloatArray) -> list[ContactPoint]:
    """Return what of a shape about a point can touch a half-space first."""
    shape, kind = geometry.geometry, type(geometry.geometry).__name__
    if kind.startswith("BVHModel"):
        return hull_points(owner, rotation, np.array(shape.vertices()))
    if kind == "Convex":
        return hull_points(owner, rotation, np.array(shape.points()))
    if kind not in ("Sphere", "Box", "Capsule"):
        raise InvalidProblem(
            f"geometry {geometry.name!r} is a {kind}, and only spheres, boxes, capsules and meshes "
            f"are supported over a half-space; leave it out, or give ContactPoints of its frame"
        )
    half = shape.halfSide if kind == "Box" else (0.0, 0.0, getattr(shape, "halfLength", 0.0))
    round_ = ContactPoint(owner.frame, owner.offset, getattr(shape, "radius", 0.0), owner.name)
    return shape_points(round_, rotation, half)
