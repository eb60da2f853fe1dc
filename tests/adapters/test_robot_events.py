"""Robots of engines move from event to event, each in every engine alike."""

import numpy as np
import pytest

import carom
from carom.adapters.drake import DrakeSystem
from carom.adapters.mujoco import MujocoSystem
from carom.adapters.pinocchio import PinocchioSystem
from tests.reference import conventions, drake_robots, mujoco_urdf, real_robots
from tests.reference.motion_checks import check_motion

pytestmark = pytest.mark.engines

DURATION = 0.12
LAW = carom.Routh()


def falling(system):
    """Return a state in which Solo12 falls on its four feet, which reach the ground in turn."""
    q, _ = real_robots.landing("solo12")
    q = system.stand(q)
    q[2] += 0.02
    v = np.zeros(18)
    v[:3], v[6:] = [0.2, 0.05, -0.3], np.linspace(-0.5, 0.5, 12)
    return q, v


@pytest.fixture(scope="module")
def landing():
    """Return how Solo12 lands in Pinocchio, all contacts at its feet."""
    feet = mujoco_urdf.feet("solo12")
    system = PinocchioSystem(real_robots.model("solo12"), feet, mu=real_robots.MU, limits=False)
    q, v = falling(system)
    return carom.simulate(system, q, v, DURATION, LAW, seed=3), q, v


def test_a_landing_obeys_the_laws_of_contact(landing):
    motion, _, _ = landing
    assert motion.is_finished, motion.message
    check_motion(motion, looks=2)
    # Slip ends, and all feet come to rest.
    assert motion.segments[-1].modes == ("sticking",) * 4
    assert any("sliding" in part.modes for part in motion.segments)


def assert_same(motion, other, converted):
    """Compare motions through the same impacts, configurations converted from the first."""
    assert other.is_finished, other.message
    names = [
        [[name.split("/")[-1] for name in impact.contacts] for impact in each.impacts]
        for each in (motion, other)
    ]
    assert names[0] == names[1]
    t = np.linspace(0.0, DURATION, 40)
    expected = np.array([converted(q)[0] for q in motion.at(t=t).q])
    found = other.at(t=t).q
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_drake_moves_it_the_same(landing):
    motion, q, v = landing
    plant = drake_robots.plant("solo12")
    names = list(real_robots.model("solo12").names)[2:]
    moving = [plant.get_joint(i) for i in plant.GetJointIndices()]
    moving = [joint for joint in moving if joint.num_velocities() == 1]
    moving.sort(key=lambda joint: joint.velocity_start())
    order = [names.index(joint.name()) for joint in moving]
    feet = mujoco_urdf.feet("solo12")
    system = DrakeSystem(plant, feet, mu=real_robots.MU, limits=False)
    there, T = conventions.to_drake(q, order)
    other = carom.simulate(system, there, T @ v, DURATION, LAW, seed=3)
    # The draws are the same too, since contacts have the same order.
    assert_same(motion, other, lambda at: conventions.to_drake(at, order))


def test_mujoco_moves_it_the_same(landing):
    motion, q, v = landing
    made = mujoco_urdf.model("solo12")
    names = list(real_robots.model("solo12").names)[2:]
    order = [names.index(joint) for joint in mujoco_urdf.joints(made)]
    there, T = conventions.to_mujoco(q, order)
    # With a margin that sees the ground from where it starts.
    system = MujocoSystem(made, margin=1.0)
    other = carom.simulate(system, there, T @ v, DURATION, LAW, seed=3)
    assert_same(motion, other, lambda at: conventions.to_mujoco(at, order))


def test_many_landings_in_processes_are_those_of_one(landing):
    _, q, v = landing
    feet = mujoco_urdf.feet("solo12")
    system = PinocchioSystem(real_robots.model("solo12"), feet, mu=real_robots.MU, limits=False)
    options = {"seed": 5}
    alone = carom.simulate_many(system, q, v, 0.06, LAW, 3, num_processes=1, **options)
    apart = carom.simulate_many(system, q, v, 0.06, LAW, 3, num_processes=2, **options)
    assert alone.num_finished == 3
    np.testing.assert_array_equal(alone.q_at([0.05, 0.06]), apart.q_at([0.05, 0.06]))
    # Feet that come down together are drawn: motions differ.
    assert alone.spread([0.06]).max() > 1e-9
