"""Impacts of MuJoCo's models: the same as carom's own, physical, and what MuJoCo makes of them."""

import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import carom
from carom.adapters.mujoco import (
    MujocoSystem,
    apply,
    engine_outcome,
    impact_problem,
)
from tests.reference.mujoco_robots import (
    FEET,
    FLOOR,
    PLANAR,
    ROBOTS,
    box_and_wall,
    height,
    landing,
    rocking_block,
)

SAME_SET = 1e-9
every_robot = pytest.mark.parametrize("name", ROBOTS)


def _planar(name):
    """Return carom's own impact, and that of the same scene in MuJoCo."""
    scene = carom.scenes.load(name)
    model = {"rocking-block": rocking_block, "box-wall": box_and_wall}[name]()
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = scene.q, scene.v
    return scene.problem, impact_problem(model, data)


@pytest.mark.parametrize(
    ("name", "contacts"),
    [
        ("rocking-block", ("floor/block (---)", "floor/block (+--)")),
        ("box-wall", ("floor/box (---)", "wall/box (+--)")),
    ],
)
def test_planar_scene_is_the_same_impact(name, contacts):
    """Corners in front and at the back are one, and the problem is planar."""
    own, found = _planar(name)
    assert found.contacts == contacts
    assert found.num_tangents == 1
    for field in ("M", "J_n", "mu", "v_pre"):
        assert getattr(found, field) == pytest.approx(getattr(own, field), abs=1e-12)
    # The tangent of a wall may point up or down.
    signs = np.sign(np.einsum("mtv,mtv->m", own.J_t, found.J_t))
    assert signs[:, None, None] * found.J_t == pytest.approx(own.J_t, abs=1e-12)


@pytest.mark.parametrize("name", ["rocking-block", "box-wall"])
def test_planar_scene_has_the_same_exact_set(name):
    own, found = (carom.RouthExact().resolve(problem) for problem in _planar(name))
    assert own.is_complete
    assert found.is_complete
    assert own.hausdorff(found) <= SAME_SET
    assert found.hausdorff(own) <= SAME_SET


@every_robot
def test_landing_ends_as_physics_allows(name):
    model, data = landing(name)
    problem = impact_problem(model, data)
    assert problem.num_contacts == FEET[name]
    assert problem.num_tangents == (1 if name in ("walker2d", "hopper") else 2)
    outcomes = carom.Routh(num_samples=500).resolve(problem)
    assert outcomes.num_unfinished == 0
    assert len(outcomes) == 500
    speed = np.linalg.norm(data.qvel)
    assert (outcomes.v_post @ problem.J_n.T >= -1e-8 * speed).all()
    before = problem.kinetic_energy(problem.v_pre)
    assert (problem.kinetic_energy(outcomes.v_post) <= before * (1.0 + 1e-9)).all()
    # The cone of k directions is inside the round one.
    friction = np.linalg.norm(outcomes.impulse_t, axis=2)
    normal = outcomes.impulse_n
    assert (normal >= -1e-9).all()
    assert (friction <= problem.mu * normal + 1e-9 * normal.max()).all()
    impulses = np.concatenate([normal[:, :, None], outcomes.impulse_t], axis=2)
    gained = (outcomes.v_post - problem.v_pre) @ problem.M
    assert gained == pytest.approx(impulses.reshape(500, -1) @ problem.J, abs=1e-8)


def test_mirrored_landing_has_the_mirrored_impact():
    """Ant is symmetric about the plane x = 0, which exchanges left and right."""
    model, data = landing("ant")
    problem = impact_problem(model, data)
    order = [1, 0, 3, 2]
    assert problem.J_n[:, 0] == pytest.approx(np.zeros(4), abs=1e-12)
    at = problem.J_n[:, 3:6]
    # Rates about y and z turn round in the mirror, those about x do not.
    assert at[order] == pytest.approx(at * [1.0, -1.0, -1.0], abs=1e-9)
    A = problem.impulse_to_velocity.T @ problem.M @ problem.impulse_to_velocity
    normals = A[::3, ::3]
    assert normals[np.ix_(order, order)] == pytest.approx(normals, abs=1e-9)


@every_robot
def test_a_problem_with_another_velocity_is_a_replaced_one(name):
    """`dataclasses.replace` is enough, also for a planar problem with merged contacts."""
    model, data = landing(name)
    problem = impact_problem(model, data)
    faster = replace(problem, v_pre=2.0 * problem.v_pre)
    data.qvel[:] *= 2.0
    asked = impact_problem(model, data)
    for field in ("M", "J_n", "J_t", "mu", "v_pre", "contacts", "num_directions"):
        assert np.array_equal(getattr(faster, field), getattr(asked, field))
    assert np.array_equal(problem.v_pre, 0.5 * faster.v_pre)


def test_order_of_geoms_does_not_matter():
    """A floor that comes last in the file gives the same impact."""
    floor = '<geom name="floor" type="plane" size="1 1 1"/>'
    ball = '<body name="ball" pos="0 0 0.1"><freejoint/><geom size="0.1"/></body>'
    problems = []
    for parts in ((floor, ball), (ball, floor)):
        model = mujoco.MjModel.from_xml_string(
            f"<mujoco><worldbody>{''.join(parts)}</worldbody></mujoco>"
        )
        data = mujoco.MjData(model)
        data.qvel[2] = -1.0
        problems.append(impact_problem(model, data))
    one, other = problems
    assert np.array_equal(one.J_n, other.J_n)
    assert np.array_equal(one.J_t, other.J_t)
    assert one.contact_velocity(one.v_pre)[0, 0] == -1.0


def test_friction_is_combined_as_mujoco_does():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody>
          <geom name="floor" type="plane" size="1 1 1" friction="0.4"/>
          <body name="slick" pos="0 0 0.1"><freejoint/><geom size="0.1" friction="0.2"/></body>
          <body name="rough" pos="1 0 0.1"><freejoint/><geom size="0.1" friction="0.9"/></body>
          <body name="first" pos="2 0 0.1"><freejoint/>
            <geom size="0.1" friction="0.1" priority="1"/></body>
          <body name="smooth" pos="3 0 0.1"><freejoint/>
            <geom size="0.1" condim="1" priority="1"/></body>
          <body name="pair" pos="4 0 0.1"><freejoint/><geom name="pair" size="0.1"/></body>
        </worldbody>
        <contact><pair geom1="floor" geom2="pair" friction="0.7 0.7 0 0 0"/></contact></mujoco>"""
    )
    system = MujocoSystem(model)
    mu = dict(zip(system.contacts, system.mu, strict=True))
    expected = {"slick": 0.4, "rough": 0.9, "first": 0.1, "smooth": 0.0, "pair": 0.7}
    for name, value in expected.items():
        assert mu[f"floor/{name}"] == value
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for contact in data.contact:
        friction = contact.friction[0] if contact.dim > 1 else 0.0
        assert friction == expected[model.body(model.geom_bodyid[contact.geom[1]]).name]


def test_applied_velocity_is_what_mujoco_goes_on_with():
    """After a draw nothing is left to stop: one step of MuJoCo changes no normal velocity."""
    model, data = landing("ant")
    model.opt.gravity[:] = 0.0
    model.geom_margin[:] = 0.0
    model.jnt_limited[:] = 0
    model.dof_damping[:] = 0.0
    model.opt.timestep = 1e-5
    problem = impact_problem(model, data)
    v_post = carom.Routh().draw_path(problem, seed=3).v[-1]
    apply(data, v_post)
    assert np.array_equal(data.qvel, v_post)
    assert data.time == 0.0
    mujoco.mj_step(model, data)
    assert problem.J_n @ data.qvel == pytest.approx(problem.J_n @ v_post, abs=1e-3)


def test_impacts_of_a_simulation_are_drawn():
    """Detected, drawn, applied, stepped on: no energy is made, and no impact begins twice."""
    model, data = landing("ant", speed=0.0)
    data.qpos[2] += 0.05
    # Steps of 10 ms move feet by up to 10 mm, and the model's contacts begin to act 10 mm away.
    system, law = MujocoSystem(model, margin=0.02), carom.Routh(selection="lemke")
    found = []
    for _ in range(60):
        problem = system.detect_impact(data, gap_tolerance=0.02)
        if problem is not None:
            found.append(problem)
            assert (problem.J_n @ problem.v_pre).min() < -0.1
            v_post = law.draw_path(problem, seed=len(found)).v[-1]
            assert problem.kinetic_energy(v_post) < problem.kinetic_energy(problem.v_pre)
            apply(data, v_post)
            assert system.detect_impact(data, gap_tolerance=0.02) is None
        mujoco.mj_step(model, data)
    assert max(problem.num_contacts for problem in found) >= 2
    with pytest.raises(carom.InvalidOption, match=r"gap_tolerance: expected a number from 0 to"):
        system.detect_impact(data, gap_tolerance=0.1)


@every_robot
def test_stand_lowers_or_lifts_a_robot_until_it_touches(name):
    """Along gravity, as it is: the rest of the configuration does not change."""
    model, data = landing(name)
    system, up = MujocoSystem(model), height(model)
    for move in (0.0057, 0.5, -0.02):
        q = data.qpos.copy()
        q[up] += move
        found = system.stand(q)
        assert found[up] == pytest.approx(data.qpos[up], abs=2e-9)
        assert np.delete(found, up) == pytest.approx(np.delete(data.qpos, up), abs=1e-15)
        assert system.impact_problem(found, data.qvel, 1e-5).num_contacts == FEET[name]
        assert system.margin == 1e-3


def test_stand_needs_something_below():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom name="wall" type="plane" size="1 1 1" zaxis="1 0 0"/>
        <body pos="2 0 0"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
    )
    with pytest.raises(carom.InvalidProblem, match="stand: nothing is below the robot"):
        MujocoSystem(model).stand(model.qpos0)


def test_contacts_that_no_motion_opens_take_no_part():
    """A planar block slides along a wall at its back, which it can neither leave nor enter."""
    back = '<geom name="back" type="plane" size="9 9 1" pos="0 0.3 0" zaxis="0 -1 0"/>'
    model = mujoco.MjModel.from_xml_string(
        PLANAR.format(world=FLOOR + back, name="block", size="0.5 0.3 1", mass=1, more="")
    )
    data = mujoco.MjData(model)
    data.qpos[1], data.qvel[1] = 3.0, -1.0
    with pytest.raises(carom.InvalidProblem, match=r"nearest is 'floor/block.*gap of 2000 mm"):
        impact_problem(model, data)
    data.qpos[1] = 1.0
    assert impact_problem(model, data).contacts == ("floor/block (---)", "floor/block (+--)")


def _dropped_block(tilt):
    """Return the block as it lands with 0.44 m/s, its lower corner on the floor."""
    model, scene = rocking_block(), carom.scenes.load("rocking-block")
    data = mujoco.MjData(model)
    data.qpos[2] = tilt
    data.qpos[1] -= scene.system.gap(data.qpos).min()
    data.qvel[:] = scene.v
    return model, data, scene.problem


def test_mujoco_predicts_rest_for_a_flat_landing():
    model, data, problem = _dropped_block(0.0)
    v = engine_outcome(model, data)
    assert np.linalg.norm(v) < 3e-3 * np.linalg.norm(problem.v_pre)
    assert carom.RouthExact().resolve(problem).contains(v, 3e-3)


def test_mujoco_predicts_the_other_pivot_for_a_tilt_of_a_milliradian():
    """Each time it is the fastest pivot of the set, on the corner that comes down last."""
    model, data, problem = _dropped_block(0.0)
    bounds = carom.RouthExact().resolve(problem).contact_bounds()[:, 0, 1]
    for tilt, lifted in ((-1e-3, 1), (1e-3, 0)):
        model, data, _ = _dropped_block(tilt)
        # The other corner takes some milliseconds to come down.
        v_n = problem.J_n @ engine_outcome(model, data, duration=0.02)
        assert v_n[lifted] == pytest.approx(bounds[lifted], rel=0.01)
        assert v_n[1 - lifted] == pytest.approx(0.0, abs=0.01 * bounds[lifted])


def test_mujoco_with_its_own_damping_leaves_the_set():
    """It bounces with exp(-2) of the speed, which no inelastic impact does."""
    model, data, problem = _dropped_block(0.0)
    speed = -problem.v_pre[1]
    v = engine_outcome(model, data, timestep=1e-6, damping_ratio=1.0)
    assert problem.J_n @ v == pytest.approx(math.exp(-2.0) * speed * np.ones(2), rel=0.01)
    outcomes = carom.RouthExact().resolve(problem)
    assert outcomes.is_complete
    assert outcomes.distance(v) > 0.1 * speed


def test_engine_outcome_does_not_touch_the_data():
    model, data, _ = _dropped_block(0.0)
    before = data.qpos.copy(), data.qvel.copy(), model.geom_solref.copy()
    engine_outcome(model, data)
    for one, other in zip(before, (data.qpos, data.qvel, model.geom_solref), strict=True):
        assert np.array_equal(one, other)
    assert data.time == 0.0


@pytest.mark.parametrize("damping_ratio", [1.0, 10.0, 30.0])
def test_mujoco_lifts_what_slides(damping_ratio):
    """Both corners lift, however damped they are; of all that can happen, one stays at least."""
    model = rocking_block()
    model.geom_friction[:, 0] = 0.3
    data = mujoco.MjData(model)
    data.qpos[1] = 1.0
    data.qvel[:] = 1.0, -0.44, 0.0
    problem = impact_problem(model, data)
    outcomes = carom.RouthExact().resolve(problem)
    assert outcomes.is_complete
    for polytope in outcomes.polytopes:
        assert (polytope.vertices @ problem.J_n.T).max(axis=0).min() <= 1e-9
    v = engine_outcome(model, data, damping_ratio=damping_ratio)
    assert (problem.J_n @ v > 0.2).all()
    assert outcomes.distance(v) > 0.18


def test_friction_that_overrides_all_contacts_acts_in_mujoco_too():
    """A block that slides on is slowed by mu times what stops its fall."""
    model = rocking_block()
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_OVERRIDE
    model.opt.o_friction[:2] = 0.05
    data = mujoco.MjData(model)
    data.qpos[1] = 1.0
    data.qvel[:] = 1.0, -0.44, 0.0
    assert (impact_problem(model, data).mu == 0.05).all()
    v = engine_outcome(model, data)
    assert data.qvel[0] - v[0] == pytest.approx(0.05 * (v[1] + 0.44), rel=0.01)
    assert v[1] < 0.06


@every_robot
def test_defaults_are_fair_to_mujoco(name):
    """Stiff, damped and brief, it picks one of the outcomes, in the energy norm |v|_M."""
    model, data = landing(name)
    problem = impact_problem(model, data)
    # Few motions of Walker2d stop heels and toes all at once; in space, samples take much longer.
    count = 2**14 if problem.num_tangents == 1 else 2**12
    outcomes = carom.Routh(num_samples=count).resolve(problem)
    v = engine_outcome(model, data)
    away = 2.0 * problem.kinetic_energy(outcomes.v_post - v).min()
    assert away**0.5 < 4e-3 * (2.0 * problem.kinetic_energy(problem.v_pre)) ** 0.5
    assert np.abs(problem.J_n @ v).max() < 4e-3


def test_rounding_does_not_decide_who_touches():
    """A box that is turned about the vertical lands on four corners, wherever rounding puts them.

    MuJoCo without a margin misses some of them.
    """
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>
        <body name="box"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    system = MujocoSystem(model)
    least = 4
    for angle in np.linspace(0.0, math.pi, 50):
        data.qpos[:] = 0.1, 0.2, 0.3, math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)
        data.qpos[3:] *= 1.0 + 1e-15
        data.qpos[2] = np.nextafter(0.3, 1.0)
        data.qvel[:] = 0.0, 0.0, -1.0, 0.0, 0.0, 0.0
        mujoco.mj_forward(model, data)
        least = min(least, data.ncon)
        assert system.impact_problem(data.qpos, data.qvel).num_contacts == 4
    assert least < 4
