"""Robots with loops that people know: Cassie, and a gripper that picks up a ball.

ANYmal, Talos and others without loops are in the tests of each engine.
"""

import mujoco
import numpy as np
import pytest

import carom
from carom.adapters.mujoco import MujocoSystem
from carom.adapters.pinocchio import PinocchioSystem
from tests.reference import cassie, real_robots
from tests.reference.landings import check_landing

SMALL = 1e-9


def check_loops(system, q, problem, outcomes):
    """Assert that outcomes keep loops, and follow from the open mechanism with loop impulses."""
    G, here = system.constraint_state(q).G, system.open_dynamics(q)
    speed = np.abs(problem.contact_velocity(problem.v_pre)).max()
    # Rows that hinges out of true make independent by rounding do not count.
    size = np.abs(G).max()
    assert np.abs(outcomes.v_post @ G.T).max() < 1e-4 * size * speed
    impulses = np.concatenate([outcomes.impulse_n[:, :, None], outcomes.impulse_t], axis=2)
    through = system.constraint_impulses(q, problem, impulses)
    which = [system.contacts.index(name) for name in problem.contacts]
    J = np.concatenate([here.J_n[:, None], here.J_t], axis=1)[which]
    if problem.num_tangents == 1:
        J = J[:, :2]
    push = np.einsum("nmx,mxv->nv", impulses, J) + through @ G
    change = (outcomes.v_post - problem.v_pre) @ here.M
    assert change == pytest.approx(push, abs=1e-8 * np.abs(push).max())
    return through


def test_cassie_lands_on_both_feet():
    """Eight rods and springs, four loops; rods are planar linkages that hardly twist."""
    robot, q = cassie.system(limits=True), cassie.standing()
    assert len(robot.constraints) == 12
    # Within all limits, toes and heels on the ground.
    assert np.abs(robot.gap(q)[:4]).max() < 1e-12
    assert robot.gap(q)[4:].min() > 0.02
    v = np.zeros(robot.nv)
    v[3:6] = 0.3, 0.1, -1.0
    problem = robot.impact_problem(q, v)
    assert problem.contacts == ("left toe", "left heel", "right toe", "right heel")
    # A robot that falls as one body has loops that do not mind.
    assert problem.v_pre == pytest.approx(v, abs=1e-9)
    outcomes = check_landing(problem, num_samples=256)
    through = check_loops(robot, q, problem, outcomes)
    # Rods carry a good part of what the ground gives.
    assert np.abs(through).max() > 0.05 * outcomes.impulse_n.sum(axis=1).max()


def test_cassie_without_its_rods_is_another_robot():
    robot, q = cassie.system(), cassie.standing()
    closed, opened = robot.dynamics(q), robot.open_dynamics(q)
    mobility = [
        np.diag(here.J_n @ np.linalg.solve(opened.M, here.J_n.T)) for here in (closed, opened)
    ]
    # Loops take freedom away: no contact gives way more easily.
    assert (mobility[0] <= mobility[1] * (1.0 + SMALL)).all()
    assert (mobility[0] < 0.9 * mobility[1]).any()


GRIPPER = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1" friction="0.5"/>
  <geom name="unused" size="0.01" contype="0" conaffinity="0"/>
  <body name="palm" pos="0 0 0.25"><joint name="lift" type="slide" axis="0 0 1"/>
    <geom type="box" size="0.1 0.04 0.02" mass="1" contype="0" conaffinity="0"/>
    <body name="one" pos="0 0 -0.15"><joint name="one" type="slide" axis="-1 0 0" limited="true"
      range="0 0.1"/><geom name="one" type="box" size="0.01 0.03 0.08" pos="-0.01 0 0" mass="0.2"
      friction="0.8"/></body>
    <body name="other" pos="0 0 -0.15"><joint name="other" type="slide" axis="1 0 0"
      armature="0.1"/><geom name="other" type="box" size="0.01 0.03 0.08" pos="0.01 0 0" mass="0.2"
      friction="0.8"/></body></body>
  <body name="ball" pos="0 0 0.05"><freejoint/><geom name="ball" size="0.05" mass="0.3"
    friction="0.8"/></body></worldbody>
  <equality>{}</equality></mujoco>"""
MIMIC = '<joint name="mimic" joint1="other" joint2="one" polycoef="0 1 0 0 0"/>'


def closing(text):
    """Return a gripper whose fingers reach a ball on the floor, and its state."""
    model = mujoco.MjModel.from_xml_string(GRIPPER.format(text))
    q = model.qpos0.copy()
    # The fingers' flat sides are at the ball's equator, 5 cm from the middle.
    q[:3] = 0.0, 0.05, 0.05
    v = np.zeros(model.nv)
    v[:3] = -0.5, -0.4, -0.4
    return MujocoSystem(model), q, v


def test_a_gripper_closes_on_a_ball():
    """Two fingers that mimic each other, the floor: three contacts at once."""
    system, q, v = closing(MIMIC)
    assert system.constraints == ("mimic",)
    assert system.limits == ("one (low)", "one (high)")
    problem = system.impact_problem(q, v)
    assert set(problem.contacts) == {"floor/ball", "one/ball", "other/ball"}
    assert problem.num_tangents == 2
    outcomes = check_landing(problem, num_samples=512)
    check_loops(system, q, problem, outcomes)
    # Fingers stay alike, and stop at the ball or push it on together.
    assert outcomes.v_post[:, 1] == pytest.approx(outcomes.v_post[:, 2], abs=SMALL)


def test_the_gripper_with_one_velocity_for_both_fingers_has_the_same_impact():
    """Without a constraint: M and J in velocities of which one moves both fingers."""
    system, q, v = closing(MIMIC)
    problem, free = system.impact_problem(q, v), closing("")[0].impact_problem(q, v)
    N = np.delete(np.eye(system.nv), 2, axis=1)
    N[2, 1] = 1.0
    reduced = carom.ImpactProblem(
        M=N.T @ free.M @ N,
        J_n=free.J_n @ N,
        J_t=free.J_t @ N,
        mu=free.mu,
        v_pre=np.delete(v, 2),
        contacts=free.contacts,
    )
    found = carom.Routh(num_samples=64).resolve(problem).v_post
    expected = carom.Routh(num_samples=64).resolve(reduced).v_post @ N.T
    assert found == pytest.approx(expected, abs=1e-6)
    apart = carom.Routh(num_samples=64).resolve(free).v_post
    assert np.abs(apart[:, 1] - apart[:, 2]).max() > 0.01


def test_go2_lands_with_its_knees_stretched():
    """Four feet in space, four limits: eight contacts of two kinds."""
    model = real_robots.model("go2")
    system = PinocchioSystem(model, real_robots.contacts("go2"), mu=0.7)
    q, v = system.neutral, np.zeros(system.nv)
    v[:3] = 0.3, 0.1, -1.0
    for leg in ("FL", "FR", "RL", "RR"):
        knee, hip = (model.joints[model.getJointId(f"{leg}_{x}_joint")] for x in ("calf", "thigh"))
        q[knee.idx_q] = model.upperPositionLimit[knee.idx_q]
        q[hip.idx_q] = -0.5 * q[knee.idx_q]
        v[knee.idx_v] = 1.0
    q = system.stand(q)
    problem = system.impact_problem(q, v)
    assert problem.contacts == (
        *(f"{leg}_foot" for leg in ("FL", "FR", "RL", "RR")),
        *(f"{leg}_calf_joint (high)" for leg in ("FL", "FR", "RL", "RR")),
    )
    assert (problem.num_tangents, problem.mu.tolist()) == (2, [0.7] * 4 + [0.0] * 4)
    outcomes = check_landing(problem, num_samples=512)
    assert not outcomes.impulse_t[:, 4:].any()
    for law in (carom.AnitescuPotra(), carom.Routh(num_samples=8, step_impulse=0.5, max_steps=50)):
        assert (law.resolve(problem).v_post @ problem.J_n.T).min() > -1e-8
