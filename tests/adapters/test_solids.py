"""Robots can be drawn: solids, contacts and their motions are where the engine says they are."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from carom.adapters.mujoco import MujocoSystem
from carom.adapters.pinocchio import PinocchioSystem
from carom.systems.solids import pose_along

TABLE = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="table" pos="0 0 0.3"><freejoint/>
    <geom name="top" type="box" size="0.3 0.2 0.02"/>
    <geom name="a" type="sphere" size="0.02" pos="0.25 0.15 -0.2"/>
    <geom name="b" type="sphere" size="0.02" pos="-0.25 0.15 -0.2"/>
    <geom name="c" type="capsule" size="0.02 0.03" pos="0.2 -0.15 -0.17"/>
    <geom name="d" type="cylinder" size="0.01 0.05" pos="0 0 0.1" contype="0" conaffinity="0"/>
  </body></worldbody></mujoco>"""
V = np.array([0.2, -0.1, -1.0, 0.3, -0.2, 0.1])


@pytest.fixture
def table():
    model = mujoco.MjModel.from_xml_string(TABLE)
    system = MujocoSystem(model)
    return system, system.stand(mujoco.MjData(model).qpos)


@pytest.fixture
def walker():
    system = PinocchioSystem(pin.buildSampleModelManipulator(), ["effector_body"], mu=0.5)
    return system, system.neutral


def test_solids_of_mujoco_are_its_geoms(table):
    system, q = table
    assert [each.kind for each in system.solids()] == [
        *("box", "sphere", "sphere", "capsule", "cylinder"),
    ]
    placements = system.placements(q)
    assert placements.shape == (5, 4, 4)
    np.testing.assert_allclose(placements[0, :3, 3], q[:3])
    np.testing.assert_allclose(placements[:, :3, :3], np.tile(np.eye(3), (5, 1, 1)), atol=1e-12)


def test_contacts_of_mujoco_lie_on_the_floor_and_move_as_their_rows_say(table):
    system, q = table
    problem = system.impact_problem(q, V, gap_tolerance=1e-3)
    index = [system.contacts.index(name) for name in problem.contacts]
    places, motions = system.contact_places(q)[index], system.contact_motions(q, V)[index]
    np.testing.assert_allclose(places[:, 2], 0.0, atol=1e-3)
    v_c = problem.contact_velocity(V)
    np.testing.assert_allclose(motions[:, 2], v_c[:, 0], atol=1e-9)
    slip = np.linalg.norm(v_c[:, 1:], axis=1)
    np.testing.assert_allclose(np.linalg.norm(motions[:, :2], axis=1), slip, atol=1e-9)


def test_pinocchio_is_a_skeleton_whose_ends_meet(walker):
    system, q = walker
    solids, placements = system.solids(), system.placements(q)
    assert len(solids) == len(placements)
    joints = [
        at[:3, 3] for each, at in zip(solids, placements, strict=True) if each.kind == "sphere"
    ]
    joints += [*system.contact_places(q)]
    for each, at in zip(solids, placements, strict=True):
        if each.kind == "capsule":
            for side in (-1.0, 1.0):
                end = at[:3, 3] + side * each.size[1] * at[:3, 2]
                assert min(np.linalg.norm(end - joint) for joint in joints) < 1e-9


def test_contacts_of_pinocchio_move_as_their_rows_say(walker):
    system, q = walker
    v = np.linspace(-0.5, 0.5, system.nv)
    here = system.dynamics(q, v)
    motion = system.contact_motions(q, v)[0]
    assert motion[2] == pytest.approx((here.J_n @ v)[0], abs=1e-6)
    assert np.linalg.norm(motion[:2]) == pytest.approx(np.linalg.norm(here.J_t[0] @ v), abs=1e-6)


def test_motion_follows_the_velocity_map(table, walker):
    for (system, q), v in ((table, V), (walker, np.linspace(-1.0, 1.0, walker[0].nv))):
        step = 1e-7
        rate = (system.integrate(q, v, step) - system.integrate(q, v, -step)) / (2.0 * step)
        np.testing.assert_allclose(rate, system.velocity_map(q) @ v, atol=1e-6)


def test_a_pose_along_a_line_is_a_rotation():
    rng = np.random.default_rng(0)
    for start, end in rng.normal(size=(20, 2, 3)):
        at = pose_along(start, end)
        np.testing.assert_allclose(at[:3, :3].T @ at[:3, :3], np.eye(3), atol=1e-12)
        assert np.linalg.det(at[:3, :3]) == pytest.approx(1.0)
        along = (end - start) / np.linalg.norm(end - start)
        np.testing.assert_allclose(at[:3, 2], along, atol=1e-12)
