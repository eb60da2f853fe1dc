"""RAMone, a five-link biped with round feet, that takes a step."""

import math

import numpy as np

from carom.errors import InvalidProblem
from carom.scenes.scene import Scene, velocity_at_rest
from carom.systems import FLOOR, Body, Circle, Disc, PlanarSystem, PlaneContact, Polygon, Revolute

# The robot as built [Remy2017]: masses [kg], inertias [kg m^2], lengths [m].
TRUNK_MASS, TRUNK_INERTIA = 7.9026, 0.08
UPPER_MASS, UPPER_INERTIA = 0.7887, 0.00221
LOWER_MASS, LOWER_INERTIA = 0.510, 0.00652
TRUNK_TO_HIP = 0.137675
UPPER_LENGTH, HIP_TO_UPPER_COM = 0.2, 0.019399
LOWER_LENGTH, KNEE_TO_LOWER_COM = 0.2385, 0.2385 - 0.073265
FOOT_RADIUS = 0.0563 / 2


def make(
    *,
    trunk_pitch: float = math.radians(16.0),
    leading_hip: float = math.radians(-70.0),
    leading_knee: float = math.radians(-2.0),
    trailing_hip: float = math.radians(70.0),
    pitch_rate: float = 1.0,
    mu: float = 1e5,
    restitution: float = 0.0,
) -> Scene:
    """Build RAMone's footfall [HalmPosa, Table "RAMone parameters"].

    Coordinates are (trunk x, trunk y, trunk pitch, leading hip, leading knee, trailing hip,
    trailing knee), joint angles from the parent; the robot walks to -x with its joints locked.
    Contact A is the leading foot, B the trailing foot, whose contact point rests.

    Args:
        trunk_pitch: Trunk's angle [rad].
        leading_hip: Leading hip's angle [rad].
        leading_knee: Leading knee's angle [rad].
        trailing_hip: Trailing hip's angle [rad]; the trailing knee bends until its foot touches.
        pitch_rate: Trunk's angular velocity [rad/s].
        mu: Friction coefficient.
        restitution: Coefficient of restitution of all contacts.
    """
    thighs = trunk_pitch + leading_hip, trunk_pitch + trailing_hip
    knees = leading_knee, _trailing_knee(thighs[0], leading_knee, thighs[1])
    system = _robot(mu, restitution)
    q = np.array([0.0, 0.0, trunk_pitch, leading_hip, knees[0], trailing_hip, knees[1]])
    q[1] = -system.gap(q)[0]
    v = np.array([0.0, 0.0, pitch_rate, 0.0, 0.0, 0.0, 0.0])
    return Scene(
        name="ramone",
        description="a five-link biped with round feet steps while its trailing foot rests",
        system=system,
        q=q,
        v=velocity_at_rest(system, q, v, contact="B", free=(0, 1)),
        step_impulse=1.0,
        max_steps=10,
        num_samples=2**20,
        duration=0.25,
    )


def _trailing_knee(leading_thigh: float, leading_knee: float, trailing_thigh: float) -> float:
    """Return the knee angle that puts both feet at one height; thighs from the vertical [rad].

    Of the two solutions, takes the one that bends the knee further back.
    """
    leg_height = UPPER_LENGTH * math.cos(leading_thigh) + LOWER_LENGTH * math.cos(
        leading_thigh + leading_knee
    )
    cosine = (leg_height - UPPER_LENGTH * math.cos(trailing_thigh)) / LOWER_LENGTH
    if not abs(cosine) <= 1.0:
        raise InvalidProblem(
            "no angle of the trailing knee puts both feet on the floor; "
            "bend the leading knee or move trailing_hip closer to leading_hip"
        )
    return -math.acos(cosine) - trailing_thigh


def _robot(mu: float, restitution: float) -> PlanarSystem:
    trunk = Body("trunk", TRUNK_MASS, TRUNK_INERTIA, outline=(_line(TRUNK_TO_HIP),))
    legs = [body for side in ("leading", "trailing") for body in _leg(side)]
    contacts = [
        PlaneContact(
            name, Disc(f"{side} lower", (0.0, -LOWER_LENGTH), FOOT_RADIUS), FLOOR, mu, restitution
        )
        for name, side in (("A", "leading"), ("B", "trailing"))
    ]
    return PlanarSystem([trunk, *legs], contacts)


def _leg(side: str) -> tuple[Body, Body]:
    upper = Body(
        f"{side} upper",
        UPPER_MASS,
        UPPER_INERTIA,
        parent="trunk",
        placement=(0.0, -TRUNK_TO_HIP),
        joints=(Revolute(),),
        com=(0.0, -HIP_TO_UPPER_COM),
        outline=(_line(UPPER_LENGTH),),
    )
    lower = Body(
        f"{side} lower",
        LOWER_MASS,
        LOWER_INERTIA,
        parent=upper.name,
        placement=(0.0, -UPPER_LENGTH),
        joints=(Revolute(),),
        com=(0.0, -KNEE_TO_LOWER_COM),
        outline=(_line(LOWER_LENGTH), Circle((0.0, -LOWER_LENGTH), FOOT_RADIUS)),
    )
    return upper, lower


def _line(length: float) -> Polygon:
    return Polygon(((0.0, 0.0), (0.0, -length)))
