"""A quadruped lands on four feet: with legs that yield, and with legs that are held.

Samples show how ambiguous a landing is; for the worst case of a foot there is a motion that reaches
it, and a bound with a proof that no outcome exceeds it.

Run it as `python quadruped_landing.py [solo12 | go2 | anymal] [figure.png]`; the figure is written
here unless told otherwise. It needs `pip install ".[pinocchio,plots]" example-robot-data`.
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
BEND = 0.6  # how far thighs are turned, and half as far as knees are [rad]
VELOCITY = (0.3, 0.1, -1.0)  # forward, to the left, and down [m/s]

FILES = {
    "solo12": "solo_description/robots/solo12.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
}
# Knees of ANYmal and Solo point to each other, those of Go2 all backwards.
LEGS = {
    "solo12": {"FL": 1, "FR": 1, "HL": -1, "HR": -1},
    "go2": {"FL": 1, "FR": 1, "RL": 1, "RR": 1},
    "anymal": {"LF": 1, "RF": 1, "LH": -1, "RH": -1},
}
# The frame of a foot, and the joints of thigh and knee.
NAMES = {
    "solo12": ("{}_FOOT", "{}_HFE", "{}_KFE"),
    "go2": ("{}_foot", "{}_thigh_joint", "{}_calf_joint"),
    "anymal": ("{}_FOOT", "{}_HFE", "{}_KFE"),
}
RADIUS = {"solo12": 0.0, "go2": 0.022, "anymal": 0.031}  # of a foot about its frame [m]


def landing(robot: str) -> tuple[pin.Model, PinocchioSystem, np.ndarray]:
    """Return a robot, and its configuration with bent legs and all feet on the ground."""
    model = pin.buildModelFromUrdf(f"{ROBOTS}/{FILES[robot]}", pin.JointModelFreeFlyer())
    _, thigh, knee = NAMES[robot]
    q = pin.neutral(model)
    for leg, side in LEGS[robot].items():
        q[model.joints[model.getJointId(thigh.format(leg))].idx_q] = side * BEND
        q[model.joints[model.getJointId(knee.format(leg))].idx_q] = -2 * side * BEND
    system = PinocchioSystem(model, feet(robot), mu=MU)
    # The floating base is moved until no foot has a gap.
    return model, system, system.stand(q)


def feet(robot: str) -> list[ContactPoint]:
    return [
        ContactPoint(NAMES[robot][0].format(leg), radius=RADIUS[robot], name=leg)
        for leg in LEGS[robot]
    ]


def impacts(robot: str) -> dict[str, carom.ImpactProblem]:
    """Return the landing with legs that yield, and the same with legs that are held."""
    model, system, q = landing(robot)
    v = np.zeros(model.nv)
    v[:3] = VELOCITY  # in the axes of the base, which is level
    # Stiff control, or gears with much friction, let joints take impulses: then the robot is one
    # rigid body.
    held = pin.buildReducedModel(model, list(range(2, model.njoints)), q)
    stiff = PinocchioSystem(held, feet(robot), mu=MU)
    return {
        "legs that yield": system.impact_problem(q, v),
        "legs that are held": stiff.impact_problem(q[:7], v[:6]),
    }


def main(
    robot: str = "solo12", figure: str = "quadruped_landing.png"
) -> dict[str, tuple[carom.SampledSet, Ambiguity]]:
    found = {}
    for legs, problem in impacts(robot).items():
        # Four contacts in space are too many for an exact set: this is sampled.
        outcomes = carom.Routh().resolve(problem)
        found[legs] = outcomes, ambiguity(outcomes)
        print(f"{robot} lands on {problem.num_contacts} feet, with {legs}")
        print(outcomes.summary())
        print(found[legs][1])
        # How fast can a foot lift, and slide? Both sides hold for the round friction cone.
        foot = problem.contacts[0]
        asked = [f"{foot} normal", f"{foot} tangent 2", f"-{foot} tangent 2"]
        extremes = carom.worst_case(problem, asked, max_seconds=5.0)
        for extreme in extremes:
            extreme.verify()  # checks the proof in rational arithmetic
        print(extremes, end="\n\n")

    outcomes, _ = found["legs that are held"]
    sequential = carom.Sequential().resolve(outcomes.problem)
    title = f"{robot} lands on four feet, with legs that are held"
    drawn = carom.plots.outcomes_overview(outcomes, sequential=sequential, title=title)
    drawn.savefig(figure)
    print(f"figure: {figure}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
