"""What a user's own System must answer, and inputs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from carom.errors import InvalidProblem
from carom.systems import Body, PlanarSystem, Revolute, System
from tests.reference.own_system import RodOnCircle, on_circle, planar_rod

numbers = st.floats(-3.0, 3.0)


@given(arrays(float, 3, elements=numbers), arrays(float, 3, elements=numbers), numbers)
def test_default_dynamics_gathers_what_the_system_says(q, v, t):
    own, planar = RodOnCircle().dynamics(on_circle(q), v, t), planar_rod().dynamics(q, v, t)
    for name in own._fields:
        np.testing.assert_allclose(getattr(own, name), getattr(planar, name), atol=1e-12)
    assert RodOnCircle().energy(on_circle(q), v) == pytest.approx(planar_rod().energy(q, v))
    rest = RodOnCircle().dynamics(on_circle(q))
    np.testing.assert_array_equal(rest.bias, 0.0)


def test_system_must_answer_everything():
    answers = {
        "nq",
        "nv",
        "contacts",
        "mu",
        "mass_matrix",
        "velocity_map",
        "smooth_force",
        "potential_energy",
        "gap",
        "normal_jacobian",
        "tangent_jacobian",
        "contact_bias",
    }
    assert System.__abstractmethods__ == answers
    for name in answers:
        fields = {key: value for key, value in vars(RodOnCircle).items() if key in answers - {name}}
        with pytest.raises(TypeError, match=name):
            type("Lacking", (System,), fields)()


def torque(t, q, v):
    return [2.0 * math.sin(3.0 * t) - 0.5 * v[0] + 0.1 * q[0]]


def test_inputs_act_on_the_joints_as_a_function_of_time_and_state():
    rod = Body.rod("rod", 2.0, 3.0, joints=(Revolute(),))
    free, driven = PlanarSystem([rod], []), PlanarSystem([rod], [], inputs=torque)
    q, v = np.array([0.3]), np.array([1.7])
    for t in (0.0, 0.9):
        push = driven.smooth_force(q, v, t) - free.smooth_force(q, v, t)
        np.testing.assert_allclose(push, torque(t, q, v), atol=1e-14)


@pytest.mark.parametrize("force", [[1.0, 2.0], 3.0, [math.nan]])
def test_inputs_of_wrong_shape_or_not_finite_are_refused(force):
    rod = Body.rod("rod", 1.0, 1.0, joints=(Revolute(),))
    system = PlanarSystem([rod], [], inputs=lambda *_: force)
    with pytest.raises(InvalidProblem, match=r"^inputs: expected (shape|finite numbers)"):
        system.smooth_force([0.0], [0.0])


def test_lists_and_other_layouts_are_taken():
    class Plain(RodOnCircle):
        def normal_jacobian(self, q):
            return super().normal_jacobian(q).tolist()

        def mass_matrix(self, q):
            return np.asfortranarray(super().mass_matrix(q))

    q, v = on_circle(np.array([0.1, 0.9, 0.4])), np.array([0.1, 0.2, 0.3])
    for one, other in zip(Plain().dynamics(q, v), RodOnCircle().dynamics(q, v), strict=True):
        assert one.flags.c_contiguous
        np.testing.assert_array_equal(one, other)


def test_wrong_shapes_are_told_by_name():
    class Flat(RodOnCircle):
        def tangent_jacobian(self, q):
            return super().tangent_jacobian(q)[:, 0]

    with pytest.raises(InvalidProblem, match=r"^tangent_jacobian: expected an array \(\d+, d, 3\)"):
        Flat().dynamics(on_circle(np.array([0.1, 0.9, 0.4])))


def test_own_systems_may_say_how_their_contacts_bounce():
    class Bouncing(RodOnCircle):
        restitution = np.array([0.5, *np.zeros(len(RodOnCircle().contacts) - 1)])

    dead, lively = RodOnCircle(), Bouncing()
    assert dead.restitution.tolist() == [0.0] * len(dead.contacts)
    q, v = on_circle(np.array([0.1, 0.9, 0.4])), np.array([0.1, 0.2, 0.3])
    near = float(np.abs(dead.gap(q)).max())
    assert not dead.impact_problem(q, v, near).bounces
    problem = lively.impact_problem(q, v, near)
    assert problem.restitution.tolist() == lively.restitution.tolist()
