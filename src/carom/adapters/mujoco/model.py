"""Copies of MuJoCo's models and states, and how its configurations change."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from carom.adapters.mujoco.contacts import mujoco
from carom.errors import InvalidProblem
from carom.typing import FloatArray

FREE, BALL = (int(getattr(mujoco.mjtJoint, f"mjJNT_{name}")) for name in ("FREE", "BALL"))
CCD_TOLERANCE = 1e-12
"""Of points and normals that MuJoCo finds by iteration [m]; its own 1e-6 m shows in Jacobians."""
CCD_ITERATIONS = 500


def with_margin(model: mujoco.MjModel, margin: float) -> mujoco.MjModel:
    """Return a copy of a model that finds contacts up to the margin, wherever rounding puts them.

    At exact touch it depends on rounding whether MuJoCo with no margin finds a contact.
    """
    wide = copy.copy(model)
    for part in (wide.geom_margin, wide.body_margin, wide.pair_margin):
        part[:] = margin
    for part in (wide.geom_gap, wide.pair_gap):
        part[:] = 0.0
    wide.opt.o_margin = margin
    wide.opt.ccd_tolerance = min(wide.opt.ccd_tolerance, CCD_TOLERANCE)
    wide.opt.ccd_iterations = max(wide.opt.ccd_iterations, CCD_ITERATIONS)
    # Bodies that sleep, or states that are not there yet, have no place in a question about q.
    wide.opt.enableflags &= int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
    wide.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
    return wide


def copy_inputs(model: mujoco.MjModel, source: mujoco.MjData, target: mujoco.MjData) -> None:
    """Copy all that moves a robot, such as controls, from one state to another."""
    kind = int(mujoco.mjtState.mjSTATE_INTEGRATION)
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, source, state, kind)
    mujoco.mj_setState(model, target, state, kind)


def velocity_map(model: mujoco.MjModel, q: FloatArray) -> FloatArray:
    """Return Γ(q), (nq, nv), of a configuration (nq,)."""
    gamma = np.zeros((model.nq, model.nv))
    for kind, row, column in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        if kind == FREE:
            gamma[row : row + 3, column : column + 3] = np.eye(3)
            row, column = row + 3, column + 3
        if kind in (FREE, BALL):
            turned = _quaternion_rates(q[row : row + 4])
            gamma[row : row + 4, column : column + 3] = turned
        else:
            gamma[row, column] = 1.0
    return gamma


def _quaternion_rates(quaternion: FloatArray) -> FloatArray:
    """Return (4, 3): how a quaternion changes with the angular velocity in the body's frame."""
    w, x, y, z = quaternion
    return 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])


def vector(name: str, value: Any, length: int) -> FloatArray:
    """Return an array (length,) of finite numbers.

    Raises:
        InvalidProblem: It is none.
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{name}: expected {length} numbers ({error})") from error
    if array.shape != (length,):
        raise InvalidProblem(f"{name}: expected {length} numbers, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise InvalidProblem(f"{name}: expected finite numbers, got {array.tolist()}")
    return array
