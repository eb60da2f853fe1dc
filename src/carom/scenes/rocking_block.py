"""A block that drops flat on the floor and hits with two corners at once."""

import math

import numpy as np

from carom.scenes.scene import Scene, require_positive
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact

DROP_SPEED = math.sqrt(2 * 9.81 * 0.01)
"""Speed after a fall of 1 cm [m/s]."""


def make(
    *,
    width: float = 1.0,
    height: float = 2.0,
    mass: float = 1.0,
    mu: float = 1.0,
    restitution: float = 0.0,
    speed: float = DROP_SPEED,
) -> Scene:
    """Build the rocking block [HalmPosa, Table "Rocking block parameters"].

    Coordinates are (x, y, angle) of the centre; contact A is the bottom left corner, B the right.

    Args:
        width: Width [m].
        height: Height [m].
        mass: Mass of the uniform block [kg].
        mu: Friction coefficient.
        restitution: Coefficient of restitution of all contacts.
        speed: Downward speed at the impact [m/s].
    """
    require_positive(width=width, height=height, mass=mass)
    contacts = [
        PlaneContact(name, Disc("block", (x, -height / 2)), FLOOR, mu, restitution)
        for name, x in (("A", -width / 2), ("B", width / 2))
    ]
    system = PlanarSystem([Body.box("block", width, height, mass)], contacts)
    return Scene(
        name="rocking-block",
        description="a block drops flat on the floor and hits with two corners at once",
        system=system,
        q=np.array([0.0, height / 2, 0.0]),
        v=np.array([0.0, -speed, 0.0]),
        step_impulse=0.3,
        max_steps=10,
        num_samples=2**14,
        duration=0.25,
    )
