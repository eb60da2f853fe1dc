"""Compiled segments against those of scipy, which systems with inputs take."""

from __future__ import annotations

import numpy as np
import pytest

import carom
from carom.systems import PlanarSystem

LAW = carom.Sequential()


@pytest.mark.parametrize("name", ["zeno-block", "box-wall", "compass-gait", "painleve-rod"])
def test_motion_is_that_of_scipy(name):
    scene = carom.scenes.load(name)
    system = scene.system
    idle = PlanarSystem(system.bodies, system.contact_pairs, inputs=lambda *_: np.zeros(system.nv))
    one, other = (carom.simulate(x, scene.q, scene.v, 0.5, LAW) for x in (system, idle))
    assert one.status == other.status == "finished"
    assert [part.modes for part in one.segments] == [part.modes for part in other.segments]
    times = [[part.t for part in motion.impacts] for motion in (one, other)]
    np.testing.assert_allclose(*times, atol=1e-10)
    t = np.linspace(0.0, 0.5, 100)
    np.testing.assert_allclose(one.at(t=t).q, other.at(t=t).q, atol=1e-10)
    np.testing.assert_allclose(one.at(t=t).impulse, other.at(t=t).impulse, atol=1e-8)


@pytest.mark.parametrize("max_steps", [1, 4, 5, 20])
def test_records_of_any_length_are_whole(max_steps):
    # Room is made for four steps at first, and twice as much whenever it does not suffice.
    scene = carom.scenes.load("box-wall")
    motion = carom.simulate(scene.system, scene.q, scene.v, 1.0, LAW, max_steps=max_steps)
    whole = carom.simulate(scene.system, scene.q, scene.v, 1.0, LAW)
    assert sum(len(part.knots) - 1 for part in motion.segments) == max_steps
    t = np.linspace(0.0, motion.end_time, 50)
    np.testing.assert_array_equal(motion.at(t=t[:-1]).q, whole.at(t=t[:-1]).q)


def test_longest_step_is_kept():
    scene = carom.scenes.load("box-wall")
    motion = carom.simulate(scene.system, scene.q, scene.v, 0.2, LAW, max_step=1e-3)
    assert max(np.diff(part.knots).max() for part in motion.segments) <= 1e-3 * (1 + 1e-12)
