"""A robot of Gymnasium lands on all of its feet, and what MuJoCo predicts.

Run it as `python gymnasium_landing.py [walker2d | hopper | ant | humanoid] [figure.png]`; the
figure is written here unless told otherwise. It needs `pip install ".[gymnasium,plots]"`.
"""

import sys
from importlib.resources import files

import mujoco
import numpy as np

import carom
from carom.adapters.mujoco import MujocoSystem, engine_outcome, impact_problem
from carom.guarantees.ambiguity import Ambiguity, ambiguity

FILES = {"walker2d": "walker2d_v5.xml", "hopper": "hopper.xml"}
# Joints that are bent so that all feet are level [rad].
POSES = {
    "walker2d": {"thigh_joint": -0.2, "leg_joint": -0.3, "foot_joint": 0.5}
    | {"thigh_left_joint": -0.2, "leg_left_joint": -0.3, "foot_left_joint": 0.5},
    "hopper": {"thigh_joint": -0.3, "leg_joint": -0.4, "foot_joint": 0.7},
    "ant": {"ankle_1": 0.9, "ankle_2": -0.9, "ankle_3": -0.9, "ankle_4": 0.9},
    "humanoid": {"right_knee": -0.4, "left_knee": -0.4, "right_hip_y": -0.4, "left_hip_y": -0.4}
    | {"right_hip_x": -0.1, "left_hip_x": -0.1},
}
FORWARD, DOWN = 0.3, 1.0  # velocity of the landing [m/s]


def landing(robot: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the robot in a pose in which its feet touch the floor, as it comes down."""
    assets = files("gymnasium") / "envs" / "mujoco" / "assets"
    model = mujoco.MjModel.from_xml_path(str(assets / FILES.get(robot, f"{robot}.xml")))
    data = mujoco.MjData(model)
    for joint, angle in POSES[robot].items():
        data.joint(joint).qpos[0] = angle
    is_planar = model.jnt_type[0] != mujoco.mjtJoint.mjJNT_FREE
    data.qpos[:] = MujocoSystem(model).stand(data.qpos)
    data.qvel[[0, 1 if is_planar else 2]] = FORWARD, -DOWN
    return model, data


def main(
    robot: str = "walker2d", figure: str = "gymnasium_landing.png"
) -> tuple[carom.SampledSet, Ambiguity, np.ndarray]:
    model, data = landing(robot)
    problem = impact_problem(model, data)
    outcomes = carom.Routh(num_samples=2**14).resolve(problem)
    spread = ambiguity(outcomes)
    print(f"{robot} lands on {problem.num_contacts} contacts")
    print(outcomes.summary())
    print(spread)

    # MuJoCo's own answer to the same state, with stiff contacts and small steps: one of many.
    own = engine_outcome(model, data)
    print("what MuJoCo predicts, as contact velocities [m/s], normal first:")
    for name, velocity in zip(problem.contacts, problem.contact_velocity(own), strict=True):
        print(f"  {name}: {np.round(velocity, 4) + 0.0}")
    # In contact space all entries are m/s; those of v are m/s and rad/s.
    away = outcomes.contact_velocities - problem.contact_velocity(own)
    nearest = np.linalg.norm(away, axis=(1, 2)).min()
    print(f"  {nearest:.4f} m/s from the nearest sample")

    drawn = carom.plots.outcomes_overview(outcomes, title=f"{robot} lands")
    ax, labels = drawn.axes[0], problem.contacts[:2]
    x, y = (problem.contact_velocity(own)[problem.contacts.index(name), 0] for name in labels)
    ax.plot(x, y, "P", color="#CC79A7", markeredgecolor="black", markersize=11, zorder=7)
    ax.annotate("MuJoCo", (x, y), xytext=(-9, 0), textcoords="offset points", ha="right")
    drawn.savefig(figure)
    print(f"figure: {figure}")
    return outcomes, spread, own


if __name__ == "__main__":
    main(*sys.argv[1:])
