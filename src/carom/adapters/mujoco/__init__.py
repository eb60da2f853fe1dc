"""Robots of MuJoCo: a model as a system, a state as an impact, and a velocity set back."""

from carom.errors import MissingExtra

try:
    import mujoco  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtra(
        'carom.adapters.mujoco needs MuJoCo: pip install mujoco, or "carom[mujoco]"'
    ) from error

from carom.adapters.mujoco.render import render
from carom.adapters.mujoco.states import apply, engine_outcome, impact_problem, load_state
from carom.adapters.mujoco.system import MujocoSystem

__all__ = [
    "MujocoSystem",
    "apply",
    "engine_outcome",
    "impact_problem",
    "load_state",
    "render",
]
