"""Forces of contacts that depend on each other, in round cones: found where there are any."""

import numpy as np
import pytest

from carom.motion.cone_forces import Cones
from carom.motion.inner_forces import span
from carom.motion.spatial_law import SpatialLaw
from carom.motion.sustained import STICKING
from carom.systems import Box, SpatialBody

MU, MASS, G = 0.5, 10.0, 9.81


def box_pushed(force, turning=0.0):
    """Return the forces of least norm of a box on four corners, its cones and what forces keep."""

    def inputs(*_):
        return [*force, 0.0, 0.0, 0.0, turning]

    box = SpatialBody(Box([0.4, 0.25, 0.3]), MASS, mu=MU, inputs=inputs)
    here = box.dynamics([0, 0, 0.15, 1, 0, 0, 0], np.zeros(6))
    modes = np.where(here.phi < 1e-9, STICKING, 0)
    law = SpatialLaw(modes, box.mu, modes > 0, aims=np.zeros((8, 2)))
    found = law.judge(here, np.zeros(6)).force[:4]
    x = np.concatenate([found[:, 0], found[:, 1:].ravel()])
    rows = law.rows(here, np.zeros(6))
    return x, Cones(np.arange(4), np.full(4, MU), np.full(4, MASS * G / 4)), rows


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999, 0.99999])
@pytest.mark.parametrize("angle", [0.0, 0.4, 2.0])
def test_a_box_can_be_held_up_to_its_whole_friction(share, angle):
    push = share * MU * MASS * G * np.array([np.cos(angle), np.sin(angle)])
    given, cones, rows = box_pushed(push)
    x = cones.deepest(given, span(rows.A.T))
    # The body is held by the same force and torque.
    np.testing.assert_allclose(rows.G.T @ x, rows.G.T @ given, atol=1e-9)
    normal, friction = x[:4], np.hypot(*x[4:].reshape(-1, 2).T)
    assert normal.min() >= 0.0
    assert (friction <= MU * normal).all()


@pytest.mark.parametrize("share", [1.00001, 1.1, 2.0])
def test_a_box_cannot_be_held_beyond_it(share):
    given, cones, rows = box_pushed([share * MU * MASS * G, 0.0])
    x = cones.deepest(given, span(rows.A.T))
    friction = np.hypot(*x[4:].reshape(-1, 2).T)
    assert (friction > MU * x[:4]).any()


def test_how_far_forces_are_outside_has_the_slope_it_says():
    rng = np.random.default_rng(0)
    cones = Cones(np.array([0, 2]), np.array([0.3, 1.1]), np.ones(3))
    for _ in range(50):
        x = rng.normal(size=7)
        off, slope = cones.outside(x, 0.1)
        ends = [cones.outside(x + step, 0.1)[0] for step in 1e-7 * np.eye(7)]
        numeric = np.array([(end - off) / 1e-7 for end in ends]).T
        np.testing.assert_allclose(slope, numeric, atol=1e-5)
        # What is outside is at right angles to the cone: the nearest point is in it.
        assert np.abs(cones.outside(x - off, 0.1)[0]).max() <= 1e-12
