"""A robot from a file of a physics engine, as the impact that a command is about."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carom.cli.arguments import count, load_target, positive
from carom.errors import InvalidProblem

if TYPE_CHECKING:
    from carom.problem import ImpactProblem
    from carom.scenes import Scene

ROBOT_IN_A_STATE = """\
In place of SCENE|FILE, --mjcf or --urdf takes a robot. Its state is that of a
keyframe, or --qpos and --qvel, as the engine orders them (MuJoCo, Pinocchio);
without them the model's own configuration, at rest. All contacts that touch
there take part. A floor is part of an MJCF file; with --urdf it is z = 0."""

NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$|-(inf|nan)$", re.IGNORECASE)
"""What argparse shall take for a number: by itself it takes -1. and -1e-3 for options."""
# Per kind of file, the options that bear on it.
OPTIONS = {
    "mjcf": ("keyframe", "stand", "qpos", "qvel", "gap_tolerance", "directions"),
    "urdf": (
        *("feet", "shapes", "mu", "packages", "fixed_base", "stand"),
        *("qpos", "qvel", "gap_tolerance", "directions"),
    ),
}


def add_robot(parser: argparse.ArgumentParser) -> None:
    """Declare the options of robots."""
    parser._negative_number_matcher = NEGATIVE
    add = parser.add_argument_group("a robot in place of SCENE|FILE").add_argument
    add("--mjcf", metavar="FILE", type=Path, help="a model of MuJoCo (needs carom[mujoco])")
    add("--urdf", metavar="FILE", type=Path, help="a robot (needs carom[pinocchio])")
    add("--keyframe", metavar="KEY", help="name or number of the state, in the MJCF file")
    numbers: dict[str, Any] = {"metavar": "X", "type": float, "nargs": "+"}
    add("--qpos", help="configuration, nq numbers", **numbers)
    add("--qvel", help="velocity before the impact, nv numbers", **numbers)
    add(
        "--gap-tolerance",
        metavar="L",
        type=positive,
        help="contacts touch up to this gap [m]; default: 1e-3 (MJCF), 1e-6 (URDF)",
    )
    add("--directions", metavar="K", type=count, help="of friction, in space; default: 8")
    add("--feet", metavar="A,B", type=_names, help="URDF: links or frames that touch in a point")
    add("--shapes", metavar="A,B", type=_names, help="URDF: links whose spheres or boxes touch")
    add("--mu", metavar="MU", type=float, help="URDF: friction coefficient of all contacts")
    add("--packages", metavar="DIR", help="URDF: where package:// addresses begin")
    add("--fixed-base", action="store_true", default=None, help="URDF: the base does not float")
    add(
        "--stand",
        action="store_true",
        default=None,
        help="first lower the robot until it touches (MJCF), or move base and joints until all "
        "contacts touch (URDF)",
    )


@dataclass(frozen=True, eq=False)
class Target:
    """What a command is about.

    Attributes:
        source: What was typed.
        title: What it is called.
        problem: The impact.
        scene: The scene, if it is one.
    """

    source: str
    title: str
    problem: ImpactProblem
    scene: Scene | None = None


def load_impact(options: argparse.Namespace) -> Target:
    """Find a scene, read a file with an impact, or pose that of a robot.

    Raises:
        InvalidProblem: Nothing was named, or two things, or an option does not bear on what was.
        MissingExtra: The engine is not installed.
    """
    named = [f"--{kind}" for kind in OPTIONS if getattr(options, kind) is not None]
    if options.target is not None:
        named.append("SCENE|FILE")
    if len(named) != 1:
        what = " and ".join(named) if named else "none"
        raise InvalidProblem(f"expected one of SCENE|FILE, --mjcf and --urdf, got {what}")
    kind = named[0].removeprefix("--")
    _refuse_useless(options, named[0])
    if kind not in OPTIONS:
        scene, problem = load_target(options.target)
        title = f"{scene.name}: {scene.description}" if scene else Path(options.target).name
        return Target(options.target, title, problem, scene)
    file: Path = getattr(options, kind)
    if not file.is_file():
        raise InvalidProblem(f"--{kind}: there is no file {str(file)!r}")
    problem = (_from_mjcf if kind == "mjcf" else _from_urdf)(file, options)
    return Target(str(file), file.name, problem)


def _from_mjcf(file: Path, options: argparse.Namespace) -> ImpactProblem:
    from carom.adapters.mujoco import MujocoSystem, impact_problem, load_state

    model, data = load_state(file, options.keyframe, options.qpos, options.qvel)
    if options.stand:
        data.qpos[:] = MujocoSystem(model, data).stand(data.qpos)
    return impact_problem(model, data, **_settings(options))


def _from_urdf(file: Path, options: argparse.Namespace) -> ImpactProblem:
    from carom.adapters.pinocchio import PinocchioSystem

    if not (options.feet or options.shapes):
        raise InvalidProblem("--urdf: name what touches, with --feet or --shapes")
    system = PinocchioSystem.from_urdf(
        file,
        options.feet or (),
        shapes=options.shapes or (),
        free_flyer=not options.fixed_base,
        package_dirs=options.packages,
        mu=options.mu,
    )
    q = system.neutral if options.qpos is None else options.qpos
    if options.stand:
        q = system.stand(q, joints=True)
    v = [0.0] * system.nv if options.qvel is None else options.qvel
    return system.impact_problem(q, v, **_settings(options))


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    given = {"gap_tolerance": options.gap_tolerance, "num_directions": options.directions}
    return {name: value for name, value in given.items() if value is not None}


def _refuse_useless(options: argparse.Namespace, named: str) -> None:
    every = dict.fromkeys(option for each in OPTIONS.values() for option in each)
    for option in every:
        is_given = getattr(options, option) is not None
        if is_given and option not in OPTIONS.get(named.removeprefix("--"), ()):
            flag = "--" + option.replace("_", "-")
            raise InvalidProblem(f"{flag}: does not bear on {named}; leave it out")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
