"""Say which limits of a MuJoCo model would act in an impact, and are left out."""

from __future__ import annotations

import inspect
import warnings

import numpy as np

from carom.adapters.mujoco.contacts import mujoco

AT_LIMIT = 1e-6
"""A joint or tendon is at its end if it is as near to it [rad or m]."""


class LimitIgnored(UserWarning):
    """Warn that a joint or tendon is at the end of its range, which takes no part in the impact.

    Examples:
        >>> from carom.adapters.mujoco import LimitIgnored
        >>> issubclass(LimitIgnored, UserWarning)
        True
    """


def warn_of_limits(ends: tuple[str, ...]) -> None:
    """Warn that joints or tendons are at the end of their range, if there are any."""
    if ends:
        warnings.warn(
            f"at the end of its range, which the impact does not know: {', '.join(ends)}",
            LimitIgnored,
            stacklevel=_levels_to_the_user(),
        )


def _levels_to_the_user() -> int:
    """Return how many calls above `warn_of_limits` the code is that is none of the adapters."""
    frame, levels = inspect.currentframe(), 0
    while frame is not None and frame.f_globals["__name__"].startswith("carom.adapters."):
        frame, levels = frame.f_back, levels + 1
    return levels


def limits_reached(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[str, ...]:
    """Name the joints and tendons that are at the end of their range, or beyond it."""
    ends = []
    for i in np.flatnonzero(model.jnt_limited):
        at = int(model.jnt_qposadr[i])
        if model.jnt_type[i] == mujoco.mjtJoint.mjJNT_BALL:
            w, *axis = data.qpos[at : at + 4]
            value = 2.0 * np.arctan2(np.linalg.norm(axis), abs(w))
            low, high = -np.inf, float(model.jnt_range[i].max())
        else:
            value, (low, high) = data.qpos[at], model.jnt_range[i]
        if not low + AT_LIMIT < value < high - AT_LIMIT:
            ends.append(f"joint {model.joint(i).name or i!r}")
    for i in np.flatnonzero(model.tendon_limited):
        low, high = model.tendon_range[i]
        if not low + AT_LIMIT < data.ten_length[i] < high - AT_LIMIT:
            ends.append(f"tendon {model.tendon(i).name or i!r}")
    return tuple(ends)
