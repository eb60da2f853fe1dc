"""States of MuJoCo: read, made into impacts, resolved by MuJoCo itself, or given a velocity."""

from __future__ import annotations

import copy
from os import PathLike, fspath
from typing import Any

import mujoco
import numpy as np

from carom.adapters.engine import NUM_DIRECTIONS, Restitution
from carom.adapters.mujoco.system import GAP_TOLERANCE, MARGIN, MujocoSystem
from carom.checks import between, positive, vector
from carom.errors import InvalidFile, InvalidOption
from carom.problem import ImpactProblem
from carom.typing import ArrayLike, FloatArray

IMPEDANCE = 0.9999
"""Nearly 1, so that contacts give way no more than their time constant says."""
SHORTEST = 2.0
"""Shortest time constant that MuJoCo takes, in time steps."""
SWITCHED_OFF = ("ACTUATION", "DAMPER", "FRICTIONLOSS", "GRAVITY", "PASSIVE", "SPRING")
"""Springs and dampers are the passive forces of older versions of MuJoCo."""


def load_state(
    path: str | PathLike[str],
    keyframe: str | int | None = None,
    qpos: ArrayLike | None = None,
    qvel: ArrayLike | None = None,
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Read a model from a file, and set it in a state.

    Args:
        path: Path of an MJCF file, or of another one that MuJoCo reads.
        keyframe: Name or number of a keyframe of the file.
        qpos: Configuration, (nq,), in place of the keyframe's; the model's own if there is neither.
        qvel: Velocity, (nv,), likewise; at rest if there is neither.

    Raises:
        InvalidFile: MuJoCo cannot read the file.
    """
    try:
        model = mujoco.MjModel.from_xml_path(fspath(path))
    except (ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InvalidFile(f"{fspath(path)}: MuJoCo cannot read it: {reason}") from error
    data = mujoco.MjData(model)
    if keyframe is not None:
        mujoco.mj_resetDataKeyframe(model, data, _keyframe(model, keyframe))
    if qpos is not None:
        data.qpos[:] = vector("qpos", qpos, model.nq)
    if qvel is not None:
        data.qvel[:] = vector("qvel", qvel, model.nv)
    return model, data


def _keyframe(model: mujoco.MjModel, keyframe: str | int) -> int:
    names = [model.key(i).name for i in range(model.nkey)]
    if keyframe in names:
        return names.index(str(keyframe))
    if str(keyframe).isdecimal() and int(keyframe) < model.nkey:
        return int(keyframe)
    known = ", ".join(name or str(i) for i, name in enumerate(names)) or "none"
    raise InvalidOption(f"keyframe: there is no {keyframe!r}; the file has: {known}")


def impact_problem(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    *,
    gap_tolerance: float = GAP_TOLERANCE,
    num_directions: int = NUM_DIRECTIONS,
    without_collision: bool = False,
    restitution: Restitution = 0.0,
    limits: bool = True,
) -> ImpactProblem:
    """Return the impact of the contacts that touch in a state of MuJoCo.

    MuJoCo moves in steps, and its contacts are soft: just before an impact they are some tenths of
    a millimetre apart, or as deep in. The tolerance has room for that. `data` is not changed. The
    impact is planar if no contact can slide but along one line.

    Args:
        model: The model.
        data: Its state; positions, velocities and poses of mocap bodies are read.
        gap_tolerance: Largest gap of a contact that touches [m], and of a limit that is reached
            [rad, or m if it slides].
        num_directions: Number of friction directions of a contact in space, at least 3, for laws
            that need them.
        without_collision: Let contacts at rest act although nothing collides.
        restitution: Coefficient of restitution of all contacts, or of some, by their names.
        limits: Whether limits of joints and tendons that are reached take part.

    Warns:
        ConstraintBroken: Equality constraints, which are soft in MuJoCo, are off by more than the
            gap tolerance, or v breaks them; what they allow of it is taken.

    Examples:
        A box lands flat, with four corners at once, and slips.

        >>> import mujoco
        >>> import carom
        >>> from carom.adapters.mujoco import apply, impact_problem
        >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
        ...   <geom name="floor" type="plane" size="1 1 1"/>
        ...   <body name="box" pos="0 0 0.2"><freejoint/>
        ...     <geom type="box" size="0.1 0.1 0.2"/></body>
        ... </worldbody></mujoco>''')
        >>> data = mujoco.MjData(model)
        >>> data.qvel[:3] = 0.2, 0.0, -1.0
        >>> problem = impact_problem(model, data)
        >>> problem.contacts
        ('floor/box (---)', 'floor/box (+--)', 'floor/box (-+-)', 'floor/box (++-)')
        >>> outcomes = carom.Routh(num_samples=100).resolve(problem)
        >>> apply(data, outcomes.v_post[0])
        >>> bool((problem.J_n @ data.qvel > -1e-9).all())
        True
    """
    tolerance = positive("gap_tolerance", gap_tolerance, or_zero=True)
    margin = max(MARGIN, 2.0 * tolerance)
    system = MujocoSystem(model, data, margin=margin, restitution=restitution, limits=limits)
    options: Any = {"without_collision": without_collision, "num_directions": num_directions}
    return system.impact_problem(data.qpos, data.qvel, tolerance, **options)


def apply(data: mujoco.MjData, v_post: ArrayLike) -> None:
    """Set the velocity after an impact, such as one of a set of outcomes, in a state of MuJoCo.

    Only `data.qvel` changes. `mujoco.mj_step` can go on from there at once; call
    `mujoco.mj_forward` before reading accelerations, forces or sensors.

    Args:
        data: The state, just before the impact.
        v_post: Velocity after the impact, (nv,).
    """
    data.qvel[:] = vector("v_post", v_post, len(data.qvel))


def engine_outcome(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    *,
    timestep: float = 1e-5,
    timeconst: float = 1e-4,
    damping_ratio: float = 10.0,
    duration: float = 1e-3,
) -> FloatArray:
    """Return the one velocity (nv,) with which an impact ends if MuJoCo resolves it.

    MuJoCo steps on from the state in a copy, with contacts that are as stiff as is asked for and
    no margins. Limits and equality constraints are as stiff. Gravity, springs, damping, actuators,
    applied forces and friction loss are switched off, so that all that changes the velocity is
    contact. Cone and solver stay as the model has them.

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
        stiff.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}", 0))
    margins = stiff.geom_margin, stiff.geom_gap, stiff.pair_margin, stiff.pair_gap
    for margin in (*margins, stiff.jnt_margin, stiff.tendon_margin):
        margin[:] = 0.0
    stiff.opt.o_margin = 0.0
    # Of contacts, and of limits and equality constraints, which contacts push against.
    contacts = stiff.geom_solref, stiff.pair_solref, stiff.pair_solreffriction
    for part in (*contacts, stiff.jnt_solref, stiff.tendon_solref_lim, stiff.eq_solref):
        part[:] = solref
    stiff.opt.o_solref[:] = solref
    parts = stiff.geom_solimp, stiff.pair_solimp, stiff.jnt_solimp, stiff.tendon_solimp_lim
    for part in (*parts, stiff.eq_solimp, stiff.opt.o_solimp):
        part[..., :2] = IMPEDANCE
    return stiff
