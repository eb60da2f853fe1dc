"""MuJoCo draws motions: a GIF with all pictures, or one sentence that says what is missing."""

import os
import subprocess
import sys

import mujoco
import pytest
from PIL import Image

import carom
from carom.adapters.mujoco import MujocoSystem, render

BALL = """<mujoco><worldbody><light pos="0 0 3"/>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body pos="0 0 0.4"><freejoint/><geom size="0.1" rgba="0.8 0.2 0.1 1"/></body>
</worldbody></mujoco>"""
SCRIPT = """
import sys
from tests.adapters.test_render import moved
from carom.adapters.mujoco import render
from carom.errors import InvalidOption
try:
    render(moved(), sys.argv[1], speed=0.5, width=64, height=48)
except InvalidOption as error:
    print(error)
"""


def moved():
    """Return the motion of a ball that falls."""
    model = mujoco.MjModel.from_xml_string(BALL)
    system = MujocoSystem(model, margin=5e-3)
    return carom.simulate(system, model.qpos0, [0.0] * 6, 0.4, carom.Routh(), time_step=2e-3)


@pytest.mark.parametrize("way", ["egl", "glfw"])
def test_pictures_or_advice(tmp_path, way):
    file = tmp_path / "ball.gif"
    settings = dict(os.environ) | {"MUJOCO_GL": way, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(file)],
        capture_output=True,
        text=True,
        check=False,
        env=settings,
    )
    # Which ways there are depends on the machine; none may fail without a sentence.
    if file.exists():
        with Image.open(file) as picture:
            assert picture.size == (64, 48)
            # Pictures that are the same, once the ball rests, are one that stays longer.
            assert 10 <= picture.n_frames <= 21
            first = picture.convert("RGB").getcolors()
            picture.seek(picture.n_frames - 1)
            assert picture.convert("RGB").getcolors() != first
    else:
        assert f"MuJoCo finds no OpenGL here (MUJOCO_GL is {way})" in found.stdout, found.stderr


def test_other_motions_and_files_are_refused(tmp_path):
    scene = carom.scenes.load("rocking-block")
    motion = carom.simulate(scene.system, scene.q, scene.v, 0.01, carom.Routh())
    with pytest.raises(carom.InvalidOption, match="expected one of a MujocoSystem"):
        render(motion, tmp_path / "block.gif")
    with pytest.raises(carom.InvalidOption, match=r"ends in \.gif"):
        render(moved(), tmp_path / "ball.mp4")
