"""Judge the integration of smooth motion by what is kept, and by integrals."""

import math

import numpy as np
import pytest

import carom
from carom.systems import (
    Body,
    PlanarSystem,
    Prismatic,
    Revolute,
)
from tests.reference.motion_checks import check_motion
from tests.reference.own_system import RodOnCircle, on_circle, planar_rod

G = 9.81
LAW = carom.Sequential()
UP, RIGHT = Prismatic((0.0, 1.0)), Prismatic((1.0, 0.0))


def test_energy_of_a_double_pendulum_is_kept():
    upper = Body.rod("upper", 1.0, 1.0, joints=(Revolute(),))
    lower = Body.rod("lower", 0.7, 0.5, parent="upper", placement=(0.0, -1.0), joints=(Revolute(),))
    system = PlanarSystem([upper, lower], [])
    motion = carom.simulate(system, [2.0, 1.0], [0.0, 0.5], 10.0, LAW)
    assert motion.status == "finished"
    assert len(motion.parts) == 1
    energy = motion.energy
    scale = 1.5 * G
    assert np.abs(energy - energy[0]).max() <= 1e-8 * scale
    # It swings far, so that forces of inertia matter.
    assert np.ptp(motion.v[:, 1]) > 5.0


def test_energy_of_a_walker_in_free_fall_is_kept():
    scene = carom.scenes.load("compass-gait", hip_mass=1.0)
    system = PlanarSystem(scene.system.bodies, [])
    v = np.array([0.3, 1.0, 2.0, -1.5])
    motion = carom.simulate(system, scene.q, v, 10.0, LAW)
    assert motion.status == "finished"
    potential = [system.potential_energy(q) for q in motion.q]
    scale = np.ptp(potential) + system.energy(scene.q, v) - system.potential_energy(scene.q)
    energy = motion.energy
    assert np.abs(energy - energy[0]).max() <= 1e-8 * scale
    # The centre of mass falls freely; legs turn without end, so that momentum is kept.
    t = motion.t
    M = np.array([system.mass_matrix(q) for q in motion.q])
    momentum = np.einsum("nij,nj->ni", M, motion.v)
    np.testing.assert_allclose(momentum[:, 0], momentum[0, 0], atol=1e-8 * scale)
    np.testing.assert_allclose(momentum[:, 1], momentum[0, 1] - 3.0 * G * t, atol=1e-8 * scale)


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau", "BDF"])
def test_every_integrator_moves_a_pendulum(method):
    rod = Body.rod("rod", 1.5, 2.0, joints=(Revolute(),))
    tolerances = {"rtol": 1e-7, "atol": 1e-8} if method == "BDF" else {"rtol": 1e-9, "atol": 1e-10}
    motion = carom.simulate(
        PlanarSystem([rod], []), [1.0], [0.0], 1.0, LAW, method=method, **tolerances
    )
    assert motion.status == "finished"
    energy = motion.energy
    assert np.abs(energy - energy[0]).max() <= 1e-5 * 2.0 * G


def test_stiff_spring_is_for_radau():
    stiffness = 1e8
    system = PlanarSystem(
        [Body.point("ball", 1.0, joints=(UP,))],
        [],
        inputs=lambda _, q, v: [-stiffness * q[0] - 1e6 * v[0]],
    )
    motion = carom.simulate(
        system, [0.1], [0.0], 1.0, LAW, method="Radau", rtol=1e-6, atol=1e-9, max_steps=1000
    )
    assert motion.status == "finished"
    # Overdamped: after the fast part it creeps back at the rate k / c.
    assert motion.q[-1, 0] == pytest.approx(0.0, abs=1e-6)


def test_torque_turns_a_rod_by_its_double_integral():
    rod = Body.rod("rod", 2.0, 3.0, joints=(Revolute(),))
    system = PlanarSystem(
        [rod], [], gravity=(0.0, 0.0), inputs=lambda t, *_: [4.0 * math.cos(2 * t)]
    )
    motion = carom.simulate(system, [0.2], [0.5], 3.0, LAW, start_time=1.0)
    assert motion.start_time == 1.0
    assert motion.end_time == 4.0
    t = np.linspace(1.0, 4.0, 50)
    inertia = 3.0 * 2.0**2 / 3
    rate = 0.5 + (2.0 * np.sin(2 * t) - 2.0 * np.sin(2.0)) / inertia
    turn = 0.2 + 0.5 * (t - 1.0)
    turn += (np.cos(2.0) - np.cos(2 * t) - 2.0 * np.sin(2.0) * (t - 1.0)) / inertia
    np.testing.assert_allclose(motion.at(t=t).v[:, 0], rate, atol=1e-9)
    np.testing.assert_allclose(motion.at(t=t).q[:, 0], turn, atol=1e-9)


def test_pendulum_with_a_torque_that_cancels_gravity_turns_evenly():
    rod = Body.rod("rod", 2.0, 3.0, joints=(Revolute(),))
    system = PlanarSystem([rod], [], inputs=lambda _t, q, _v: [3.0 * G * math.sin(q[0])])
    motion = carom.simulate(system, [0.3], [2.0], 5.0, LAW)
    np.testing.assert_allclose(motion.v, 2.0, atol=1e-8)
    np.testing.assert_allclose(motion.q[:, 0], 0.3 + 2.0 * motion.t, atol=1e-8)


@pytest.mark.parametrize("law", [carom.Routh(1), carom.Routh(1, draw="persistent")], ids=repr)
@pytest.mark.parametrize("seed", [1, 2])
def test_own_system_moves_as_the_planar_one(seed, law):
    q, v = np.array([0.0, 0.5, 0.4]), np.array([1.0, 0.3, -2.0])
    planar = carom.simulate(planar_rod(), q, v, 1.5, law, seed=seed)
    own = carom.simulate(RodOnCircle(), on_circle(q), v, 1.5, law, seed=seed)
    check_motion(planar)
    assert own.status == planar.status == "finished"
    assert [part.kind for part in own.impacts] == [part.kind for part in planar.impacts]
    assert len(own.impacts) >= 2
    t = np.linspace(0.0, 1.5, 301)
    one, other = own.at(t=t), planar.at(t=t)
    expected = np.array([on_circle(row) for row in other.q])
    np.testing.assert_allclose(one.q, expected, atol=1e-8)
    np.testing.assert_allclose(one.v, other.v, atol=1e-7)
    np.testing.assert_allclose(one.impulse[..., 0], other.impulse[..., 0], atol=1e-7)
    # Where the rod lies flat, only the sum of friction is determinate.
    friction, expected = one.impulse[..., 1], other.impulse[..., 1]
    np.testing.assert_allclose(friction.sum(axis=1), expected.sum(axis=1), atol=1e-7)
    if law.takes_steps:
        np.testing.assert_allclose(friction, expected, atol=1e-7)
    # The angle stays on its circle.
    np.testing.assert_allclose(np.hypot(one.q[:, 2], one.q[:, 3]), 1.0, atol=1e-9)
