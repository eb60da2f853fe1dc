"""Pinocchio's robots as systems, judged by Pinocchio's own kinematics and energies."""

import coal
import numpy as np
import pinocchio as pin
import pytest

import carom
from carom.adapters.pinocchio import (
    HalfSpace,
    PinocchioSystem,
    collision_points,
)
from tests.reference import real_robots
from tests.reference.landings import check_landing

EXACT = 1e-10
STEP = 1e-5
CLOSE = 1e-7
"""Of central differences with STEP: errors of STEP^2 and of rounding over STEP."""
STATES = 20
every_robot = pytest.mark.parametrize("name", real_robots.FILES)
SLOPE = HalfSpace(point=(0.1, -0.2, 0.05), normal=(0.3, -0.2, 1.0))


def states(name):
    """Yield random states, and the robot over level ground and over a slope, by turns."""
    rng = np.random.default_rng(list(real_robots.FILES).index(name))
    for i in range(STATES):
        q, v = real_robots.random_state(name, rng)
        level = real_robots.system(name)
        yield level if i % 2 else on_slope(name), q, v


def on_slope(name):
    options = {"ground": SLOPE, "mu": real_robots.MU, "limits": False}
    return PinocchioSystem(real_robots.model(name), real_robots.contacts(name), **options)


def frame_places(system, model, q):
    """Return where the frames of all contacts are, by Pinocchio alone."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return [data.oMf[model.getFrameId(point.frame)] for point in system.points]


def gaps(system, model, q):
    centres = [
        place.act(point.offset)
        for place, point in zip(frame_places(system, model, q), system.points, strict=True)
    ]
    radii = [point.radius for point in system.points]
    return (np.array(centres) - system.ground.point) @ system.ground.normal - radii


def slopes(function, model, q):
    """Return how a function of q changes with each velocity, last, by central differences."""
    ends = [
        [function(pin.integrate(model, q, sign * STEP * unit)) for sign in (1.0, -1.0)]
        for unit in np.eye(model.nv)
    ]
    return np.stack([(np.asarray(a) - np.asarray(b)) / (2.0 * STEP) for a, b in ends], axis=-1)


@every_robot
def test_mass_matrix_is_that_of_the_kinetic_energy(name):
    """Energy is a quadratic form: three values of it give an entry."""
    model, units = real_robots.model(name), np.eye(real_robots.model(name).nv)
    data = model.createData()
    for system, q, _ in states(name):
        M = system.mass_matrix(q)

        def energy(v, q=q):
            return pin.computeKineticEnergy(model, data, q, v)

        single = np.array([energy(unit) for unit in units])
        both = np.array([[energy(a + b) for a in units] for b in units])
        np.testing.assert_allclose(M, both - single - single[:, None], atol=EXACT * M.max())
        np.testing.assert_array_equal(M, M.T)


@every_robot
def test_gaps_and_normals_are_those_of_forward_kinematics(name):
    model = real_robots.model(name)
    for system, q, _ in states(name):
        here = system.dynamics(q)
        np.testing.assert_allclose(here.phi, gaps(system, model, q), atol=EXACT)
        change = slopes(lambda q, system=system: gaps(system, model, q), model, q)
        np.testing.assert_allclose(here.J_n, change, atol=CLOSE)


@every_robot
def test_tangents_follow_the_material_point(name):
    """The point of the body that is at the contact is fixed to it, and followed."""
    model = real_robots.model(name)
    for system, q, _ in states(name):
        places = frame_places(system, model, q)
        down = system.ground.normal
        local = [
            place.actInv(place.act(point.offset) - point.radius * down)
            for place, point in zip(places, system.points, strict=True)
        ]

        def along(q, system=system, local=local):
            moved = frame_places(system, model, q)
            points = [place.act(each) for place, each in zip(moved, local, strict=True)]
            return np.array(points) @ system.ground.tangents.T

        here = system.dynamics(q)
        np.testing.assert_allclose(here.J_t, slopes(along, model, q), atol=CLOSE)


@every_robot
def test_velocity_map_is_how_pinocchio_integrates(name):
    model = real_robots.model(name)
    for system, q, _ in states(name):
        np.testing.assert_allclose(
            system.velocity_map(q), slopes(lambda q: q, model, q), atol=CLOSE
        )


@every_robot
def test_bias_is_how_contact_velocities_change(name):
    """With v held, J v changes by dJ/dt v."""
    model = real_robots.model(name)
    for system, q, v in states(name):

        def velocities(time, system=system, q=q, v=v):
            there = system.dynamics(pin.integrate(model, q, time * v))
            return np.column_stack([there.J_n @ v, there.J_t @ v])

        expected = (velocities(STEP) - velocities(-STEP)) / (2.0 * STEP)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(system.contact_bias(q, v), expected, atol=1e-6 * scale)


@every_robot
def test_smooth_force_keeps_energy(name):
    """Without contact, power of the force is the change of energy: gravity and inertia alone."""
    model = real_robots.model(name)
    for system, q, v in states(name):
        M, force = system.mass_matrix(q), system.smooth_force(q, v)
        acceleration = np.linalg.solve(M, force)
        np.testing.assert_allclose(
            acceleration, pin.aba(model, model.createData(), q, v, np.zeros(model.nv)), atol=1e-6
        )

        def energy(time, system=system, q=q, v=v, a=acceleration):
            middle = v + 0.5 * time * a
            return system.energy(pin.integrate(model, q, time * middle), v + time * a)

        rate = (energy(STEP) - energy(-STEP)) / (2.0 * STEP)
        assert abs(rate) < 1e-5 * max(1.0, system.energy(q, v))


@pytest.mark.parametrize("name", ["anymal_b", "g1", "talos"])
def test_nearest_contact_of_a_shape_is_the_shapes_distance(name):
    """Coal knows how far a sphere or a box is from a half-space."""
    model, shapes = real_robots.model(name), real_robots.shapes(name)
    data, places = model.createData(), shapes.createData()
    for system, q, _ in states(name):
        normal, point = system.ground.normal, system.ground.point
        wall = coal.Halfspace(normal, float(normal @ point))
        pin.updateGeometryPlacements(model, data, shapes, places, q)
        gap = dict(zip(system.contacts, system.gap(q), strict=True))
        seen = 0
        for i, each in enumerate(shapes.geometryObjects):
            own = [gap[name] for name in gap if name.split(" (")[0] == each.name]
            if own:
                place = places.oMg[i]
                there = coal.Transform3s(place.rotation, place.translation)
                result, ask = coal.DistanceResult(), coal.DistanceRequest()
                found = coal.distance(each.geometry, there, wall, coal.Transform3s(), ask, result)
                assert min(own) == pytest.approx(found, abs=1e-9)
                seen += len(own)
        assert seen == len(gap)


@every_robot
def test_landing_ends_in_every_sample(name):
    q, v = real_robots.landing(name)
    problem = real_robots.system(name).impact_problem(q, v)
    assert problem.num_contacts == (8 if name in ("g1", "talos") else 4)
    assert problem.num_tangents == 2
    check_landing(problem)


def test_stand_moves_joints_where_the_base_cannot():
    """Four feet of a random pose are not in one plane; bent legs bring them there."""
    system = real_robots.system("solo12")
    q, _ = real_robots.random_state("solo12", np.random.default_rng(3))
    with pytest.raises(carom.InvalidProblem, match=r"not all of these contacts can touch at once"):
        system.stand(q)
    assert np.abs(system.gap(system.stand(q, joints=True))).max() < 1e-12
    three = system.stand(q, system.contacts[:3])
    assert np.abs(system.gap(three)[:3]).max() < 1e-12
    np.testing.assert_array_equal(three[7:], q[7:])


def test_capsule_touches_with_both_ends():
    """A capsule that lies on the ground."""
    model = real_robots.ball()
    place = pin.SE3(pin.utils.rotate("y", np.pi / 2), np.array([0.0, 0.0, 0.05]))
    shapes = pin.GeometryModel()
    frame = model.getFrameId("ball")
    shapes.addGeometryObject(pin.GeometryObject("log", 1, frame, place, coal.Capsule(0.05, 0.4)))
    system = PinocchioSystem(model, collision_points(model, shapes), mu=0.5)
    assert system.contacts == ("log (+)", "log (-)")
    np.testing.assert_allclose(system.gap(pin.neutral(model)), 0.0, atol=1e-15)
    # Ends are 0.2 m from the middle: a turn lifts one as fast as it lowers the other.
    np.testing.assert_allclose(
        system.normal_jacobian(pin.neutral(model))[:, 4], [-0.2, 0.2], atol=1e-15
    )


def test_reads_a_robot_from_its_file():
    name = "anymal_b"
    feet = ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]
    folder = str(real_robots.SHARE)
    read = PinocchioSystem.from_urdf(
        real_robots.path(name), shapes=feet, package_dirs=folder, mu=real_robots.MU
    )
    q, v = real_robots.landing(name)
    one, other = (each.impact_problem(q, v) for each in (read, real_robots.system(name)))
    np.testing.assert_array_equal(one.J, other.J)
    np.testing.assert_array_equal(one.M, other.M)
    fixed = PinocchioSystem.from_urdf(real_robots.path(name), feet, free_flyer=False, mu=0.5)
    assert (fixed.nq, fixed.nv) == (12, 12)
    with pytest.raises(carom.InvalidProblem, match=r"the base is fixed; let joints move"):
        fixed.stand(np.zeros(12))


def test_quaternions_that_drift_are_set_right():
    """What an integrator leaves behind does not change the robot's size."""
    system = real_robots.system("solo12")
    q, _ = real_robots.landing("solo12")
    drifted = q.copy()
    drifted[3:7] *= 1.0 + 1e-4
    np.testing.assert_allclose(system.gap(drifted), system.gap(q), atol=1e-12)


def pendulum(joint):
    """Return a rod of 1 m along x that turns about y, with 2 kg and the inertia 0.5 at its tip."""
    model = pin.Model()
    index = model.addJoint(0, joint, pin.SE3.Identity(), "hinge")
    at = pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
    inertia = pin.Inertia(2.0, np.zeros(3), 0.5 * np.eye(3))
    model.appendBodyToJoint(index, inertia, at)
    model.addFrame(pin.Frame("tip", index, 0, at, pin.FrameType.OP_FRAME))
    return PinocchioSystem(model, ["tip"], mu=0.5)


@pytest.mark.parametrize(
    ("joint", "q"),
    [(pin.JointModelRY(), [0.3]), (pin.JointModelRUBY(), [np.cos(0.3), np.sin(0.3)])],
    ids=["angle", "circle"],
)
def test_robot_with_one_velocity(joint, q):
    """By hand: a turn about y takes the tip down, by the cosine of the angle."""
    system = pendulum(joint)
    c, s = np.cos(0.3), np.sin(0.3)
    here = system.dynamics(q, [2.0])
    assert here.M.tolist() == [[pytest.approx(2.5)]]
    assert here.phi == pytest.approx([-s])
    assert here.J_n == pytest.approx(np.array([[-c]]))
    assert here.J_t == pytest.approx(np.array([[[-s], [0.0]]]))
    assert here.bias == pytest.approx(np.array([[4.0 * s, -4.0 * c, 0.0]]))
    assert here.force == pytest.approx([2.0 * 9.81 * c])
    expected = [[1.0]] if system.nq == 1 else [[-s], [c]]
    assert system.velocity_map(q) == pytest.approx(np.array(expected))
