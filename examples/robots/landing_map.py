"""A map of a quadruped's landings: how fast can a foot move, and the base roll, after touchdown?

The robot comes down at 1 m/s on four feet, and moves sideways. For each sideways velocity and
friction, the worst of all outcomes that were sampled is kept: a controller has to expect it. The
map is a sweep, which goes on where it was if it is interrupted and called again.

Run it as `python landing_map.py [solo12 | go2 | anymal] [figure.png] [folder] [points per axis]`.
It needs `pip install ".[pinocchio,plots,sweeps]" example-robot-data`.
"""

import sys
from functools import cache

import numpy as np
import pinocchio as pin
from matplotlib.figure import Figure
from quadruped_landing import feet, landing

import carom
from carom.adapters.pinocchio import PinocchioSystem

ROLL = 3  # index of the base's roll rate among its velocities
DOWN = 1.0  # speed at which it comes down [m/s]
LEGS = {"held": "legs that are held", "yield": "legs that yield"}
MEASURES = {
    "foot_speed": "fastest foot [m/s]",
    "roll_rate": "fastest roll of the base [rad/s]",
}


@cache
def robot_with(robot: str, legs: str, mu: float) -> tuple[PinocchioSystem, np.ndarray]:
    """Return a robot and its configuration, with all feet on the ground."""
    model, _, q = landing(robot)
    if legs == "held":
        # Joints take impulses: the robot is one rigid body.
        model, q = pin.buildReducedModel(model, list(range(2, model.njoints)), q), q[:7]
    return PinocchioSystem(model, feet(robot), mu=mu), q


def problem_of(robot: str, legs: str, mu: float, sideways: float) -> carom.ImpactProblem:
    """Pose the impact of a landing, with a velocity to the left [m/s]."""
    system, q = robot_with(robot, legs, mu)
    v = np.zeros(system.nv)
    v[1:3] = sideways, -DOWN  # in the axes of the base, which is level
    return system.impact_problem(q, v)


def foot_speed(outcomes: carom.OutcomeSet) -> float:
    return float(np.linalg.norm(outcomes.contact_velocities, axis=2).max())


def roll_rate(outcomes: carom.OutcomeSet) -> float:
    return float(np.abs(outcomes.v_post[:, ROLL]).max())


def sweep(robot: str, folder: str, num: int, workers: int | None):
    """Measure the landings over sideways velocity and friction, with both kinds of legs."""
    grid = {
        "robot": robot,
        "legs": [*LEGS],
        "sideways": np.linspace(-1.0, 1.0, num),
        "mu": np.linspace(0.1, 1.2, num),
    }
    return carom.sweep(
        problem_of,
        grid,
        [foot_speed, roll_rate],
        out=folder,
        law=carom.Routh(num_samples=1024),
        workers=workers,
        units={"mu": "1", "sideways": "m/s", "foot_speed": "m/s", "roll_rate": "rad/s"},
        progress=lambda progress: print(f"\r{progress}", end="", flush=True),
    )


def main(
    robot: str = "solo12",
    figure: str = "landing_map.png",
    folder: str = "landing_map",
    num: str = "21",
    workers: int | None = None,
):
    data = sweep(robot, folder, int(num), workers)
    drawn = Figure(figsize=(9.0, 7.0), layout="constrained")
    drawn.suptitle(f"{robot} lands on four feet at {DOWN:g} m/s: the worst of all sampled outcomes")
    axes = drawn.subplots(2, 2, sharex=True, sharey=True)
    for row, (legs, words) in zip(axes, LEGS.items(), strict=True):
        for ax, name in zip(row, MEASURES, strict=True):
            values = data[name].sel(legs=legs)
            carom.plots.plot_measure(values, ax, x="sideways", y="mu")
            ax.set_title(f"{words}: {MEASURES[name]}", fontsize=10)
            low, high = float(values.min()), float(values.max())
            print(f"\n{words}: {MEASURES[name]} {low:.3g} to {high:.3g}", end="")
    drawn.savefig(figure, dpi=110)
    print(f"\nfigure: {figure}")
    return data


if __name__ == "__main__":
    main(*sys.argv[1:])
