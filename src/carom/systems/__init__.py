"""Mechanical systems: the abstract one, and planar bodies in joints."""

from carom.systems.planar import GRAVITY, PlanarSystem
from carom.systems.planar_bodies import FLOATING, Body, Circle, Polygon, Prismatic, Revolute
from carom.systems.planar_contacts import FLOOR, Disc, DiscContact, HalfPlane, PlaneContact
from carom.systems.system import Dynamics, System

__all__ = [
    "FLOATING",
    "FLOOR",
    "GRAVITY",
    "Body",
    "Circle",
    "Disc",
    "DiscContact",
    "Dynamics",
    "HalfPlane",
    "PlanarSystem",
    "PlaneContact",
    "Polygon",
    "Prismatic",
    "Revolute",
    "System",
]
