"""Rows that MuJoCo makes of equality constraints, and of limits of ball joints and tendons."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import mujoco
import numpy as np

from carom.adapters.limits import HIGH, LOW, LimitState, Range
from carom.typing import FloatArray

KIND = mujoco.mjtConstraint
BALL, HINGE, SLIDE = (
    int(getattr(mujoco.mjtJoint, f"mjJNT_{word}")) for word in ("BALL", "HINGE", "SLIDE")
)
ALWAYS = 1e10
"""Margin within which a limit has a row, wherever the joint is."""
CONSTRAINT, EQUALITY, LIMIT, CONTACT, FRICTION = (
    int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{word}"))
    for word in ("CONSTRAINT", "EQUALITY", "LIMIT", "CONTACT", "FRICTIONLOSS")
)
AXES = {
    int(mujoco.mjtEq.mjEQ_CONNECT): (" (x)", " (y)", " (z)"),
    int(mujoco.mjtEq.mjEQ_WELD): (" (x)", " (y)", " (z)", " (turn x)", " (turn y)", " (turn z)"),
}
"""What the rows of a constraint are called, if it has several."""
TURNED = 0.5
"""Share of a ball joint's range from which on its limit is looked at: at zero it has no axis."""


class Rows(NamedTuple):
    """Hold rows of MuJoCo's constraints: kind and number of each, residual or gap, Jacobian."""

    kinds: list[int]
    numbers: list[int]
    pos: FloatArray
    J: FloatArray


def equality_rows(model: mujoco.MjModel, data: mujoco.MjData) -> Rows:
    """Return the rows of active equality constraints of a state whose positions are up to date."""
    with _only(model, EQUALITY):
        return _rows(model, data)


def limit_rows(model: mujoco.MjModel, data: mujoco.MjData) -> Rows:
    """Return the rows of all limits of a model that `widened` its limits' margins."""
    with _only(model, LIMIT):
        return _rows(model, data)


def widen_limits(model: mujoco.MjModel) -> None:
    """Let every limit have a row, however far it is."""
    for margin in (model.jnt_margin, model.tendon_margin):
        margin[:] = ALWAYS


def equality_names(model: mujoco.MjModel, rows: Rows) -> tuple[str, ...]:
    """Return a name for each row of equality constraints, such as "loop (x)"."""
    names, seen = [], dict.fromkeys(rows.numbers, 0)
    for number in rows.numbers:
        word = model.equality(number).name or f"equality {number}"
        axes = AXES.get(int(model.eq_type[number]), ("",))
        names.append(word + axes[seen[number] % len(axes)])
        seen[number] += 1
    return tuple(names)


def coordinate_ranges(model: mujoco.MjModel) -> list[Range]:
    """Return the ranges of hinges and sliders that are limited."""
    return [
        Range(
            model.joint(i).name or f"joint {i}",
            int(model.jnt_qposadr[i]),
            int(model.jnt_dofadr[i]),
            float(model.jnt_range[i, 0]),
            float(model.jnt_range[i, 1]),
            "m" if model.jnt_type[i] == SLIDE else "rad",
        )
        for i in np.flatnonzero(model.jnt_limited)
        if model.jnt_type[i] in (HINGE, SLIDE)
    ]


class OtherLimits:
    """Limits of ball joints and tendons, which follow hinges and sliders among the contacts.

    A ball joint's is the angle that it is turned by; a tendon's are those of its length.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        limited = np.flatnonzero(model.jnt_limited)
        self.balls = [int(i) for i in limited if model.jnt_type[i] == BALL]
        self.tendons = [int(i) for i in np.flatnonzero(model.tendon_limited)]
        cords = [model.tendon(i).name or f"tendon {i}" for i in self.tendons]
        balls = [model.joint(i).name or f"joint {i}" for i in self.balls]
        self.units = {f"{name} ({HIGH})": "rad" for name in balls}
        self.units |= {f"{cord} ({word})": "m" for cord in cords for word in (LOW, HIGH)}
        self._ranges = [float(model.jnt_range[i].max()) for i in self.balls]

    def look(self, model: mujoco.MjModel, data: mujoco.MjData, v: FloatArray) -> LimitState:
        """Return how far each is, with the bias of ball joints; that of tendons is left zero."""
        count = len(self.units)
        gaps, J, bias = np.full(count, np.inf), np.zeros((count, model.nv)), np.zeros(count)
        if not count:
            return LimitState(gaps, J, bias)
        rows = limit_rows(model, data)
        for row, (kind, number) in enumerate(zip(rows.kinds, rows.numbers, strict=True)):
            if kind == KIND.mjCNSTR_LIMIT_TENDON:
                # The lower end comes first.
                k = len(self.balls) + 2 * self.tendons.index(number)
                k += int(np.isfinite(gaps[k]))
            elif number in self.balls:
                k = self.balls.index(number)
                angle = self._ranges[k] - rows.pos[row]
                if angle < TURNED * self._ranges[k]:
                    continue
                # The axis turns with the part of the velocity across it.
                own = slice(model.jnt_dofadr[number], model.jnt_dofadr[number] + 3)
                across = v[own] @ v[own] - (rows.J[row] @ v) ** 2
                bias[k] = -0.5 * across / np.tan(0.5 * angle)
            else:
                continue
            gaps[k], J[k] = rows.pos[row], rows.J[row]
        return LimitState(gaps, J, bias)


@contextmanager
def _only(model: mujoco.MjModel, kind: int) -> Iterator[None]:
    """Let a model make constraints of one kind alone, if it is not switched off."""
    flags = model.opt.disableflags
    model.opt.disableflags = (flags & ~CONSTRAINT) | (EQUALITY | LIMIT | CONTACT | FRICTION) & ~kind
    try:
        yield
    finally:
        model.opt.disableflags = flags


def _rows(model: mujoco.MjModel, data: mujoco.MjData) -> Rows:
    mujoco.mj_makeConstraint(model, data)
    n = data.nefc
    J, unit = np.zeros((n, model.nv)), np.zeros(n)
    for i in range(n):
        unit[i] = 1.0
        # Whether MuJoCo stores rows sparsely or not does not matter so.
        mujoco.mj_mulJacTVec(model, data, J[i], unit)
        unit[i] = 0.0
    kinds, numbers = data.efc_type[:n].tolist(), data.efc_id[:n].tolist()
    return Rows(kinds, numbers, np.array(data.efc_pos[:n]), J)
