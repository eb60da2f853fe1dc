"""A rigid body in space: rows and biases are derivatives, quaternions stay unit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carom
from carom.systems import Box, Cylinder, HalfSpace, SpatialBody, Sphere
from carom.systems.quaternions import product, rotation, turn, turned

PLANES = {"floor": HalfSpace(), "wall": HalfSpace((1.0, 0.2, 0.0), (-0.8, 0.1, 0.3))}
SHAPES = {
    "sphere": Sphere(0.3),
    "box": Box([0.4, 0.2, 0.3]),
    "cylinder": Cylinder(0.3, 0.2),
    "can": Cylinder(0.2, 0.5, num_fixed=3),
}
BODIES = {name: SpatialBody(shape, 2.0, mu=0.5, planes=PLANES) for name, shape in SHAPES.items()}
EVERY_BODY = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
SEEDS = st.integers(0, 2**32 - 1)


def random_state(seed):
    rng = np.random.default_rng(seed)
    attitude = rng.normal(size=4)
    q = np.concatenate([rng.normal(size=3), attitude / np.linalg.norm(attitude)])
    return q, rng.normal(size=6)


def rate(function, body, q, v, step=1e-5):
    """Return how a function of q changes along a constant velocity, by central differences."""
    ahead, back = (np.asarray(function(body.integrate(q, v, t))) for t in (step, -step))
    return (ahead - back) / (2.0 * step)


@EVERY_BODY
@given(seed=SEEDS)
def test_gaps_change_by_normal_rows(body, seed):
    q, v = random_state(seed)
    np.testing.assert_allclose(body.normal_jacobian(q) @ v, rate(body.gap, body, q, v), atol=1e-6)
    np.testing.assert_allclose(body.velocity_map(q) @ v, rate(lambda at: at, body, q, v), atol=1e-8)


@EVERY_BODY
@given(seed=SEEDS)
def test_biases_are_rates_of_contact_velocities(body, seed):
    q, v = random_state(seed)
    here = body.dynamics(q, v)

    def contact_velocity(at):
        there = body.dynamics(at)
        return np.column_stack([there.J_n @ v, there.J_t @ v])

    size = 1.0 + np.abs(here.bias).max()
    error = np.abs(rate(contact_velocity, body, q, v) - here.bias).max()
    # Where a cylinder is nearly upright its lowest point hurries along the rim.
    assert error <= 1e-5 * size


@EVERY_BODY
@given(seed=SEEDS)
def test_nothing_of_a_body_is_below_its_contacts(body, seed):
    q, _ = random_state(seed)
    rng = np.random.default_rng(seed)
    shape, directions = body.shape, rng.normal(size=(200, 3))
    unit = directions / np.linalg.norm(directions, axis=1)[:, None]
    if isinstance(shape, Sphere):
        points = shape.radius * unit
    elif isinstance(shape, Box):
        points = 0.5 * shape.size * np.sign(unit)
    else:
        ring = unit[:, :2] / np.linalg.norm(unit[:, :2], axis=1)[:, None]
        ends = 0.5 * shape.height * np.sign(unit[:, 2:])
        points = np.hstack([shape.radius * ring, ends])
    world = q[:3] + points @ rotation(q[3:]).T
    for name, plane in PLANES.items():
        own = [i for i, each in enumerate(body.contacts) if each.startswith(name)]
        lowest = ((world - plane.point) @ plane.normal).min()
        assert body.gap(q)[own].min() <= lowest + 1e-12


def test_tangents_are_velocities_of_matter():
    # A ball that rolls has no slip, one that spins on the spot has none either.
    ball = BODIES["sphere"]
    q = np.array([0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0])
    here = ball.dynamics(q)
    assert np.abs(here.J_t[0] @ [0.6, 0.0, 0.0, 0.0, 2.0, 0.0]).max() <= 1e-15
    assert np.abs(here.J_t[0] @ [0.0, 0.0, 0.0, 0.0, 0.0, 5.0]).max() <= 1e-15


@given(seed=SEEDS)
def test_quaternions_turn(seed):
    rng = np.random.default_rng(seed)
    angle, start = rng.normal(size=3), turn(rng.normal(size=3))
    end = turned(start, angle)
    assert abs(np.linalg.norm(end) - 1.0) <= 1e-15
    np.testing.assert_allclose(rotation(end), rotation(turn(angle)) @ rotation(start), atol=1e-14)
    own = turned(start, rotation(start).T @ angle, in_body=True)
    np.testing.assert_allclose(rotation(own), rotation(end), atol=1e-14)
    np.testing.assert_allclose(product(turn(angle), turn(-angle)), [1, 0, 0, 0], atol=1e-15)


def test_wrong_input_is_refused():
    with pytest.raises(carom.InvalidProblem, match="shape: expected a Sphere, Box or Cylinder"):
        SpatialBody("ball", 1.0, mu=0.5)
    with pytest.raises(carom.InvalidProblem, match="unit length"):
        BODIES["box"].gap([0.0] * 7)
    with pytest.raises(carom.InvalidProblem, match="three positive moments"):
        SpatialBody(Sphere(0.1), 1.0, mu=0.5, inertia=[1.0, 0.0, 1.0])
