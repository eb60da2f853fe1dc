"""Two arms on a floating trunk whose tips are joined, from one file in every engine."""

from functools import cache

import mujoco
import numpy as np
import pinocchio as pin
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant

from carom.adapters.drake import ContactPoint, DrakeSystem
from carom.adapters.mujoco import MujocoSystem
from carom.adapters.pinocchio import BallConstraint, PinocchioSystem
from tests.reference import conventions

MU, RADIUS = 0.6, 0.03
JOINTS = ("left hip", "left knee", "right hip", "right knee")
"""In the order of every engine."""
TIP = (0.0, 0.0, -0.35)
LINK = """<link name="{name}"><inertial><origin xyz="0.01 0.02 {z}"/><mass value="{mass}"/>
  <inertia ixx="{turn}" iyy="{turn}" izz="0.01" ixy="0.001" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{side} {name}" type="revolute"><parent link="{parent}"/>
  <child link="{child}"/><origin xyz="{at}" rpy="0 0 {yaw}"/><axis xyz="0 1 0"/>
  <limit lower="-2.5" upper="2.5" effort="1" velocity="1"/></joint>"""


def urdf(yaw=0.0):
    """Return the file; hinges of the right arm are turned by a yaw: then no plane holds all."""
    parts = [LINK.format(name="trunk", z=0.0, mass=6.0, turn=0.1)]
    for side, x, turn in (("left", -0.15, 0.0), ("right", 0.15, yaw)):
        parts.append(LINK.format(name=f"{side} thigh", z=-0.1, mass=1.0, turn=0.02))
        parts.append(LINK.format(name=f"{side} shin", z=-0.15, mass=0.6, turn=0.02))
        place = {"parent": "trunk", "child": f"{side} thigh", "at": f"{x} 0 0", "yaw": turn}
        parts.append(JOINT.format(side=side, name="hip", **place))
        place = {"parent": f"{side} thigh", "child": f"{side} shin", "at": "0 0 -0.3", "yaw": 0.0}
        parts.append(JOINT.format(side=side, name="knee", **place))
    return f'<robot name="tongs">{"".join(parts)}</robot>'


LOOP = BallConstraint("left shin", "right shin", TIP, TIP, name="loop")
CONTACTS = [
    ContactPoint("left shin", TIP, RADIUS, "tip"),
    ContactPoint("left thigh", (0.0, 0.0, -0.3), RADIUS, "left knee ball"),
    ContactPoint("right thigh", (0.0, 0.0, -0.3), RADIUS, "right knee ball"),
]


@cache
def pinocchio_model(yaw=0.0):
    return pin.buildModelFromXML(urdf(yaw), pin.JointModelFreeFlyer())


def pinocchio_tongs(yaw=0.0, constraints=(LOOP,)):
    """Return the tongs in Pinocchio."""
    model = pinocchio_model(yaw)
    return PinocchioSystem(model, CONTACTS, mu=MU, constraints=constraints, limits=False)


def drake_tongs(yaw=0.0):
    """Return the tongs in Drake, whose plant has the loop as well."""
    plant = MultibodyPlant(time_step=1e-3)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    Parser(plant).AddModelsFromString(urdf(yaw), "urdf")
    one, other = (plant.GetBodyByName(f"{side} shin") for side in ("left", "right"))
    plant.AddBallConstraint(one, TIP, other, TIP)
    plant.Finalize()
    return DrakeSystem(plant, CONTACTS, mu=MU, constraints=[LOOP], limits=False)


def mujoco_model(yaw=0.0):
    """Return MuJoCo's model of the tongs, with a floor and the loop."""
    spec = mujoco.MjSpec.from_string(
        urdf(yaw).replace(
            '<robot name="tongs">',
            '<robot name="tongs"><mujoco><compiler fusestatic="false"/></mujoco>',
        )
    )
    spec.body("trunk").add_freejoint()
    friction = [MU, 0.0, 0.0]
    for point in CONTACTS:
        sphere = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [point.radius, 0, 0], "mass": 0.0}
        spec.body(point.frame).add_geom(
            name=point.name, pos=point.offset, friction=friction, **sphere
        )
    plane = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": [9, 9, 1]}
    spec.worldbody.add_geom(name="floor", friction=friction, **plane)
    for side in ("left", "right"):
        spec.body(f"{side} shin").add_site(name=f"{side} tip", pos=TIP)
    loop = spec.add_equality(name="loop", type=mujoco.mjtEq.mjEQ_CONNECT)
    loop.objtype = mujoco.mjtObj.mjOBJ_SITE
    loop.name1, loop.name2 = "left tip", "right tip"
    return spec.compile()


def mujoco_tongs(yaw=0.0):
    """Return the tongs in MuJoCo."""
    return MujocoSystem(mujoco_model(yaw), margin=5.0, limits=False)


def closed(yaw=0.0):
    """Return Pinocchio's q of a closed pose with the tip on the ground."""
    system = pinocchio_tongs(yaw)
    q = system.neutral
    q[3:7] = np.array([0.1, -0.15, 0.2, 1.0]) / np.linalg.norm([0.1, -0.15, 0.2, 1.0])
    q[7:] = 0.5, -0.9, -0.5, 0.9
    q = system.closed(q)
    return system.stand(q, ["tip"])


def in_drake(q):
    """Return Drake's q, and T so that its velocity is T times Pinocchio's."""
    return conventions.to_drake(q, range(4))


def in_mujoco(q):
    """Return MuJoCo's q, and T so that its velocity is T times Pinocchio's."""
    return conventions.to_mujoco(q, range(4))
