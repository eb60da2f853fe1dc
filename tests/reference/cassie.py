"""Cassie of example-robot-data in Drake: a tree of its file, and the four loops of its legs.

The file closes each leg twice, by ball joints: the Achilles rod from the heel's spring to the hip,
and the plantar rod from a crank to the foot. Drake reads trees.
"""

import xml.etree.ElementTree as ET
from functools import cache

import numpy as np
from pydrake.math import RollPitchYaw
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant

from carom.adapters.drake import BallConstraint, ContactPoint, DrakeSystem
from tests.reference.real_robots import SHARE

FILE = SHARE / "example-robot-data/robots/cassie_description/robots/cassie_v2.sdf"
MU, FOOT_RADIUS, FOOT_LENGTH = 0.6, 0.0168, 0.18
FOOT_PLACE, FOOT_TURN = (0.01, 0.045, 0.0), (0.0, 1.57, -0.695)
"""Of the feet's cylinders, in their links."""
FOOT, STEPS = -1.2, 12
"""How far feet are turned for standing [rad], and in how many steps."""
LOOPS = {
    f"{side} {word}": (f"{side}-{one}", f"{side}-{other}", f"{side}-{joint}")
    for side in ("left", "right")
    for word, one, other, joint in (
        ("achilles", "achilles-rod", "hip-pitch", "pitch-rod-joint"),
        ("plantar", "plantar-rod", "foot", "plantar-foot-joint"),
    )
}


@cache
def system(limits=False):
    """Return Cassie; its loops are closed in the pose of its file, joints at zero."""
    robot = ET.parse(FILE).getroot()
    model = robot.find("model")
    joints = {joint.get("name"): joint for joint in model.findall("joint")}
    places = {}
    for name, (_, other, joint) in LOOPS.items():
        numbers = joints[joint].findtext("pose").split()
        places[name] = other, np.array([float(x) for x in numbers[:3]])
        model.remove(joints[joint])
    for part in model.findall("plugin"):
        model.remove(part)
    for link in model.findall("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    plant = MultibodyPlant(time_step=0.0)
    Parser(plant).AddModelsFromString(ET.tostring(robot, encoding="unicode"), "sdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    loops = []
    for name, (one, other, _) in LOOPS.items():
        offset = places[name][1]
        poses = [plant.GetBodyByName(body).EvalPoseInWorld(context) for body in (one, other)]
        own = poses[0].inverse().multiply(poses[1].multiply(offset))
        loops.append(BallConstraint(one, other, own, offset, name=name))
    return DrakeSystem(plant, feet(), mu=MU, constraints=loops, limits=limits)


def feet():
    """Return the ends of both feet, as spheres."""
    along = RollPitchYaw(*FOOT_TURN).ToRotationMatrix().matrix()[:, 2]
    return [
        ContactPoint(
            f"{side}-foot",
            np.array(FOOT_PLACE) + sign * 0.5 * FOOT_LENGTH * along,
            FOOT_RADIUS,
            f"{side} {end}",
        )
        for side in ("left", "right")
        for end, sign in (("toe", 1.0), ("heel", -1.0))
    ]


def standing():
    """Return a closed configuration with bent legs and feet on the ground."""
    robot = system()
    q = np.array(robot._plant.GetPositions(robot._plant.CreateDefaultContext()))
    # Feet and the cranks that turn them are parallel; the rod between them turns back.
    for _ in range(STEPS):
        for side in ("left", "right"):
            for joint, share in (
                ("foot-op", 1),
                ("tarsus-crank-joint", 1),
                ("crank-rod-joint", -1),
            ):
                q[robot.joints[f"{side}-{joint}"][0]] += share * FOOT / STEPS
        q = robot.closed(q)
    return robot.stand(q, joints=True)
