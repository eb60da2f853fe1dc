"""What MuJoCo itself makes of an impact."""

from __future__ import annotations

import copy

import numpy as np

from carom.adapters.mujoco.contacts import mujoco
from carom.errors import InvalidProblem
from carom.typing import FloatArray

IMPEDANCE = 0.9999
"""Nearly 1, so that contacts give way no more than their time constant says."""
SHORTEST = 2.0
"""MuJoCo takes a time constant of no less than so many time steps."""
SWITCHED_OFF = ("ACTUATION", "DAMPER", "FRICTIONLOSS", "GRAVITY", "LIMIT", "SPRING")


def engine_outcome(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    *,
    timestep: float = 1e-5,
    timeconst: float = 1e-4,
    damping_ratio: float = 1.0,
    duration: float = 0.02,
) -> FloatArray:
    """Return the one velocity with which an impact ends if MuJoCo resolves it.

    MuJoCo steps on from the state in a copy, with contacts that are as stiff as is asked for and
    no margins. Gravity, springs, damping, actuators, applied forces, limits and friction loss are
    switched off, so that all that changes the velocity is contact. Cone and solver stay as the
    model has them.

    With the damping ratio 1, MuJoCo's default, a contact that is hit alone bounces back with
    exp(-2) = 0.135 of its speed, since contacts push and do not pull. A ratio of 10 leaves 1e-3.

    Args:
        model: The model.
        data: A state in which contacts touch; it is not changed. Contacts that penetrate at the
            start are pushed out, and end faster for it.
        timestep: Of MuJoCo [s].
        timeconst: Of contacts, the first number of `solref`, at least two time steps [s].
        damping_ratio: Of contacts, the second number of `solref`.
        duration: How long MuJoCo steps [s]. A contact that is a gap apart takes part if it closes
            in that time. The robot moves on meanwhile, and its velocity is that of where it then
            is: if all contacts touch at the start and joints are fast, ten times `timeconst` is
            enough, and better.

    Returns:
        (nv,) velocity.

    Raises:
        InvalidProblem: An option is out of range, or the motion became infinite.

    Examples:
        A ball of 2 kg falls with 1 m/s.

        >>> import mujoco
        >>> from carom.adapters.mujoco import engine_outcome
        >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
        ...   <geom type="plane" size="1 1 1"/><body pos="0 0 0.1">
        ...   <joint type="slide" axis="0 0 1"/><geom size="0.1" mass="2"/></body>
        ... </worldbody></mujoco>''')
        >>> data = mujoco.MjData(model)
        >>> data.qvel[:] = -1.0
        >>> engine_outcome(model, data).round(2).tolist()
        [0.14]
        >>> engine_outcome(model, data, damping_ratio=10.0).round(2).tolist()
        [0.0]
    """
    options = {"timestep": timestep, "damping_ratio": damping_ratio, "duration": duration}
    for name, value in options.items():
        if not (np.isfinite(value) and value > 0.0):
            raise InvalidProblem(f"{name}: expected a number > 0, got {value!r}")
    if not timeconst >= SHORTEST * timestep:
        raise InvalidProblem(
            f"timeconst: expected two time steps of {timestep:g} s at least, got {timeconst:g} s"
        )
    stiff = _stiff(model, timestep, (timeconst, damping_ratio))
    trial = mujoco.MjData(stiff)
    trial.qpos[:], trial.qvel[:] = data.qpos, data.qvel
    trial.mocap_pos[:], trial.mocap_quat[:] = data.mocap_pos, data.mocap_quat
    trial.eq_active[:] = data.eq_active
    mujoco.mj_step(stiff, trial, nstep=round(duration / timestep))
    if trial.warning[mujoco.mjtWarning.mjWARN_BADQACC].number or not np.isfinite(trial.qvel).all():
        raise InvalidProblem("MuJoCo's motion became infinite: take a smaller timestep")
    return np.array(trial.qvel)


def _stiff(model: mujoco.MjModel, timestep: float, solref: tuple[float, float]) -> mujoco.MjModel:
    """Return a copy of a model with stiff contacts and no other forces."""
    stiff = copy.copy(model)
    stiff.opt.timestep = timestep
    stiff.opt.tolerance = 0.0
    stiff.opt.enableflags &= int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
    for flag in SWITCHED_OFF:
        stiff.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    for margins in (stiff.geom_margin, stiff.geom_gap, stiff.pair_margin, stiff.pair_gap):
        margins[:] = 0.0
    stiff.opt.o_margin = 0.0
    for solrefs in (stiff.geom_solref, stiff.pair_solref, stiff.pair_solreffriction):
        solrefs[:] = solref
    stiff.opt.o_solref[:] = solref
    for solimp in (stiff.geom_solimp, stiff.pair_solimp, stiff.opt.o_solimp):
        solimp[..., :2] = IMPEDANCE
    return stiff
