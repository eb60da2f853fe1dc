"""Motions as MuJoCo draws them: a GIF by its own renderer."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from os import PathLike, fspath
from typing import Any

import mujoco
import numpy as np

from carom.adapters.mujoco.system import MujocoSystem
from carom.checks import integer, positive
from carom.errors import InvalidOption, MissingExtra
from carom.motion.trajectory import Trajectory

FRAMES_PER_SECOND = 25


def render(
    motion: Trajectory,
    path: str | PathLike[str],
    *,
    speed: float = 1.0,
    width: int = 480,
    height: int = 360,
    camera: str | int = -1,
) -> None:
    """Write a motion of a MuJoCo model as a GIF, drawn by MuJoCo. Needs Pillow and OpenGL.

    Without a screen set the environment variable `MUJOCO_GL` to `egl` before MuJoCo is imported.

    Args:
        motion: Motion of a `MujocoSystem`, or of one with a controller, with its system.
        path: File that ends in .gif.
        speed: Seconds of the motion per second.
        width: Width of the picture [pixels].
        height: Height of the picture [pixels].
        camera: Name or number of a camera of the model; -1 for one that sees all of it.

    Raises:
        InvalidOption: It is no motion of MuJoCo, or nothing can be drawn on this machine.
        MissingExtra: Pillow is not installed.
    """
    system: Any = motion.require_system()
    system = getattr(system, "system", system)
    if not isinstance(system, MujocoSystem):
        raise InvalidOption(
            f"motion: expected one of a MujocoSystem, got {type(system).__name__}; take carom.play"
        )
    if not fspath(path).endswith(".gif"):
        raise InvalidOption(f"path: expected a file that ends in .gif, got {fspath(path)!r}")
    size = integer("height", height, 1), integer("width", width, 1)
    seconds = (motion.end_time - motion.start_time) / positive("speed", speed)
    count = 1 + round(seconds * FRAMES_PER_SECOND)
    times = np.linspace(motion.start_time, motion.end_time, max(2, count))
    try:
        image: Any = import_module("PIL.Image")
    except ModuleNotFoundError as error:
        raise MissingExtra('render needs Pillow: pip install "carom[plots]"') from error
    model, data = system.model, mujoco.MjData(system.model)
    model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
    model.vis.global_.offheight = max(model.vis.global_.offheight, height)
    pictures = []
    with _renderer(model, size) as renderer:
        for q in motion.at(t=times).q:
            data.qpos[:] = q
            mujoco.mj_normalizeQuat(model, data.qpos)
            mujoco.mj_forward(model, data)
            renderer.update_scene(data, camera)
            pictures.append(image.fromarray(renderer.render()))
    first, *others = pictures
    pause = round(1000 / FRAMES_PER_SECOND)
    first.save(fspath(path), save_all=True, append_images=others, duration=pause, loop=0)


def _renderer(model: mujoco.MjModel, size: tuple[int, int]) -> Any:
    """Return MuJoCo's renderer, or say in one sentence what it lacks."""
    try:
        # Libraries for windows warn of a missing screen before they fail.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return mujoco.Renderer(model, *size)
    except Exception as error:  # Each way to OpenGL fails in its own way.
        given = os.environ.get("MUJOCO_GL", "not set")
        raise InvalidOption(
            f"render: MuJoCo finds no OpenGL here (MUJOCO_GL is {given}); set MUJOCO_GL=egl "
            f"before Python starts, or take carom.play"
        ) from error
