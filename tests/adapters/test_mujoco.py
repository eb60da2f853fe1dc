"""A system of MuJoCo against finite differences of MuJoCo's own kinematics and energies."""

import mujoco
import numpy as np
import pytest
from scipy.optimize import brentq

import carom
from carom.adapters.mujoco import MujocoSystem
from carom.systems.half_space import tangents
from tests.reference.mujoco_robots import (
    ROBOTS,
    WIDE,
    landing,
    load,
    moved,
    random_state,
    rocking_block,
)

POSES = 20
DT = 1e-6
"""Central differences err by DT^2, and by rounding over DT."""
DIFFERENCE = 1e-7
every_robot = pytest.mark.parametrize("name", ROBOTS)


def _states(name):
    rng = np.random.default_rng(list(ROBOTS).index(name))
    model = load(name)
    return model, [random_state(model, rng) for _ in range(POSES)]


@every_robot
def test_mass_matrix_is_the_kinetic_energy_of_all_bodies(name):
    model, states = _states(name)
    system = MujocoSystem(model)
    for q, v in states:
        before, after = (moved(model, q, v, dt) for dt in (-DT, DT))
        energy = 0.5 * model.dof_armature @ v**2
        for body in range(1, model.nbody):
            speed = (after.xipos[body] - before.xipos[body]) / (2 * DT)
            frames = [data.ximat[body].reshape(3, 3) for data in (before, after)]
            turn = frames[0].T @ frames[1] / (2 * DT)
            rate = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
            energy += 0.5 * model.body_mass[body] * speed @ speed
            energy += 0.5 * model.body_inertia[body] @ rate**2
        assert 0.5 * v @ system.mass_matrix(q) @ v == pytest.approx(energy, rel=DIFFERENCE)


def _nearest(data, geoms, point):
    """Return the contact of two geoms that is nearest to a point, as MuJoCo has it."""
    found = [c for c in data.contact if sorted(c.geom) == sorted(geoms)]
    return min(found, key=lambda c: np.linalg.norm(c.pos - point))


def _point_of(data, other, body, point):
    """Return where a point that is fixed to a body has moved from one state to another."""
    local = data.xmat[body].reshape(3, 3).T @ (point - data.xpos[body])
    return other.xpos[body] + other.xmat[body].reshape(3, 3) @ local


@every_robot
def test_contacts_move_as_the_jacobians_say(name):
    """Gaps by MuJoCo's distances; sliding by points that are fixed to the bodies."""
    model, states = _states(name)
    system = MujocoSystem(model, margin=WIDE)
    count = 0
    for q, v in states:
        here = system.dynamics(q)
        middle, before, after = (moved(model, q, v, dt) for dt in (0.0, -DT, DT))
        for contact in middle.contact:
            if contact.dist > 0.9 * WIDE:
                continue
            count += 1
            ends = [_nearest(data, contact.geom, contact.pos).dist for data in (before, after)]
            rate = (ends[1] - ends[0]) / (2 * DT)
            speeds = []
            for geom, side in zip(contact.geom, (-0.5, 0.5), strict=True):
                body = model.geom_bodyid[geom]
                point = contact.pos + side * contact.dist * contact.frame[:3]
                first, last = (_point_of(middle, data, body, point) for data in (before, after))
                speeds.append((last - first) / (2 * DT))
            slip = tangents(contact.frame[:3]) @ (speeds[1] - speeds[0])
            # Two contacts of one pair may be as deep as each other.
            same = np.flatnonzero(here.phi == contact.dist)
            i = min(same, key=lambda i: np.linalg.norm(here.J_t[i] @ v - slip))
            assert here.J_n[i] @ v == pytest.approx(rate, abs=1e-6 * np.linalg.norm(v))
            assert here.J_t[i] @ v == pytest.approx(slip, abs=DIFFERENCE * np.linalg.norm(v))
    assert count >= POSES


@every_robot
def test_contacts_and_friction_are_those_of_mujoco(name):
    """Each contact that MuJoCo finds is one of the system, with its friction."""
    model, states = _states(name)
    system = MujocoSystem(model, margin=WIDE)
    assert len(set(system.contacts)) == len(system.contacts) == len(system.mu)
    for q, v in states:
        here, data = system.dynamics(q), moved(model, q, v, 0.0)
        near = [c for c in data.contact if c.dist <= WIDE]
        gaps = here.phi[: system.num_body_contacts]
        assert sorted(gaps[np.isfinite(gaps)]) == sorted(c.dist for c in near)
        for contact in near:
            for i in np.flatnonzero(here.phi == contact.dist):
                assert system.mu[i] == (contact.friction[0] if contact.dim > 1 else 0.0)


@every_robot
def test_configuration_follows_the_velocity(name):
    model, states = _states(name)
    system = MujocoSystem(model)
    for q, v in states:
        ends = [q.copy(), q.copy()]
        for end, dt in zip(ends, (-DT, DT), strict=True):
            mujoco.mj_integratePos(model, end, v, dt)
        rate = (ends[1] - ends[0]) / (2 * DT)
        assert system.velocity_map(q) @ v == pytest.approx(rate, abs=1e-8)


@every_robot
def test_force_at_rest_is_that_of_the_potential_energy(name):
    model, states = _states(name)
    system = MujocoSystem(model)
    for q, v in states:
        ends = [q.copy(), q.copy()]
        for end, dt in zip(ends, (-DT, DT), strict=True):
            mujoco.mj_integratePos(model, end, v, dt)
        rate = (system.potential_energy(ends[1]) - system.potential_energy(ends[0])) / (2 * DT)
        force = system.smooth_force(q, np.zeros(model.nv))
        assert -force @ v == pytest.approx(rate, abs=1e-4)


@every_robot
def test_energy_is_kept_without_contact_and_damping(name):
    """M dv/dt = force, with the forces of inertia, keeps the energy: dE/dt = 0."""
    model, states = _states(name)
    model.dof_damping[:] = 0.0
    system = MujocoSystem(model)
    dt = 1e-5
    for q, v in states:
        here = system.dynamics(q, v)
        rate = np.linalg.solve(here.M, here.force)
        energies = []
        for sign in (-1.0, 1.0):
            end = q.copy()
            mujoco.mj_integratePos(model, end, v + sign * dt / 2 * rate, sign * dt)
            energies.append(system.energy(end, v + sign * dt * rate))
        power = np.abs(here.force) @ np.abs(v)
        assert (energies[1] - energies[0]) / (2 * dt) == pytest.approx(0.0, abs=1e-5 * power)


def _sides(model, system, q, v, dt):
    """Return the dynamics a time dt before and after, where v leads."""
    ends = [q.copy(), q.copy()]
    for end, sign in zip(ends, (-1.0, 1.0), strict=True):
        mujoco.mj_integratePos(model, end, v, sign * dt)
    return [system.dynamics(end) for end in ends]


@every_robot
def test_bias_is_how_gaps_and_slip_speed_up(name):
    model, states = _states(name)
    system = MujocoSystem(model, margin=WIDE)
    dt = 1e-4
    for q, v in states:
        here = system.dynamics(q, v)
        far, close = (_sides(model, system, q, v, step) for step in (dt, dt / 10))
        near = np.isfinite([here.phi, *(each.phi for each in (*far, *close))]).all(axis=0)
        before, middle, after = (each.phi[near] for each in (far[0], here, far[1]))
        second = (after - 2 * middle + before) / dt**2
        slip = ((close[1].J_t - close[0].J_t) @ v)[near] / (dt / 5)
        assert here.bias[near, 0] == pytest.approx(second, abs=1e-5 * (v @ v))
        assert here.bias[near, 1:] == pytest.approx(slip, abs=1e-5 * (v @ v))


def test_tilted_block_is_that_of_carom():
    """All of the dynamics, in the coordinates of carom's own block: its centre is 1 m up."""
    model, scene = rocking_block(), carom.scenes.load("rocking-block")
    system = MujocoSystem(model, margin=0.05)
    rng = np.random.default_rng(0)
    for angle in (-0.3, -0.05, 0.0, 0.1, 0.4):
        q = np.array([0.2, 0.0, angle])
        q[1] = 0.01 - scene.system.gap(q).min()
        v = rng.normal(size=3)
        ours, theirs = system.dynamics(q, v), scene.system.dynamics(q, v)
        assert np.abs(ours.M - theirs.M).max() <= 1e-12
        assert ours.force == pytest.approx(theirs.force, abs=1e-9)
        for name, i in (("floor/block (---)", 0), ("floor/block (+--)", 1)):
            j = system.contacts.index(name)
            if np.isfinite(ours.phi[j]):
                assert ours.phi[j] == pytest.approx(theirs.phi[i], abs=1e-12)
                assert ours.J_n[j] == pytest.approx(theirs.J_n[i], abs=1e-12)
                assert ours.J_t[j][0] == pytest.approx(theirs.J_t[i][0], abs=1e-12)
                assert ours.bias[j] == pytest.approx([*theirs.bias[i], 0.0], abs=1e-6)


def test_users_data_are_not_touched():
    model, data = landing("ant")
    mujoco.mj_forward(model, data)
    before = {name: np.array(getattr(data, name)) for name in ("qpos", "qvel", "qacc", "xpos")}
    margins = model.geom_margin.copy()
    system = MujocoSystem(model, data)
    system.dynamics(data.qpos + 0.1, data.qvel)
    carom.Routh(num_samples=4).resolve(carom.adapters.mujoco.impact_problem(model, data))
    for name, value in before.items():
        assert np.array_equal(getattr(data, name), value)
    assert np.array_equal(model.geom_margin, margins)


def test_corners_of_a_box_keep_their_names_while_it_turns():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
        <body name="box"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
        </worldbody></mujoco>"""
    )
    system = MujocoSystem(model, margin=0.05)
    rng = np.random.default_rng(3)
    corners = np.array([[x, y, z] for z in (-0.3, 0.3) for y in (-0.2, 0.2) for x in (-0.1, 0.1)])
    for _ in range(50):
        quaternion = rng.normal(size=4)
        q = np.array([0.0, 0.0, 0.0, *(quaternion / np.linalg.norm(quaternion))])
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, q[3:])
        heights = corners @ turn.reshape(3, 3)[2]
        q[2] = -heights.min()
        phi = system.gap(q)
        near = np.isfinite(phi)
        assert near.any()
        assert phi[near] == pytest.approx((heights + q[2])[near], abs=1e-12)


def test_inputs_of_the_data_act():
    model, data = landing("hopper")
    data.ctrl[:] = 0.5
    data.qfrc_applied[:] = 2.0
    plain, driven = MujocoSystem(model), MujocoSystem(model, data)
    added = driven.smooth_force(data.qpos, data.qvel) - plain.smooth_force(data.qpos, data.qvel)
    assert added == pytest.approx([2.0, 2.0, 2.0, 102.0, 102.0, 102.0])


CUBE = "0 0 0 .2 0 0 0 .3 0 .2 .3 0 0 0 .4 .2 0 .4 0 .3 .4 .2 .3 .4"
SHAPES = {
    "sphere": 'type="sphere" size="0.2"',
    "capsule": 'type="capsule" size="0.1 0.2"',
    "ellipsoid": 'type="ellipsoid" size="0.1 0.2 0.3"',
    "cylinder": 'type="cylinder" size="0.1 0.2"',
    "box": 'type="box" size="0.1 0.2 0.3"',
    "mesh": 'type="mesh" mesh="cube"',
}


@pytest.mark.parametrize(
    ("shape", "other"),
    [(shape, "plane") for shape in SHAPES]
    + [(shape, "sphere") for shape in SHAPES if shape != "ellipsoid"],
)
def test_gap_of_every_shape_changes_as_its_jacobian_says(shape, other):
    """A body at random, beside a tilted plane or a sphere that moves too."""
    ground = {"plane": 'type="plane" size="1 1 1"', "sphere": 'type="sphere" size="0.3"'}[other]
    joints = '<joint type="slide" axis="0 0 1"/><joint type="ball"/>' if other == "sphere" else ""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="cube" vertex="{CUBE}"/></asset><worldbody>
        <body name="ground" euler="20 10 0">{joints}<geom {ground}/></body>
        <body name="shape"><freejoint/><geom {SHAPES[shape]}/></body></worldbody></mujoco>"""
    )
    system = MujocoSystem(model, margin=WIDE)
    rng = np.random.default_rng(5)
    count = 0
    for _ in range(POSES):
        q = np.array(model.qpos0)
        mujoco.mj_integratePos(model, q, rng.normal(size=model.nv), 1.0)
        v = rng.normal(size=model.nv)
        data = mujoco.MjData(model)
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        away = q[-7:-4] - data.geom_xpos[0] if other == "sphere" else data.geom_xmat[0][2::3]
        # Close in along one line, until the bodies are a hundredth apart.
        for _ in range(60):
            q[-7:-4] += 0.7 * (0.01 - _distance(model, q)) * away / np.linalg.norm(away)
        # Distances that MuJoCo finds by iteration err by 1e-10 m.
        before, after = _sides(model, system, q, v, 100 * DT)
        here = system.dynamics(q)
        i = int(np.argmin(here.phi))
        if abs(here.phi[i] - 0.01) > 1e-6:
            continue
        count += 1
        rate = (after.phi[i] - before.phi[i]) / (200 * DT)
        assert here.J_n[i] @ v == pytest.approx(rate, abs=1e-5 * np.linalg.norm(v))
    assert count >= POSES / 2


def test_normal_between_sphere_and_ellipsoid_is_that_of_the_nearest_point():
    """By the nearest point in closed form: distances of MuJoCo 3.12 err by up to 3e-4 m here.

    Of an ellipsoid with half axes a, it is a^2 y / (a^2 + t) for a point y outside, with the one
    t > 0 that puts it on the surface.
    """
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom size="0.3"/>
        <body name="egg"><freejoint/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
        </worldbody></mujoco>"""
    )
    system, axes = MujocoSystem(model, margin=0.5), np.array([0.1, 0.2, 0.3])
    rng = np.random.default_rng(0)
    for _ in range(50):
        direction, quaternion = rng.normal(size=3), rng.normal(size=4)
        q = np.concatenate([0.7 * direction / np.linalg.norm(direction), quaternion])
        q[3:] /= np.linalg.norm(q[3:])
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, q[3:])
        turn = turn.reshape(3, 3)
        y = -turn.T @ q[:3]
        t = brentq(lambda t, y=y: np.sum((axes * y / (axes**2 + t)) ** 2) - 1.0, 0.0, 10.0)
        normal = turn @ (axes**2 * y / (axes**2 + t) - y)
        expected = normal / np.linalg.norm(normal)
        assert system.normal_jacobian(q)[0, :3] == pytest.approx(expected, abs=1e-4)


def _distance(model, q):
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    return mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None)
