"""The tables of parameters: as printed, and as read off the scenes that carom builds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from carom.paper.exhibit import Effort, Exhibit, Finding, Made, Progress, Table
from carom.plots.scene import contact_points
from carom.scenes import Scene, load
from carom.systems import PlanarSystem
from carom.typing import FloatArray

Row = tuple[str, float, float]
"""A parameter with its unit, its printed value, and its value in the scene."""
DIGITS = 6e-4
"""The paper prints four digits at most; so close its numbers must be, as a share."""


def make(_effort: Effort, _progress: Progress) -> Made:
    """Compare the printed parameters with the scenes."""
    rows: list[list[object]] = []
    findings = []
    for name, read in READERS.items():
        scene = load(name)
        found = [*read(scene), *_settings(scene, *PRINTED[name])]
        rows += [[name, *row] for row in found]
        off = [row[0] for row in found if not math.isclose(row[1], row[2], rel_tol=DIGITS)]
        findings.append(
            Finding(
                f"{name} is built as printed",
                not off,
                f"{len(found) - len(off)} of {len(found)} numbers agree"
                + "; not: " * bool(off)
                + ", ".join(off),
            )
        )
    remarks = (
        "Agrees: geometry, masses and velocities are read off the built systems, not copied. In "
        "the published run of the disk stack a disc had 5 kg; see its figures."
    )
    table = Table(("scene", "parameter", "paper", "carom"), rows, shown=True)
    return Made(remarks, {}, {"parameters": table}, tuple(findings))


def _settings(scene: Scene, step: float, length: int, size: int) -> list[Row]:
    return [
        ("step size h [N s]", step, scene.step_impulse),
        ("trajectory length N", length, scene.max_steps),
        ("trajectory set size M", size, scene.num_samples),
    ]


def _friction(scene: Scene, printed: float) -> Row:
    return ("friction coefficient", printed, float(scene.problem.mu.max()))


def _points(scene: Scene) -> FloatArray:
    assert isinstance(scene.system, PlanarSystem)
    return contact_points(scene.system, scene.q)


def _block(scene: Scene) -> list[Row]:
    problem, points = scene.problem, _points(scene)
    mass = float(problem.M[0, 0])
    return [
        ("block width w [m]", 1.0, float(np.ptp(points[:, 0]))),
        # The centre of mass of a uniform block is at half its height.
        ("block height h [m]", 2.0, 2.0 * float(scene.q[1] - points[0, 1])),
        ("block mass m [kg]", 1.0, mass),
        ("downward velocity [m/s]", 0.4429, -float(scene.v[1])),
        _friction(scene, 1.0),
    ]


def _compass(scene: Scene) -> list[Row]:
    feet, hip = _points(scene), scene.q[:2]
    leg = hip - feet
    pitch = np.degrees(np.arctan2(-leg[:, 0], leg[:, 1]))
    assert isinstance(scene.system, PlanarSystem)
    masses = [body.mass for body in scene.system.bodies if body.mass > 0.0]
    return [
        ("leg length l [m]", 1.0, float(np.linalg.norm(leg[0]))),
        ("leg mass m [kg]", 1.0, masses[0]),
        ("leading leg pitch [deg]", -78.0, float(pitch[0])),
        ("trailing leg pitch [deg]", 78.0, float(pitch[1])),
        ("leading leg rate [rad/s]", 0.25, float(scene.v[2])),
        ("trailing leg rate [rad/s]", 0.25, float(scene.v[3])),
        _friction(scene, 5.0),
    ]


def _box(scene: Scene) -> list[Row]:
    low, side = _points(scene)
    edge = side - low
    return [
        ("box side length w [m]", 1.0, float(np.linalg.norm(edge))),
        ("box mass m [kg]", 1.0, float(scene.problem.M[0, 0])),
        ("angle to the ground [deg]", 10.0, math.degrees(math.atan2(edge[0], edge[1]))),
        ("horizontal velocity [m/s]", 1.0, float(scene.v[0])),
        _friction(scene, 1.0),
    ]


def _ramone(scene: Scene) -> list[Row]:
    degrees = np.degrees(scene.q)
    return [
        ("trunk pitch [deg]", 16.0, float(degrees[2])),
        ("leading hip angle [deg]", -70.0, float(degrees[3])),
        ("leading knee angle [deg]", -2.0, float(degrees[4])),
        ("trailing hip angle [deg]", 70.0, float(degrees[5])),
        ("trailing knee angle [deg]", -92.48, float(degrees[6])),
        ("trunk x velocity [m/s]", -0.4114, float(scene.v[0])),
        ("trunk y velocity [m/s]", -0.2105, float(scene.v[1])),
        ("trunk angular velocity [rad/s]", 1.0, float(scene.v[2])),
        _friction(scene, 1e5),
    ]


def _stack(scene: Scene) -> list[Row]:
    ground = _points(scene)[:2]
    return [
        ("disk radius R [m]", 1.0, 0.5 * float(np.ptp(ground[:, 0]))),
        ("disk mass m [kg]", 1.0, float(scene.problem.M[0, 0])),
        ("vertical velocity [m/s]", -1.0, float(scene.v.min())),
        _friction(scene, math.sqrt(3.0)),
    ]


READERS: dict[str, Callable[[Scene], list[Row]]] = {
    "rocking-block": _block,
    "compass-gait": _compass,
    "box-wall": _box,
    "ramone": _ramone,
    "disk-stack": _stack,
}
PRINTED = {
    "rocking-block": (0.3, 10, 2**14),
    "compass-gait": (0.25, 5, 2**20),
    "box-wall": (2.0, 5, 2**18),
    "ramone": (1.0, 10, 2**20),
    "disk-stack": (1.0, 10, 2**20),
}
"""Step size [N s], trajectory length and set size."""

PARAMETERS = Exhibit(
    "parameters",
    "Tables 4 to 8 (table:PhoneDetails to table:DiskStackingDetails)",
    "The parameters of the five examples",
    make,
    (0.5, 0.5),
)
