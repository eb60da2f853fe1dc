"""Drake's robots as systems, judged by Drake's own kinematics and energies."""

import subprocess
import sys

import numpy as np
import pytest
from pydrake.geometry import Box, Capsule, Cylinder, Sphere
from pydrake.multibody.plant import (
    DiscreteContactApproximation,
    MultibodyPlant,
)
from pydrake.multibody.tree import RevoluteJoint, SpatialInertia

import carom
from carom.adapters.drake import DrakeSystem, HalfSpace, scene_contacts
from tests.reference import drake_robots, real_robots
from tests.reference.landings import check_landing

EXACT = 1e-10
STEP = 1e-5
CLOSE = 1e-7
"""Of central differences with STEP: errors of STEP^2 and of rounding over STEP."""
STATES = 20
BALL = SpatialInertia.SolidSphereWithMass(2.0, 0.1)
CUBE = SpatialInertia.SolidBoxWithMass(2.0, 0.2, 0.2, 0.2)
SLOPE = HalfSpace(point=(0.1, -0.2, 0.05), normal=(0.3, -0.2, 1.0))
robots = pytest.mark.parametrize("name", real_robots.FILES)


def states(name):
    """Yield random states, and the robot over level ground and over a slope, by turns."""
    rng = np.random.default_rng(1)
    plant = drake_robots.plant(name)
    contacts = real_robots.contacts(name)
    slope = DrakeSystem(plant, contacts, ground=SLOPE, mu=real_robots.MU, limits=False)
    for i in range(STATES):
        q = rng.uniform(-1.0, 1.0, plant.num_positions())
        q[:4] /= np.linalg.norm(q[:4])
        yield (
            drake_robots.system(name) if i % 2 else slope,
            q,
            rng.normal(size=plant.num_velocities()),
        )


def moved(plant, q, v, time):
    """Return where Drake goes from q with v, and the quaternion of unit length."""
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    there = q + time * plant.MapVelocityToQDot(context, v)
    there[:4] /= np.linalg.norm(there[:4])
    return there


def points(plant, system, q, local):
    """Return where points fixed to the contacts' frames are, (m, 3), by Drake alone."""
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    world = plant.world_frame()
    return np.array(
        [
            plant.CalcPointsPositions(context, plant.GetFrameByName(each.frame), at, world).ravel()
            for each, at in zip(system.points, local, strict=True)
        ]
    )


def material_points(plant, system, q):
    """Return the points of the contacts in their frames, (m, 3)."""
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    down = -system.ground.normal
    found = []
    for each in system.points:
        pose = plant.GetFrameByName(each.frame).CalcPoseInWorld(context)
        found.append(pose.inverse().multiply(pose.multiply(each.offset) + each.radius * down))
    return np.array(found)


def slopes(function, plant, q):
    """Return how a function of q changes with each velocity, last, by central differences."""
    ends = [
        [function(moved(plant, q, sign * unit, STEP)) for sign in (1.0, -1.0)]
        for unit in np.eye(plant.num_velocities())
    ]
    return np.stack([(a - b) / (2.0 * STEP) for a, b in ends], axis=-1)


@robots
def test_mass_matrix_is_that_of_the_kinetic_energy(name):
    """Energy is a quadratic form: three values of it give an entry."""
    plant, units = drake_robots.plant(name), np.eye(drake_robots.plant(name).num_velocities())
    context = plant.CreateDefaultContext()
    for system, q, _ in states(name):
        M = system.mass_matrix(q)
        plant.SetPositions(context, q)

        def energy(v):
            plant.SetVelocities(context, v)
            return plant.EvalKineticEnergy(context)

        single = np.array([energy(unit) for unit in units])
        both = np.array([[energy(a + b) for a in units] for b in units])
        np.testing.assert_allclose(M, both - single - single[:, None], atol=EXACT * M.max())


@robots
def test_gaps_and_jacobians_are_those_of_forward_kinematics(name):
    plant = drake_robots.plant(name)
    for system, q, _ in states(name):
        here = system.dynamics(q)
        radius = np.array([each.radius for each in system.points])
        centre = [each.offset for each in system.points]
        matter = material_points(plant, system, q)
        ground = system.ground

        def gap(q, system=system, centre=centre, radius=radius, ground=ground):
            return (points(plant, system, q, centre) - ground.point) @ ground.normal - radius

        def along(q, system=system, matter=matter, ground=ground):
            return points(plant, system, q, matter) @ ground.tangents.T

        np.testing.assert_allclose(here.phi, gap(q), atol=EXACT)
        np.testing.assert_allclose(here.J_n, slopes(gap, plant, q), atol=CLOSE)
        np.testing.assert_allclose(here.J_t, slopes(along, plant, q), atol=CLOSE)


@robots
def test_velocity_map_and_bias(name):
    """Frames move as their velocities say where Γ leads; with v held, J v changes by dJ/dt v."""
    plant = drake_robots.plant(name)
    context = plant.CreateDefaultContext()
    for system, q, v in states(name):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        base = plant.GetFrameByName(system.points[0].frame)
        velocity = base.CalcSpatialVelocityInWorld(context)
        sides = []
        for sign in (1.0, -1.0):
            there = q + sign * STEP * system.velocity_map(q) @ v
            plant.SetPositions(context, there)
            sides.append(base.CalcPoseInWorld(context))
        rate = (sides[0].translation() - sides[1].translation()) / (2.0 * STEP)
        np.testing.assert_allclose(rate, velocity.translational(), atol=1e-6)
        # Columns of the axes R turn: dR/dt = ω × R.
        one, other = (side.rotation().matrix() for side in sides)
        turned = np.cross(velocity.rotational(), (one + other) / 2.0, axisb=0, axisc=0)
        np.testing.assert_allclose((one - other) / (2.0 * STEP), turned, atol=1e-6)

        def velocities(time, system=system, q=q, v=v):
            there = system.dynamics(moved(plant, q, v, time))
            return np.column_stack([there.J_n @ v, there.J_t @ v])

        expected = (velocities(STEP) - velocities(-STEP)) / (2.0 * STEP)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(system.contact_bias(q, v), expected, atol=1e-6 * scale)


@robots
def test_smooth_force_is_what_drake_accelerates_by(name):
    plant = drake_robots.plant(name)
    context = plant.CreateDefaultContext()
    for system, q, v in states(name):
        plant.SetPositionsAndVelocities(context, np.r_[q, v])
        plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuators()))
        expected = plant.EvalTimeDerivatives(context).CopyToVector()[plant.num_positions() :]
        found = np.linalg.solve(system.mass_matrix(q), system.smooth_force(q, v))
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(found, expected, atol=1e-9 * scale)


def test_landing_ends_in_every_sample():
    """ANYmal lands on spheres that Drake reads from its file, on ground that is tilted."""
    system = DrakeSystem.from_scene(*drake_robots.anymal(), bodies=drake_robots.ANYMAL_FEET)
    feet = tuple(f"{foot}::Sphere" for foot in drake_robots.ANYMAL_FEET)
    assert system.contacts == (*feet, *system.limits)
    q = system.stand(drake_robots.anymal_pose(system))
    v = np.zeros(system.nv)
    v[3:6] = 0.3, 0.1, -1.0
    problem = system.impact_problem(q, v)
    assert problem.num_contacts == 4
    check_landing(problem)


def test_scene_has_corners_ends_and_friction():
    """Friction is combined by Drake's rule, 2 a b / (a + b); ground and shapes are as placed."""
    shapes = {
        "ball": (Sphere(0.1), BALL, 0.3),
        "cube": (Box(0.2, 0.2, 0.2), CUBE, 0.6),
        "log": (Capsule(0.1, 0.4), BALL, 1.2),
    }
    plant, scene_graph = drake_robots.scene(shapes, tilt=0.2)
    ground, contacts = scene_contacts(plant, scene_graph)
    np.testing.assert_allclose(ground.normal, [0.0, -np.sin(0.2), np.cos(0.2)], atol=1e-15)
    names = [point.name for point in contacts]
    assert names.count("ball::shape") == 1
    assert sum(name.startswith("cube::shape") for name in names) == 8
    assert [name for name in names if name.startswith("log")] == [
        "log::shape (+)",
        "log::shape (-)",
    ]
    mu = {point.name: point.mu for point in contacts}
    assert mu["ball::shape"] == pytest.approx(2 * 0.3 * 0.6 / 0.9)
    assert mu["log::shape (+)"] == pytest.approx(2 * 1.2 * 0.6 / 1.8)
    only = DrakeSystem.from_scene(plant, scene_graph, bodies=["ball"])
    assert only.contacts == ("ball::shape",)


def test_gaps_are_drakes_own_distances():
    """A sphere's gap is what Drake's query says; a box reaches as far as its axes take it."""
    sides = np.array([0.2, 0.3, 0.1])
    shapes = {"ball": (Sphere(0.1), BALL, 0.3), "cube": (Box(*sides), CUBE, 0.6)}
    plant, scene_graph, diagram = drake_robots.diagram(shapes, tilt=0.2)
    system = DrakeSystem.from_scene(plant, scene_graph)
    normal = np.array([0.0, -np.sin(0.2), np.cos(0.2)])
    root = diagram.CreateDefaultContext()
    context = plant.GetMyContextFromRoot(root)
    ball, cube = plant.GetBodyByName("ball"), plant.GetBodyByName("cube")
    (one,), (other,) = (
        plant.GetCollisionGeometriesForBody(body) for body in (ball, plant.world_body())
    )
    rng = np.random.default_rng(0)
    for _ in range(STATES):
        q = rng.uniform(-1.0, 1.0, 14)
        for start in (0, 7):
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
        plant.SetPositions(context, q)
        gap = dict(zip(system.contacts, system.gap(q), strict=True))
        query = plant.get_geometry_query_input_port().Eval(context)
        found = query.ComputeSignedDistancePairClosestPoints(one, other).distance
        assert gap.pop("ball::shape") == pytest.approx(found, abs=1e-9)
        pose = cube.EvalPoseInWorld(context)
        reach = np.abs(normal @ pose.rotation().matrix()) @ sides / 2.0
        middle = normal @ (pose.translation() - [0.0, 0.0, 0.1])
        assert min(gap.values()) == pytest.approx(middle - reach, abs=1e-12)
        assert max(gap.values()) == pytest.approx(middle + reach, abs=1e-12)


def test_context_gives_parameters_and_is_not_changed():
    plant, _ = drake_robots.scene({"ball": (Sphere(0.1), BALL, 0.3)})
    context = plant.CreateDefaultContext()
    plant.GetBodyByName("ball").SetMass(context, 5.0)
    q = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0])
    plant.SetPositions(context, q)
    system = DrakeSystem(plant, ["ball"], context, mu=0.5)
    assert system.mass_matrix(q - [0, 0, 0, 0, 0, 0, 1.0])[5, 5] == 5.0
    np.testing.assert_array_equal(plant.GetPositions(context), q)


def unfinished():
    plant = MultibodyPlant(time_step=0.0)
    plant.AddRigidBody("ball", BALL)
    return plant


def balls(**options):
    return drake_robots.scene({"ball": (Sphere(0.1), BALL, 0.3)}, **options)


def joined():
    plant = MultibodyPlant(time_step=0.01)
    # What older versions choose by themselves knows no such constraints.
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    for name in ("ball", "other"):
        plant.AddRigidBody(name, BALL)
    one, other = plant.GetBodyByName("ball"), plant.GetBodyByName("other")
    plant.AddBallConstraint(one, np.zeros(3), other, np.ones(3))
    plant.Finalize()
    return plant


def locked():
    """Return a plant with one joint, and a context in which it is locked."""
    plant = MultibodyPlant(time_step=0.01)
    for name in ("ball", "other"):
        plant.AddRigidBody(name, BALL)
    frames = (plant.GetBodyByName(name).body_frame() for name in ("ball", "other"))
    joint = plant.AddJoint(RevoluteJoint("hinge", *frames, [0.0, 1.0, 0.0]))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joint.Lock(context)
    return plant, context


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: DrakeSystem(locked()[0], ["ball"], locked()[1], mu=1),
            "context: expected one of this plant",
        ),
        (lambda: DrakeSystem(balls()[0], ["ball"], "context", mu=1), "context: expected one of"),
        (
            lambda: DrakeSystem((pair := locked())[0], ["ball"], pair[1], mu=1),
            "joint 'hinge' is locked, which is not supported; unlock it, or weld it",
        ),
        (lambda: DrakeSystem(unfinished(), ["ball"], mu=1), r"call plant.Finalize\(\) first"),
        (lambda: DrakeSystem("plant", ["ball"], mu=1), "expected a MultibodyPlant"),
        (lambda: DrakeSystem(joined(), ["ball"], mu=1), "1 of its constraints are .* 0 are given"),
        (lambda: DrakeSystem(balls()[0], ["foot"], mu=1), "no frame is named 'foot'; there are"),
        (lambda: DrakeSystem(balls()[0], [], mu=1), "expected at least one frame"),
        (lambda: DrakeSystem(balls()[0], ["ball"]), "'ball' has no friction coefficient"),
        (lambda: scene_contacts(*balls(ground=False)), "expected one HalfSpace .* got 0"),
        (lambda: scene_contacts(*balls(), ["foot"]), "no body is named 'foot'; there are"),
        (
            lambda: scene_contacts(*drake_robots.scene({"can": (Cylinder(0.1, 0.2), BALL, 0.3)})),
            "geometry 'can::shape' is a Cylinder, and only spheres, boxes, capsules and",
        ),
        (lambda: DrakeSystem.from_scene(*balls()).gap(np.zeros(6)), r"q: expected shape \(7,\)"),
        (lambda: DrakeSystem.from_scene(*balls()).gap(np.zeros(7)), "quaternions of unit length"),
        (lambda: DrakeSystem.from_scene(*balls()).gap(np.ones(7)), "quaternions of unit length"),
        (
            lambda: DrakeSystem.from_scene(*balls()).impact_problem(
                [1, 0, 0, 0, 0, 0, 0.15], np.zeros(6)
            ),
            "contact 'ball::shape' penetrates by 0.05 m",
        ),
        (
            lambda: DrakeSystem.from_scene(*balls()).impact_problem(
                [1, 0, 0, 0, 0, 0, 1.0], np.zeros(6)
            ),
            "no contact touches: the nearest is 'ball::shape' with a gap of 0.8 m",
        ),
    ],
)
def test_refuses_what_is_wrong(make, message):
    with pytest.raises((carom.InvalidOption, carom.InvalidProblem), match=message) as caught:
        make()
    words = ("context: expected", "a MultibodyPlant", "is named", "at least one", "no friction c")
    is_argument = any(each in str(caught.value) for each in words)
    assert isinstance(caught.value, carom.InvalidOption) == is_argument


def test_without_drake_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['pydrake'] = None\n"
        "import carom\n"
        "try:\n    import carom.adapters.drake\n"
        "except carom.MissingExtra as error:\n    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install drake, or "carom[drake]"' in run.stdout
