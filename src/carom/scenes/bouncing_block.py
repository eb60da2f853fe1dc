"""A block that bounces on the floor and rocks from corner to corner."""

import math
from dataclasses import replace

import numpy as np

from carom.errors import InvalidOption
from carom.scenes import rocking_block
from carom.scenes.scene import Scene, require_finite


def make(
    *,
    width: float = 1.0,
    height: float = 0.5,
    mass: float = 1.0,
    mu: float = 0.0,
    restitution: float = 0.8,
    speed: float = 1.0,
    rate: float = 0.0,
    pitch: float = 0.0,
) -> Scene:
    """Build the bouncing block.

    The rocking block with restitution. It lands flat on both corners unless it is pitched. With
    speed 2.06538 and rate -4.13076 it is the block of Siconos [Siconos, RockingBlock], which pivots
    on A and hits with B, without friction.

    Args:
        width: Width [m].
        height: Height [m].
        mass: Mass of the uniform block [kg].
        mu: Friction coefficient.
        restitution: Coefficient of restitution of both corners.
        speed: Downward speed of the centre at the impact [m/s].
        rate: Angular velocity at the impact [rad/s].
        pitch: Angle at the impact, between -pi/2 and pi/2; above 0 the block lands on A [rad].
    """
    require_finite(rate=rate, pitch=pitch)
    if not abs(pitch) < math.pi / 2:
        raise InvalidOption(f"pitch: expected an angle between -pi/2 and pi/2, got {pitch!r}")
    block = rocking_block.make(
        width=width, height=height, mass=mass, mu=mu, speed=speed, restitution=restitution
    )
    q = np.array([0.0, height / 2, pitch])
    q[1] -= block.system.gap(q).min()
    return replace(
        block,
        name="bouncing-block",
        description="a block bounces on the floor and rocks from corner to corner",
        q=q,
        v=np.array([0.0, -speed, rate]),
        duration=1.5,
    )
