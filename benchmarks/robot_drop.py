"""Drop quadrupeds from 10 cm with a PD controller, many times, beside MuJoCo's own motion.

All feet come down at once, and the law draws how. Printed are what held in all motions, the time of
a motion beside that of MuJoCo's loop in the same run, and where MuJoCo's motion, which is one,
leaves the spread of carom's.

Run it as `python robot_drop.py [solo12 | go2] [motions]`; it needs
`pip install ".[pinocchio,mujoco]" example-robot-data`.
"""

from __future__ import annotations

import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

import carom
from carom.adapters.pinocchio import ContactPoint, PinocchioSystem
from carom.systems import PD

ROBOTS = Path(
    str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data"))
)
MU, HEIGHT, DURATION, STEP = 0.7, 0.1, 1.0, 1e-3
FORWARD = (0.3, 0.1)
"""Velocity of the base at the start, forward and to the left [m/s]."""
BEND = 0.6
"""How far thighs are turned, and half as far as knees are [rad]."""
WAYS = {
    "MuJoCo in steps of 1 ms": (1e-3, None),
    "MuJoCo in steps of 0.1 ms": (1e-4, None),
    "MuJoCo in steps of 0.1 ms, contacts that give way for 1 ms": (1e-4, 1e-3),
}
"""Steps of MuJoCo, and the time constant of its contacts if it is not its own, 20 ms [s]."""


@dataclass(frozen=True)
class Robot:
    """A quadruped: its file, legs with the side to which they bend, names, feet and gains."""

    file: str
    legs: dict[str, int]
    names: tuple[str, str, str]
    radius: float
    stiffness: float
    damping: float


QUADRUPEDS = {
    "solo12": Robot(
        "robots/solo_description/robots/solo12.urdf",
        {"FL": 1, "FR": 1, "HL": -1, "HR": -1},
        ("{}_FOOT", "{}_HFE", "{}_KFE"),
        *(0.016, 10.0, 0.3),
    ),
    "go2": Robot(
        "robots/go2_description/urdf/go2.urdf",
        {"FL": 1, "FR": 1, "RL": 1, "RR": 1},
        ("{}_foot", "{}_thigh_joint", "{}_calf_joint"),
        *(0.022, 60.0, 2.0),
    ),
}


def load(robot: Robot) -> tuple[PinocchioSystem, np.ndarray]:
    """Return a robot with spheres as feet, and its configuration 10 cm above the ground."""
    model = pin.buildModelFromUrdf(str(ROBOTS / robot.file), pin.JointModelFreeFlyer())
    foot, thigh, knee = robot.names
    points = [ContactPoint(foot.format(leg), radius=robot.radius) for leg in robot.legs]
    system = PinocchioSystem(model, points, mu=MU)
    q = pin.neutral(model)
    for leg, side in robot.legs.items():
        q[model.joints[model.getJointId(thigh.format(leg))].idx_q] = side * BEND
        q[model.joints[model.getJointId(knee.format(leg))].idx_q] = -2 * side * BEND
    q = system.stand(q)
    q[2] += HEIGHT
    return system, q


def to_mujoco(robot: Robot, q: np.ndarray) -> tuple[mujoco.MjModel, np.ndarray, list[str]]:
    """Return MuJoCo's model of a robot, its configuration, and the names of its joints.

    Springs and dampers of its joints, which MuJoCo takes implicitly, are the controller.
    """
    tree = ET.parse(ROBOTS / robot.file).getroot()
    for link in tree.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    options = {"fusestatic": "false", "discardvisual": "true", "strippath": "false"}
    ET.SubElement(ET.SubElement(tree, "mujoco"), "compiler", options)
    links = {link.get("name") for link in tree.iter("link")}
    (base,) = links - {joint.find("child").get("link") for joint in tree.iter("joint")}
    spec = mujoco.MjSpec.from_string(ET.tostring(tree, encoding="unicode"))
    spec.body(base).add_freejoint()
    for leg in robot.legs:
        sphere = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [robot.radius, 0.0, 0.0]}
        body = spec.body(robot.names[0].format(leg))
        body.add_geom(mass=0.0, friction=[MU, 0.0, 0.0], **sphere)
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(type=plane, size=[9, 9, 1], friction=[0.0, 0.0, 0.0])
    model = spec.compile()
    pins = pin.buildModelFromUrdf(str(ROBOTS / robot.file), pin.JointModelFreeFlyer())
    model.dof_damping[6:], model.jnt_stiffness[1:] = robot.damping, robot.stiffness
    model.dof_frictionloss[:], model.dof_armature[:] = 0.0, 0.0
    names = [model.joint(i).name for i in range(1, model.njnt)]
    x, y, z, w = q[3:7]
    joints = [q[pins.joints[pins.getJointId(name)].idx_q] for name in names]
    there = np.array([*q[:3], w, x, y, z, *joints])
    model.qpos_spring[7:] = joints
    return model, there, names


def in_mujoco(
    model: mujoco.MjModel, q: np.ndarray, step: float, give: float | None
) -> tuple[np.ndarray, float]:
    """Return MuJoCo's configurations at every `STEP`, and processor seconds of its loop."""
    model.opt.timestep = step
    if give is not None:
        model.geom_solref[:, 0], model.opt.impratio = give, 100.0
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:2] = q, FORWARD
    rows, per = [q.copy()], round(STEP / step)
    start = time.process_time()
    for _ in range(round(DURATION / STEP)):
        for _ in range(per):
            mujoco.mj_step(model, data)
        rows.append(data.qpos.copy())
    return np.array(rows), time.process_time() - start


def work_of(motion: carom.Trajectory, hold: PD) -> np.ndarray:
    """Return the work of the controller up to each state (n,), by the forces that acted [J].

    Those are held at the end of each step, as implicit steps have them.
    """
    total = np.zeros(len(motion.t))
    for k in range(len(total) - 1):
        h, v, v_end = motion.t[k + 1] - motion.t[k], motion.v[k], motion.v[k + 1]
        if h > 0.0:
            stiffness, damping = hold.gains(motion.t[k], motion.q[k], v)
            force = hold(motion.t[k], motion.q[k], v)
            force = force - damping @ (v_end - v) - h * stiffness @ v_end
            way = motion.q[k + 1, 7:] - motion.q[k, 7:]
            total[k + 1] = total[k] + force[6:] @ way
        else:
            total[k + 1] = total[k]
    return total


def main(name: str = "solo12", num: int = 100) -> None:
    """Print the figures of one robot."""
    robot = QUADRUPEDS[name]
    system, q = load(robot)
    moving = system.holding(q, stiffness=robot.stiffness, damping=robot.damping)
    hold, law, v = moving.inputs, carom.Routh(), np.zeros(system.nv)
    v[:2] = FORWARD
    carom.simulate(moving, q, v, 0.2, law, time_step=STEP)
    start = time.process_time()
    motions = carom.simulate_many(moving, q, v, DURATION, law, num, time_step=STEP, num_processes=1)
    seconds = (time.process_time() - start) / num
    print(f"{name}: {num} motions of {DURATION:g} s in steps of {1e3 * STEP:g} ms")
    print(f"  finished: {motions.num_finished}")
    notes = {motion.message for motion in motions.trajectories}
    print(f"  {'; '.join(sorted(notes))}")
    gaps = [min(system.gap(x).min() for x in motion.q) for motion in motions.trajectories]
    print(f"  least gap: {min(gaps):.3g} m or rad")
    rises = []
    for motion in motions.trajectories:
        kept = motion.energy - work_of(motion, hold)
        rises.append(np.diff(kept).max() / (kept[0] - kept.min()))
    print(f"  largest rise of energy in a step beyond the controller's work: {max(rises):.3g}")
    counts = [len(motion.impacts) for motion in motions.trajectories]
    print(f"  impacts: {min(counts)} … {max(counts)}")
    compare(robot, q, motions, seconds)


def compare(robot: Robot, q: np.ndarray, motions: carom.Bundle, seconds: float) -> None:
    """Print times beside MuJoCo's, and where its motion leaves the spread."""
    model, there, names = to_mujoco(robot, q)
    times = np.linspace(0.0, DURATION, round(DURATION / STEP) + 1)
    ours = motions.q_at(times)
    pins = pin.buildModelFromUrdf(str(ROBOTS / robot.file), pin.JointModelFreeFlyer())
    own = [pins.joints[pins.getJointId(name)].idx_q for name in names]
    columns = [*range(3), *own]
    words = ["x", "y", "z", *names]
    for words_of, (step, give) in WAYS.items():
        theirs, taken = in_mujoco(model, there, step, give)
        least = min(taken, in_mujoco(model, there, step, give)[1])
        print(f"  {words_of}: {1e3 * least:.1f} ms per motion;")
        print(f"    carom: {1e3 * seconds:.0f} ms per motion, {seconds / least:.0f} times that")
        rows = theirs[:, [0, 1, 2, *range(7, 7 + len(names))]]
        low, high = ours[:, :, columns].min(axis=0), ours[:, :, columns].max(axis=0)
        mean = ours[:, :, columns].mean(axis=0)
        outside = np.maximum(low - rows, rows - high)
        worst = outside.max(axis=0)
        print(f"    largest distance to the mean: {np.abs(rows - mean).max():.3g} m or rad;")
        print(f"    largest spread: {(high - low).max():.3g}")
        for j in np.argsort(-worst)[:4]:
            k = int(outside[:, j].argmax())
            print(
                f"    {words[j]}: outside by {worst[j]:.3g} at t = {times[k]:.3f} s "
                f"(MuJoCo {rows[k, j]:.4g}, carom {low[k, j]:.4g} … {high[k, j]:.4g})"
            )


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
