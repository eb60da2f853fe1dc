"""A state of MuJoCo as an impact, and a velocity set back."""

from __future__ import annotations

import numpy as np

from carom.adapters.engine import NUM_DIRECTIONS
from carom.adapters.mujoco.contacts import mujoco
from carom.adapters.mujoco.model import vector
from carom.adapters.mujoco.system import MARGIN, MujocoSystem
from carom.errors import InvalidProblem
from carom.problem import ImpactProblem
from carom.typing import ArrayLike

GAP_TOLERANCE = 1e-3


def impact_problem(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    *,
    gap_tolerance: float = GAP_TOLERANCE,
    num_directions: int = NUM_DIRECTIONS,
    without_collision: bool = False,
) -> ImpactProblem:
    """Return the impact of the contacts that touch in a state of MuJoCo.

    MuJoCo moves in steps, and its contacts are soft: just before an impact they are some tenths of
    a millimetre apart, or as deep in. The tolerance has room for that. `data` is not changed.

    Args:
        model: The model.
        data: Its state; positions, velocities and poses of mocap bodies are read.
        gap_tolerance: A contact touches if its gap is at most this [m].
        num_directions: Friction directions of a contact in space, at least 3.
        without_collision: Let contacts at rest act although nothing collides.

    Returns:
        The impact, planar if no contact can slide but along one line.

    Raises:
        InvalidProblem: No contact touches, one penetrates by more than the tolerance, or the model
            has parts that are not supported: see `MujocoSystem`.

    Warns:
        LimitIgnored: A joint or tendon is at the end of its range, which has no part in this.

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
        ('floor/box ---', 'floor/box +--', 'floor/box -+-', 'floor/box ++-')
        >>> outcomes = carom.Routh(num_samples=100).resolve(problem)
        >>> apply(data, outcomes.v_post[0])
        >>> bool((problem.J_n @ data.qvel > -1e-9).all())
        True
    """
    if not (np.isfinite(gap_tolerance) and gap_tolerance >= 0.0):
        raise InvalidProblem(f"gap_tolerance: expected a number >= 0, got {gap_tolerance!r}")
    system = MujocoSystem(model, data, margin=max(MARGIN, 2.0 * gap_tolerance))
    return system.impact_problem(
        data.qpos,
        data.qvel,
        gap_tolerance,
        without_collision=without_collision,
        num_directions=num_directions,
    )


def apply(data: mujoco.MjData, v_post: ArrayLike) -> None:
    """Set a velocity after an impact, such as one of a set of outcomes, in a state of MuJoCo.

    Only `data.qvel` changes: positions and time stay. `mujoco.mj_step` can go on from there at
    once; whoever reads accelerations, forces or sensors before that calls `mujoco.mj_forward`.

    Args:
        data: The state, just before the impact.
        v_post: Velocity after the impact, (nv,).

    Raises:
        InvalidProblem: v_post has another length, or a number that is not finite.

    Examples:
        >>> import mujoco
        >>> from carom.adapters.mujoco import apply
        >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody><body>
        ...   <joint type="slide" axis="0 0 1"/><geom size="0.1"/></body></worldbody></mujoco>''')
        >>> data = mujoco.MjData(model)
        >>> apply(data, [0.25])
        >>> data.qvel.tolist(), data.time
        ([0.25], 0.0)
    """
    data.qvel[:] = vector("v_post", v_post, len(data.qvel))
