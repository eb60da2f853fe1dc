"""What to call coordinates and velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from carom import checks
from carom.systems.planar import PlanarSystem
from carom.systems.planar_bodies import Prismatic

if TYPE_CHECKING:
    from carom.systems.planar_bodies import Joint
    from carom.systems.system import System

AXES = {(1.0, 0.0): "x", (0.0, 1.0): "y"}


class Name(NamedTuple):
    """A coordinate or velocity: what it is called and its unit, if known."""

    word: str
    unit: str

    def __str__(self) -> str:
        return f"{self.word} [{self.unit}]" if self.unit else self.word


def names(system: System | None, count: int, of: str = "q") -> list[Name]:
    """Return the names of all coordinates, or of all velocities.

    Those of a planar system are called after bodies and joints, all others by number; `of` is "q"
    for coordinates and "v" for velocities.
    """
    checks.choice("of", of, ("q", "v"))
    if not isinstance(system, PlanarSystem):
        return [Name(f"{of}{i}", "") for i in range(count)]
    several = len([body for body in system.bodies if body.joints]) > 1
    found = []
    for body in system.bodies:
        for joint in body.joints:
            word, unit = _joint_name(joint)
            word = f"{body.name} {word}" if several else word
            found.append(Name(word, unit if of == "q" else f"{unit}/s"))
    return found


def _joint_name(joint: Joint) -> Name:
    if isinstance(joint, Prismatic):
        return Name(AXES.get(joint.axis, "slide"), "m")
    return Name("angle", "rad")
