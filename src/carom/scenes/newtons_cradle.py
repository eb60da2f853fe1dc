"""Equal balls in a row that touch, of which the first is hit."""

import numpy as np

from carom import checks
from carom.scenes.scene import Scene, require_positive
from carom.systems import Body, Disc, DiscContact, PlanarSystem, Prismatic

MOST_BALLS = 27
"""Contacts are named by the letters of the alphabet."""


def make(
    *,
    number: float = 3,
    radius: float = 0.25,
    mass: float = 1.0,
    mu: float = 0.0,
    restitution: float = 1.0,
    speed: float = 1.0,
) -> Scene:
    """Build Newton's cradle at the moment at which the first ball comes down.

    Balls move along one line, as on a rail. Coordinates are how far each has moved to the right.
    Contact A is between the first ball and the second, B between the second and the third, and so
    on; normals point to the right, so that a contact approaches if the left ball is faster.

    Args:
        number: Number of balls, 2 to 27.
        radius: Radius of each ball [m].
        mass: Mass of each ball [kg].
        mu: Friction coefficient; without effect, since nothing slides.
        restitution: Coefficient of restitution of all contacts.
        speed: Speed of the first ball towards the others, which rest [m/s].
    """
    require_positive(radius=radius, mass=mass, speed=speed)
    # Sweeps and files may write whole numbers as floats.
    whole = int(number) if isinstance(number, float) and number.is_integer() else number
    count = checks.integer("number", whole, 2, MOST_BALLS)
    balls = [
        Body.disc(
            f"ball {i + 1}",
            radius,
            mass,
            placement=(2.0 * radius * i, 0.0),
            joints=(Prismatic((1.0, 0.0)),),
        )
        for i in range(count)
    ]
    discs = [Disc(ball.name, radius=radius) for ball in balls]
    contacts = [
        DiscContact(chr(ord("A") + i), discs[i + 1], discs[i], mu, restitution)
        for i in range(count - 1)
    ]
    return Scene(
        name="newtons-cradle",
        description="a ball hits a row of equal balls that touch",
        system=PlanarSystem(balls, contacts, gravity=(0.0, 0.0)),
        q=np.zeros(count),
        v=np.array([speed] + [0.0] * (count - 1)),
        step_impulse=0.3 * mass * speed,
        max_steps=10 * count,
        num_samples=2**14,
        duration=0.5,
    )
