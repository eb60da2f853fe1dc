"""Judge every planar system by finite differences of an independent forward kinematics."""

import cmath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from carom import scenes
from carom.systems import (
    Body,
    Disc,
    DiscContact,
    HalfPlane,
    PlanarSystem,
    PlaneContact,
    Prismatic,
    Revolute,
)

STEP = 2e-6
TOLERANCE = 2e-8


def crooked_system():
    """Return a tree in which no axis, offset or normal is convenient, and a configuration."""
    cart = Body("cart", 2.0, 0.3, joints=(Prismatic((3.0, 4.0)), Revolute()), com=(0.1, -0.2))
    arm = Body(
        "arm",
        0.7,
        0.05,
        parent="cart",
        placement=(0.4, -0.3),
        joints=(Revolute(), Prismatic((1.0, -2.0)), Revolute()),
        com=(0.2, 0.5),
    )
    ball = Body("ball", 1.3, 0.2, placement=(1.0, 1.0), joints=(Revolute(), Prismatic((1.0, 0.0))))
    plate = Body("plate", 0.4, 0.1, parent="ball", placement=(0.2, 0.1), joints=())
    slope = HalfPlane((0.5, -0.2), (-1.0, 3.0))
    contacts = [
        PlaneContact("arm on slope", Disc("arm", (0.3, -0.6), 0.25), slope, 0.4),
        PlaneContact("plate on wall", Disc("plate", (0.1, 0.2)), HalfPlane((4, 0), (-1, 0)), 0.0),
        DiscContact("arm on ball", Disc("arm", (0.3, -0.6), 0.25), Disc("ball", (2, 1), 0.5), 1.0),
        DiscContact("ball on cart", Disc("ball", (2, 1), 0.5), Disc("cart", (-1, 0), 0.1), 0.2),
    ]
    system = PlanarSystem([cart, arm, ball, plate], contacts)
    return system, np.array([0.3, 0.7, -1.1, 0.4, 2.0, 0.6, 1.2])


def all_systems():
    """Return (system, configuration) by name."""
    systems = {"crooked": crooked_system()}
    for name in scenes.names():
        scene = scenes.load(name)
        systems[name] = (scene.system, scene.q)
    return systems


SYSTEMS = all_systems()


@st.composite
def states(draw):
    """Draw a system, a configuration near its own and a velocity."""
    system, q = SYSTEMS[draw(st.sampled_from(sorted(SYSTEMS)))]
    offset = draw(arrays(float, system.nq, elements=st.floats(-0.4, 0.4)))
    v = draw(arrays(float, system.nv, elements=st.floats(-2.0, 2.0)))
    return system, q + offset, v


def poses(system, q):
    """Return (position, turn) of every body as complex numbers, by name."""
    found = {None: (0j, 1 + 0j)}
    coordinates = iter(q)
    for body in system.bodies:
        position, turn = found[body.parent]
        position += turn * complex(*body.placement)
        for joint in body.joints:
            value = next(coordinates)
            if isinstance(joint, Prismatic):
                position += turn * complex(*joint.axis) * value
            else:
                turn *= cmath.exp(1j * value)
        found[body.name] = (position, turn)
    return found


def center(disc, found):
    position, turn = found[disc.body]
    return position + turn * complex(*disc.center)


def normal(pair, found):
    if isinstance(pair, PlaneContact):
        return complex(*pair.plane.normal)
    offset = center(pair.disc, found) - center(pair.other, found)
    return offset / abs(offset)


def independent_gap(pair, found):
    if isinstance(pair, PlaneContact):
        offset = center(pair.disc, found) - complex(*pair.plane.point)
        return (offset * complex(*pair.plane.normal).conjugate()).real - pair.disc.radius
    distance = abs(center(pair.disc, found) - center(pair.other, found))
    return distance - pair.disc.radius - pair.other.radius


def material_points(pair, found):
    """Return the contact points in the frames of their bodies: [(body, point in body), ...]."""
    n = normal(pair, found)
    points = [(pair.disc.body, center(pair.disc, found) - pair.disc.radius * n)]
    if isinstance(pair, DiscContact):
        points.append((pair.other.body, center(pair.other, found) + pair.other.radius * n))
    return [(body, (point - found[body][0]) / found[body][1]) for body, point in points]


def separation(points, found):
    """Return the vector from the second material point (or the world) to the first."""
    world = [found[body][0] + found[body][1] * point for body, point in points]
    return world[0] - (world[1] if len(world) == 2 else 0)


@given(states())
def test_poses_are_those_of_the_joint_chain(state):
    system, q, _ = state
    found = poses(system, q)
    for body, (x, y, angle) in zip(system.bodies, system.body_poses(q), strict=True):
        position, turn = found[body.name]
        assert complex(x, y) == pytest.approx(position, abs=1e-12)
        assert cmath.exp(1j * angle) == pytest.approx(turn, abs=1e-12)


@given(states())
def test_gap_is_the_distance_between_the_surfaces(state):
    system, q, _ = state
    found = poses(system, q)
    expected = [independent_gap(pair, found) for pair in system.contact_pairs]
    np.testing.assert_allclose(system.gap(q), expected, atol=1e-12)


@given(states())
def test_normal_rows_give_the_rate_of_the_gap(state):
    system, q, v = state
    rate = (system.gap(q + STEP * v) - system.gap(q - STEP * v)) / (2 * STEP)
    np.testing.assert_allclose(system.normal_jacobian(q) @ v, rate, atol=TOLERANCE)


@given(states())
def test_rows_follow_the_material_contact_points(state):
    system, q, v = state
    here = poses(system, q)
    before, after = poses(system, q - STEP * v), poses(system, q + STEP * v)
    for index, pair in enumerate(system.contact_pairs):
        points = material_points(pair, here)
        rate = (separation(points, after) - separation(points, before)) / (2 * STEP)
        n = normal(pair, here)
        along_normal = (rate * n.conjugate()).real
        t = complex(n.imag, -n.real)
        along_tangent = (rate * t.conjugate()).real
        assert system.normal_jacobian(q)[index] @ v == pytest.approx(along_normal, abs=TOLERANCE)
        assert system.tangent_jacobian(q)[index, 0] @ v == pytest.approx(
            along_tangent, abs=TOLERANCE
        )


@given(states())
def test_mass_matrix_holds_the_kinetic_energy_of_the_moving_bodies(state):
    system, q, v = state
    before, after = poses(system, q - STEP * v), poses(system, q + STEP * v)
    energy = 0.0
    for body in system.bodies:
        centers = [
            p + turn * complex(*body.com) for p, turn in (before[body.name], after[body.name])
        ]
        speed = abs(centers[1] - centers[0]) / (2 * STEP)
        rate = cmath.phase(after[body.name][1] / before[body.name][1]) / (2 * STEP)
        energy += (body.mass * speed**2 + body.inertia * rate**2) / 2
    mass_matrix = system.mass_matrix(q)
    assert v @ mass_matrix @ v / 2 == pytest.approx(energy, rel=1e-7, abs=1e-8)
    np.testing.assert_array_equal(mass_matrix, mass_matrix.T)


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_shapes(name):
    system, q = SYSTEMS[name]
    m = len(system.contacts)
    assert system.nq == system.nv == len(q)
    assert system.mu.shape == system.gap(q).shape == (m,)
    assert system.normal_jacobian(q).shape == (m, system.nv)
    assert system.tangent_jacobian(q).shape == (m, 1, system.nv)
    assert system.mass_matrix(q).shape == (system.nv, system.nv)
    np.testing.assert_array_equal(system.velocity_map(q), np.eye(system.nv))
    assert system.body_poses(q).shape == (len(system.bodies), 3)


@pytest.mark.parametrize("name", scenes.names())
def test_mass_matrix_is_positive_definite_in_the_scenes(name):
    system, q = SYSTEMS[name]
    assert np.linalg.eigvalsh(system.mass_matrix(q))[0] > 1e-4
