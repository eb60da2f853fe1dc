"""Motions as moving pictures."""

from __future__ import annotations

import base64
import io
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from carom.errors import InvalidProblem
from carom.io import write_atomically
from carom.plots import style
from carom.plots.player import PAGE
from carom.plots.stage import Stage, contact_points, draw_ground, require_planar, view_of

if TYPE_CHECKING:
    from carom.motion.trajectory import Trajectory
    from carom.systems.planar import PlanarSystem
    from carom.typing import FloatArray

DPI = 100
COLOURS = 64
"""Of a GIF; flat colours need few, and few make it small."""
FLASH = 0.3
"""So long a contact flashes after an impact, as the picture is shown [s]."""
MOST_FPS = 50
"""Faster GIFs are slowed down by browsers."""
MOST_FRAMES = 3000
VIEWS = 300
"""From so many configurations the view of a motion is found."""


def animate(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    speed: float = 1.0,
    size: tuple[int, int] = (480, 360),
) -> None:
    """Write a motion as a GIF, or as a page for a browser that needs no network.

    Bodies move over the ground; dots mark contacts that hold, and stars flash where an impulse
    acts in an impact. The file appears whole or not at all.

    Args:
        trajectory: The motion of a `PlanarSystem`.
        path: The file, which ends in .gif or .html.
        fps: Pictures a second.
        speed: Seconds of the motion that are shown in one second: 0.1 is slow motion.
        size: Width and height [pixels].

    Raises:
        InvalidProblem: The system is missing or not planar, or an argument is out of range.
        OSError: The file cannot be written.

    Examples:
        >>> import carom, pathlib, tempfile
        >>> scene = carom.scenes.load("rocking-block")
        >>> motion = carom.simulate(scene.system, scene.q, scene.v, 0.05, carom.Routh(), seed=3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "block.gif"
        ...     carom.plots.animate(motion, file, speed=0.5, size=(160, 120))
        ...     file.read_bytes()[:6]
        b'GIF89a'
    """
    encoders = {".gif": _gif, ".html": _html}
    ending = Path(path).suffix.lower()
    if ending not in encoders:
        raise InvalidProblem(f"path: expected a file that ends in .gif or .html, got {path}")
    if not 0.0 < fps <= MOST_FPS:
        raise InvalidProblem(f"fps: expected more than 0, up to {MOST_FPS}, got {fps!r}")
    if not 0.0 < speed < math.inf:
        raise InvalidProblem(f"speed: expected a number > 0, got {speed!r}")
    if len(size) != 2 or not all(16 <= pixels <= 4096 for pixels in size):
        raise InvalidProblem(f"size: expected two numbers from 16 to 4096, got {size!r}")
    film = _Film(trajectory, _times(trajectory, speed / fps), size, FLASH * speed)
    write_atomically(path, encoders[ending](film, fps))


def _times(trajectory: Trajectory, interval: float) -> FloatArray:
    if not trajectory.parts:
        raise InvalidProblem(f"trajectory: nothing to draw, {trajectory.message}")
    start, end = trajectory.start_time, trajectory.end_time
    # The end is shown too if it is only rounding away.
    count = math.floor((end - start) / interval + 1e-9) + 1
    if count > MOST_FRAMES:
        raise InvalidProblem(
            f"speed: {count:,} pictures are more than {MOST_FRAMES:,}; raise speed or lower fps"
        )
    return np.minimum(start + interval * np.arange(count), end)


class _Flash(NamedTuple):
    """A point where an impulse acts, and when."""

    t: float
    x: float
    y: float


class _Film:
    """A figure that shows a motion at any time."""

    def __init__(
        self, trajectory: Trajectory, times: FloatArray, size: tuple[int, int], flash: float
    ) -> None:
        self.trajectory = trajectory
        self.times = times
        self.system = require_planar(trajectory.require_system())
        self.flash = flash
        self.flashes = list(_flashes(trajectory, self.system))
        self.q = trajectory.at(t=times).q
        self.size = size
        self.figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI)
        ax = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        ax.set_axis_off()
        view = _filled(_whole_view(self.system, trajectory), size[0] / size[1])
        draw_ground(self.system, ax, view)
        self.stage = Stage(self.system, ax)
        (self.closed,) = ax.plot([], [], **style.TOUCHING)
        self.stars = ax.scatter([], [], **style.FLASH)
        self.clock = ax.text(0.02, 0.98, "", va="top", transform=ax.transAxes, **style.NAME)
        # One digit more than the interval has, so that no two pictures are the same.
        interval = times[1] - times[0] if len(times) > 1 else 1.0
        self.digits = max(2, 1 - math.floor(math.log10(interval)))
        ax.set_xlim(*view[:, 0])
        ax.set_ylim(*view[:, 1])

    def picture(self, i: int) -> Image.Image:
        """Draw the motion at time i."""
        t, q = float(self.times[i]), self.q[i]
        self.stage.place(q)
        points = contact_points(self.system, q)[self._closed_at(t)]
        self.closed.set_data(*points.T)
        recent = [flash for flash in self.flashes if 0.0 <= t - flash.t < self.flash]
        self.stars.set_offsets(np.array([flash[1:] for flash in recent]).reshape(-1, 2))
        self.stars.set_sizes([500.0 * (1.0 - (t - flash.t) / self.flash) for flash in recent])
        self.clock.set_text(f"t = {t:.{self.digits}f} s")
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="rgba")
        pixels = np.frombuffer(buffer.getbuffer(), np.uint8).reshape(self.size[1], self.size[0], 4)
        return Image.fromarray(np.ascontiguousarray(pixels[..., :3]))

    def pictures(self) -> Iterator[Image.Image]:
        """Draw the motion at all its times."""
        return map(self.picture, range(len(self.times)))

    def _closed_at(self, t: float) -> list[int]:
        """Return which contacts hold at a time."""
        for segment in self.trajectory.segments:
            if segment.start <= t <= segment.end:
                return [i for i, mode in enumerate(segment.modes) if mode != "free"]
        return []


def _flashes(trajectory: Trajectory, system: PlanarSystem) -> Iterator[_Flash]:
    for impact in trajectory.impacts:
        points = contact_points(system, impact.q[0])
        gained = impact.impulse[-1, :, 0] - impact.impulse[0, :, 0]
        for i in np.flatnonzero(gained > 1e-9 * gained.max(initial=0.0)):
            yield _Flash(impact.t, *points[i].tolist())


def _whole_view(system: PlanarSystem, trajectory: Trajectory) -> FloatArray:
    times = np.linspace(trajectory.start_time, trajectory.end_time, VIEWS)
    return view_of(system, list(trajectory.at(t=times).q))


def _filled(view: FloatArray, aspect: float) -> FloatArray:
    """Widen a view to the shape of the picture, so that a metre is as wide as it is high."""
    width, height = view[1] - view[0]
    wanted = np.array([max(width, aspect * height), max(height, width / aspect)])
    center = view.mean(axis=0)
    # Ground belongs at the bottom: what is left over goes above.
    low = np.array([center[0] - wanted[0] / 2, view[0, 1]])
    return np.array([low, low + wanted])


def _gif(film: _Film, fps: float) -> bytes:
    """Return a GIF with one palette for all pictures, so that only what moves is stored anew."""
    palette = _palette(film)
    flat = [
        picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in film.pictures()
    ]
    # A GIF counts time in hundredths of a second; what is rounded off one picture goes to the next.
    ends = np.round(np.arange(len(flat) + 1) * 100.0 / fps).astype(int)
    buffer = io.BytesIO()
    flat[0].save(
        buffer,
        format="GIF",
        save_all=True,
        append_images=flat[1:],
        duration=[10 * int(each) for each in np.diff(ends)],
        loop=0,
    )
    return buffer.getvalue()


def _palette(film: _Film) -> Image.Image:
    """Return a picture whose palette suits all of them, with the marks' own colours in it."""
    chosen = np.unique(np.linspace(0, len(film.times) - 1, 6).astype(int))
    mosaic = np.concatenate([np.asarray(film.picture(int(i))) for i in chosen])
    marks = [np.round(255.0 * np.array(to_rgb(mark))) for mark in (*style.CYCLE, "white")]
    picture = Image.fromarray(mosaic).quantize(COLOURS - len(marks), Image.Quantize.MEDIANCUT)
    colours = np.array(picture.getpalette(), dtype=np.float64).reshape(-1, 3)
    # Marks are rare, and averaged with others. Pillow rounds before it looks for the nearest
    # colour, so that those beside a mark have to go.
    for mark in marks:
        colours[np.abs(colours - mark).max(axis=1) <= 4.0] = mark
    picture.putpalette(np.vstack([colours, marks]).astype(int).ravel().tolist())
    return picture


def _html(film: _Film, fps: float) -> bytes:
    """Return a page with all pictures in it and a small player."""
    pictures = []
    for picture in film.pictures():
        buffer = io.BytesIO()
        picture.quantize(COLOURS).save(buffer, format="PNG", optimize=True)
        pictures.append(base64.b64encode(buffer.getvalue()).decode())
    page = PAGE.replace("PICTURES", json.dumps(pictures)).replace("INTERVAL", f"{1000.0 / fps:g}")
    return page.encode()
