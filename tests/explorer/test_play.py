"""A motion in space is played: pictures at even times, a page without a server."""

import numpy as np
import pytest

import carom
from carom.explorer.play import FRAMES_PER_SECOND, pictures
from carom.systems import Box, SpatialBody

BOX = SpatialBody(Box([0.4, 0.25, 0.3]), 10.0, mu=0.6)


@pytest.fixture(scope="module")
def motion():
    q, v = [0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], [0.3, 0.0, 0.0, 2.0, 1.0, 0.0]
    return carom.simulate(BOX, q, v, 0.4, carom.Routh(), time_step=1e-3)


def test_pictures_are_at_even_times(motion):
    poses = pictures(motion, speed=0.1)
    assert poses.shape == (1 + 4 * FRAMES_PER_SECOND, 1, 4, 4)
    np.testing.assert_allclose(poses[0], BOX.placements(motion.q[0]), atol=1e-12)
    np.testing.assert_allclose(poses[-1], BOX.placements(motion.q[-1]), atol=1e-12)
    middle = motion.at(t=[0.2]).q[0]
    np.testing.assert_allclose(poses[len(poses) // 2, 0, :3, 3], middle[:3], atol=1e-12)


@pytest.mark.engines
def test_a_page_plays_without_a_server(motion, tmp_path):
    carom.play(motion, save=tmp_path / "box.html")
    text = (tmp_path / "box.html").read_text(encoding="utf-8")
    assert text.lower().lstrip().startswith("<!doctype html>")


@pytest.mark.engines
def test_the_player_goes_on_and_around(motion):
    from carom.explorer.space import Player

    player = Player(BOX, pictures(motion, 1.0), FRAMES_PER_SECOND, 0)
    try:
        assert player.address.startswith("http://127.0.0.1:")
        for _ in range(len(player.poses)):
            player.step()
        assert int(player.number.value) == 0
        player.playing.value = False
        player.step()
        assert int(player.number.value) == 0
    finally:
        player.stop()


def test_planar_motions_are_drawn_elsewhere():
    scene = carom.scenes.load("rocking-block")
    motion = carom.simulate(scene.system, scene.q, scene.v, 0.01, carom.Routh())
    with pytest.raises(carom.InvalidOption, match=r"carom\.plots\.animate"):
        carom.play(motion)
