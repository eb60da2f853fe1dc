"""Pins that close loops of planar bodies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carom.errors import InvalidProblem
from carom.systems.constraints import Constraints
from carom.systems.planar_bodies import Vector2, check_fields, pair
from carom.typing import FloatArray


@dataclass(frozen=True)
class Pin:
    """Pin a point of a body to a point of another body, or of the world: both turn about it.

    The bodies of a `PlanarSystem` are a tree; pins close its loops.

    Attributes:
        name: Name of the pin.
        body: Name of the body.
        point: Point in the body's frame [m].
        other: Name of the other body; None is the world.
        other_point: Point in the other body's frame, or in the world [m].

    Examples:
        A square of four bars of 1 m and 1 kg: three of them hang from each other, the fourth is the
        world. The constraint has one row for x and one for y.

        >>> import numpy as np
        >>> from carom.systems import Body, Pin, PlanarSystem, Revolute
        >>> bars = [Body.rod("left", 1.0, 1.0, joints=(Revolute(),))]
        >>> for name, parent in (("bottom", "left"), ("right", "bottom")):
        ...     at = {"parent": parent, "placement": (0.0, -1.0), "joints": (Revolute(),)}
        ...     bars.append(Body.rod(name, 1.0, 1.0, **at))
        >>> hinge = Pin("hinge", "right", (0.0, -1.0), None, (1.0, 0.0))
        >>> four_bar = PlanarSystem(bars, [], pins=[hinge])
        >>> four_bar.constraints
        ('hinge (x)', 'hinge (y)')
        >>> q = [0.0, np.pi / 2, np.pi / 2]
        >>> bool(abs(four_bar.constraint_state(q).residual).max() < 1e-12)
        True

        One degree of freedom is left:

        >>> four_bar.allowed_velocity(q, [1.0, 0.0, 0.0]).round(6).tolist()
        [1.0, -1.0, 1.0]
    """

    name: str
    body: str
    point: Vector2
    other: str | None = None
    other_point: Vector2 = (0.0, 0.0)

    def __post_init__(self) -> None:
        check_fields(self, f"pin {self.name!r}", point=pair, other_point=pair)
        if self.body == self.other:
            raise InvalidProblem(
                f"pin {self.name!r} joins body {self.body!r} to itself; name two different bodies"
            )

    @property
    def rows(self) -> tuple[str, str]:
        """Return the names of its two constraints."""
        return f"{self.name} (x)", f"{self.name} (y)"


def pin_constraints(pins: Sequence[Pin], index: dict[str, int], frames: FloatArray) -> Constraints:
    """Return the constraints of pins, given frames (bodies, 3, 2 + nv) as the kernels fill them."""
    ends = []
    for pin in pins:
        end = _point(frames[index[pin.body]], pin.point)
        if pin.other is None:
            end[:, 0] -= pin.other_point
        else:
            end -= _point(frames[index[pin.other]], pin.other_point)
        ends.append(end)
    rows = np.concatenate(ends)
    return Constraints(rows[:, 0], np.ascontiguousarray(rows[:, 2:]), rows[:, 1])


def _point(frame: FloatArray, offset: Vector2) -> FloatArray:
    """Return position, bias and Jacobian, (2, 2 + nv), of a point fixed in a frame."""
    cosine, sine = math.cos(frame[2, 0]), math.sin(frame[2, 0])
    arm = np.array([cosine * offset[0] - sine * offset[1], sine * offset[0] + cosine * offset[1]])
    end: FloatArray = frame[:2].copy()
    end[:, 0] += arm
    end[:, 1] -= frame[2, 1] ** 2 * arm
    end[:, 2:] += np.outer([-arm[1], arm[0]], frame[2, 2:])
    return end
