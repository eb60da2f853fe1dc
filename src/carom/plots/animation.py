"""Motions as moving pictures."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.figure import Figure

from carom import checks
from carom.errors import InvalidOption
from carom.io import write_atomically
from carom.plots import style
from carom.plots.scene import Stage, draw_ground, require_planar
from carom.systems.views import contact_points, view_of

if TYPE_CHECKING:
    from carom.motion.trajectory import Trajectory
    from carom.systems.planar import PlanarSystem
    from carom.typing import FloatArray

DPI = 100
FLASH = 0.3
"""Time that a contact flashes after an impact, as the picture is shown [s]."""
MOST_FPS = 50
"""Browsers slow down faster GIFs."""
MOST_FRAMES = 3000
VIEWS = 300
"""Number of configurations from which the view of a motion is found."""
HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>carom</title>'
ICONS = (
    "minus − fast-backward ⏮ step-backward ⏪ play ▶ pause ⏸ step-forward ⏩ fast-forward ⏭ plus +"
)
"""Signs of the player's buttons, in place of a font that matplotlib loads from the network."""


def animate(
    trajectory: Trajectory,
    path: str | os.PathLike[str] | None = None,
    *,
    fps: float = 30.0,
    speed: float = 1.0,
    size: tuple[int, int] = (480, 360),
) -> Path | FuncAnimation:
    """Animate a motion as a GIF, as a page for a browser that needs no network, or in a notebook.

    Bodies move over the ground; dots mark contacts that hold, and stars flash where an impulse
    acts in an impact. The file appears whole or not at all.

    Args:
        trajectory: Motion of a `PlanarSystem`.
        path: File to write, which ends in .gif or .html. Default: none.
        fps: Pictures per second; those of a GIF last a whole number of hundredths of a second.
        speed: Seconds of the motion that are shown in one second: 0.1 is slow motion.
        size: Width and height [pixels].

    Returns:
        The path that was written; without a path, matplotlib's animation: in a notebook,
        `IPython.display.HTML(animation.to_jshtml())` shows it.

    Examples:
        >>> import carom, pathlib, tempfile
        >>> scene = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.05, carom.Routh(), seed=3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "block.gif"
        ...     carom.plots.animate(motion, file, speed=0.5, size=(160, 120)).read_bytes()[:6]
        b'GIF89a'
    """
    ending = None if path is None else Path(path).suffix.lower()
    if ending not in (None, ".gif", ".html"):
        raise InvalidOption(f"path: expected a file that ends in .gif or .html, got {path}")
    checks.between("fps", checks.positive("fps", fps), 0.0, MOST_FPS)
    checks.positive("speed", speed)
    if len(size) != 2 or not all(16 <= pixels <= 4096 for pixels in size):
        raise InvalidOption(f"size: expected two numbers from 16 to 4096, got {size!r}")
    # A GIF counts time in hundredths of a second: the motion is sampled at the rate that it keeps.
    interval = round(100.0 / fps) / 100.0 if ending == ".gif" else 1.0 / fps
    film = _Film(trajectory, _times(trajectory, speed * interval), size, FLASH * speed)
    frames: Any = {"frames": len(film.times), "init_func": tuple, "cache_frame_data": False}
    animation = FuncAnimation(film.figure, film.show, interval=1000.0 * interval, **frames)
    if path is None:
        return animation
    write_atomically(path, _gif(animation, interval) if ending == ".gif" else _html(animation))
    return Path(path)


def _gif(animation: FuncAnimation, interval: float) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "motion.gif"
        # The writer rounds the duration of a frame down to milliseconds.
        animation.save(file, PillowWriter(fps=1.0 / (interval + 1e-6)))  # type: ignore[arg-type]
        return file.read_bytes()


def _html(animation: FuncAnimation) -> bytes:
    # No picture is left out, however long the motion.
    with rc_context({"animation.embed_limit": math.inf}):
        page = animation.to_jshtml()
    rules = re.sub(r"(\S+) (\S+) ?", r'.fa-\1::before {content: "\2"}', ICONS)
    flipped = ".fa {font-style: normal} .fa-flip-horizontal {display: inline-block; scale: -1 1}"
    return (HEAD + re.sub(r"<link[^>]*>", f"<style>{rules} {flipped}</style>", page)).encode()


def _times(trajectory: Trajectory, interval: float) -> FloatArray:
    start, end = trajectory.start_time, trajectory.end_time
    # The end is shown too if it is only rounding away.
    count = math.floor((end - start) / interval + 1e-9) + 1
    if count > MOST_FRAMES:
        raise InvalidOption(
            f"speed: {count:,} pictures are more than {MOST_FRAMES:,}; raise speed or lower fps"
        )
    return np.minimum(start + interval * np.arange(count), end)


class _Film:
    """A figure that shows a motion at any time."""

    def __init__(
        self, trajectory: Trajectory, times: FloatArray, size: tuple[int, int], flash: float
    ) -> None:
        self.trajectory, self.times, self.flash = trajectory, times, flash
        self.system = require_planar(trajectory.require_system())
        self.flashes = np.array(list(_flashes(trajectory, self.system))).reshape(-1, 3)
        self.q = trajectory.at(t=times).q
        self.figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI)
        ax = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        ax.set_axis_off()
        seen = np.linspace(trajectory.start_time, trajectory.end_time, VIEWS)
        view = _filled(view_of(self.system, [*trajectory.at(t=seen).q]), size[0] / size[1])
        draw_ground(self.system, ax, view)
        self.stage = Stage(self.system, ax)
        (self.closed,) = ax.plot([], [], **style.TOUCHING)
        self.stars = ax.scatter([], [], **style.FLASH)
        self.clock = ax.text(0.02, 0.98, "", va="top", transform=ax.transAxes, **style.NAME)
        # One digit more than the interval has, so that no two pictures are the same.
        interval = times[1] - times[0] if len(times) > 1 else 1.0
        self.digits = max(2, 1 - math.floor(math.log10(interval)))
        ax.set(xlim=view[:, 0], ylim=view[:, 1])

    def show(self, i: int) -> tuple[Any, ...]:
        """Move all to time i; return what moved."""
        t, q = float(self.times[i]), self.q[i]
        self.stage.place(q)
        now = (each.modes for each in self.trajectory.segments if each.start <= t <= each.end)
        closed = [i for i, mode in enumerate(next(now, ())) if mode != "free"]
        self.closed.set_data(*contact_points(self.system, q)[closed].T)
        age = (t - self.flashes[:, 0]) / self.flash
        recent = (age >= 0.0) & (age < 1.0)
        self.stars.set_offsets(self.flashes[recent, 1:])
        self.stars.set_sizes(500.0 * (1.0 - age[recent]))
        self.clock.set_text(f"t = {t:.{self.digits}f} s")
        return self.closed, self.stars, self.clock


def _flashes(trajectory: Trajectory, system: PlanarSystem) -> Iterator[tuple[float, ...]]:
    """Return when and where (t, x, y) impulses act in impacts."""
    for impact in trajectory.impacts:
        points = contact_points(system, impact.q[0])
        gained = impact.impulse[-1, :, 0] - impact.impulse[0, :, 0]
        for i in np.flatnonzero(gained > 1e-9 * gained.max(initial=0.0)):
            yield impact.t, *points[i]


def _filled(view: FloatArray, aspect: float) -> FloatArray:
    """Widen a view to the shape of the picture, so that a metre is as wide as it is high."""
    width, height = view[1] - view[0]
    wanted = np.array([max(width, aspect * height), max(height, width / aspect)])
    # Ground belongs at the bottom: what is left over goes above.
    low = np.array([view[:, 0].mean() - wanted[0] / 2, view[0, 1]])
    return np.array([low, low + wanted])
