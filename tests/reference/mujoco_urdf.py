"""Robots of example-robot-data in MuJoCo, with spheres as feet."""

import xml.etree.ElementTree as ET
from functools import cache

import mujoco
import numpy as np

from tests.reference import real_robots

OPTIONS = {
    # Bodies keep their names, and inertia its values.
    "fusestatic": "false",
    "balanceinertia": "false",
    "discardvisual": "true",
    "strippath": "false",
}


@cache
def model(name):
    """Return MuJoCo's model of a robot, with the rotors and feet of `real_robots`.

    All shapes are left out but for the spheres that touch, and a floor is added.
    """
    robot = ET.parse(real_robots.path(name)).getroot()
    links = {link.get("name"): link for link in robot.iter("link")}
    for link in links.values():
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    children = {joint.find("child").get("link") for joint in robot.findall("joint")}
    (base,) = set(links) - children
    ET.SubElement(ET.SubElement(robot, "mujoco"), "compiler", OPTIONS)
    spec = mujoco.MjSpec.from_string(ET.tostring(robot, encoding="unicode"))
    spec.body(base).add_freejoint()
    for point in feet(name):
        spec.body(point.frame).add_geom(
            name=point.name,
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[point.radius, 0.0, 0.0],
            pos=point.offset,
            mass=0.0,
            friction=[real_robots.MU, 0.0, 0.0],
        )
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(name="floor", type=plane, size=[9, 9, 1], friction=[0.0, 0.0, 0.0])
    other = real_robots.model(name)
    for joint in other.names[2:]:
        rotor = float(other.armature[other.joints[other.getJointId(joint)].idx_v])
        spec.joint(joint).armature = rotor
    return spec.compile()


def feet(name):
    """Return the contacts of `real_robots`, with points as small spheres."""
    radius = 0.01
    given = real_robots.contacts(name)
    return [
        real_robots.ContactPoint(each, radius=radius) if isinstance(each, str) else each
        for each in given
    ]


def joints(made):
    """Return the names of all joints but for the base's."""
    ids = np.argsort(made.jnt_dofadr)
    return [made.joint(int(i)).name for i in ids if made.jnt_type[i] != mujoco.mjtJoint.mjJNT_FREE]
