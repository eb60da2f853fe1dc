"""Copies of MuJoCo's models and states, and how configurations change."""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from carom.typing import FloatArray

JOINT = mujoco.mjtJoint
FREE, BALL, SLIDE = int(JOINT.mjJNT_FREE), int(JOINT.mjJNT_BALL), int(JOINT.mjJNT_SLIDE)
CCD_TOLERANCE = 1e-12
"""Of points and normals that MuJoCo finds by iteration [m]; its own 1e-6 m shows in Jacobians."""
CCD_ITERATIONS = 500


def with_margin(model: mujoco.MjModel, margin: float) -> mujoco.MjModel:
    """Return a copy of a model that finds contacts up to the margin, wherever rounding puts them.

    At exact touch it depends on rounding whether MuJoCo with no margin finds a contact.
    """
    wide = copy.copy(model)
    set_margin(wide, margin)
    for part in (wide.geom_gap, wide.pair_gap):
        part[:] = 0.0
    wide.opt.ccd_tolerance = min(wide.opt.ccd_tolerance, CCD_TOLERANCE)
    wide.opt.ccd_iterations = max(wide.opt.ccd_iterations, CCD_ITERATIONS)
    # Bodies that sleep, or states that are not there yet, have no place in a question about q.
    wide.opt.enableflags &= int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
    wide.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
    return wide


def set_margin(model: mujoco.MjModel, margin: float) -> None:
    """Let a model find contacts up to a margin [m]."""
    for part in (model.geom_margin, model.body_margin, model.pair_margin):
        part[:] = margin
    model.opt.o_margin = margin


def copy_inputs(model: mujoco.MjModel, source: mujoco.MjData, target: mujoco.MjData) -> None:
    """Copy all that moves a robot, such as controls, from one state to another."""
    kind = int(mujoco.mjtState.mjSTATE_INTEGRATION)
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, source, state, kind)
    mujoco.mj_setState(model, target, state, kind)


def make_mass_matrix(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Bring the mass matrix of a state up to date, whose bodies are."""
    if model.ntendon or not hasattr(mujoco, "mj_makeM"):
        # Tendons have inertia as well, which depends on where they are.
        mujoco.mj_fwdPosition(model, data)
    else:
        mujoco.mj_makeM(model, data)


def mass_matrix(model: mujoco.MjModel, data: mujoco.MjData) -> FloatArray:
    """Return M, (nv, nv), of a state whose positions are up to date."""
    M = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, M)
    except TypeError:
        # Before MuJoCo 3.12 the matrix comes first, and its sparse form is asked for.
        mujoco.mj_fullM(model, M, data.qM)
    return M


def joints(model: mujoco.MjModel) -> dict[str, tuple[int, int]]:
    """Return the numbers of coordinate and velocity of hinges and slides, by their names."""
    one = np.flatnonzero((model.jnt_type != FREE) & (model.jnt_type != BALL)).tolist()
    return {
        model.joint(i).name or f"joint {i}": (int(model.jnt_qposadr[i]), int(model.jnt_dofadr[i]))
        for i in one
    }


def damping(model: mujoco.MjModel) -> FloatArray:
    """Return the damping of joints, (nv, nv): how a force falls with velocities."""
    # Dampers are passive forces in older versions of MuJoCo.
    names = ("mjDSBL_DAMPER", "mjDSBL_PASSIVE")
    off = [
        getattr(mujoco.mjtDisableBit, name) for name in names if hasattr(mujoco.mjtDisableBit, name)
    ]
    is_off = any(model.opt.disableflags & int(bit) for bit in off)
    return np.diag(np.zeros(model.nv) if is_off else np.array(model.dof_damping))


def velocity_map(model: mujoco.MjModel, q: FloatArray) -> FloatArray:
    """Return Γ(q), (nq, nv), of a configuration (nq,)."""
    gamma = np.zeros((model.nq, model.nv))
    for kind, row, column in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True):
        if kind == FREE:
            gamma[row : row + 3, column : column + 3] = np.eye(3)
            row, column = row + 3, column + 3
        if kind in (FREE, BALL):
            w, x, y, z = q[row : row + 4]
            # How a quaternion changes with the angular velocity in the body's frame.
            turned = [[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]
            gamma[row : row + 4, column : column + 3] = 0.5 * np.array(turned)
        else:
            gamma[row, column] = 1.0
    return gamma


def way_down(model: mujoco.MjModel, data: mujoco.MjData) -> FloatArray:
    """Return the velocity (nv,) with which all that floats, or slides, moves along gravity."""
    gravity = np.array(model.opt.gravity)
    down = gravity / np.linalg.norm(gravity) if gravity.any() else np.array([0.0, 0.0, -1.0])
    v = np.zeros(model.nv)
    for i in np.flatnonzero(model.body_parentid[model.jnt_bodyid] == 0):
        at = model.jnt_dofadr[i]
        if model.jnt_type[i] == FREE:
            v[at : at + 3] = down
        elif model.jnt_type[i] == SLIDE:
            v[at] = data.xaxis[i] @ down
    return v
