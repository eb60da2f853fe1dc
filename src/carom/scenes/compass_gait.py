"""A compass-gait walker that takes a wide step."""

import math

import numpy as np

from carom.scenes.scene import Scene, require_angle, require_positive, velocity_at_rest
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact, Polygon, Revolute


def make(
    *,
    leg_length: float = 1.0,
    mass_to_foot: float = 0.5,
    mass: float = 1.0,
    hip_mass: float = 0.0,
    leg_pitch: float = math.radians(78.0),
    leading_rate: float = 0.25,
    trailing_rate: float = 0.25,
    mu: float = 5.0,
    restitution: float = 0.0,
) -> Scene:
    """Build the compass gait [HalmPosa, Table "Compass gait parameters"].

    Coordinates are (hip x, hip y, leading leg, trailing leg), both angles from the vertical; the
    walker moves to -x. Contact A is the leading foot, B the trailing foot, which rests.

    Args:
        leg_length: Length of a leg [m].
        mass_to_foot: Distance of a leg's point mass from its foot [m].
        mass: Mass of a leg [kg].
        hip_mass: Mass of the hip [kg]. Without it the hip is free of forces, and jerks when the
            legs come to lie in one line.
        leg_pitch: Trailing leg's angle; the leading leg's is its opposite, so that both feet
            touch [rad].
        leading_rate: Leading leg's angular velocity [rad/s].
        trailing_rate: Trailing leg's angular velocity [rad/s].
        mu: Friction coefficient.
        restitution: Coefficient of restitution of all contacts.
    """
    require_positive(leg_length=leg_length, mass=mass)
    require_angle("leg_pitch", leg_pitch, math.pi / 2)
    foot, com = (0.0, -leg_length), (0.0, mass_to_foot - leg_length)
    outline = (Polygon(((0.0, 0.0), foot)),)
    legs = [
        Body(name, mass, 0.0, "hip", joints=(Revolute(),), com=com, outline=outline)
        for name in ("leading", "trailing")
    ]
    contacts = [
        PlaneContact(name, Disc(leg.name, foot), FLOOR, mu, restitution)
        for name, leg in zip("AB", legs, strict=True)
    ]
    system = PlanarSystem([Body.point("hip", hip_mass), *legs], contacts)
    q = np.array([0.0, leg_length * math.cos(leg_pitch), -leg_pitch, leg_pitch])
    v = np.array([0.0, 0.0, leading_rate, trailing_rate])
    return Scene(
        name="compass-gait",
        description="a two-legged walker takes a wide step while its trailing foot rests",
        system=system,
        q=q,
        v=velocity_at_rest(system, q, v, contact="B", free=(0, 1)),
        step_impulse=0.25,
        max_steps=5,
        num_samples=2**20,
    )
