import math

import numpy as np
import pytest

import carom
from carom.errors import InvalidOption
from carom.scenes import bouncing_block
from tests.reference.motion_checks import check_motion
from tests.reference.reflect import Reflect


def test_block_is_that_of_its_sizes():
    width, height, mass = 1.2, 0.4, 3.0
    scene = bouncing_block.make(width=width, height=height, mass=mass, mu=0.3)
    inertia = mass * (width**2 + height**2) / 12.0
    np.testing.assert_allclose(scene.problem.M, np.diag([mass, mass, inertia]), rtol=1e-15)
    expected = [[0.0, 1.0, -width / 2], [0.0, 1.0, width / 2]]
    np.testing.assert_allclose(scene.problem.J_n, expected, atol=1e-15)
    np.testing.assert_allclose(scene.problem.J_t[:, 0], [[1.0, 0.0, height / 2]] * 2, atol=1e-15)
    assert scene.problem.mu.tolist() == [0.3, 0.3]
    assert scene.problem.restitution.tolist() == [0.8, 0.8]


def test_block_of_siconos_pivots_on_one_corner_and_hits_with_the_other():
    problem = bouncing_block.make(speed=2.06538, rate=-4.13076).problem
    u = problem.contact_velocity(problem.v_pre)[:, 0]
    np.testing.assert_allclose(u, [0.0, -4.13076], atol=1e-15)
    # The published velocity afterwards: energy falls, no contact approaches, and only the normals
    # of A and B push, both upwards.
    after = np.array([0.0, 1.85376, -0.49727])
    assert problem.kinetic_energy(after) < problem.kinetic_energy(problem.v_pre)
    assert (problem.J_n @ after > 0.0).all()
    impulse = np.linalg.lstsq(problem.J_n.T, problem.M @ (after - problem.v_pre), rcond=None)[0]
    np.testing.assert_allclose(
        problem.J_n.T @ impulse, problem.M @ (after - problem.v_pre), atol=1e-12
    )
    assert (impulse > 0.0).all()


@pytest.mark.parametrize(("pitch", "lowest"), [(0.3, "A"), (-0.3, "B")])
def test_pitched_block_lands_on_its_lowest_corner(pitch, lowest):
    scene = bouncing_block.make(pitch=pitch)
    assert scene.problem.contacts == (lowest,)
    np.testing.assert_allclose(scene.system.gap(scene.q).min(), 0.0, atol=1e-15)
    assert scene.system.gap(scene.q).max() == pytest.approx(math.sin(0.3), abs=1e-12)


@pytest.mark.parametrize("pitch", [0.0, 0.2, -1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_motion_bounces_and_comes_to_rest_on_both_corners(pitch, seed):
    scene = bouncing_block.make(pitch=pitch)
    motion = carom.simulate(scene.system, scene.q, scene.v, 5.0, Reflect(), seed=seed)
    check_motion(motion)
    assert motion.status == "finished"
    assert len(motion.impacts) > 20
    assert motion.segments[-1].modes == ("closed", "closed")
    np.testing.assert_allclose(motion.at(t=[5.0]).q[:, 1:], [[0.25, 0.0]], atol=1e-9)
    np.testing.assert_allclose(motion.at(t=[5.0]).v, 0.0, atol=1e-9)


@pytest.mark.parametrize("pitch", [math.pi / 2, -2.0])
def test_block_must_not_lie_on_its_side(pitch):
    with pytest.raises(InvalidOption, match="pitch: expected an angle between -pi/2 and pi/2"):
        bouncing_block.make(pitch=pitch)


@pytest.mark.parametrize("name", ["pitch", "rate"])
def test_parameters_must_be_finite(name):
    with pytest.raises(InvalidOption, match=f"{name}: expected a finite number"):
        bouncing_block.make(**{name: math.nan})
