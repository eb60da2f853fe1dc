"""Closed loops in the engines: one mechanism in all of them, and each one's own constraints."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from pydrake.multibody.tree import RevoluteJoint, SpatialInertia

import carom
from carom.adapters.drake import DrakeSystem
from carom.adapters.mujoco import MujocoSystem
from carom.adapters.pinocchio import (
    BallConstraint,
    CouplerConstraint,
    DistanceConstraint,
    PinocchioSystem,
    WeldConstraint,
)
from tests.reference import four_bar, tongs
from tests.reference.landings import check_landing

SAME = 1e-9
STEP = 1e-5
either = pytest.mark.parametrize("yaw", [0.0, 0.4], ids=["planar", "spatial"])


def engines(yaw):
    """Yield systems, their q, and T so that their v is T times Pinocchio's."""
    q = tongs.closed(yaw)
    yield tongs.pinocchio_tongs(yaw), q, np.eye(10)
    yield tongs.drake_tongs(yaw), *tongs.in_drake(q)
    yield tongs.mujoco_tongs(yaw), *tongs.in_mujoco(q)


def velocity(yaw):
    """Return Pinocchio's velocity of tongs that fall and close."""
    v = np.array([0.2, 0.1, -1.0, 0.1, -0.2, 0.1, 0.5, -0.3, 0.2, 0.4])
    return tongs.pinocchio_tongs(yaw).allowed_velocity(tongs.closed(yaw), v)


def delassus(problem):
    return problem.J @ problem.impulse_to_velocity


@either
def test_the_same_loop_in_every_engine_has_the_same_impact(yaw):
    v, found = velocity(yaw), []
    for system, q, T in engines(yaw):
        problem = system.impact_problem(q, T @ v)
        assert problem.num_contacts == 1
        assert np.abs(system.constraint_state(q).G @ problem.v_pre).max() < SAME
        through = system.constraint_impulses(q, problem, [[1.0, 0.2, -0.3]])
        found.append((delassus(problem), problem.contact_velocity(problem.v_pre), through))
    # Of the planar loop, only what its rows do together is known, and the least is in any axes.
    for one in found[1:]:
        for mine, theirs in zip(one, found[0], strict=True):
            assert mine == pytest.approx(theirs, abs=SAME)
    assert np.abs(found[0][2]).max() > 0.1


@either
def test_the_same_loop_in_every_engine_falls_alike(yaw):
    v, found = velocity(yaw), []
    for system, q, T in engines(yaw):
        here, state = system.dynamics(q, T @ v), system.constraint_state(q, T @ v)
        acceleration = np.linalg.solve(here.M, here.force)
        assert state.G @ acceleration == pytest.approx(-state.bias, abs=1e-8)
        i = next(i for i, name in enumerate(system.contacts) if name.endswith("tip"))
        J = np.vstack([here.J_n[i], here.J_t[i]])
        found.append(J @ acceleration + here.bias[i])
    for one in found[1:]:
        assert one == pytest.approx(found[0], abs=1e-7)


@either
def test_loop_and_ground_let_a_landing_end(yaw):
    system = tongs.pinocchio_tongs(yaw)
    q = system.stand(tongs.closed(yaw), joints=True)
    assert np.abs(system.gap(q)).max() < 1e-12
    assert np.abs(system.constraint_state(q).residual).max() < 1e-12
    v = system.allowed_velocity(q, velocity(yaw))
    outcomes = check_landing(system.impact_problem(q, v), num_samples=256)
    assert np.abs(outcomes.v_post @ system.constraint_state(q).G.T).max() < SAME


def test_what_pinocchio_does_with_its_own_constraint_models():
    """Accelerations of `constraintDynamics`, which solves for constraint forces."""
    yaw = 0.4
    model, q, v = tongs.pinocchio_model(yaw), tongs.closed(yaw), velocity(yaw)
    ids = [model.getJointId(f"{side} knee") for side in ("left", "right")]
    place = pin.SE3(np.eye(3), np.array(tongs.TIP))
    ends = ids[0], place, ids[1], place
    kind, frame = pin.ContactType.CONTACT_3D, pin.ReferenceFrame.LOCAL
    rigid = pin.RigidConstraintModel(kind, model, *ends, frame)
    given = {"rigid": rigid, "anchor": pin.PointAnchorConstraintModel(model, *ends)}
    data = model.createData()
    models, states = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(rigid)
    states.append(rigid.createData())
    pin.initConstraintDynamics(model, data, models, states)
    tau, settings = np.zeros(model.nv), pin.ProximalSettings(1e-12, 0.0, 20)
    expected = pin.constraintDynamics(model, data, q, v, tau, models, states, settings)
    for name, constraint in given.items():
        system = tongs.pinocchio_tongs(yaw, [constraint])
        assert system.constraints == ("loop 1 (x)", "loop 1 (y)", "loop 1 (z)"), name
        here = system.dynamics(q, v)
        assert np.linalg.solve(here.M, here.force) == pytest.approx(expected, abs=1e-6)


def derivatives(system, q, v):
    """Assert that G and its bias are how residuals and G v change along v."""
    here = system.constraint_state(q, v)
    sides = [system.constraint_state(system.integrate(q, v, t)) for t in (STEP, -STEP)]
    rate = (sides[0].residual - sides[1].residual) / (2 * STEP)
    assert rate == pytest.approx(here.G @ v, abs=1e-7)
    turned = (sides[0].G @ v - sides[1].G @ v) / (2 * STEP)
    assert turned == pytest.approx(here.bias, abs=1e-5)


@pytest.mark.parametrize("engine", ["pinocchio", "drake"])
def test_rows_of_all_kinds_are_derivatives(engine):
    """Of a weld where it is closed; others anywhere."""
    rng = np.random.default_rng(0)
    kinds = [
        BallConstraint("left shin", "right thigh", (0.1, 0.2, 0.3), name="ball"),
        DistanceConstraint("trunk", "left shin", (0.1, 0, 0), distance=0.4, name="rod"),
        CouplerConstraint("left knee", "right hip", -1.5, 0.2),
    ]
    q = pin.integrate(tongs.pinocchio_model(), tongs.closed(), rng.normal(scale=0.3, size=10))
    v = rng.normal(size=10)
    if engine == "pinocchio":
        system = tongs.pinocchio_tongs(0.0, kinds)
    else:
        plant = MultibodyPlant(time_step=0.0)
        tongs.Parser(plant).AddModelsFromString(tongs.urdf(), "urdf")
        plant.Finalize()
        system = DrakeSystem(plant, tongs.CONTACTS, mu=0.5, constraints=kinds)
        q, T = tongs.in_drake(q)
        v = T @ v
    assert len(system.constraints) == 5
    derivatives(system, q, v)


def test_a_weld_closes_and_its_rows_are_derivatives():
    weld = WeldConstraint(
        *("left thigh", "right thigh", (0.1, 0, 0), (-0.2, 0, 0)),
        rotation=pin.utils.rotate("y", 0.3),
    )
    system = tongs.pinocchio_tongs(0.0, [weld])
    q = tongs.closed()
    q[7:] = 0.2, 0.4, 0.45, 0.1
    assert np.abs(system.constraint_state(q).residual).max() > 0.01
    with pytest.raises(carom.InvalidProblem, match="cannot be closed from here"):
        # Thighs turn about hips that are too far apart.
        system.closed(q)
    hips = WeldConstraint("left thigh", "right thigh", (0.3, 0, 0), rotation=np.eye(3))
    system = tongs.pinocchio_tongs(0.0, [hips])
    q[7:] = 0.2, 0.4, 0.2, 0.1
    q = system.closed(q)
    # Both thighs along the trunk, so that the left one's offset is the other hip.
    assert q[7] == pytest.approx(q[9])
    v = system.allowed_velocity(q, np.linspace(-1.0, 1.0, 10))
    derivatives(system, q, v)


def gripper(mimic):
    """Return Pinocchio's model of two fingers that slide, one of which may mimic the other."""
    finger = """<link name="{0}"><inertial><mass value="0.2"/><origin xyz="0 0.01 0.05"/>
      <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="{0}" type="prismatic"><parent link="palm"/><child link="{0}"/>
      <axis xyz="{1} 0 0"/><limit lower="0" upper="0.05" effort="1" velocity="1"/>{2}</joint>"""
    follows = '<mimic joint="one" multiplier="0.8" offset="0.01"/>'
    text = f"""<robot name="gripper"><link name="palm"><inertial><mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
      {finger.format("one", -1, "")}{finger.format("other", 1, follows)}</robot>"""
    return pin.buildModelFromXML(text, pin.JointModelFreeFlyer(), mimic=mimic)


def test_mimic_joints_of_pinocchio_are_a_coupler():
    contacts = ["one", "other", "palm"]
    own = PinocchioSystem(gripper(True), contacts, mu=0.5)
    coupler = CouplerConstraint("other", "one", 0.8, 0.01)
    other = PinocchioSystem(gripper(False), contacts, mu=0.5, constraints=[coupler])
    assert (own.nv, other.nv) == (7, 8)
    base = np.array([0.1, 0.2, 0.3, 0.1, -0.2, 0.3, 1.0])
    base[3:] /= np.linalg.norm(base[3:])
    v = np.array([0.1, -0.2, -1.0, 0.3, -0.1, 0.2, 0.4])
    q, q_other = np.r_[base, 0.02], np.r_[base, 0.02, 0.026]
    assert other.closed(q_other) == pytest.approx(q_other, abs=1e-14)
    N = np.vstack([np.eye(7), 0.8 * np.eye(7)[6]])
    one, two = own.dynamics(q, v), other.dynamics(q_other, N @ v)
    assert pytest.approx(N.T @ two.M @ N, abs=1e-12) == one.M
    assert one.phi[:3] == pytest.approx(two.phi[:3], abs=1e-12)
    assert one.J_n[:3] == pytest.approx(two.J_n[:3] @ N, abs=1e-12)
    assert one.J_t[:3] == pytest.approx(two.J_t[:3] @ N, abs=1e-12)
    assert N @ np.linalg.solve(one.M, one.force) == pytest.approx(
        np.linalg.solve(two.M, two.force), abs=1e-10
    )
    assert own.limits == ("one (low)", "one (high)")


def test_constraints_of_pinocchio_that_are_no_loops_are_refused():
    model = tongs.pinocchio_model()
    limit = pin.JointLimitConstraintModel(model, [model.getJointId("left knee")])
    with pytest.raises(carom.InvalidOption, match="got a JointLimitConstraintModel"):
        PinocchioSystem(model, tongs.CONTACTS, mu=0.5, constraints=[limit])
    twice = [tongs.LOOP, tongs.LOOP]
    with pytest.raises(carom.InvalidOption, match="got 'loop' repeatedly; give each a name"):
        PinocchioSystem(model, tongs.CONTACTS, mu=0.5, constraints=twice)
    with pytest.raises(carom.InvalidOption, match="no frame is named 'toe'"):
        PinocchioSystem(model, [], mu=0.5, constraints=[BallConstraint("toe", "trunk")])
    with pytest.raises(carom.InvalidOption, match="no joint of one coordinate is named 'toe'"):
        PinocchioSystem(
            model, tongs.CONTACTS, mu=0.5, constraints=[CouplerConstraint("toe", "left hip", 1.0)]
        )


def drake_pair():
    """Return a plant of two rods that hang from the world, with constraints of every kind."""
    plant = MultibodyPlant(time_step=1e-3)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    bodies, joints = [], []
    for name in ("a", "b"):
        inertia = SpatialInertia.SolidSphereWithMass(2.0, 0.1)
        bodies.append(plant.AddRigidBody(name, inertia))
        joint = RevoluteJoint(
            f"hinge {name}", plant.world_frame(), bodies[-1].body_frame(), [0, 1, 0]
        )
        joints.append(plant.AddJoint(joint))
    ids = {
        "distance": plant.AddDistanceConstraint(bodies[0], [1, 0, 0], bodies[1], [0, 0, 1], 0.7),
        "coupler": plant.AddCouplerConstraint(*joints, 2.0, 0.1),
    }
    plant.Finalize()
    return plant, ids


def test_drake_tells_distances_and_is_told_the_rest():
    plant, ids = drake_pair()
    contacts = [tongs.ContactPoint("a", (1, 0, 0), name="tip")]
    with pytest.raises(carom.InvalidProblem, match=r"1 of its constraints .* and 0 are given"):
        DrakeSystem(plant, contacts, mu=0.5)
    coupler = CouplerConstraint("hinge a", "hinge b", 2.0, 0.1)
    system = DrakeSystem(plant, contacts, mu=0.5, constraints=[coupler])
    assert system.constraints == ("distance 1", "hinge a-hinge b")
    q = np.array([0.4, -0.2])
    tips = [np.cos(q[0]), -np.sin(q[0])], [np.sin(q[1]), np.cos(q[1])]
    apart = np.linalg.norm(np.subtract(*tips))
    state = system.constraint_state(q)
    assert state.residual == pytest.approx([apart - 0.7, 0.4 + 0.4 - 0.1], abs=1e-12)
    derivatives(system, q, np.array([0.3, 0.8]))
    context = plant.CreateDefaultContext()
    plant.SetConstraintActiveStatus(context, ids["coupler"], False)
    assert DrakeSystem(plant, contacts, context, mu=0.5).constraints == ("distance 1",)


def test_a_soft_distance_of_drake_is_refused():
    plant, ids = drake_pair()
    context = plant.CreateDefaultContext()
    found = plant.GetDistanceConstraintParams(context)[ids["distance"]]
    soft = type(found)(
        *(found.bodyA(), found.p_AP(), found.bodyB(), found.p_BQ(), found.distance(), 1e4, 0.0)
    )
    plant.SetDistanceConstraintParams(context, ids["distance"], soft)
    plant.SetConstraintActiveStatus(context, ids["coupler"], False)
    with pytest.raises(
        carom.InvalidProblem, match=r"distance 1 has a stiffness of 10000 N/m.*rigid"
    ):
        DrakeSystem(plant, [tongs.ContactPoint("a", name="tip")], context, mu=0.5)


PARTS = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="a" pos="0 0 1"><freejoint/><geom name="a" size="0.1" mass="2"/>
    <body name="arm" pos="0.3 0 0"><joint name="j" axis="0 1 0"/>
      <geom name="arm" type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="0.7"/></body></body>
  <body name="b" pos="0.5 0.1 1.2"><freejoint/>
    <geom name="b" type="box" size="0.1 0.2 0.15" mass="3"/></body>
  <body name="slider" pos="2 0 1"><joint name="k" type="slide" axis="0 0 1"/>
    <geom name="slider" size="0.1" mass="1"/></body></worldbody>
  <tendon><fixed name="t1"><joint joint="j" coef="1.5"/></fixed>
    <fixed name="t2"><joint joint="k" coef="2"/></fixed></tendon>
  <equality>{}</equality></mujoco>"""
KINDS = {
    "connect": ('<connect name="e" body1="arm" body2="b" anchor="0.4 0 0"/>', 3),
    "weld": ('<weld name="e" body1="arm" body2="b" torquescale="0.5"/>', 6),
    "joint": ('<joint name="e" joint1="j" joint2="k" polycoef="0.1 0.5 0.3 0 0"/>', 1),
    "tendon": ('<tendon name="e" tendon1="t1" tendon2="t2" polycoef="0 1 0.2 0 0"/>', 1),
}


def assembled(kind):
    text, rows = KINDS[kind]
    return mujoco.MjModel.from_xml_string(PARTS.format(text)), rows


@pytest.mark.parametrize("kind", KINDS)
def test_mujocos_constraints_close_and_change_as_their_rows_say(kind):
    model, rows = assembled(kind)
    system = MujocoSystem(model)
    assert len(system.constraints) == rows
    assert system.constraints[0].split(" ")[0] == "e"
    rng = np.random.default_rng(1)
    q = model.qpos0.copy()
    mujoco.mj_integratePos(model, q, rng.normal(scale=0.2, size=model.nv), 1.0)
    q = system.closed(q)
    assert np.abs(system.constraint_state(q).residual).max() < 1e-12
    v = system.allowed_velocity(q, rng.normal(size=model.nv))
    derivatives(system, q, v)


def test_welded_bodies_of_mujoco_are_one_body():
    """What a weld holds together has the impact of one body with both shapes."""
    shapes = '<geom name="one" size="0.1" mass="2"/>', '<geom name="two" size="0.2" mass="3" {}/>'
    world = (
        '<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>{}</worldbody>{}</mujoco>'
    )
    body = '<body name="{}" pos="{}"><freejoint/>{}</body>'
    two = body.format("a", "0 0 0.1", shapes[0]) + body.format(
        "b", "0.5 0 0.2", shapes[1].format("")
    )
    weld = '<equality><weld body1="a" body2="b"/></equality>'
    one = body.format("a", "0 0 0.1", shapes[0] + shapes[1].format('pos="0.5 0 0.1"'))
    pair = mujoco.MjModel.from_xml_string(world.format(two, weld))
    whole = mujoco.MjModel.from_xml_string(world.format(one, ""))
    v = np.array([0.2, 0.1, -1.0, 0.3, -0.2, 0.5])
    # The second body moves along: its centre is half a metre beside the first.
    both = np.r_[v, v[:3] + np.cross(v[3:], [0.5, 0.0, 0.1]), v[3:]]
    found = MujocoSystem(pair).impact_problem(pair.qpos0, both)
    expected = MujocoSystem(whole).impact_problem(whole.qpos0, v)
    assert found.contacts == expected.contacts
    assert delassus(found) == pytest.approx(delassus(expected), abs=SAME)
    outcomes = [carom.Routh(num_samples=64).resolve(each).v_post for each in (found, expected)]
    assert outcomes[0][:, :6] == pytest.approx(outcomes[1], abs=1e-7)


def test_constraints_of_mujoco_that_are_off_do_not_act():
    model, _ = assembled("weld")
    data = mujoco.MjData(model)
    assert len(MujocoSystem(model, data).constraints) == 6
    data.eq_active[:] = 0
    assert MujocoSystem(model, data).constraints == ()
    system = MujocoSystem(model)
    system.take_inputs(data)
    assert system.constraints == ()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EQUALITY
    assert MujocoSystem(model).constraints == ()


def test_an_impact_in_a_simulation_of_mujoco_knows_the_loop():
    model = tongs.mujoco_model(0.4)
    system, data = MujocoSystem(model, limits=False), mujoco.MjData(model)
    q, T = tongs.in_mujoco(tongs.closed(0.4))
    data.qpos[:], data.qvel[:] = q, T @ velocity(0.4)
    found, expected = system.detect_impact(data), system.impact_problem(q, data.qvel)
    assert found.contacts == expected.contacts == ("floor/tip",)
    assert pytest.approx(expected.J, abs=1e-10) == found.J
    assert found.v_pre == pytest.approx(expected.v_pre, abs=1e-10)


@pytest.mark.parametrize("lean", [0.3, -0.3])
def test_a_planar_linkage_of_mujoco_is_that_of_planar_bodies(lean):
    """The impact is planar though MuJoCo's is in space, and its pin has a row that does nothing."""
    model = mujoco.MjModel.from_xml_string(four_bar.mjcf())
    system, planar, q = MujocoSystem(model), four_bar.linkage(), four_bar.pose(lean)
    v = planar.allowed_velocity(q, np.array([0.2, -1.0, 0.3, 0.4, -0.5, 0.6]))
    mine, theirs = system.impact_problem(q, v), planar.impact_problem(q, v)
    assert mine.num_tangents == 1
    assert mine.contacts == tuple(f"floor/{name}" for name in theirs.contacts)
    np.testing.assert_allclose(mine.J, theirs.J, atol=SAME)
    np.testing.assert_allclose(mine.M, theirs.M, atol=SAME)
    impulses = np.random.default_rng(0).normal(size=(5, 2, 2))
    through = system.constraint_impulses(q, mine, impulses)
    expected = planar.constraint_impulses(q, theirs, impulses)
    assert system.constraints == ("pin (x)", "pin (y)", "pin (z)")
    assert through[:, [0, 2]] == pytest.approx(expected, abs=SAME)
    assert np.abs(through[:, 1]).max() < SAME
    here, there = system.dynamics(q, v), planar.dynamics(q, v)
    assert here.force == pytest.approx(there.force, abs=1e-6)
    assert here.bias[:, :2] == pytest.approx(there.bias, abs=1e-6)
