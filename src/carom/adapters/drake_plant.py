"""What a plant of Drake is asked for before it moves: checks, names, ranges, constraints."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import BodyIndex, FrameIndex

from carom.adapters.contact_points import names_of
from carom.adapters.limits import Range
from carom.adapters.loops import DistanceConstraint, LoopConstraint
from carom.errors import InvalidOption, InvalidProblem

RATES = ("revolute", "prismatic", "screw", "universal", "planar")
"""Types of joints whose velocities are the rates of their coordinates."""


def check_plant(plant: Any) -> None:
    """Refuse what is no plant, or is not finalized."""
    if not isinstance(plant, MultibodyPlant):
        raise InvalidOption(f"plant: expected a MultibodyPlant of doubles, got {plant!r}")
    if not plant.is_finalized():
        raise InvalidProblem("plant: expected one that is finalized; call plant.Finalize() first")


def check_context(plant: Any, context: Any) -> None:
    """Refuse a context of another plant, or with a joint that is locked."""
    try:
        # Drake ends the program if it copies from a context of another plant.
        plant.ValidateContext(context)
    except (RuntimeError, TypeError) as error:
        raise InvalidOption(
            "context: expected one of this plant, from plant.CreateDefaultContext() or "
            "plant.GetMyContextFromRoot(...)"
        ) from error
    for joint in joints_of(plant):
        if joint.num_velocities() and joint.is_locked(context):
            raise InvalidProblem(
                f"context: joint {joint.name()!r} is locked, which is not supported; unlock it, or "
                f"weld it in the plant"
            )


def all_constraints(plant: Any, context: Any, given: list[LoopConstraint]) -> list[LoopConstraint]:
    """Return the constraints of a plant: distances that it tells, and those that are given."""
    if not plant.num_constraints():
        return given
    active = [
        each for each in plant.GetConstraintIds() if plant.GetConstraintActiveStatus(context, each)
    ]
    distances = plant.GetDistanceConstraintParams(context)
    untold = [each for each in active if each not in distances]
    if len(untold) and len(given) != len(untold):
        raise InvalidProblem(
            f"plant: {len(untold)} of its constraints are couplers, balls, welds or tendons, of "
            f"which pydrake does not tell between what, and {len(given)} are given; describe each "
            f"by constraints=[...] of carom.adapters.loops"
        )
    read: list[LoopConstraint] = []
    for number, each in enumerate(id for id in active if id in distances):
        read.append(_distance(plant, distances[each], f"distance {number + 1}"))
    return read + given


def _distance(plant: Any, found: Any, name: str) -> DistanceConstraint:
    if np.isfinite(found.stiffness()):
        raise InvalidProblem(
            f"plant: {name} has a stiffness of {found.stiffness():g} N/m, and carom's constraints "
            f"are rigid; replace it by a LinearSpringDamper, or leave its stiffness out"
        )
    names = body_names(plant)
    return DistanceConstraint(
        names[found.bodyA()],
        names[found.bodyB()],
        found.p_AP(),
        found.p_BQ(),
        distance=found.distance(),
        name=name,
    )


def joint_ranges(plant: Any) -> list[Range]:
    """Return the ranges of all joints whose velocities are the rates of their coordinates."""
    ranges = []
    for joint in joints_of(plant):
        if joint.type_name() not in RATES:
            continue
        low, high = joint.position_lower_limits(), joint.position_upper_limits()
        for k in range(len(low)):
            name = joint.name() if len(low) == 1 else f"{joint.name()}[{k}]"
            at = joint.position_start() + k, joint.velocity_start() + k
            slides = joint.type_name() == "prismatic" or (joint.type_name() == "planar" and k < 2)
            unit = "m" if slides else "rad"
            ranges.append(Range(name, *at, float(low[k]), float(high[k]), unit))
    return ranges


def joints_of(plant: Any) -> list[Any]:
    """Return all joints of a plant."""
    return [plant.get_joint(i) for i in plant.GetJointIndices()]


def body_names(plant: Any) -> dict[Any, str]:
    """Return the names of bodies by index, with those of their models where two are the same."""
    bodies = [plant.get_body(BodyIndex(i)) for i in range(plant.num_bodies())]
    count = Counter(body.name() for body in bodies)
    return {
        body.index(): body.scoped_name().get_full() if count[body.name()] > 1 else body.name()
        for body in bodies
    }


def frame_named(plant: Any, name: str) -> Any:
    """Return the frame of a name, or refuse one that is not known, or not unique."""
    frames = [plant.get_frame(FrameIndex(i)) for i in range(plant.num_frames())]
    full = {frame.scoped_name().get_full(): frame for frame in frames}
    found = {long: frame for long, frame in full.items() if name in (long, frame.name())}
    if len(found) > 1:
        raise InvalidOption(
            f"{len(found)} frames are named {name!r}; use one of {', '.join(found)}"
        )
    if not found:
        names_of("frame", name, (frame.name() for frame in frames))
    return next(iter(found.values()))
