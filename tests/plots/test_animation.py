import base64
import io
import os
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import carom
from carom.plots import animate
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact, Prismatic

SMALL = (120, 90)


@pytest.fixture(scope="module")
def block():
    """A block that lands flat and rocks a few times."""
    scene = carom.scenes.load("rocking-block")
    return carom.simulate(scene.system, scene.q, scene.v, 0.12, carom.Routh(num_samples=1))


@pytest.fixture(scope="module")
def ball():
    """A ball that falls, hits and rests."""
    body = Body.point("ball", 1.0, joints=(Prismatic((0.0, 1.0)),))
    system = PlanarSystem([body], [PlaneContact("A", Disc("ball"), FLOOR, 0.0)])
    return carom.simulate(system, [0.1], [0.5], 0.5, carom.RouthSingle())


def test_gif_has_a_picture_for_each_moment(block, tmp_path):
    animate(block, tmp_path / "block.gif", fps=25, size=SMALL)
    with Image.open(tmp_path / "block.gif") as gif:
        assert gif.size == SMALL
        assert gif.n_frames == 4
        gif.seek(1)
        assert gif.info["duration"] == 40


def test_slow_motion(ball, tmp_path):
    animate(ball, tmp_path / "ball.GIF", fps=30, speed=0.5, size=SMALL)
    with Image.open(tmp_path / "ball.GIF") as gif:
        # Thirtieths of a second are not hundredths; what is shown lasts as long as it should.
        assert gif.n_frames == 34
        lengths = []
        for i in range(gif.n_frames):
            gif.seek(i)
            lengths.append(gif.info["duration"])
    assert set(lengths) == {30}
    assert sum(lengths) == pytest.approx(1000.0, abs=30)


def test_impact_flashes(block, tmp_path):
    animate(block, tmp_path / "block.gif", fps=25, size=SMALL)
    with Image.open(tmp_path / "block.gif") as gif:
        pixels = np.asarray(gif.convert("RGB")).reshape(-1, 3)
    # A GIF has a palette of its own, whose colours are close to those that were drawn.
    away = np.abs(pixels.astype(int) - (0xD5, 0x5E, 0x00)).max(axis=1)
    assert away.min() <= 8
    assert (pixels[0] >= 250).all()


def test_gif_of_three_seconds_is_small(tmp_path):
    scene = carom.scenes.load("disk-stack")
    motion = carom.simulate(scene.system, scene.q, 0 * scene.v, 0.3, carom.Routh(num_samples=1))
    animate(motion, tmp_path / "stack.gif", speed=0.1)
    assert (tmp_path / "stack.gif").stat().st_size < 1_000_000


def test_page_needs_no_network(block, tmp_path):
    animate(block, tmp_path / "block.html", fps=25, size=SMALL)
    page = (tmp_path / "block.html").read_text()
    assert "http" not in page
    pictures = re.findall(r"data:image/png;base64,([^\"]*)", page)
    assert len(pictures) == 4
    picture = Image.open(io.BytesIO(base64.b64decode(pictures[0].replace("\\\n", ""))))
    assert picture.size == SMALL
    # Every button has a sign of its own.
    for icon in set(re.findall(r'class="fa fa-([a-z-]*)', page)):
        assert f".fa-{icon}::before" in page


def test_returns_the_path_or_the_animation(block, tmp_path):
    assert animate(block, str(tmp_path / "a.gif"), fps=10, size=SMALL) == tmp_path / "a.gif"
    animation = animate(block, fps=10, size=SMALL)
    assert animation.to_jshtml().count("data:image/png") == 2
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ["block.gif", "block.html"])
def test_failure_leaves_no_file(block, tmp_path, monkeypatch, name):
    (tmp_path / name).write_bytes(b"old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        animate(block, tmp_path / name, fps=10, size=SMALL)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"old"


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("block.mp4", {}, "ends in .gif or .html"),
        ("block.gif", {"fps": 0}, "fps: expected a number > 0"),
        ("block.gif", {"fps": float("nan")}, "fps"),
        ("block.gif", {"speed": -1.0}, "speed: expected a number > 0"),
        ("block.gif", {"speed": 1e-9}, "raise speed or lower fps"),
        ("block.gif", {"size": (0, 10)}, "size: expected two numbers"),
    ],
)
def test_bad_arguments(block, tmp_path, name, options, words):
    with pytest.raises(carom.InvalidOption, match=words):
        animate(block, tmp_path / name, **options)
    assert list(tmp_path.iterdir()) == []


def test_missing_folder(block, tmp_path):
    with pytest.raises(FileNotFoundError):
        animate(block, tmp_path / "missing" / "block.gif", fps=10, size=SMALL)


def test_needs_a_planar_system(block, tmp_path):
    with pytest.raises(carom.CaromError, match="system"):
        animate(replace(block, system=None), tmp_path / "block.gif")
