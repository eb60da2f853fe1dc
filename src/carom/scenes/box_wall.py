"""A tilted box that slides on one corner into a wall."""

import math

import numpy as np

from carom.scenes.scene import Scene, require_angle, require_positive
from carom.systems import FLOOR, Body, Disc, HalfPlane, PlanarSystem, PlaneContact

WALL = HalfPlane(point=(0.0, 0.0), normal=(-1.0, 0.0))
"""The wall x = 0, with the box on its left."""


def make(
    *,
    side: float = 1.0,
    mass: float = 1.0,
    tilt: float = math.radians(10.0),
    mu: float = 1.0,
    restitution: float = 0.0,
    speed: float = 1.0,
) -> Scene:
    """Build the box and wall [HalmPosa, Table "Box and wall parameters"].

    Coordinates are (x, y, angle) of the centre. Contact A is the lowest corner, on the floor y = 0,
    B the rightmost, on the wall x = 0: two neighbours, since the box is turned by 90° - tilt.

    Args:
        side: Side of the square [m].
        mass: Mass of the uniform box [kg].
        tilt: Angle from the box to the ground, between 0 and pi/2 [rad].
        mu: Friction coefficient.
        restitution: Coefficient of restitution of all contacts.
        speed: Speed towards the wall [m/s].
    """
    require_positive(side=side, mass=mass)
    require_angle("tilt", tilt, math.pi / 2)
    contacts = [
        PlaneContact(name, Disc("box", (x, -side / 2)), plane, mu, restitution)
        for name, x, plane in (("A", -side / 2, FLOOR), ("B", side / 2, WALL))
    ]
    system = PlanarSystem([Body.box("box", side, side, mass)], contacts)
    q = np.array([0.0, 0.0, math.pi / 2 - tilt])
    floor_gap, wall_gap = system.gap(q)
    q[:2] = wall_gap, -floor_gap
    return Scene(
        name="box-wall",
        description="a tilted box slides on one corner along the floor and hits a wall",
        system=system,
        q=q,
        v=np.array([speed, 0.0, 0.0]),
        step_impulse=2.0,
        max_steps=5,
        num_samples=2**18,
        duration=0.2,
    )
