"""One robot through two engines is one impact."""

import numpy as np
import pytest

from carom.adapters.mujoco import MujocoSystem
from carom.adapters.pinocchio import PinocchioSystem
from tests.reference import conventions, drake_robots, mujoco_urdf, real_robots
from tests.reference.set_checks import changed

SAME = 1e-9
STATES = 5


def assert_same(one, other, T):
    """Compare impacts whose velocities are v and T v, up to the order of their contacts."""
    index = [other.contacts.index(name) for name in one.contacts]
    assert len(index) == other.num_contacts
    J_one = np.concatenate([one.J_n[:, None], one.J_t], axis=1)
    J_other = np.concatenate([other.J_n[:, None], other.J_t], axis=1)[index]
    size = one.num_velocities
    one_J, other_J = J_one.reshape(-1, size), J_other.reshape(-1, size)
    assert_close(one.M, T.T @ other.M @ T)
    assert_close(one_J, other_J @ T)
    assert_close(one_J @ one.v_pre, other_J @ other.v_pre)
    A_one, A_other = (J @ np.linalg.solve(M, J.T) for J, M in ((one_J, one.M), (other_J, other.M)))
    assert_close(A_one, A_other)
    assert_close(one.mu, other.mu[index])


def assert_close(one, other):
    np.testing.assert_allclose(one, other, rtol=0.0, atol=SAME * np.abs(one).max())


def falling(here):
    """Return how contacts accelerate without forces of their own, (m, 3).

    That does not depend on coordinates, while bias and force by themselves do.
    """
    acceleration = np.linalg.solve(here.M, here.force)
    return np.column_stack([here.J_n @ acceleration, here.J_t @ acceleration]) + here.bias


def impacts(name, system):
    """Yield states of Pinocchio and their impacts: a landing, and feet of any pose."""
    q, v = real_robots.landing(name)
    yield q, v, system.impact_problem(q, v)
    rng = np.random.default_rng(0)
    for _ in range(STATES):
        q, v = real_robots.random_state(name, rng)
        lowest = int(np.argmin(system.gap(q)))
        # Lowered straight down, the lowest contact is the one that touches.
        q[2] -= system.gap(q)[lowest]
        yield q, v, system.impact_problem(q, v)


# ANYmal's files have bodies with inertia that nothing can have, which Drake and MuJoCo refuse or
# change. What follows adds spheres to MuJoCo's robots alone, and Talos has boxes.
@pytest.mark.parametrize("name", ["solo12", "go2", "g1", "talos"])
def test_pinocchio_and_drake(name):
    system, other = real_robots.system(name), drake_robots.system(name)
    plant, names = drake_robots.plant(name), list(real_robots.model(name).names)[2:]
    moving = [plant.get_joint(i) for i in plant.GetJointIndices()]
    moving = [joint for joint in moving if joint.num_velocities() == 1]
    moving.sort(key=lambda joint: joint.velocity_start())
    order = [names.index(joint.name()) for joint in moving]
    for q, v, problem in impacts(name, system):
        there, T = conventions.to_drake(q, order)
        assert_same(problem, other.impact_problem(there, T @ v), T)
        here = system.dynamics(q, v)
        assert_close(falling(here), falling(other.dynamics(there, T @ v)))
        assert_close(system.potential_energy(q), other.potential_energy(there))


@pytest.mark.parametrize("name", ["solo12", "go2", "g1"])
def test_pinocchio_and_mujoco(name):
    made = mujoco_urdf.model(name)
    names = list(real_robots.model(name).names)[2:]
    order = [names.index(joint) for joint in mujoco_urdf.joints(made)]
    feet = mujoco_urdf.feet(name)
    system = PinocchioSystem(real_robots.model(name), feet, mu=real_robots.MU)
    other = MujocoSystem(made)
    q, v = real_robots.landing(name)
    q = system.stand(q)
    there, T = conventions.to_mujoco(q, order)
    problem = system.impact_problem(q, v)
    found = other.impact_problem(there, T @ v)
    assert found.num_contacts == len(feet)
    assert_same(problem, renamed(found), T)


def renamed(problem):
    """Return MuJoCo's impact with contacts named by their feet."""
    return changed(problem, contacts=[name.split("/")[1] for name in problem.contacts])
