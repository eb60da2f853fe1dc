"""Mechanical systems: the abstract one, planar bodies in joints, and a body in space."""

from carom.systems.constraints import ConstraintBroken, Constraints
from carom.systems.control import PD, ControlledSystem
from carom.systems.half_space import GROUND, HalfSpace
from carom.systems.planar import GRAVITY, PlanarSystem
from carom.systems.planar_bodies import FLOATING, Body, Circle, Polygon, Prismatic, Revolute
from carom.systems.planar_contacts import FLOOR, Disc, DiscContact, HalfPlane, PlaneContact
from carom.systems.planar_pins import Pin
from carom.systems.shapes import Box, Cylinder, Sphere
from carom.systems.spatial import SpatialBody
from carom.systems.system import Dynamics, Input, System

__all__ = [
    "FLOATING",
    "FLOOR",
    "GRAVITY",
    "GROUND",
    "PD",
    "Body",
    "Box",
    "Circle",
    "ConstraintBroken",
    "Constraints",
    "ControlledSystem",
    "Cylinder",
    "Disc",
    "DiscContact",
    "Dynamics",
    "HalfPlane",
    "HalfSpace",
    "Input",
    "Pin",
    "PlanarSystem",
    "PlaneContact",
    "Polygon",
    "Prismatic",
    "Revolute",
    "SpatialBody",
    "Sphere",
    "System",
]
