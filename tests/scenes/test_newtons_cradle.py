import math

import numpy as np
import pytest

import carom
from carom.errors import InvalidOption, InvalidProblem
from carom.scenes import newtons_cradle
from tests.reference.reflect import Reflect


def test_three_balls_have_the_mass_and_jacobians_of_pencil_and_paper():
    # u_A = v_2 - v_1 and u_B = v_3 - v_2, for balls of one mass on a line.
    problem = newtons_cradle.make(mass=2.0, speed=1.5).problem
    assert problem.M.tolist() == [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
    assert problem.J_n.tolist() == [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]
    np.testing.assert_array_equal(problem.J_t, np.zeros((2, 1, 3)))
    assert problem.v_pre.tolist() == [1.5, 0.0, 0.0]
    assert problem.restitution.tolist() == [1.0, 1.0]
    assert problem.mu.tolist() == [0.0, 0.0]
    assert problem.contact_velocity(problem.v_pre)[:, 0].tolist() == [-1.5, 0.0]


@pytest.mark.parametrize("number", [2, 5, 27, 10.0])
def test_balls_touch_their_neighbours_in_a_row(number):
    radius = 0.07
    scene = newtons_cradle.make(number=number, radius=radius, restitution=0.6)
    count = int(number)
    frames = scene.system.frames(scene.q).values()
    expected = [(2.0 * radius * i, 0.0) for i in range(count)]
    np.testing.assert_allclose([frame.origin for frame in frames], expected, atol=1e-15)
    np.testing.assert_allclose(scene.system.gap(scene.q), 0.0, atol=1e-15)
    assert scene.problem.contacts == tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: count - 1])
    assert scene.problem.restitution.tolist() == [0.6] * (count - 1)
    assert [body.mass for body in scene.system.bodies] == [1.0] * count
    assert scene.v.tolist() == [1.0] + [0.0] * (count - 1)


def test_nothing_falls():
    scene = newtons_cradle.make(number=4)
    np.testing.assert_array_equal(scene.system.smooth_force(scene.q, scene.v), 0.0)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_balls_share_the_speed_as_they_must(e):
    problem = newtons_cradle.make(number=2, restitution=e, speed=2.0).problem
    (v,) = Reflect().resolve(problem).v_post
    np.testing.assert_allclose(v, [1.0 - e, 1.0 + e], atol=1e-15)


def test_last_of_many_elastic_balls_flies_off():
    scene = newtons_cradle.make(number=7)
    motion = carom.simulate(scene.system, scene.q, scene.v, 0.5, Reflect())
    assert motion.status == "finished"
    assert len(motion.impacts) == 1
    np.testing.assert_allclose(motion.at(t=[0.5]).v, [[0.0] * 6 + [1.0]], atol=1e-10)
    np.testing.assert_allclose(motion.at(t=[0.5]).q, [[0.0] * 6 + [0.5]], atol=1e-10)


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_outcomes_keep_momentum_and_gain_no_energy(e):
    problem = newtons_cradle.make(restitution=e).problem
    outcomes = carom.Routh(num_samples=2**10).resolve(problem)
    v = outcomes.v_post
    np.testing.assert_allclose(v.sum(axis=1), 1.0, atol=1e-12)
    energy = problem.kinetic_energy(v)
    if e == 1.0:
        np.testing.assert_allclose(energy, 0.5, atol=1e-10)
    assert energy.max() <= 0.5 + 1e-12
    assert (v @ problem.J_n.T).min() >= -1e-9
    # More than one way: from all balls at once to one after the other.
    assert np.ptp(v[:, 2]) > 0.1


@pytest.mark.parametrize("number", [1, 28, 2.5, True, "many"])
def test_numbers_of_balls_out_of_range_are_refused(number):
    with pytest.raises(InvalidOption, match="number: expected an integer from 2 to 27"):
        newtons_cradle.make(number=number)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
@pytest.mark.parametrize("name", ["radius", "mass", "speed"])
def test_bad_parameter_is_refused(name, value):
    with pytest.raises(InvalidOption, match=f"{name}: expected a number > 0"):
        newtons_cradle.make(**{name: value})


def test_restitution_above_one_is_refused():
    with pytest.raises(InvalidProblem, match="restitution of contact 'A'"):
        newtons_cradle.make(restitution=1.2)
