"""A planar leg with limits, from one file in every engine, shared by tests."""

import mujoco
import numpy as np
import pinocchio as pin
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant

from carom.adapters.drake import ContactPoint, DrakeSystem
from carom.adapters.mujoco import MujocoSystem
from carom.adapters.pinocchio import PinocchioSystem

MU, RADIUS = 0.6, 0.03
KNEE = (0.2, 2.0)
"""Ends of the knee's range [rad]."""
LINK = """<link name="{name}"><inertial><origin xyz="0 0 {z}"/><mass value="{mass}"/>
  <inertia ixx="{turn}" iyy="{turn}" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>{more}</link>"""
FOOT = """<collision><origin xyz="0 0 -0.4"/><geometry><sphere radius="0.03"/></geometry>
  </collision>"""
URDF = f"""<robot name="leg"><link name="world"/>
  {LINK.format(name="trunk", z=0, mass=8, turn=0.1, more="")}
  {LINK.format(name="thigh", z=-0.2, mass=2, turn=0.03, more="")}
  {LINK.format(name="shin", z=-0.2, mass=1, turn=0.015, more=FOOT)}
  <joint name="height" type="prismatic"><parent link="world"/><child link="trunk"/>
    <axis xyz="0 0 1"/><limit lower="0.3" upper="0.9" effort="1" velocity="1"/></joint>
  <joint name="hip" type="continuous"><parent link="trunk"/><child link="thigh"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="knee" type="revolute"><parent link="thigh"/><child link="shin"/>
    <origin xyz="0 0 -0.4"/><axis xyz="0 1 0"/>
    <limit lower="{KNEE[0]}" upper="{KNEE[1]}" effort="1" velocity="1"/></joint></robot>"""
CONTACT = [ContactPoint("shin", (0.0, 0.0, -0.4), RADIUS, "foot")]
LIMITS = ("height (low)", "height (high)", "knee (low)", "knee (high)")


def pinocchio_leg(**options):
    """Return the leg in Pinocchio: q is (height, cos hip, sin hip, knee)."""
    return PinocchioSystem(pin.buildModelFromXML(URDF), CONTACT, mu=MU, **options)


def drake_leg(**options):
    """Return the leg in Drake: q is (height, hip, knee)."""
    plant = MultibodyPlant(time_step=0.0)
    Parser(plant).AddModelsFromString(URDF, "urdf")
    plant.Finalize()
    return DrakeSystem(plant, CONTACT, mu=MU, **options)


def mujoco_model():
    """Return MuJoCo's model of the leg, with a floor."""
    spec = mujoco.MjSpec.from_string(URDF)
    floor = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": [1, 1, 1], "friction": [MU, 0.0, 0.0]}
    spec.worldbody.add_geom(name="floor", **floor)
    for body in spec.bodies:
        for geom in body.geoms:
            geom.name = geom.name or "foot"
            geom.friction = [MU, 0.0, 0.0]
    return spec.compile()


def mujoco_leg(**options):
    """Return the leg in MuJoCo: q is (height, hip, knee)."""
    return MujocoSystem(mujoco_model(), margin=0.5, **options)


LEGS = {"mujoco": mujoco_leg, "drake": drake_leg, "pinocchio": pinocchio_leg}


def configuration(engine, height, hip, knee):
    """Return q of an engine."""
    turn = [np.cos(hip), np.sin(hip)] if engine == "pinocchio" else [hip]
    return np.array([height, *turn, knee])


def landing(engine, knee=KNEE[0], hip=0.3):
    """Return q of an engine with the foot on the ground."""
    height = 0.4 * np.cos(hip) + 0.4 * np.cos(hip + knee) + RADIUS
    return configuration(engine, height, hip, knee)
