"""Every engine moves configurations along constant velocities, quaternions included."""

import mujoco
import numpy as np
import pytest
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import BallRpyJoint, RevoluteJoint, SpatialInertia

from carom.adapters.drake import DrakeSystem
from carom.adapters.mujoco import MujocoSystem
from tests.reference import drake_robots, real_robots

CUBE = SpatialInertia.SolidBoxWithMass(2.0, 0.2, 0.2, 0.2)
JOINTS = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="base" pos="0 0 1"><freejoint/><geom size="0.1"/>
    <body name="arm" pos="0.2 0 0"><joint type="ball"/><geom size="0.1" pos="0.2 0 0"/>
      <body name="hand" pos="0.4 0 0"><joint type="slide"/><joint axis="0 1 0"/>
        <geom size="0.05" pos="0.2 0 0"/></body></body></body></worldbody></mujoco>"""


def systems():
    """Yield a system of each engine, and a configuration of it."""
    rng = np.random.default_rng(3)
    q, v = real_robots.random_state("solo12", rng)
    yield "pinocchio", real_robots.system("solo12"), q, v
    model = mujoco.MjModel.from_xml_string(JOINTS)
    yield "mujoco", MujocoSystem(model), model.qpos0, rng.normal(size=model.nv)
    plant = drake_robots.plant("solo12")
    q = rng.uniform(-1.0, 1.0, plant.num_positions())
    q[:4] /= np.linalg.norm(q[:4])
    yield "drake", drake_robots.system("solo12"), q, rng.normal(size=plant.num_velocities())
    plant = MultibodyPlant(time_step=0.0)
    one, other, base = (plant.AddRigidBody(name, CUBE) for name in ("one", "other", "base"))
    plant.AddJoint(BallRpyJoint("ball", base.body_frame(), one.body_frame()))
    plant.AddJoint(RevoluteJoint("hinge", one.body_frame(), other.body_frame(), [0, 1, 0]))
    plant.Finalize()
    joints = DrakeSystem(plant, ["one"], mu=0.5)
    q = rng.uniform(-0.5, 0.5, plant.num_positions())
    q[:4] /= np.linalg.norm(q[:4])
    yield "ball joint", joints, q, rng.normal(size=plant.num_velocities())


SYSTEMS = {name: given for name, *given in systems()}


def along(system, q, v, duration, count=400):
    """Return where dq/dt = Γ(q) v leads, by Runge and Kutta's method."""
    step = duration / count
    for _ in range(count):
        one = system.velocity_map(q) @ v
        two = system.velocity_map(q + 0.5 * step * one) @ v
        three = system.velocity_map(q + 0.5 * step * two) @ v
        four = system.velocity_map(q + step * three) @ v
        q = q + step / 6.0 * (one + 2.0 * two + 2.0 * three + four)
    return q


@pytest.mark.parametrize("name", SYSTEMS)
def test_configurations_move_along_their_velocities(name):
    system, q, v = SYSTEMS[name]
    there = system.integrate(q, v, 0.5)
    np.testing.assert_allclose(system.integrate(q, v, 0.0), q, atol=1e-15)
    # Three angles of a ball joint have no closed form, and turn by the midpoint rule.
    if name == "ball joint":
        short = along(system, q, v, 1e-3)
        np.testing.assert_allclose(system.integrate(q, v, 1e-3), short, atol=1e-8)
    else:
        np.testing.assert_allclose(there, along(system, q, v, 0.5), atol=1e-9)
    assert system.gap(there).size == len(system.contacts)
