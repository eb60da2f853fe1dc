"""Robots of Gymnasium, poses of them, and small MuJoCo models, shared by tests of the adapters."""

from importlib.resources import files

import mujoco
import numpy as np

from carom.adapters.mujoco import MujocoSystem

ROBOTS = {
    "walker2d": "walker2d_v5.xml",
    "hopper": "hopper.xml",
    "ant": "ant.xml",
    "humanoid": "humanoid.xml",
}
FEET = {"walker2d": 4, "hopper": 2, "ant": 4, "humanoid": 2}
"""How many contacts touch in a landing."""
WIDE = 0.1
"""Margin that sees contacts of a random pose [m]."""


def load(name):
    """Return the model of a robot."""
    assets = files("gymnasium") / "envs" / "mujoco" / "assets"
    return mujoco.MjModel.from_xml_path(str(assets / ROBOTS[name]))


def random_state(model, rng):
    """Return a configuration and a velocity, with the lowest contact near the floor."""
    q = np.array(model.qpos0)
    mujoco.mj_integratePos(model, q, rng.uniform(-0.8, 0.8, model.nv), 1.0)
    v = rng.normal(size=model.nv)
    q[height(model)] += rng.uniform(-0.3, 0.3) * WIDE - lowest(model, q)
    return q, v


def landing(name, speed=1.0):
    """Return a model and data of a robot that comes down on all of its feet."""
    model = load(name)
    data = mujoco.MjData(model)
    angles = {
        # Feet are level: the angles along each leg add up to zero.
        "walker2d": {"thigh": -0.2, "leg": -0.3, "foot": 0.5}
        | {"thigh_left": -0.25, "leg_left": 0.0, "foot_left": 0.0},
        "hopper": {"thigh": -0.3, "leg": -0.4, "foot": 0.7},
        "ant": {"ankle_1": 0.9, "ankle_2": -0.9, "ankle_3": -0.9, "ankle_4": 0.9},
        "humanoid": {"right_knee": -0.4, "left_knee": -0.4, "right_hip_y": -0.4, "left_hip_y": -0.4}
        | {"right_hip_x": -0.1, "left_hip_x": -0.1},
    }[name]
    for joint, angle in angles.items():
        joint = joint if name in ("ant", "humanoid") else f"{joint}_joint"
        data.joint(joint).qpos[0] = angle
    if name == "walker2d":
        match_feet(model, data)
    data.qpos[height(model)] -= lowest(model, data.qpos)
    data.qvel[:] = 0.0
    data.qvel[0], data.qvel[1 if name in ("walker2d", "hopper") else 2] = 0.3 * speed, -speed
    return model, data


def match_feet(model, data):
    """Bend Walker2d's left knee, with its foot level, until both feet are at one height."""
    low, high = -1.5, 0.0
    for _ in range(60):
        knee = (low + high) / 2
        data.joint("leg_left_joint").qpos[0] = knee
        data.joint("foot_left_joint").qpos[0] = 0.25 - knee
        mujoco.mj_kinematics(model, data)
        is_higher = data.geom("foot_left_geom").xpos[2] > data.geom("foot_geom").xpos[2]
        low, high = (knee, high) if is_higher else (low, knee)


def height(model):
    """Return the number of the coordinate that lifts the whole robot."""
    return 2 if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE else 1


def lowest(model, q):
    """Return the smallest gap to the floor, by MuJoCo's own distances."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    data.qpos[height(model)] += 10.0
    mujoco.mj_kinematics(model, data)
    floor = model.geom("floor").id
    geoms = [i for i in range(model.ngeom) if model.geom_bodyid[i] != 0]
    gaps = [mujoco.mj_geomDistance(model, data, floor, i, 100.0, None) for i in geoms]
    return min(gaps) - 10.0


def moved(model, q, v, dt):
    """Return data of MuJoCo where v leads in a time dt, with all contacts up to WIDE."""
    wide = MujocoSystem(model, margin=WIDE).model
    data = mujoco.MjData(wide)
    data.qpos[:] = q
    mujoco.mj_integratePos(wide, data.qpos, v, dt)
    mujoco.mj_fwdPosition(wide, data)
    return data


PLANAR = """<mujoco><worldbody>{world}
  <body name="{name}" pos="0 0 0">
    <joint name="x" type="slide" axis="1 0 0"/>
    <joint name="z" type="slide" axis="0 0 1"/>
    <joint name="angle" type="hinge" axis="0 -1 0"/>
    <geom type="box" size="{size}" mass="{mass}" {more}/>
  </body></worldbody></mujoco>"""
FLOOR = '<geom name="floor" type="plane" size="9 9 1"/>'
WALL = '<geom name="wall" type="plane" size="9 9 1" zaxis="-1 0 0"/>'


def rocking_block():
    """Return the rocking block of carom, 1 m wide and 2 m high, in its coordinates."""
    text = PLANAR.format(world=FLOOR, name="block", size="0.5 0.3 1", mass=1, more="")
    return mujoco.MjModel.from_xml_string(text)


def box_and_wall():
    """Return the box and wall of carom, in its coordinates."""
    text = PLANAR.format(world=FLOOR + WALL, name="box", size="0.5 0.4 0.5", mass=1, more="")
    return mujoco.MjModel.from_xml_string(text)
