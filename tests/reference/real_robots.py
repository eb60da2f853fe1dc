"""Robots of example-robot-data, as adapters and engines see them, shared by tests."""

from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pinocchio as pin

from carom.adapters.pinocchio import ContactPoint, PinocchioSystem, collision_points

SHARE = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share"))).resolve()
FILES = {
    "solo12": "solo_description/robots/solo12.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "anymal_b": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_full_v2_box.urdf",
}
MU = 0.7
BEND = 0.6
"""How far thighs are turned in a landing, and half as far as knees are [rad]."""
GO2_FOOT = 0.022
"""Radius of Go2's feet, which are meshes in its file [m]."""


def path(name):
    """Return the URDF file of a robot."""
    return SHARE / "example-robot-data" / "robots" / FILES[name]


@cache
def model(name):
    """Return Pinocchio's model of a robot; some have rotors, so that armature is seen."""
    made = pin.buildModelFromUrdf(str(path(name)), pin.JointModelFreeFlyer())
    if name in ("go2", "g1"):
        made.armature[6:] = np.linspace(0.01, 0.02, made.nv - 6)
    return made


@cache
def shapes(name):
    """Return Pinocchio's collision geometry of a robot."""
    kind = pin.GeometryType.COLLISION
    return pin.buildGeomFromUrdf(model(name), str(path(name)), kind, package_dirs=[str(SHARE)])


def contacts(name):
    """Return what of a robot's feet may touch: points, spheres, or corners of boxes."""
    if name == "solo12":
        return [f"{leg}_FOOT" for leg in ("FL", "FR", "HL", "HR")]
    if name == "go2":
        return [ContactPoint(f"{leg}_foot", radius=GO2_FOOT) for leg in ("FL", "FR", "RL", "RR")]
    shape = {
        "anymal_b": ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
        # A link's own name stands for its cylinder as well.
        "anymal_c": ("LF_FOOT_1", "RF_FOOT_1", "LH_FOOT_1", "RH_FOOT_1"),
        "g1": ("left_ankle_roll_link", "right_ankle_roll_link"),
        "talos": ("leg_left_6_link", "leg_right_6_link"),
    }[name]
    return collision_points(model(name), shapes(name), shape)


@cache
def system(name):
    """Return a robot as carom's adapter sees it, without limits, which random states exceed."""
    return PinocchioSystem(model(name), contacts(name), mu=MU, limits=False)


def random_state(name, rng):
    """Return a configuration and a velocity within a metre of the ground."""
    made = model(name)
    q = pin.integrate(made, pin.neutral(made), rng.uniform(-1.0, 1.0, made.nv))
    return q, rng.normal(size=made.nv)


def bent_legs(name):
    """Return angles of joints with which feet are level."""
    if name in ("solo12", "anymal_b", "anymal_c"):
        front, hind = ("FL FR", "HL HR") if name == "solo12" else ("LF RF", "LH RH")
        bends = dict.fromkeys(front.split(), BEND) | dict.fromkeys(hind.split(), -BEND)
        thighs = {f"{leg}_HFE": bend for leg, bend in bends.items()}
        return thighs | {f"{leg}_KFE": -2.0 * bend for leg, bend in bends.items()}
    if name == "go2":
        legs = ("FL", "FR", "RL", "RR")
        thighs = {f"{leg}_thigh_joint": BEND for leg in legs}
        return thighs | {f"{leg}_calf_joint": -2.0 * BEND for leg in legs}
    if name == "g1":
        joints = ("{}_hip_pitch_joint", "{}_knee_joint", "{}_ankle_pitch_joint")
    else:
        joints = ("leg_{}_3_joint", "leg_{}_4_joint", "leg_{}_5_joint")
    # Angles along a leg add up to zero.
    turned = dict(zip(joints, (-BEND, 2.0 * BEND, -BEND), strict=True))
    return {joint.format(side): turned[joint] for side in ("left", "right") for joint in joints}


def landing(name, speed=1.0):
    """Return the state of a robot that comes down on all of its feet, and slips."""
    made = model(name)
    q = pin.neutral(made)
    for joint, angle in bent_legs(name).items():
        q[made.joints[made.getJointId(joint)].idx_q] = angle
    if name == "talos":
        # Boxes have corners at their top as well.
        below = [point for point in system(name).contacts if point.endswith("-)")]
    else:
        below = None
    v = np.zeros(made.nv)
    v[0], v[1], v[2] = 0.3 * speed, 0.1 * speed, -speed
    return system(name).stand(q, below), v


def ball():
    """Return Pinocchio's model of a floating ball of 2 kg and radius 0.1 m."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "ball")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(2.0, 0.1), pin.SE3.Identity())
    model.addJointFrame(joint)
    return model
