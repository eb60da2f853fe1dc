import math

import numpy as np
import pytest

from carom import scenes
from carom.errors import UnknownScene

PAPER_SETTINGS = {
    "rocking-block": (0.3, 10, 2**14),
    "compass-gait": (0.25, 5, 2**20),
    "box-wall": (2.0, 5, 2**18),
    "ramone": (1.0, 10, 2**20),
    "disk-stack": (1.0, 10, 2**20),
}


MOTIONS = {"zeno-block", "painleve-rod"}
"""Scenes that are about a motion: nothing collides at their start."""


BOUNCING = {"newtons-cradle": 1.0, "bouncing-block": 0.8}
"""Scenes that are not the paper's, with their restitution."""


def test_names_are_those_of_the_paper_and_two_that_bounce():
    assert set(scenes.names()) == set(PAPER_SETTINGS) | MOTIONS | set(BOUNCING)


@pytest.mark.parametrize("name", scenes.names())
def test_only_what_is_meant_to_bounce_does(name):
    np.testing.assert_array_equal(scenes.load(name).problem.restitution, BOUNCING.get(name, 0.0))


@pytest.mark.parametrize("name", scenes.names())
class TestEveryScene:
    def test_carries_its_name_and_one_line(self, name):
        scene = scenes.load(name)
        assert scene.name == name
        assert scene.description
        assert "\n" not in scene.description

    def test_has_settings_that_an_impact_and_a_motion_need(self, name):
        scene = scenes.load(name)
        assert scene.step_impulse > 0.0
        assert scene.max_steps >= 1
        assert scene.num_samples >= 1
        assert 0.0 < scene.duration < math.inf
        assert scene.law in ("routh", "sequential")

    def test_touches_with_every_contact(self, name):
        scene = scenes.load(name)
        np.testing.assert_allclose(scene.system.gap(scene.q), 0.0, rtol=0, atol=1e-15)
        assert scene.problem.contacts == scene.system.contacts

    def test_takes_its_friction_coefficient_from_the_caller(self, name):
        np.testing.assert_array_equal(scenes.load(name, mu=0.25).problem.mu, 0.25)

    def test_takes_its_restitution_from_the_caller(self, name):
        scene = scenes.load(name, restitution=0.25)
        np.testing.assert_array_equal(scene.system.restitution, 0.25)
        np.testing.assert_array_equal(scene.problem.restitution, 0.25)

    def test_refuses_a_parameter_it_does_not_know(self, name):
        with pytest.raises(TypeError, match="colour"):
            scenes.load(name, colour=1.0)


@pytest.mark.parametrize("name", sorted(PAPER_SETTINGS))
class TestImpacts:
    def test_have_the_settings_of_the_papers_tables(self, name):
        scene = scenes.load(name)
        settings = (scene.step_impulse, scene.max_steps, scene.num_samples)
        assert settings == PAPER_SETTINGS[name]

    def test_collide_and_no_contact_separates(self, name):
        scene = scenes.load(name)
        approach = scene.problem.J_n @ scene.problem.v_pre
        assert approach.min() < -0.1
        assert approach.max() <= 0.0
        assert not scene.without_collision


@pytest.mark.parametrize("name", sorted(MOTIONS))
def test_motions_start_without_a_collision(name):
    problem = scenes.load(name).problem
    assert (problem.J_n @ problem.v_pre >= 0.0).all()
    assert not problem.is_colliding(problem.v_pre)


@pytest.mark.parametrize(
    ("name", "closest"),
    [("rocking_block", "rocking-block"), ("Ramone", "ramone"), ("zeno_bock", "zeno-block")],
)
def test_unknown_name_lists_the_names_and_suggests_the_closest(name, closest):
    with pytest.raises(UnknownScene) as caught:
        scenes.load(name)
    message = str(caught.value)
    assert f"did you mean {closest!r}?" in message
    assert all(known in message for known in scenes.names())
    assert isinstance(caught.value, ValueError)


def test_name_like_no_other_gets_no_suggestion():
    with pytest.raises(UnknownScene) as caught:
        scenes.load("zzz")
    assert "did you mean" not in str(caught.value)
