"""A humanoid lands on two flat feet, heel and toe: which of them stay on the ground?

Run it as `python humanoid_landing.py [g1 | talos] [figure.png]`; the figure is written here unless
told otherwise. It needs `pip install ".[pinocchio,plots]" example-robot-data`.
"""

import sys
from importlib.metadata import distribution

import numpy as np
import pinocchio as pin

import carom
from carom.adapters.pinocchio import ContactPoint, PinocchioSystem
from carom.guarantees.ambiguity import Ambiguity, ambiguity

ROBOTS = distribution("example-robot-data").locate_file(
    "cmeel.prefix/share/example-robot-data/robots"
)
MU = 0.7
BEND = 0.5  # how far thighs are turned [rad]
VELOCITY = (0.2, 0.0, -0.8)  # forward, to the left, and down [m/s]

FILES = {
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
}
# Hip, knee and ankle of a leg; the frame of its foot; heel and toe in that frame [m].
LEG = {
    "g1": ("{}_hip_pitch_joint", "{}_knee_joint", "{}_ankle_pitch_joint"),
    "talos": ("leg_{}_3_joint", "leg_{}_4_joint", "leg_{}_5_joint"),
}
FOOT = {"g1": "{}_ankle_roll_link", "talos": "{}_sole_link"}
HEEL = {"g1": (-0.05, 0.0, -0.035), "talos": (-0.1, 0.0, 0.0)}
TOE = {"g1": (0.12, 0.0, -0.035), "talos": (0.1, 0.0, 0.0)}


def impacts(robot: str) -> dict[str, carom.ImpactProblem]:
    """Return the landing with joints that yield, and the same with joints that are held."""
    contacts = [
        ContactPoint(FOOT[robot].format(side), offset, name=f"{side} {name}")
        for side in ("left", "right")
        for name, offset in (("heel", HEEL[robot]), ("toe", TOE[robot]))
    ]
    model = pin.buildModelFromUrdf(f"{ROBOTS}/{FILES[robot]}", pin.JointModelFreeFlyer())
    # Talos' arms rest at the ends of their ranges; here only feet hit.
    system = PinocchioSystem(model, contacts, mu=MU, limits=False)
    q = pin.neutral(model)
    for side in ("left", "right"):
        # Angles along a leg add up to zero, so that feet are level.
        for joint, angle in zip(LEG[robot], (-BEND, 2 * BEND, -BEND), strict=True):
            q[model.joints[model.getJointId(joint.format(side))].idx_q] = angle
    # The floating base is moved until heels and toes touch.
    q = system.stand(q)
    v = np.zeros(model.nv)
    v[:3] = VELOCITY  # in the axes of the base, which is level
    held = pin.buildReducedModel(model, list(range(2, model.njoints)), q)
    stiff = PinocchioSystem(held, contacts, mu=MU)
    return {
        "joints that yield": system.impact_problem(q, v),
        "joints that are held": stiff.impact_problem(q[:7], v[:6]),
    }


def pitch_rates(robot: str, outcomes: carom.SampledSet) -> dict[str, tuple[float, float]]:
    """Return how fast each foot turns after the landing, from least to most [rad/s]."""
    problem, found = outcomes.problem, {}
    for side in ("left", "right"):
        heel, toe = (problem.contacts.index(f"{side} {name}") for name in ("heel", "toe"))
        row = (problem.J_n[heel] - problem.J_n[toe]) / (TOE[robot][0] - HEEL[robot][0])
        found[side] = -outcomes.support(-row), outcomes.support(row)
    return found


def main(
    robot: str = "g1", figure: str = "humanoid_landing.png"
) -> dict[str, tuple[carom.SampledSet, Ambiguity]]:
    found = {}
    for joints, problem in impacts(robot).items():
        # Four contacts in space are too many for an exact set: this is sampled.
        outcomes = carom.Routh(num_samples=2**11).resolve(problem)
        found[joints] = outcomes, ambiguity(outcomes)
        print(f"{robot} lands on heels and toes, with {joints}")
        print(outcomes.summary())
        print(found[joints][1])
        # A controller that waits for flat feet should know how fast they may turn.
        for side, (least, most) in pitch_rates(robot, outcomes).items():
            print(f"{side} foot turns forward by {least:z.3f} … {most:z.3f} rad/s afterwards")
        print()

    outcomes, _ = found["joints that are held"]
    sequential = carom.Sequential().resolve(outcomes.problem)
    title = f"{robot} lands on heels and toes, with joints that are held"
    drawn = carom.plots.outcomes_overview(outcomes, sequential=sequential, title=title)
    drawn.savefig(figure)
    print(f"figure: {figure}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
