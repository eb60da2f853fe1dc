"""Playing a motion in space, with viser: a page with a slider, or a file that plays by itself."""

from __future__ import annotations

import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from carom import checks
from carom.errors import InvalidOption
from carom.motion.trajectory import Trajectory
from carom.systems.planar import PlanarSystem
from carom.typing import FloatArray

FRAMES_PER_SECOND = 30
FEWEST = 2
"""Least number of pictures."""


def play(
    motion: Trajectory,
    *,
    speed: float = 1.0,
    port: int = 0,
    open_browser: bool = True,
    save: str | Path | None = None,
) -> None:
    """Play a motion in space in the browser until Ctrl-C, or write it as a page. Needs viser.

    Args:
        motion: Motion of a robot of MuJoCo or Pinocchio, or of a `SpatialBody`, with its system.
        speed: Seconds of the motion per second.
        port: Port to listen on; 0 for any that is free.
        open_browser: Whether to open the page; its address is printed in any case.
        save: File for a page that plays without a server, in place of one.

    Raises:
        InvalidOption: The system cannot be drawn in space.
        MissingExtra: viser is not installed.

    Examples:
        A planar motion is animated by `carom.plots.animate` instead.

        >>> import carom
        >>> scene = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.05, carom.Routh(), seed=3)
        >>> carom.play(motion)
        Traceback (most recent call last):
        carom.errors.InvalidOption: motion: PlanarSystem is not in space; take carom.plots.animate
    """
    system: Any = motion.require_system()
    if not hasattr(system, "placements"):
        name = type(system).__name__
        advice = (
            "take carom.plots.animate" if isinstance(system, PlanarSystem) else "it has no solids"
        )
        raise InvalidOption(f"motion: {name} is not in space; {advice}")
    poses = pictures(motion, checks.positive("speed", speed))
    from carom.explorer.space import Player

    player = Player(system, poses, FRAMES_PER_SECOND, port)
    if save is not None:
        Path(save).write_text(player.page(), encoding="utf-8")
        return
    print(player.address, flush=True)
    if open_browser:
        webbrowser.open(player.address)
    try:
        with suppress(KeyboardInterrupt):
            while True:
                player.step()
                time.sleep(1.0 / FRAMES_PER_SECOND)
    finally:
        player.stop()


def pictures(motion: Trajectory, speed: float) -> FloatArray:
    """Return the poses (k, n, 4, 4) of all solids in k pictures at even times."""
    system: Any = motion.require_system()
    seconds = motion.end_time - motion.start_time
    count = max(FEWEST, 1 + round(seconds / speed * FRAMES_PER_SECOND))
    times = np.linspace(motion.start_time, motion.end_time, count)
    # Between the states of a step a quaternion is not quite of unit length, which systems mend.
    return np.array([system.placements(q) for q in motion.at(t=times).q])
