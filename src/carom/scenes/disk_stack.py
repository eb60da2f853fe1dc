"""A disc that falls on two others which lie side by side."""

import math

import numpy as np

from carom.scenes.scene import Scene, require_positive
from carom.systems import FLOOR, Body, Disc, DiscContact, PlanarSystem, PlaneContact


def make(
    *,
    radius: float = 1.0,
    mass: float = 1.0,
    mu: float = math.sqrt(3.0),
    restitution: float = 0.0,
    speed: float = 1.0,
) -> Scene:
    """Build the disk stack [HalmPosa, Table "Disk stacking parameters"].

    Coordinates are (x, y, angle) of the left, the right and the top disc. Contacts A and B are the
    left and right disc on the floor, C and D the top disc on the left and right one, E the right
    disc on the left one. Normals point away from the floor, and in C, D and E towards the disc
    named first.

    Args:
        radius: Radius of each disc [m].
        mass: Mass of each uniform disc [kg]. The paper lists 1 kg, its plots come from 5 kg.
        mu: Friction coefficient.
        restitution: Coefficient of restitution of all contacts.
        speed: Downward speed of the top disc [m/s].
    """
    require_positive(radius=radius, mass=mass)
    left, right, top = (Disc(name, radius=radius) for name in ("left", "right", "top"))
    discs = [Body.disc(disc.body, radius, mass) for disc in (left, right, top)]
    contacts = (
        PlaneContact("A", left, FLOOR, mu, restitution),
        PlaneContact("B", right, FLOOR, mu, restitution),
        DiscContact("C", top, left, mu, restitution),
        DiscContact("D", top, right, mu, restitution),
        DiscContact("E", right, left, mu, restitution),
    )
    height = radius * (1.0 + math.sqrt(3.0))
    return Scene(
        name="disk-stack",
        description="a disc falls on two others that lie side by side on the floor",
        system=PlanarSystem(discs, contacts),
        q=np.array([0.0, radius, 0.0, 2 * radius, radius, 0.0, radius, height, 0.0]),
        v=np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -speed, 0.0]),
        step_impulse=1.0,
        max_steps=10,
        num_samples=2**20,
    )
