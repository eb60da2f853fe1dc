"""Measure a second of motion through impacts beside MuJoCo's steps of 1 ms on the same bodies."""

from __future__ import annotations

import time
from statistics import median

import mujoco
import numpy as np

import carom

ROUNDS = 5
DURATION = 1.0
TIMESTEP = 1e-3
GOAL = 10.0
"""How many times MuJoCo's time a motion may take."""
NUM_MOTIONS = 1000
NUM_PROCESSES = 2
MANY_GOAL = 10.0
"""Seconds for all motions on two cores."""

POINT = 1e-3
"""Radius of a contact point in MuJoCo, by which floor and wall are set back [m]."""

FLOATING = (
    '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
    '<joint type="hinge" axis="0 -1 0"/>'
)


def _point(name: str, x: float, z: float) -> str:
    return f'<geom name="{name}" type="sphere" size="{POINT}" pos="{x} 0 {z}" mass="0"/>'


def _inertia(mass: float, inertia: float, z: float = 0.0) -> str:
    return f'<inertial pos="0 0 {z}" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>'


def _leg(name: str) -> str:
    # A point mass half-way down; MuJoCo wants some inertia.
    body = _inertia(1.0, 1e-6, -0.5) + _point(name, 0.0, -1.0)
    return f'<body><joint type="hinge" axis="0 -1 0"/>{body}</body>'


WALL = f'<geom name="wall" type="plane" size="9 9 1" pos="{POINT} 0 0" zaxis="-1 0 0"/>'
BODIES = {
    "rocking-block": f"<body>{FLOATING}{_inertia(1.0, 5 / 12)}{_point('A', -0.5, -1.0)}"
    f"{_point('B', 0.5, -1.0)}</body>",
    "compass-gait": '<body><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
    f"{_inertia(1e-3, 1e-6)}{_leg('A')}{_leg('B')}</body>",
    "box-wall": f"{WALL}<body>{FLOATING}{_inertia(1.0, 1 / 6)}{_point('A', -0.5, -0.5)}"
    f"{_point('B', 0.5, -0.5)}</body>",
}
"""Bodies of each scene; coordinates are those of the scene."""


def model(name: str) -> mujoco.MjModel:
    """Return a scene as MuJoCo's model, with the same contacts."""
    mu = carom.scenes.load(name).system.mu[0]
    other = {"A": "floor", "B": "wall" if name == "box-wall" else "floor"}
    pairs = "".join(
        f'<pair geom1="{foot}" geom2="{plane}" condim="3" friction="{mu} {mu} 0 0 0"/>'
        for foot, plane in other.items()
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{TIMESTEP}"/><default><geom contype="0" conaffinity="0"/>'
        f'</default><worldbody><geom name="floor" type="plane" size="9 9 1" pos="0 0 {-POINT}"/>'
        f"{BODIES[name]}</worldbody><contact>{pairs}</contact></mujoco>"
    )


def measure(name: str) -> dict[str, float]:
    """Return the median seconds of both for one second of motion, and what happens in it."""
    scene, law = carom.scenes.load(name), carom.Routh(num_samples=1, seed=0)
    engine = model(name)
    carom.simulate(scene.system, scene.q, scene.v, DURATION, law)
    times: dict[str, list[float]] = {"carom": [], "mujoco": []}
    impacts = []
    for seed in range(ROUNDS):
        data = mujoco.MjData(engine)
        data.qpos[:], data.qvel[:] = scene.q, scene.v
        start = time.perf_counter()
        for _ in range(round(DURATION / TIMESTEP)):
            mujoco.mj_step(engine, data)
        times["mujoco"].append(time.perf_counter() - start)
        start = time.perf_counter()
        motion = carom.simulate(scene.system, scene.q, scene.v, DURATION, law, seed=seed)
        times["carom"].append(time.perf_counter() - start)
        assert motion.is_finished, motion.message
        assert np.isfinite(data.qpos).all()
        impacts.append(len(motion.impacts))
    return {key: median(values) for key, values in times.items()} | {"impacts": median(impacts)}


def measure_many() -> float:
    """Return the seconds for many motions of the rocking block."""
    scene, law = carom.scenes.load("rocking-block"), carom.Routh(num_samples=1, seed=0)
    start = time.perf_counter()
    carom.simulate_many(
        *(scene.system, scene.q, scene.v, DURATION, law, NUM_MOTIONS), num_processes=NUM_PROCESSES
    )
    return time.perf_counter() - start


def section() -> list[str]:
    """Measure all, and write it as Markdown."""
    lines = [
        "",
        "## Motion through impacts beside MuJoCo's steps",
        "",
        f"`carom.simulate` of one second, with `Routh(num_samples=1)`, and a loop of "
        f"`mujoco.mj_step` at 1 ms on the same bodies, one thread, medians of {ROUNDS} interleaved "
        f"rounds. carom locates every impact to rounding; the goal is {GOAL:.0f} times MuJoCo's "
        f"time.",
        "",
        "| scene | impacts | carom, ms | MuJoCo, ms | ratio | goal |",
        "|---|---|---|---|---|---|",
    ]
    for name in BODIES:
        row = measure(name)
        ratio = row["carom"] / row["mujoco"]
        lines.append(
            f"| {name} | {row['impacts']:.0f} | {1e3 * row['carom']:.3g} | "
            f"{1e3 * row['mujoco']:.3g} | {ratio:.1f} | {'met' if ratio <= GOAL else 'missed'} |"
        )
    seconds = measure_many()
    lines += [
        "",
        f"{NUM_MOTIONS:,} such motions of the rocking block take {seconds:.1f} s in "
        f"{NUM_PROCESSES} processes; the goal is {MANY_GOAL:.0f} s: "
        f"{'met' if seconds <= MANY_GOAL else 'missed'}.",
    ]
    return lines


if __name__ == "__main__":
    print("\n".join(section()))
