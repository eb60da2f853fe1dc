"""Systems and what they are made of are values: short to read, and fit to be sent."""

import copy
import pickle

import numpy as np
import pytest

import carom
from carom.systems import FLOOR, Body, Disc, PlanarSystem, PlaneContact
from tests.reference.own_system import RodOnCircle


@pytest.mark.parametrize("name", carom.scenes.names())
@pytest.mark.parametrize(
    "duplicate", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy], ids=["pickle", "copy"]
)
def test_scenes_survive_pickle_and_deep_copy(name, duplicate):
    scene = carom.scenes.load(name)
    again = duplicate(scene)
    assert again.system.bodies == scene.system.bodies
    assert again.system.contact_pairs == scene.system.contact_pairs
    np.testing.assert_array_equal(again.q, scene.q)
    for one, other in zip(
        again.system.dynamics(again.q, again.v, 0.1),
        scene.system.dynamics(scene.q, scene.v, 0.1),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_reprs_are_one_short_line():
    block = carom.scenes.load("rocking-block").system
    assert repr(block) == "PlanarSystem(nq = 3, nv = 3, contacts A, B)"
    assert repr(RodOnCircle()).startswith("RodOnCircle(nq = 4, nv = 3, contacts ")
    box = Body.point("box", 1.0)
    many = [PlaneContact(f"contact {i}", Disc("box"), FLOOR, 0.5) for i in range(500)]
    assert repr(PlanarSystem([box], many)).endswith("contact 5, …)")
    assert repr(PlanarSystem([box], [])).endswith("contacts none)")
