"""What MuJoCo itself makes of an impact."""

from __future__ import annotations

import copy

import numpy as np

from carom.adapters.mujoco.contacts import mujoco
from carom.checks import between, positive
from carom.errors import InvalidOption
from carom.typing import FloatArray

IMPEDANCE = 0.9999
"""Nearly 1, so that contacts give way no more than their time constant says."""
SHORTEST = 2.0
"""Shortest time constant that MuJoCo takes, in time steps."""
SWITCHED_OFF = ("ACTUATION", "DAMPER", "FRICTIONLOSS", "GRAVITY", "LIMIT", "SPRING")


def engine_outcome(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    *,
    timestep: float = 1e-5,
    timeconst: float = 1e-4,
    damping_ratio: float = 10.0,
    duration: float = 1e-3,
) -> FloatArray:
    """Return the one velocity with which an impact ends if MuJoCo resolves it.

    MuJoCo steps on from the state in a copy, with contacts that are as stiff as is asked for and
    no margins. Gravity, springs, damping, actuators, applied forces, limits and friction loss are
    switched off, so that all that changes the velocity is contact. Cone and solver stay as the
    model has them.

    The defaults are fair to MuJoCo: contacts are rigid and inelastic, and the robot hardly moves
    meanwhile. Walker2d, Hopper, Ant and Humanoid of Gymnasium, landing on their feet with 1 m/s,
    end within 0.3 % of |v_pre|_M of the set; with 20 ms and MuJoCo's own damping ratio 1 they are 3
    to 10 % off. With that ratio a contact that is hit alone bounces back with exp(-2) = 0.135 of
    its speed, since contacts push and do not pull; with 10 it keeps 2e-3.

    Compare contact velocities, `problem.contact_velocity(v)` [m/s], or the energy norm |v|_M: a
    plain norm of v mixes m/s and rad/s.

    Args:
        model: The model.
        data: A state in which contacts touch; it is not changed. Contacts that penetrate at the
            start are pushed out, and end faster for it.
        timestep: Time step of MuJoCo [s].
        timeconst: Time constant of contacts, the first number of `solref`, at least two time
            steps [s].
        damping_ratio: Damping ratio of contacts, the second number of `solref`.
        duration: How long MuJoCo steps [s]; ten times `timeconst` lets contacts come to rest. A
            contact that is a gap apart takes part only if it closes in that time: give more for
            feet that come down one after the other. The velocity is that of where the robot then
            is.

    Returns:
        (nv,) velocity.

    Raises:
        InvalidOption: An option is out of range, or the motion became infinite.

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
        [0.0]
        >>> engine_outcome(model, data, damping_ratio=1.0).round(2).tolist()
        [0.14]
    """
    positive("timestep", timestep)
    positive("damping_ratio", damping_ratio)
    positive("duration", duration)
    between("timeconst", timeconst, SHORTEST * timestep, np.inf)
    stiff = _stiff(model, timestep, (timeconst, damping_ratio))
    trial = mujoco.MjData(stiff)
    trial.qpos[:], trial.qvel[:] = data.qpos, data.qvel
    trial.mocap_pos[:], trial.mocap_quat[:] = data.mocap_pos, data.mocap_quat
    trial.eq_active[:] = data.eq_active
    mujoco.mj_step(stiff, trial, nstep=round(duration / timestep))
    if trial.warning[mujoco.mjtWarning.mjWARN_BADQACC].number or not np.isfinite(trial.qvel).all():
        raise InvalidOption("timestep: MuJoCo's motion became infinite; take a smaller one")
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
