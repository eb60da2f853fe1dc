"""A rod that slides on its tip until friction jams it, though nothing collides."""

import math

import numpy as np

from carom.scenes.scene import Scene, require_angle, require_positive
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact, Polygon


def make(
    *,
    length: float = 2.0,
    mass: float = 1.0,
    angle: float = math.atan(2.0),
    mu: float = 2.0,
    restitution: float = 0.0,
    speed: float = 1.0,
    rate: float = 0.0,
) -> Scene:
    """Build Painleve's rod [Stewart 2000; Genot and Brogliato 1999].

    Coordinates are (x, y, angle) of the centre; contact A is the lower end, which slides to -x,
    ahead of the rod. With half length l and I = m l^2 / 3 a normal force accelerates it along the
    normal by 1/m + (l^2 / I) cos(angle) (cos(angle) - mu sin(angle)) a newton. Where that is
    negative, friction presses the tip into the floor: possible for mu > 4/3, at tan(angle) = 2
    first. If then also l rate^2 sin(angle) < g, no finite force solves the contact.

    Args:
        length: Length of the thin uniform rod [m].
        mass: Mass [kg].
        angle: Angle between rod and floor [rad].
        mu: Friction coefficient.
        restitution: Coefficient of restitution of all contacts.
        speed: Speed of the tip along the floor [m/s].
        rate: Angular velocity [rad/s].
    """
    require_positive(length=length, mass=mass, speed=speed)
    require_angle("angle", angle, math.pi)
    half = length / 2
    rod = Body("rod", mass, mass * length**2 / 12, outline=(Polygon(((-half, 0.0), (half, 0.0))),))
    system = PlanarSystem(
        [rod], [PlaneContact("A", Disc("rod", (-half, 0.0)), FLOOR, mu, restitution)]
    )
    x, y = half * math.cos(angle), half * math.sin(angle)
    return Scene(
        name="painleve-rod",
        description="a rod slides on its tip until friction jams it, though nothing collides",
        system=system,
        q=np.array([x, y, angle]),
        v=np.array([-speed - rate * y, rate * x, rate]),
        step_impulse=1.0,
        max_steps=10,
        num_samples=2**10,
        without_collision=True,
        duration=0.5,
    )
