"""What to call coordinates and velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from carom import checks
from carom.systems.planar import PlanarSystem
from carom.systems.planar_bodies import Prismatic
from carom.systems.spatial import SpatialBody

if TYPE_CHECKING:
    from carom.systems.system import System

AXES = {(1.0, 0.0): "x", (0.0, 1.0): "y"}


class Name(NamedTuple):
    """A coordinate or velocity: what it is called and its unit, if known."""

    word: str
    unit: str

    def __str__(self) -> str:
        return f"{self.word} [{self.unit}]" if self.unit else self.word


BODY = {
    "q": [Name(word, "m") for word in "xyz"] + [Name(f"quaternion {word}", "1") for word in "wxyz"],
    "v": [Name(word, "m/s") for word in "xyz"] + [Name(f"turn {word}", "rad/s") for word in "xyz"],
}
"""What a body in space has."""


def names(system: System | None, count: int, of: str = "q") -> list[Name]:
    """Return the names of all coordinates (`of` "q") or velocities ("v").

    Those of a planar system are called after bodies and joints, those of a body in space after its
    axes, all others by number.
    """
    checks.choice("of", of, ("q", "v"))
    if isinstance(system, SpatialBody):
        return BODY[of]
    if not isinstance(system, PlanarSystem):
        return [Name(f"{of}{i}", "") for i in range(count)]
    several = sum(bool(body.joints) for body in system.bodies) > 1
    found = []
    for body in system.bodies:
        for joint in body.joints:
            word, unit = "angle", "rad"
            if isinstance(joint, Prismatic):
                word, unit = AXES.get(joint.axis, "slide"), "m"
            word = f"{body.name} {word}" if several else word
            found.append(Name(word, unit if of == "q" else f"{unit}/s"))
    return found
