"""The impact that a command is about: a scene, a file, or a robot in a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from carom.cli.options import FILE, complete_scene_or_file, count, names, numbers, option, positive
from carom.errors import InvalidFile, InvalidOption

if TYPE_CHECKING:
    from carom.problem import ImpactProblem
    from carom.scenes import Scene

_Function = TypeVar("_Function", bound=Callable[..., Any])

EPILOG = """\
FILE, a JSON object (.json) or NumPy arrays (.npz):
  M      (nv, nv) mass matrix
  J_n    (m, nv) J_n v are the normal velocities of contacts; < 0 approaches
  J_t    (m, nv) J_t v are the tangential velocities; (m, 2, nv) in space
  mu     (m,) coefficients of friction, or one number for all contacts
  v_pre  (nv,) velocity before the impact
  contacts           names of the contacts, optional
  num_directions     number of friction directions in space, optional
  without_collision  whether contacts at rest may act although nothing collides, optional
  carom scenes rocking-block --save FILE  Write one to start from.

A robot, by --mjcf or --urdf:
  state     a keyframe, or --qpos and --qvel in the order of the engine (MuJoCo, Pinocchio);
      default: the model's own configuration, at rest
  contacts  all that touch in this state
  floor     part of an MJCF file; with --urdf it is z = 0
"""
"""What the help of commands says about impacts."""

GAP = "Largest gap of a contact that touches [m]; default: 1e-3 (MJCF), 1e-6 (URDF)."
DIRECTIONS = "Number of friction directions in space; default: 8."
STAND = "Lower the robot until it touches (MJCF); move it until all contacts touch (URDF)."

SETTINGS = ("gap_tolerance", "num_directions")
BOTH = ("qpos", "qvel", "stand", *SETTINGS)
OPTIONS = {
    "--mjcf": ("keyframe", *BOTH),
    "--urdf": ("feet", "shapes", "mu", "packages", "fixed_base", *BOTH),
}
"""The options that apply to each kind of robot."""


def takes_an_impact(function: _Function) -> _Function:
    """Declare the argument and options that `load_impact` reads."""
    robot = partial(option, group="A robot in place of SCENE|FILE")
    complete: Any = {"required": False, "shell_complete": complete_scene_or_file}
    declarations = [
        click.argument("target", metavar="[SCENE|FILE]", **complete),
        robot("--mjcf", metavar="FILE", type=FILE, help="Model of MuJoCo (needs mujoco)."),
        robot("--urdf", metavar="FILE", type=FILE, help="Robot for Pinocchio (needs pin)."),
        robot("--keyframe", metavar="KEY", help="MJCF: name or number of the state."),
        robot("--qpos", metavar="X,X", type=numbers, help="Configuration, nq numbers."),
        robot("--qvel", metavar="X,X", type=numbers, help="Velocity before, nv numbers."),
        robot("--gap-tolerance", metavar="L", type=positive, help=GAP),
        robot("--directions", "num_directions", metavar="K", type=count, help=DIRECTIONS),
        robot("--feet", metavar="A,B", type=names, help="URDF: links or frames that are points."),
        robot("--shapes", metavar="A,B", type=names, help="URDF: links with spheres or boxes."),
        robot("--mu", metavar="MU", type=float, help="URDF: friction coefficient of all contacts."),
        robot("--packages", metavar="DIR", help="URDF: folder that package:// stands for."),
        robot("--fixed-base", is_flag=True, default=None, help="URDF: the base does not float."),
        robot("--stand", is_flag=True, default=None, help=STAND),
    ]
    for declare in reversed(declarations):
        function = declare(function)
    return function


@dataclass(frozen=True, eq=False)
class Target:
    """What was typed, its title, its impact and, where it is one, the scene."""

    source: str
    title: str
    problem: ImpactProblem
    scene: Scene | None = None


def load_impact(target: str | None, given: dict[str, Any]) -> Target:
    """Find a scene, read a file with an impact, or pose that of a robot."""
    named = {flag: given[flag[2:]] for flag in OPTIONS if given[flag[2:]] is not None}
    if target is not None:
        named["SCENE|FILE"] = target
    if len(named) != 1:
        what = " and ".join(named) or "none"
        raise InvalidOption(f"expected one of SCENE|FILE, --mjcf and --urdf, got {what}")
    ((kind, source),) = named.items()
    refuse_useless(given, OPTIONS, [kind], kind)
    if kind == "SCENE|FILE":
        return _scene_or_file(source)
    if not source.is_file():
        raise InvalidOption(f"{kind}: there is no file {str(source)!r}")
    settings = {key: given[key] for key in SETTINGS if given[key] is not None}
    problem = (_from_mjcf if kind == "--mjcf" else _from_urdf)(source, given, settings)
    return Target(str(source), source.name, problem)


def refuse_useless(
    given: dict[str, Any], table: dict[str, tuple[str, ...]], chosen: list[str], what: str
) -> None:
    """Refuse an option of a table that applies to nothing that was chosen."""
    used = {key for name in chosen for key in table.get(name, ())}
    useless = {key for keys in table.values() for key in keys} - used
    for each in click.get_current_context().command.params:
        if each.name in useless and given[each.name] is not None:
            raise InvalidOption(f"{each.opts[0]}: does not apply to {what}; leave it out")


def looks_like_file(target: str) -> bool:
    """Return whether a target that is no scene was meant as a file."""
    path = Path(target)
    return target != "" and (path.suffix != "" or path.name != target or path.exists())


def _scene_or_file(target: str) -> Target:
    """Find a scene or read a file; a scene's name wins."""
    from carom import ImpactProblem, load, scenes

    if target in scenes.names() or not looks_like_file(target):
        scene = scenes.load(target)
        return Target(target, f"{scene.name}: {scene.description}", scene.problem, scene)
    if Path(target).is_dir():
        raise InvalidOption(f"{target}: expected a scene or a file, got a folder")
    problem = load(target)
    if not isinstance(problem, ImpactProblem):
        kind = type(problem).__name__
        raise InvalidFile(f"{target}: expected a file with an ImpactProblem, got a {kind}")
    return Target(target, Path(target).name, problem)


def _from_mjcf(file: Path, given: dict[str, Any], settings: dict[str, Any]) -> ImpactProblem:
    from carom.adapters.mujoco import MujocoSystem, impact_problem, load_state

    model, data = load_state(file, given["keyframe"], given["qpos"], given["qvel"])
    if given["stand"]:
        data.qpos[:] = MujocoSystem(model, data).stand(data.qpos)
    return impact_problem(model, data, **settings)


def _from_urdf(file: Path, given: dict[str, Any], settings: dict[str, Any]) -> ImpactProblem:
    from carom.adapters.pinocchio import PinocchioSystem

    if not (given["feet"] or given["shapes"]):
        raise InvalidOption("--urdf: name what touches, with --feet or --shapes")
    how: Any = {"mu": given["mu"], "package_dirs": given["packages"]}
    how |= {"shapes": given["shapes"] or (), "free_flyer": not given["fixed_base"]}
    system = PinocchioSystem.from_urdf(file, given["feet"] or (), **how)
    q = system.neutral if given["qpos"] is None else given["qpos"]
    if given["stand"]:
        q = system.stand(q, joints=True)
    v = [0.0] * system.nv if given["qvel"] is None else given["qvel"]
    return system.impact_problem(q, v, **settings)
