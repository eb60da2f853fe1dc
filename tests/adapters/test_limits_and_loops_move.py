"""Robots of engines with limits and loops in motion, by time steps and from event to event."""

import mujoco
import numpy as np
import pytest
from scipy.integrate import quad

import carom
from carom.adapters.mujoco import MujocoSystem
from tests.reference import leg, tongs

LAW = carom.Routh(num_samples=1)
DRIFT = 1e-9


def energies(system, motion, times):
    states = motion.at(t=times)
    return np.array([system.energy(q, v) for q, v in zip(states.q, states.v, strict=True)])


STOP = """<mujoco><worldbody><body name="rod">
  <joint name="hinge" axis="0 1 0" limited="true" range="-90 28.64788975654116"/>
  <inertial pos="0 0 -0.5" mass="3" diaginertia="0.25 0.25 1e-3"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("time_step", "close"), [(None, 1e-10), (1e-3, 1e-6)])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_pendulum_hits_its_stop_in_time(restitution, time_step, close):
    """It swings up, hits the stop at 0.5 rad, and swings back with its share of the speed."""
    system = MujocoSystem(
        mujoco.MjModel.from_xml_string(STOP), restitution={"hinge (high)": restitution}
    )
    inertia, weight = 0.25 + 3 * 0.25, 3 * 9.81 * 0.5
    start = 4.0

    def speed(angle):
        return np.sqrt(start**2 - 2.0 * weight / inertia * (1.0 - np.cos(angle)))

    expected = quad(lambda angle: 1.0 / speed(angle), 0.0, 0.5)[0]
    motion = carom.simulate(system, [0.0], [start], 0.3, LAW, time_step=time_step)
    assert motion.status == "finished"
    first = motion.impacts[0]
    assert first.contacts == ("hinge (high)",)
    assert first.t == pytest.approx(expected, abs=close)
    assert first.v_pre == pytest.approx([speed(0.5)], abs=30.0 * close)
    assert first.v_post == pytest.approx([-restitution * speed(0.5)], abs=30.0 * close)
    times = np.linspace(0.0, 0.3, 50)
    assert motion.at(t=times).q.max() <= 0.5 + 1e-6


@pytest.mark.parametrize(
    ("engine", "time_step"), [*((engine, 1e-3) for engine in leg.LEGS), ("pinocchio", None)]
)
def test_a_leg_lands_on_its_foot_and_folds_to_its_knees_limit(engine, time_step):
    """The knee stretches to its limit in flight, the foot lands, the trunk comes down."""
    system = leg.LEGS[engine]()
    q = leg.configuration(engine, 0.85, 0.3, 0.5)
    motion = carom.simulate(system, q, [0.0, 0.5, -4.0], 0.5, LAW, time_step=time_step)
    assert motion.status == "finished"
    hit = {name for impact in motion.impacts for name in impact.contacts}
    assert "knee (low)" in hit
    assert any("foot" in name for name in hit)
    times = np.linspace(0.0, 0.5, 101)
    for at in motion.at(t=times).q:
        assert system.gap(at).min() > (-1e-9 if time_step is None else -1e-6)
    energy = energies(system, motion, times)
    assert np.diff(energy).max() < 1e-9 * np.abs(energy).max()


@pytest.mark.parametrize(
    ("yaw", "time_step"),
    [(0.0, 1e-3), (0.4, 1e-3), (0.4, None)],
    ids=["planar", "spatial", "events"],
)
def test_a_loop_that_lands_in_space_stays_closed(yaw, time_step):
    system, q = tongs.pinocchio_tongs(yaw), tongs.closed(yaw)
    q[2] += 0.02
    v = system.allowed_velocity(q, np.array([0.3, 0.1, -0.5, 0.2, 0.1, 0.3, 0.5, 0, 0, 0]))
    end = 0.1 if time_step is None else 0.25
    motion = carom.simulate(system, q, v, end, LAW, time_step=time_step)
    assert motion.status == "finished"
    assert motion.impacts
    knots = np.linspace(0.0, end, round(1000 * end) + 1)
    for at, rate in zip(*motion.at(t=knots)[2:4], strict=True):
        state = system.constraint_state(at)
        assert np.abs(state.residual).max() < DRIFT
        assert np.abs(state.G @ rate).max() < DRIFT
    energy = energies(system, motion, knots)
    assert np.diff(energy).max() < 1e-9 * np.abs(energy).max()


def test_a_motion_does_not_start_beyond_a_limit():
    system = leg.LEGS["pinocchio"]()
    q = leg.configuration("pinocchio", 0.85, 0.3, 0.15)
    with pytest.raises(carom.InvalidProblem, match=r"'knee \(low\)' with a gap of -0.05 rad; move"):
        carom.simulate(system, q, np.zeros(3), 0.1, LAW, time_step=1e-3)


def test_mujoco_with_stiff_constraints_comes_to_the_same_motion():
    """In flight its error is that of its own steps: it falls with them, towards carom's motion."""
    model, system = tongs.mujoco_model(0.4), tongs.mujoco_tongs(0.4)
    raised = tongs.closed(0.4)
    raised[2] += 1.0
    q, T = tongs.in_mujoco(raised)
    v = T @ np.array([0.3, 0.1, -0.5, 0.5, 0.8, 0.3, 1.5, -0.5, 0.2, 0.4])
    v = system.allowed_velocity(q, v)
    end = carom.simulate(system, q, v, 0.2, LAW, time_step=1e-3).at(t=[0.2])
    model.eq_solimp[:, :2] = 0.9999
    model.opt.iterations, model.opt.tolerance = 200, 0.0
    errors = []
    for step in (1e-4, 2e-5):
        model.opt.timestep = step
        model.eq_solref[:] = 2.02 * step, 1.0
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_step(model, data, nstep=round(0.2 / step))
        errors.append([np.abs(data.qpos - end.q[0]).max(), np.abs(data.qvel - end.v[0]).max()])
    assert errors[1] == pytest.approx(np.divide(errors[0], 5.0), rel=0.1)
    assert np.max(errors[1]) < 3e-5
