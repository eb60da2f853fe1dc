"""Contacts that engines find between any two shapes: one scene in all of them."""

import coal
import mujoco
import numpy as np
import pinocchio as pin
import pytest
from pydrake.geometry import Box, Capsule, Convex, HalfSpace, Sphere
from pydrake.math import RigidTransform
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
from pydrake.multibody.tree import SpatialInertia
from pydrake.systems.framework import DiagramBuilder

import carom
from carom.adapters.contact_points import hull_points
from carom.adapters.drake import DrakeSystem
from carom.adapters.mujoco import MujocoSystem
from carom.adapters.pinocchio import ContactPoint, PinocchioSystem, collision_points
from tests.reference.landings import check_landing

MU, STEP = 0.5, 1e-5
RADIUS, SIDES, CAPSULE = 0.1, np.array([0.2, 0.3, 0.4]), (0.05, 0.3)
BODIES = ("ball", "box", "rod")
MASS = 2.0
"""All bodies have the inertia of a ball of 0.1 m, so that engines need not agree on another."""
PLACES = np.array([[0.0, 0.02, 0.1], [0.2, 0.0, 0.22], [0.0, 0.02, 0.4]])
"""The ball lies on the ground beside the box, and the rod, upright, on the ball."""


MUJOCO_SHAPES = (
    'size="0.1"',
    'type="box" size="0.1 0.15 0.2"',
    'type="capsule" size="0.05 0.15"',
)
APART = np.array([[0.0, 0.0, 0.1], [0.3, 0.0, 0.2], [0.0, 0.0, 0.3]])


def axes(rng, spread):
    """Return a small random rotation."""
    return pin.exp3(spread * rng.normal(size=3))


def pinocchio_scene():
    model, geometry = pin.Model(), pin.GeometryModel()
    shapes = coal.Sphere(RADIUS), coal.Box(*SIDES), coal.Capsule(*CAPSULE)
    for name, shape in zip(BODIES, shapes, strict=True):
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia.FromSphere(MASS, RADIUS), pin.SE3.Identity())
        frame = model.addJointFrame(joint)
        here = joint, frame, pin.SE3.Identity(), shape
        geometry.addGeometryObject(pin.GeometryObject(name, *here))
    floor = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    geometry.addGeometryObject(pin.GeometryObject("floor", 0, 0, pin.SE3.Identity(), floor))
    geometry.addAllCollisionPairs()
    return PinocchioSystem(model, geometry=geometry, mu=MU)


def pinocchio_state(places, rotations):
    return np.concatenate(
        [np.r_[p, pin.Quaternion(R).coeffs()] for p, R in zip(places, rotations, strict=True)]
    )


KEPT = []
"""Diagrams have to live as long as their parts."""


def drake_scene():
    builder = DiagramBuilder()
    plant, scene = AddMultibodyPlantSceneGraph(builder, time_step=0.0)
    shapes = Sphere(RADIUS), Box(*SIDES), Capsule(*CAPSULE)
    friction = CoulombFriction(MU, MU)
    for name, shape in zip(BODIES, shapes, strict=True):
        body = plant.AddRigidBody(name, SpatialInertia.SolidSphereWithMass(MASS, RADIUS))
        plant.RegisterCollisionGeometry(body, RigidTransform(), shape, "shape", friction)
    world = plant.world_body(), RigidTransform(), HalfSpace(), "floor", friction
    plant.RegisterCollisionGeometry(*world)
    plant.Finalize()
    KEPT.append(builder.Build())
    return DrakeSystem.from_scene(plant, scene, pairs=True)


def drake_state(places, rotations):
    quaternions = [np.roll(pin.Quaternion(R).coeffs(), 1) for R in rotations]
    return np.concatenate([np.r_[x, p] for p, x in zip(places, quaternions, strict=True)])


SYSTEMS = {
    "pinocchio": (pinocchio_scene, pinocchio_state),
    "drake": (drake_scene, drake_state),
}
both = pytest.mark.parametrize("engine", SYSTEMS)


@both
def test_each_pair_has_its_contacts_once(engine):
    """Over the half-space: one of the ball, eight corners, two ends; three pairs of bodies."""
    make, _ = SYSTEMS[engine]
    system = make()
    assert len(system.contacts) == 1 + 8 + 2 + 3
    assert len(set(system.contacts)) == len(system.contacts)
    if engine == "pinocchio":
        assert system.contacts[:2] == ("ball/box", "ball/rod")
        assert "box/floor (--+)" in system.contacts
    else:
        assert system.contacts[-3:] == (
            *("ball::shape/box::shape", "ball::shape/rod::shape", "box::shape/rod::shape"),
        )
    assert system.mu.tolist() == [MU] * 14


def words(name):
    """Return the bodies of a contact."""
    return frozenset(word for word in BODIES if word in name)


@both
def test_gaps_change_as_their_rows_say(engine):
    make, state = SYSTEMS[engine]
    system, rng = make(), np.random.default_rng(0)
    for _ in range(10):
        places = (
            PLACES + rng.normal(scale=0.02, size=(3, 3)) + [[0, 0, 0.1], [0.3, 0, 0.2], [0, 0, 0.3]]
        )
        q = state(places, [axes(rng, 0.4) for _ in BODIES])
        v = rng.normal(size=system.nv)
        here = system.dynamics(q, v)
        before, after = (system.gap(system.integrate(q, v, t)) for t in (-STEP, STEP))
        # Nearest points of box and rod are found by iteration, and jump from edge to edge.
        smooth = np.array([not words(name) >= {"box", "rod"} for name in system.contacts])
        rate = (after - before) / (2 * STEP)
        assert (here.J_n @ v)[smooth] == pytest.approx(rate[smooth], abs=1e-7)
        assert here.J_n @ v == pytest.approx(rate, abs=1e-3)
        step = 1e-3
        ends = [system.gap(system.integrate(q, v, t)) for t in (-step, 0.0, step)]
        second = ((ends[0] - 2 * ends[1] + ends[2]) / step**2)[smooth]
        assert here.bias[smooth, 0] == pytest.approx(second, abs=1e-3 * np.abs(second).max())


def test_both_engines_find_the_same():
    rng, found = np.random.default_rng(1), {}
    rotations = [axes(rng, 0.3) for _ in BODIES]
    places = PLACES + APART
    for engine, (make, state) in SYSTEMS.items():
        system = make()
        here = system.dynamics(state(places, rotations))
        J = np.concatenate([here.J_n[:, None], here.J_t], axis=1)
        pairs = [i for i, name in enumerate(system.contacts) if len(words(name)) == 2]
        own = {}
        for i in pairs:
            A = J[i] @ np.linalg.solve(here.M, J[i].T)
            own[words(system.contacts[i])] = here.phi[i], A[0, 0], np.trace(A)
        found[engine] = own
        assert len(own) == 3
    for key, values in found["pinocchio"].items():
        # Drake finds nearest points of box and capsule by iteration: normals are off by 1e-4 rad.
        close = 1e-8 if "ball" in key else 1e-2
        assert values == pytest.approx(found["drake"][key], abs=close)


@both
def test_a_ball_between_ground_box_and_rod_is_hit(engine):
    """Three contacts of one ball, found without a name: floor, box, rod."""
    make, state = SYSTEMS[engine]
    system = make()
    q = state(PLACES, [np.eye(3)] * 3)
    v = np.zeros(18)
    # The rod falls on the ball, the ball slides into the box.
    for body, (x, z) in {0: (0.5, 0.0), 2: (0.0, -1.0)}.items():
        start = 6 * body + (3 if engine == "drake" else 0)
        v[start], v[start + 2] = x, z
    problem = system.impact_problem(q, v, 1e-7)
    assert len(problem.contacts) == 3
    outcomes = check_landing(problem, num_samples=256)
    assert outcomes.num_unfinished == 0


def test_the_same_scene_in_mujoco_has_the_same_impact():
    bodies = [
        f'<body name="{name}" pos="{x} {y} {z}"><freejoint/><inertial pos="0 0 0" mass="{MASS}" '
        f'diaginertia="0.008 0.008 0.008"/><geom name="{name}" {shape} friction="{MU}"/></body>'
        for name, (x, y, z), shape in zip(BODIES, PLACES, MUJOCO_SHAPES, strict=True)
    ]
    floor = f'<geom name="floor" type="plane" size="9 9 1" friction="{MU}"/>'
    text = f"<mujoco><worldbody>{floor}{''.join(bodies)}</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    v = np.zeros(18)
    v[0], v[14] = 0.5, -1.0
    theirs = MujocoSystem(model).impact_problem(model.qpos0, v, 1e-7)
    system = pinocchio_scene()
    q = pinocchio_state(PLACES, [np.eye(3)] * 3)
    mine = system.impact_problem(q, v, 1e-7)
    keys = [[words(name) for name in each.contacts] for each in (mine, theirs)]
    order = [keys[1].index(key) for key in keys[0]]
    assert len(order) == 3
    assert np.abs(mine.J_n) == pytest.approx(np.abs(theirs.J_n[order]), abs=1e-8)
    for one, other in zip(mine.J_t, theirs.J_t[order], strict=True):
        assert one.T @ one == pytest.approx(other.T @ other, abs=1e-8)


def test_half_spaces_take_corners_and_refuse_the_rest():
    system = pinocchio_scene()
    q = pinocchio_state(PLACES + np.array([[0, 0, 1], [0, 0, 0.28], [0, 0, 1]]), [np.eye(3)] * 3)
    gap = dict(zip(system.contacts, system.gap(q), strict=True))
    low = [name for name, x in gap.items() if abs(x - 0.3) < 1e-12]
    assert sorted(low) == sorted(f"box/floor ({x}{y}-)" for x in "+-" for y in "+-")
    geometry = pin.GeometryModel()
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "can")
    here = joint, model.addJointFrame(joint), pin.SE3.Identity()
    geometry.addGeometryObject(pin.GeometryObject("can", *here, coal.Cylinder(0.1, 0.2)))
    floor = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    geometry.addGeometryObject(pin.GeometryObject("floor", 0, 0, pin.SE3.Identity(), floor))
    geometry.addAllCollisionPairs()
    with pytest.raises(carom.InvalidProblem, match="geometry 'can' is a Cylinder, and only"):
        PinocchioSystem(model, geometry=geometry, mu=MU)
    with pytest.raises(carom.InvalidOption, match=r"expected a pinocchio\.GeometryModel"):
        PinocchioSystem(model, geometry="shapes", mu=MU)


PYRAMID = [(0.1, 0.1, 0.0), (-0.1, 0.1, 0.0), (-0.1, -0.1, 0.0), (0.1, -0.1, 0.0), (0, 0, 0.2)]
FACES = [(1, 2, 5), (2, 3, 5), (3, 4, 5), (4, 1, 5), (1, 4, 3), (1, 3, 2)]


def pyramid_file(folder):
    """Write a pyramid with a point within, which no half-space sees."""
    vertices = [*PYRAMID, (0.0, 0.0, 0.05)]
    text = [f"v {x} {y} {z}" for x, y, z in vertices]
    text += [f"f {a} {b} {c}" for a, b, c in [*FACES, (1, 2, 6)]]
    (path := folder / "pyramid.obj").write_text("\n".join(text))
    return str(path)


def test_meshes_touch_the_ground_with_the_corners_of_their_hulls(tmp_path):
    path = pyramid_file(tmp_path)
    model, geometry = pin.Model(), pin.GeometryModel()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "hat")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(MASS, RADIUS), pin.SE3.Identity())
    here = joint, model.addJointFrame(joint), pin.SE3.Identity()
    mesh = coal.MeshLoader().load(path, 2.0 * np.ones(3))
    geometry.addGeometryObject(pin.GeometryObject("hat", *here, mesh))
    named = PinocchioSystem(model, collision_points(model, geometry), mu=MU)
    assert named.contacts == tuple(f"hat ({k})" for k in range(1, 6))
    floor = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    geometry.addGeometryObject(pin.GeometryObject("floor", 0, 0, pin.SE3.Identity(), floor))
    geometry.addAllCollisionPairs()
    found = PinocchioSystem(model, geometry=geometry, mu=MU)
    assert found.contacts == tuple(f"hat/floor ({k})" for k in range(1, 6))

    builder = DiagramBuilder()
    plant, scene = AddMultibodyPlantSceneGraph(builder, time_step=0.0)
    body = plant.AddRigidBody("hat", SpatialInertia.SolidSphereWithMass(MASS, RADIUS))
    friction = CoulombFriction(MU, MU)
    shapes = {body: Convex(path, 2.0), plant.world_body(): HalfSpace()}
    for owner, shape in shapes.items():
        plant.RegisterCollisionGeometry(owner, RigidTransform(), shape, "shape", friction)
    plant.Finalize()
    KEPT.append(builder.Build())
    drake = DrakeSystem.from_scene(plant, scene)
    R = axes(np.random.default_rng(0), 1.0)
    place = np.array([0.1, 0.2, 0.9])
    expected = np.sort(place[2] + 2.0 * np.array(PYRAMID) @ R[2])
    # Files of meshes are read in single precision.
    for system, state in ((named, pinocchio_state), (found, pinocchio_state), (drake, drake_state)):
        assert np.sort(system.gap(state([place], [R]))) == pytest.approx(expected, abs=1e-7)


def test_round_meshes_are_refused():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 3))
    owner = ContactPoint("frame", name="stone")
    with pytest.raises(
        carom.InvalidProblem, match=r"'stone' is a mesh .* 200 corners, and at most 64"
    ):
        hull_points(owner, np.eye(3), points / np.linalg.norm(points, axis=1)[:, None])
