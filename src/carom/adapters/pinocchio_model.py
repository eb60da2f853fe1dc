"""What a model of Pinocchio is asked for before it moves: inertia, ranges, constraints, frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from carom.adapters.contact_points import names_of
from carom.adapters.limits import Range
from carom.adapters.loops import BallConstraint, LoopConstraint, WeldConstraint
from carom.errors import InvalidOption


def complete_inertia(model: Any) -> None:
    """Add to a model's armature what rotors have as inertia, where it is not there already.

    Pinocchio keeps both, and its mass matrix has the first alone.
    """
    armature = np.array(model.armature)
    reflected = np.array(model.rotorInertia) * np.array(model.rotorGearRatio) ** 2
    model.armature = np.where(armature == 0.0, reflected, armature)


def joint_ranges(model: Any) -> list[Range]:
    """Return the ranges of all joints whose velocities are the rates of their coordinates."""
    ranges = []
    low, high = model.lowerPositionLimit, model.upperPositionLimit
    for name, joint in list(zip(model.names, model.joints, strict=True))[1:]:
        if joint.nq != joint.nv or joint.idx_v < 0:
            continue
        for k in range(joint.nq):
            i, word = joint.idx_q + k, name if joint.nq == 1 else f"{name}[{k}]"
            unit = "m" if "Prismatic" in joint.shortname() or _slides(joint) else "rad"
            ranges.append(Range(word, i, joint.idx_v + k, float(low[i]), float(high[i]), unit))
    return ranges


def _slides(joint: Any) -> bool:
    """Return whether a joint is one of Pinocchio's that slide along an axis, or in space."""
    return joint.shortname().removeprefix("JointModel") in ("PX", "PY", "PZ", "Translation")


def described(model: Any, number: int, given: Any) -> LoopConstraint:
    """Return a constraint in carom's words; for one of Pinocchio's, its model gets two frames."""
    if isinstance(given, LoopConstraint):
        return given
    kind = type(given).__name__
    spatial = kind == "FrameAnchorConstraintModel"
    if kind == "RigidConstraintModel":
        spatial = given.type == pin.ContactType.CONTACT_6D
    if kind not in ("FrameAnchorConstraintModel", "PointAnchorConstraintModel") and not (
        kind == "RigidConstraintModel"
        and given.type in (pin.ContactType.CONTACT_6D, pin.ContactType.CONTACT_3D)
    ):
        raise InvalidOption(
            f"constraints: expected RigidConstraintModels, or PointAnchor- and FrameAnchor"
            f"ConstraintModels of Pinocchio, or constraints of carom.adapters.loops, got a {kind}"
        )
    name = getattr(given, "name", "") or f"loop {number + 1}"
    ends = []
    for i, end in enumerate((given.joint1_id, given.joint2_id)):
        frame, place = f"{name} end {i + 1}", (given.joint1_placement, given.joint2_placement)[i]
        model.addFrame(pin.Frame(frame, end, 0, place, pin.FrameType.OP_FRAME), False)
        ends.append(frame)
    return (WeldConstraint if spatial else BallConstraint)(*ends, name=name)


def frame_id(model: Any, name: str) -> int:
    """Return the number of a frame, or refuse a name that is not known, or not unique."""
    names_of("frame", name, (frame.name for frame in model.frames))
    first, *others = (i for i, frame in enumerate(model.frames) if frame.name == name)
    # A joint and its link may share a name. In a URDF file they then share their place as well.
    frame = model.frames[first]
    for other in (model.frames[i] for i in others):
        if other.parentJoint != frame.parentJoint or other.placement != frame.placement:
            raise InvalidOption(f"{1 + len(others)} frames are named {name!r}; rename all but one")
    return first
