"""The impact that a command is about: a scene, a file, or a robot in a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from carom.cli.options import (
    assignment,
    coefficient,
    complete_scene_or_file,
    count,
    none_if_empty,
    numbers,
    option,
    positive,
)
from carom.cli.robot import ROBOTS, by_contact, read_mjcf, read_urdf, robot_options
from carom.errors import InvalidFile, InvalidOption

if TYPE_CHECKING:
    from carom.explorer.messages import State
    from carom.explorer.subjects import Subject
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
  restitution        (m,) coefficients from 0 to 1, or one for all contacts, optional
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

SET = "Parameter of the scene, e.g. width=0.7; may be given several times."
FRICTION = "Friction coefficient of one contact, e.g. A=0.3; may be given several times."
RESTITUTION = "Restitution of one contact, e.g. A=0.5, or of all, e.g. 0.5; also of a robot."
V_PRE = "Velocity before the impact, nv numbers."

SETTINGS = ("gap_tolerance", "num_directions")
BOTH = ("qpos", "qvel", "stand", "restitution", "no_limits", *SETTINGS)
OPTIONS = {
    "SCENE|FILE": ("parameters", "friction", "v_pre", "restitution"),
    "--mjcf": ("keyframe", *BOTH),
    "--urdf": ("feet", "shapes", "mu", "packages", "fixed_base", *BOTH),
}
"""The options that apply to a scene or file, and to each kind of robot."""


def takes_an_impact(function: _Function) -> _Function:
    """Declare the argument and options that `load_impact` reads."""
    change = partial(option, group="Changes of SCENE|FILE")
    robot = partial(option, group="A robot in place of SCENE|FILE")
    several: Any = {"type": assignment, "multiple": True, "callback": none_if_empty}
    bounces: Any = several | {"type": coefficient}
    complete: Any = {"required": False, "shell_complete": complete_scene_or_file}
    declarations = [
        click.argument("target", metavar="[SCENE|FILE]", **complete),
        change("--set", "parameters", metavar="NAME=X", **several, help=SET),
        change("--friction", metavar="CONTACT=X", **several, help=FRICTION),
        change("--restitution", metavar="[CONTACT=]X", **bounces, help=RESTITUTION),
        change("--v-pre", metavar="X,X", type=numbers, help=V_PRE),
        *robot_options("A robot in place of SCENE|FILE"),
        robot("--gap-tolerance", metavar="L", type=positive, help=GAP),
        robot("--directions", "num_directions", metavar="K", type=count, help=DIRECTIONS),
    ]
    for declare in reversed(declarations):
        function = declare(function)
    return function


@dataclass(frozen=True, eq=False)
class Target:
    """What was typed, its title, its impact and, where it is one, the scene.

    The explorer begins with `state`, which holds the changes; `subject` is an impact from a file,
    and `robot` a system of an engine with its configuration.
    """

    source: str
    title: str
    problem: ImpactProblem
    scene: Scene | None = None
    state: State | None = None
    subject: Subject | None = None
    robot: tuple[Any, Any] | None = None


def load_impact(target: str | None, given: dict[str, Any]) -> Target:
    """Find a scene, read a file with an impact, or pose that of a robot."""
    named = {flag: given[flag[2:]] for flag in ROBOTS if given[flag[2:]] is not None}
    if target is not None:
        named["SCENE|FILE"] = target
    if len(named) != 1:
        what = " and ".join(named) or "none"
        raise InvalidOption(f"expected one of SCENE|FILE, --mjcf and --urdf, got {what}")
    ((kind, source),) = named.items()
    refuse_useless(given, OPTIONS, [kind], kind)
    if kind == "SCENE|FILE":
        return _scene_or_file(source, given)
    if not source.is_file():
        raise InvalidOption(f"{kind}: there is no file {str(source)!r}")
    settings = {key: given[key] for key in SETTINGS if given[key] is not None}
    robot, problem = (_from_mjcf if kind == "--mjcf" else _from_urdf)(source, given, settings)
    return Target(str(source), source.name, problem, robot=robot)


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


def _scene_or_file(target: str, given: dict[str, Any]) -> Target:
    """Find a scene or read a file, and change it; a scene's name wins."""
    from carom import ImpactProblem, load, scenes
    from carom.explorer.messages import State
    from carom.explorer.subjects import GivenSubject, SceneSubject

    parameters, friction = (
        tuple(sorted(dict(given[key] or ()).items())) for key in ("parameters", "friction")
    )
    bounces = given["restitution"]
    if target in scenes.names() or not looks_like_file(target):
        scene = scenes.load(target)
        state = State(target, parameters, friction, given["v_pre"])
        if bounces is not None:
            contacts = SceneSubject(target).make(state).problem.contacts
            state = replace(state, restitution=by_contact(bounces, contacts))
        case = SceneSubject(target).make(state)
        if case.system is not None and case.q is not None:
            v = case.problem.v_pre
            scene = replace(scene, system=case.system, q=case.q, v=v)
        title = f"{scene.name}: {scene.description}"
        return Target(target, title, case.problem, scene, state)
    if Path(target).is_dir():
        raise InvalidOption(f"{target}: expected a scene or a file, got a folder")
    problem = load(target)
    if not isinstance(problem, ImpactProblem):
        kind = type(problem).__name__
        raise InvalidFile(f"{target}: expected a file with an ImpactProblem, got a {kind}")
    name = Path(target).name
    state = State(name, parameters, friction, given["v_pre"])
    if bounces is not None:
        state = replace(state, restitution=by_contact(bounces, problem.contacts))
    subject = GivenSubject(name, "an impact from a file", problem, target)
    return Target(target, name, subject.make(state).problem, None, state, subject)


Posed = tuple[tuple[Any, Any], "ImpactProblem"]
"""A system and its configuration, and the impact."""


def _from_mjcf(file: Path, given: dict[str, Any], settings: dict[str, Any]) -> Posed:
    from carom.adapters.mujoco import impact_problem

    model, data, system, how = read_mjcf(file, given)
    return (system, data.qpos.copy()), impact_problem(model, data, **settings, **how)


def _from_urdf(file: Path, given: dict[str, Any], settings: dict[str, Any]) -> Posed:
    system, q, v = read_urdf(file, given)
    return (system, q), system.impact_problem(q, v, **settings)
