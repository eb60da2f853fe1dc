"""Robots from files: the options that tell of one, and reading it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from carom.cli.options import FILE, names, numbers, option
from carom.errors import InvalidOption

ROBOTS = ("--mjcf", "--urdf")
LIMITS = "Leave limits of joints out, which act as contacts where they are reached."
STAND = "Lower the robot until it touches (MJCF); move it until all contacts touch (URDF)."


def robot_options(group: str) -> list[Callable[..., Any]]:
    """Return the declarations of what tells of a robot and its state."""
    robot = partial(option, group=group)
    return [
        robot("--mjcf", metavar="FILE", type=FILE, help="Model of MuJoCo (needs mujoco)."),
        robot("--urdf", metavar="FILE", type=FILE, help="Robot for Pinocchio (needs pin)."),
        robot("--keyframe", metavar="KEY", help="MJCF: name or number of the state."),
        robot("--qpos", metavar="X,X", type=numbers, help="Configuration, nq numbers."),
        robot("--qvel", metavar="X,X", type=numbers, help="Velocity before, nv numbers."),
        robot("--feet", metavar="A,B", type=names, help="URDF: links or frames that are points."),
        robot("--shapes", metavar="A,B", type=names, help="URDF: links with spheres or boxes."),
        robot("--mu", metavar="MU", type=float, help="URDF: friction coefficient of all contacts."),
        robot("--packages", metavar="DIR", help="URDF: folder that package:// stands for."),
        robot("--fixed-base", is_flag=True, default=None, help="URDF: the base does not float."),
        robot("--stand", is_flag=True, default=None, help=STAND),
        robot("--no-limits", is_flag=True, default=None, help=LIMITS),
    ]


def read_mjcf(
    file: Path, given: dict[str, Any], **more: Any
) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Return a model, its state, the system, and settings of the system that were given."""
    from carom.adapters.mujoco import MujocoSystem, load_state

    model, data = load_state(file, given["keyframe"], given["qpos"], given["qvel"])
    how: dict[str, Any] = {"limits": not given["no_limits"]}
    system = MujocoSystem(model, data, **how, **more)
    if given["restitution"] is not None:
        # Without a name: contacts of bodies, not limits.
        bodies = system.contacts[: system.num_body_contacts]
        how["restitution"] = dict(by_contact(given["restitution"], bodies))
        system = MujocoSystem(model, data, **how, **more)
    if given["stand"]:
        data.qpos[:] = system.stand(data.qpos)
    return model, data, system, how


def read_urdf(file: Path, given: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return the system, and its configuration and velocity."""
    from carom.adapters.pinocchio import PinocchioSystem

    if not (given["feet"] or given["shapes"]):
        raise InvalidOption("--urdf: name what touches, with --feet or --shapes")
    how: Any = {"mu": given["mu"], "package_dirs": given["packages"]}
    how |= {"shapes": given["shapes"] or (), "free_flyer": not given["fixed_base"]}
    how |= {"limits": not given["no_limits"]}
    system = PinocchioSystem.from_urdf(file, given["feet"] or (), **how)
    if given["restitution"] is not None:
        # Names of contacts are known only now.
        bodies = system.contacts[: system.num_body_contacts]
        how["restitution"] = dict(by_contact(given["restitution"], bodies))
        system = PinocchioSystem.from_urdf(file, given["feet"] or (), **how)
    q = system.neutral if given["qpos"] is None else given["qpos"]
    if given["stand"]:
        q = system.stand(q, joints=True)
    v = [0.0] * system.nv if given["qvel"] is None else given["qvel"]
    return system, q, v


def by_contact(
    given: tuple[tuple[str | None, float], ...], contacts: tuple[str, ...]
) -> tuple[tuple[str, float], ...]:
    """Return coefficients by contact, as sorted pairs; what is given by name comes last."""
    common = {name: x for key, x in given if key is None for name in contacts}
    own = {key: x for key, x in given if key is not None}
    return tuple(sorted((common | own).items()))
