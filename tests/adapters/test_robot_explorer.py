"""A robot's impact in space: outcomes to choose from, a page that plays them, and a server."""

import urllib.request

import mujoco
import numpy as np
import pytest

import carom
from carom.adapters.mujoco import MujocoSystem
from carom.explorer.robot import FRAMES, Robot, Viewer, save_playback

TABLE = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="table" pos="0 0 0.3"><freejoint/>
    <geom name="top" type="box" size="0.3 0.2 0.02"/>
    <geom name="&lt;b&gt;a" type="sphere" size="0.02" pos="0.25 0.15 -0.2"/>
    <geom name="b" type="sphere" size="0.02" pos="-0.25 0.15 -0.2"/>
    <geom name="c" type="sphere" size="0.02" pos="0.2 -0.15 -0.2"/>
  </body></worldbody></mujoco>"""
V = np.array([0.2, 0.0, -1.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def robot():
    model = mujoco.MjModel.from_xml_string(TABLE)
    system = MujocoSystem(model)
    q = system.stand(mujoco.MjData(model).qpos)
    problem = system.impact_problem(q, V)
    return Robot(system, system.contacts, q, problem).resolve(max_seconds=0.5, num_samples=3)


def test_outcomes_are_extremes_and_samples(robot):
    assert len(robot.outcomes) == 2 * 3 * 3 + 3
    normal = robot.problem.J_n
    for each in robot.outcomes:
        assert (normal @ each.v > -1e-6).all()
    best = next(x for x in robot.outcomes if x.label.startswith("floor/b normal, largest"))
    index = robot.problem.contacts.index("floor/b")
    told = float(best.label.partition(": ")[2].partition(" ")[0])
    assert told == pytest.approx(normal[index] @ best.v, rel=1e-3, abs=1e-9)


def test_names_are_escaped(robot):
    words = [robot.words(each) for each in robot.outcomes]
    assert not any("<b>" in text for text in words)
    assert any("&lt;b&gt;a" in text for text in words)


def test_motions_begin_at_the_impact(robot):
    motion = robot.motion(robot.outcomes[0].v)
    assert len(motion) == FRAMES
    np.testing.assert_allclose(motion[0], robot.system.placements(robot.q), atol=1e-12)


def test_a_playback_needs_no_server(robot, tmp_path):
    file = tmp_path / "landing.html"
    save_playback(robot, file)
    text = file.read_text(encoding="utf-8")
    assert text.lower().lstrip().startswith("<!doctype html>")
    assert 'src="http' not in text


def test_a_server_shows_every_outcome(robot):
    viewer = Viewer(robot, "127.0.0.1", 0)
    try:
        with urllib.request.urlopen(viewer.address) as page:
            assert page.status == 200
        for number in range(len(robot.outcomes)):
            viewer._go_to(number)
            viewer.step()
            assert viewer.list.value == robot.outcomes[number].label
            assert viewer.number.value == number
        assert viewer.time.value == 1
        viewer.playing.value = False
        viewer.step()
        assert viewer.time.value == 1
    finally:
        viewer.server.stop()


def test_what_cannot_be_drawn_is_refused():
    from carom.explorer.run import show_robot

    with pytest.raises(carom.InvalidOption, match="cannot be drawn"):
        show_robot(object(), [0.0], None, "127.0.0.1", 0)
