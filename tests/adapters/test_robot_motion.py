"""Robots of every engine move in time steps: one motion, kept laws, and what MuJoCo makes of it."""

from functools import cache

import mujoco
import numpy as np
import pytest

import carom
from carom.adapters.drake import DrakeSystem
from carom.adapters.mujoco import MujocoSystem
from carom.adapters.pinocchio import PinocchioSystem
from tests.reference import conventions, drake_robots, mujoco_urdf, real_robots

LAW = carom.Routh()
STEP, HEIGHT = 1e-3, 0.1
GAINS = {"solo12": (10.0, 0.3), "go2": (60.0, 2.0)}
SAME = 1e-6
GAP = -1e-6
ENERGY = 1e-9
"""Share of the energy at hand by which it may seem to rise beyond the controller's work."""
ROBOTS = pytest.mark.parametrize("name", GAINS)


@cache
def systems(name):
    """Return a robot in every engine, and how coordinates and velocities of Pinocchio turn."""
    feet, names = mujoco_urdf.feet(name), list(real_robots.model(name).names)[2:]
    plant, model = drake_robots.plant(name), mujoco_urdf.model(name)
    model.dof_damping[:] = model.dof_frictionloss[:] = 0.0
    moving = [plant.get_joint(i) for i in plant.GetJointIndices()]
    moving = [joint for joint in moving if joint.num_velocities() == 1]
    moving.sort(key=lambda joint: joint.velocity_start())
    orders = [joint.name() for joint in moving], mujoco_urdf.joints(model)
    to_drake, to_mujoco = ([names.index(each) for each in order] for order in orders)
    own = PinocchioSystem(real_robots.model(name), feet, mu=real_robots.MU)
    return {
        "pinocchio": (own, lambda q: (q, np.eye(own.nv))),
        "drake": (
            DrakeSystem(plant, feet, mu=real_robots.MU),
            lambda q: conventions.to_drake(q, to_drake),
        ),
        "mujoco": (
            MujocoSystem(model, margin=5e-3),
            lambda q: conventions.to_mujoco(q, to_mujoco),
        ),
    }


def start(name, forward=(0.0, 0.0)):
    """Return a state of Pinocchio's above the ground, with level feet."""
    system = systems(name)["pinocchio"][0]
    q = system.stand(real_robots.landing(name)[0])
    q[2] += HEIGHT
    v = np.zeros(system.nv)
    v[:2] = forward
    return q, v


def held(name, system, q):
    """Return a robot with a controller that holds its joints."""
    stiffness, damping = GAINS[name]
    return system.holding(q, stiffness=stiffness, damping=damping)


@pytest.mark.parametrize("engine", ["pinocchio", "drake", "mujoco"])
def test_joints_are_all_but_the_base(engine):
    system = systems("solo12")[engine][0]
    assert sorted(system.joints.values()) == [(7 + i, 6 + i) for i in range(12)]
    assert set(system.joints) == set(list(real_robots.model("solo12").names)[2:])


def moved(name, engine, duration, forward=(0.0, 0.0), seed=1):
    """Return a motion of an engine, and how coordinates of Pinocchio turn into its own."""
    system, convert = systems(name)[engine]
    q, v = start(name, forward)
    there, T = convert(q)
    options = {"time_step": STEP, "seed": seed}
    return carom.simulate(held(name, system, there), there, T @ v, duration, LAW, **options)


@ROBOTS
def test_engines_agree_until_the_law_draws(name):
    motions = {engine: moved(name, engine, 0.3) for engine in systems(name)}
    one = motions["pinocchio"]
    first = one.impacts[0].t
    assert abs(first - np.sqrt(2.0 * HEIGHT / 9.81)) <= 1e-9
    times = np.linspace(0.0, first, 100)[:-1]
    for engine in ("drake", "mujoco"):
        other = motions[engine]
        assert abs(other.impacts[0].t - first) <= 1e-9
        assert len(other.impacts[0].contacts) == 4
        convert = systems(name)[engine][1]
        pairs = zip(one.at(t=times).q, other.at(t=times).q, strict=True)
        assert max(np.abs(convert(a)[0] - b).max() for a, b in pairs) <= SAME


def work_of(motion):
    """Return the work of the controller up to each state, by the forces that acted [J].

    An implicit step has them at its end.
    """
    hold, total = motion.system.inputs, np.zeros(len(motion.t))
    for k in range(len(total) - 1):
        h, v, v_end = motion.t[k + 1] - motion.t[k], motion.v[k], motion.v[k + 1]
        total[k + 1] = total[k]
        if h > 0.0:
            stiffness, damping = hold.gains(motion.t[k], motion.q[k], v)
            force = hold(motion.t[k], motion.q[k], v)
            force = force - damping @ (v_end - v) - h * stiffness @ v_end
            total[k + 1] += force[6:] @ (motion.q[k + 1, 7:] - motion.q[k, 7:])
    return total


def check(motion):
    """Assert that nothing penetrates, friction stays in its cone, and no energy comes up."""
    assert motion.is_finished, motion.message
    assert "convex" not in motion.message
    assert "left open" not in motion.message
    system = motion.system.system
    assert min(system.gap(q).min() for q in motion.q) >= GAP
    added = np.diff(motion.impulse, axis=0)
    friction = np.linalg.norm(added[..., 1:], axis=2)
    assert (friction - system.mu * added[..., 0]).max() <= 1e-9 * added.max()
    kept = motion.energy - work_of(motion)
    assert np.diff(kept).max() <= ENERGY * (kept[0] - kept.min())


@ROBOTS
def test_a_quadruped_lands_with_a_controller(name):
    check(moved(name, "pinocchio", 0.4, (0.3, 0.1)))


@pytest.mark.slow
@ROBOTS
def test_many_landings_of_a_quadruped(name):
    system = systems(name)["pinocchio"][0]
    q, v = start(name, (0.3, 0.1))
    robot = held(name, system, q)
    motions = carom.simulate_many(robot, q, v, 1.0, LAW, 10, time_step=STEP, num_processes=2)
    assert motions.num_finished == 10
    for motion in motions.trajectories:
        check(motion)
        # It stands: the base is no lower than two thirds of its height at the start of the drop.
        assert motion.q[-1, 2] >= 2.0 / 3.0 * (q[2] - HEIGHT)


@pytest.mark.slow
@ROBOTS
def test_mujoco_with_stiff_contacts_moves_alike(name):
    system, convert = systems(name)["mujoco"]
    q, _ = convert(start(name)[0])
    stiffness, damping = GAINS[name]
    model = mujoco_urdf.model.__wrapped__(name)
    model.dof_frictionloss[:] = 0.0
    model.dof_damping[6:], model.jnt_stiffness[1:] = damping, stiffness
    model.qpos_spring[7:] = q[7:]
    # Only feet and the floor touch, as in the other engines.
    model.opt.timestep, model.geom_solref[:, 0], model.opt.impratio = 1e-4, 1e-3, 100.0
    data = mujoco.MjData(model)
    data.qpos[:] = q
    own = carom.simulate(held(name, system, q), q, np.zeros(system.nv), 0.5, LAW, time_step=STEP)
    check(own)
    worst = 0.0
    for t in np.linspace(0.01, 0.5, 50):
        while data.time < t - 1e-9:
            mujoco.mj_step(model, data)
        worst = max(worst, np.abs(own.at(t=[t]).q[0] - data.qpos).max())
    # Contacts that give way within 1 ms at 1.4 m/s let joints turn by some milliradians.
    assert worst <= 0.01


ACTUATED = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0" damping="0.5"/>
    <geom size="0.05" pos="0.3 0 0" mass="1"/></body></worldbody>
  <actuator><motor joint="hinge"/></actuator></mujoco>"""


def test_motors_and_dampers_of_mujoco_are_inputs():
    model = mujoco.MjModel.from_xml_string(ACTUATED)
    data = mujoco.MjData(model)
    data.ctrl[0] = 2.0
    system = MujocoSystem(model, data)
    given = system.input_at([0.3], [0.7])
    np.testing.assert_allclose(given.force, [2.0 - 0.5 * 0.7], atol=1e-12)
    np.testing.assert_allclose(given.damping, [[0.5]])
    # With a damper that a step of 0.1 s cannot follow the arm creeps down, and nothing blows up.
    model.dof_damping[0] = 500.0
    motion = carom.simulate(MujocoSystem(model), [0.0], [1.0], 2.0, LAW, time_step=0.1)
    assert motion.is_finished
    # Inertia has gone after one step: 500 dq/dt = m g l cos q.
    assert abs(motion.v[-1, 0] - 9.81 * 0.3 * np.cos(motion.q[-1, 0]) / 500.0) <= 1e-6


@pytest.mark.parametrize("engine", ["pinocchio", "drake", "mujoco"])
def test_processes_move_robots_of_every_engine(engine):
    system, convert = systems("solo12")[engine]
    q, _ = convert(start("solo12", (0.3, 0.1))[0])
    robot = held("solo12", system, q)
    one, two = (
        carom.simulate_many(
            robot, q, np.zeros(system.nv), 0.16, LAW, 3, time_step=STEP, num_processes=n
        )
        for n in (1, 2)
    )
    for first, second in zip(one.trajectories, two.trajectories, strict=True):
        np.testing.assert_array_equal(first.q, second.q)


BLOCK = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="5 5 1" friction="0.6"/>
  <body name="block" pos="0 0 0.7">
    <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
    <joint type="hinge" axis="0 -1 0"/>
    <geom name="block" type="box" size="0.3 0.1 0.5" mass="1"/>
  </body></worldbody></mujoco>"""


def test_impulses_of_a_planar_robot_are_along_the_tangents_of_space():
    # The law sees a planar impact of two contacts, copies merged; the motion has two tangents.
    model = mujoco.MjModel.from_xml_string(BLOCK)
    system = MujocoSystem(model, margin=5e-3)
    q, v = [0.0, 0.0, 0.1], [0.5, 0.0, 0.0]
    motion = carom.simulate(system, q, v, 0.5, LAW, time_step=STEP)
    assert motion.is_finished
    assert motion.impacts
    for impact in motion.impacts:
        here = system.dynamics(impact.q[0], impact.v[0])
        added = impact.impulse[-1] - impact.impulse[0]
        push = here.J_n.T @ added[:, 0] + np.einsum("mtv,mt->v", here.J_t, added[:, 1:])
        np.testing.assert_allclose(here.M @ (impact.v[-1] - impact.v[0]), push, atol=1e-9)
    assert min(system.gap(x).min() for x in motion.q) >= GAP
