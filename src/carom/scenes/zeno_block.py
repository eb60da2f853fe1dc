"""A block that rocks from corner to corner, ever faster, until it stands."""

from dataclasses import replace

import numpy as np

from carom.scenes import rocking_block
from carom.scenes.scene import Scene, require_positive


def make(
    *,
    width: float = 1.0,
    height: float = 2.0,
    mass: float = 1.0,
    mu: float = 1.0,
    restitution: float = 0.0,
    rate: float = 1.0,
) -> Scene:
    """Build the wobbling block [HalmPosa, Section "Zeno behavior example"; Lygeros 2003].

    The rocking block as it begins to pivot about its bottom left corner A.

    Args:
        width: Width [m].
        height: Height [m].
        mass: Mass of the uniform block [kg].
        mu: Friction coefficient; above width / height the corners stick.
        restitution: Coefficient of restitution of all contacts.
        rate: Angular velocity at the start [rad/s].
    """
    require_positive(rate=rate)
    block = rocking_block.make(
        width=width, height=height, mass=mass, mu=mu, restitution=restitution
    )
    return replace(
        block,
        name="zeno-block",
        description="a block rocks from corner to corner, ever faster, until it stands",
        v=rate * np.array([-height / 2, width / 2, 1.0]),
        duration=3.0,
        law="sequential",
    )
