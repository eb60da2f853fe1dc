"""Limits of joints are contacts without friction, alone and beside a foot, in every engine."""

import mujoco
import numpy as np
import pytest

import carom
from carom.adapters.mujoco import MujocoSystem, engine_outcome, impact_problem
from tests.reference import leg
from tests.reference.landings import check_landing

SAME = 1e-9
engines = pytest.mark.parametrize("engine", leg.LEGS)
FALL = np.array([-1.0, 0.4, -2.0])
"""The trunk falls, and the knee stretches."""


@engines
def test_limits_follow_the_contacts_of_bodies(engine):
    system = leg.LEGS[engine]()
    assert len(system.contacts) == 5
    assert set(system.limits) == set(leg.LIMITS)
    assert system.contacts[1:] == system.limits
    gap = dict(
        zip(system.contacts, system.gap(leg.configuration(engine, 0.5, 0.1, 0.5)), strict=True)
    )
    expected = {"height (low)": 0.2, "height (high)": 0.4, "knee (low)": 0.3, "knee (high)": 1.5}
    assert {name: gap[name] for name in system.limits} == pytest.approx(expected)
    without = leg.LEGS[engine](limits=False)
    assert without.contacts == system.contacts[:1]
    assert without.limits == ()


@engines
def test_rows_are_how_gaps_change(engine):
    system, v, step = leg.LEGS[engine](), np.array([0.3, -0.4, 0.7]), 1e-6
    q = leg.configuration(engine, 0.5, 0.1, 0.5)
    change = step * system.velocity_map(q) @ v
    rate = (system.gap(q + change) - system.gap(q - change)) / (2.0 * step)
    here = system.dynamics(q, v)
    assert here.J_n @ v == pytest.approx(rate, abs=1e-6)
    assert not here.J_t[1:].any()
    assert not here.bias[1:].any()
    assert not system.mu[1:].any()
    assert not system.restitution.any()


@engines
def test_restitution_of_limits_is_given_by_name(engine):
    assert leg.LEGS[engine](restitution=0.5).restitution.tolist() == [0.5, 0, 0, 0, 0]
    named = leg.LEGS[engine](restitution={"knee (low)": 0.3})
    assert dict(zip(named.contacts, named.restitution, strict=True))["knee (low)"] == 0.3
    assert named.restitution.sum() == 0.3


def test_the_same_leg_in_every_engine_has_the_same_impact():
    """A knee reaches its limit as the foot lands: two contacts, planar, of different kinds."""
    found = {
        engine: make().impact_problem(leg.landing(engine), FALL, 1e-9)
        for engine, make in leg.LEGS.items()
    }
    one = found["pinocchio"]
    for problem in found.values():
        assert (problem.num_contacts, problem.num_tangents) == (2, 1)
        assert problem.contacts[1] == "knee (low)"
        assert problem.mu.tolist() == [leg.MU, 0.0]
        assert pytest.approx(one.M, abs=SAME) == problem.M
        assert problem.J_n == pytest.approx(one.J_n, abs=SAME)
        assert np.abs(problem.J_t) == pytest.approx(np.abs(one.J_t), abs=SAME)
    assert one.J_n[1].tolist() == [0.0, 0.0, 1.0]


def test_exact_set_of_a_knee_at_its_limit_while_the_foot_lands():
    problem = leg.pinocchio_leg().impact_problem(leg.landing("pinocchio"), FALL)
    exact = carom.RouthExact().resolve(problem)
    assert exact.is_complete
    samples = check_landing(problem)
    assert exact.contains(samples.v_post).all()
    # Both ends of what the samples see of each velocity are as far as the set goes.
    low, high = np.moveaxis(exact.contact_bounds(), 2, 0)
    seen = samples.contact_velocities
    size = high - low
    assert size.max() > 0.01
    assert (seen.min(axis=0) <= low + 0.02 * size.max()).all()
    assert (seen.max(axis=0) >= high - 0.02 * size.max()).all()
    for order in (problem.contacts, problem.contacts[::-1]):
        ends = carom.Sequential(order=order).resolve(problem)
        assert exact.contains(ends.v_post).all()


def stop(restitution=0.0):
    """Return a rod of 1 m and 3 kg that turns about y, with a stop at 0.5 rad."""
    text = """<mujoco><worldbody><body name="rod">
      <joint name="hinge" axis="0 1 0" limited="true" range="-90 28.64788975654116"/>
      <inertial pos="0 0 -0.5" mass="3" diaginertia="0.25 0.25 1e-3"/></body></worldbody></mujoco>
    """
    model = mujoco.MjModel.from_xml_string(text)
    return MujocoSystem(model, restitution={"hinge (high)": restitution})


LAWS = [
    carom.Routh(num_samples=8),
    carom.Routh(num_samples=8, step_impulse=0.3, max_steps=50),
    carom.RouthSingle(),
    carom.RouthExact(),
    carom.AnitescuPotra(),
    carom.Sequential(),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_a_pendulum_that_hits_its_stop_stops(law):
    problem = stop().impact_problem([0.5], [2.0])
    assert problem.contacts == ("hinge (high)",)
    assert np.abs(law.resolve(problem).v_post).max() < SAME


@pytest.mark.parametrize("restitution", [0.3, 1.0])
def test_a_stop_that_bounces_returns_its_share(restitution):
    problem = stop(restitution).impact_problem([0.5], [2.0])
    found = carom.Routh(num_samples=8).resolve(problem).v_post
    assert found == pytest.approx(np.full((8, 1), -2.0 * restitution), abs=1e-9)


def test_worst_case_and_guarantees_know_limits():
    problem = stop().impact_problem([0.5], [2.0])
    extreme = carom.worst_case(problem, [1.0], max_seconds=5.0)
    assert extreme.reached == pytest.approx(0.0, abs=SAME)
    assert extreme.proved == pytest.approx(0.0, abs=1e-6)
    assert carom.check(problem)


def test_a_limit_that_is_not_reached_or_left_takes_no_part():
    system = leg.pinocchio_leg()
    assert system.impact_problem(leg.landing("pinocchio", 0.21), FALL).contacts == ("foot",)
    with pytest.raises(
        carom.InvalidProblem,
        match=r"limit 'knee \(low\)' is exceeded by 0.01 rad, above gap_tolerance = 1e-06 rad; "
        r"move the joint back.*limits=False",
    ):
        system.impact_problem(leg.landing("pinocchio", 0.19), FALL)
    within = system.impact_problem(leg.landing("pinocchio", 0.19), FALL, 0.02)
    assert within.contacts == ("foot", "knee (low)")
    high = leg.configuration("pinocchio", 0.95, 0.0, 0.5)
    with pytest.raises(carom.InvalidProblem, match=r"'height \(high\)' is exceeded by 0.05 m"):
        system.impact_problem(high, FALL)


def test_nearest_contact_is_one_of_bodies():
    """A limit's radians do not compare with metres."""
    system = leg.pinocchio_leg()
    with pytest.raises(carom.InvalidProblem, match="the nearest is 'foot' with a gap of"):
        system.impact_problem(leg.configuration("pinocchio", 0.85, 0.0, 0.201), FALL)


def test_stand_can_put_a_joint_at_its_limit():
    system = leg.pinocchio_leg()
    q = leg.configuration("pinocchio", 0.7, 0.3, 0.5)
    stood = system.stand(q, ["foot", "knee (low)"], joints=True)
    assert np.abs(system.gap(stood)[[0, 3]]).max() < 1e-12
    alone = system.stand(q, joints=True)
    assert abs(system.gap(alone)[0]) < 1e-12


def test_simulated_states_have_limits_within_their_tolerance():
    """MuJoCo's own limits are soft; what is beyond them is at them."""
    model = leg.mujoco_model()
    data, system = mujoco.MjData(model), leg.mujoco_leg()
    data.qpos[:], data.qvel[:] = leg.landing("mujoco", 0.2 - 5e-4), FALL
    assert impact_problem(model, data).contacts == ("floor/foot", "knee (low)")
    assert impact_problem(model, data, limits=False).contacts == ("floor/foot",)
    assert system.detect_impact(data).contacts == ("floor/foot", "knee (low)")
    data.qpos[:] = leg.landing("mujoco", 0.2 - 0.03)
    assert impact_problem(model, data).contacts == ("floor/foot", "knee (low)")
    assert system.detect_impact(data).contacts == ("floor/foot", "knee (low)")
    # A joint that reaches its limit is an impact by itself.
    data.qpos[:] = leg.configuration("mujoco", 0.85, 0.3, 0.2)
    assert system.detect_impact(data).contacts == ("knee (low)",)
    data.qvel[:] = 0.0, 0.0, 2.0
    assert system.detect_impact(data) is None


def test_mujocos_own_answer_stops_at_the_limit():
    """With stiff limits it ends nearer to the set with the limit than to the one without."""
    model = leg.mujoco_model()
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = leg.landing("mujoco"), [-0.2, 0.0, -3.0]
    own = engine_outcome(model, data)
    assert own[2] > -1e-2
    for limits, is_near in ((True, True), (False, False)):
        problem = impact_problem(model, data, limits=limits)
        distance = carom.RouthExact().resolve(problem).distance(own)
        assert (distance < 0.003 * problem.energy_norm) == is_near


BALL_AND_CORD = """<mujoco><worldbody>
  <body name="head"><joint name="neck" type="ball" limited="true" range="0 40"/>
    <geom size="0.1"/><geom size="0.05" pos="0.2 0.1 0"/></body>
  <body pos="1 0 0"><joint name="up" type="slide"/><geom size="0.1"/></body>
  <body pos="2 0 0"><joint name="arm" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0"
    size="0.05"/><site name="hand" pos="1 0 0"/></body><site name="wall" pos="4 0 1"/>
  </worldbody><tendon>
  <fixed name="cord" limited="true" range="-1 0.5"><joint joint="up" coef="2"/></fixed>
  <spatial name="rope" limited="true" range="0.5 2"><site site="hand"/><site site="wall"/></spatial>
  </tendon></mujoco>"""


def test_limits_of_ball_joints_and_tendons():
    """Gaps in closed form; rows and biases are their derivatives."""
    model = mujoco.MjModel.from_xml_string(BALL_AND_CORD)
    system = MujocoSystem(model)
    assert system.limits == (
        *("neck (high)", "cord (low)", "cord (high)", "rope (low)", "rope (high)"),
    )
    angle, axis = 0.6, np.array([0.6, 0.0, 0.8])
    turn = np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis]
    q = np.r_[turn, 0.1, 0.4]
    rope = np.linalg.norm([4 - 2 - np.cos(0.4), 1 + np.sin(0.4)])
    gap = system.gap(q)[-5:]
    expected = [np.radians(40) - angle, 1.2, 0.3, rope - 0.5, 2.0 - rope]
    assert gap == pytest.approx(expected, abs=1e-12)
    # The other sign of a quaternion is the same pose.
    assert system.gap(q * [-1, -1, -1, -1, 1, 1])[-5:] == pytest.approx(expected, abs=1e-12)
    v, step = np.array([0.5, -0.3, 0.9, 0.4, 0.8]), 1e-4
    here = system.dynamics(q, v)
    before, after = (system.gap(system.integrate(q, v, t))[-5:] for t in (-step, step))
    assert here.J_n[-5:] @ v == pytest.approx((after - before) / (2 * step), abs=1e-7)
    assert here.bias[-5:, 0] == pytest.approx((after - 2 * gap + before) / step**2, abs=1e-6)
    at_end = np.r_[np.cos(np.radians(20)), np.sin(np.radians(20)) * axis, 0.1, 0.4]
    problem = system.impact_problem(at_end, np.r_[0.3 * axis, 0.0, 0.0])
    assert problem.contacts == ("neck (high)",)
    assert carom.Routh(num_samples=4).resolve(problem).v_post[:, :3] @ axis == pytest.approx(0.0)


def test_limits_are_drawn_at_their_joints():
    """The knee of both skeletons is where the thigh ends."""
    for engine in ("mujoco", "pinocchio"):
        system, q = leg.LEGS[engine](), leg.landing(engine)
        i = system.contacts.index("knee (low)")
        thigh = np.array([-0.4 * np.sin(0.3), 0.0, -0.4 * np.cos(0.3)])
        assert system.contact_places(q)[i] == pytest.approx(thigh + np.array([0.0, 0.0, q[0]]))
        assert system.contact_motions(q, FALL)[i].tolist() == [0.0, 0.0, 0.0]


def test_limits_that_the_model_switches_off_do_not_act():
    text = BALL_AND_CORD.replace(
        "<worldbody>", '<option><flag limit="disable"/></option><worldbody>', 1
    )
    assert MujocoSystem(mujoco.MjModel.from_xml_string(text)).limits == ()
