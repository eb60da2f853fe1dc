"""Mechanical systems: the abstract one, and planar bodies in joints."""

from carom.systems.planar import (
    FLOATING,
    FLOOR,
    Body,
    Circle,
    Disc,
    DiscContact,
    HalfPlane,
    PlanarSystem,
    PlaneContact,
    Polygon,
    Prismatic,
    Revolute,
)
from carom.systems.system import System

__all__ = [
    "FLOATING",
    "FLOOR",
    "Body",
    "Circle",
    "Disc",
    "DiscContact",
    "HalfPlane",
    "PlanarSystem",
    "PlaneContact",
    "Polygon",
    "Prismatic",
    "Revolute",
    "System",
]
