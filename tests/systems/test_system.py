import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carom.errors import InvalidProblem
from carom.systems import FLOOR, Body, Disc, DiscContact, PlanarSystem, PlaneContact, System

CORNERS = {"left": (-1.0, 0.0), "middle": (0.0, 0.0), "right": (1.0, 0.0)}


def plank(order=tuple(CORNERS)):
    """Return a plank with three points over the floor, each with its own mu."""
    mu = {"left": 0.1, "middle": 0.2, "right": 0.3}
    contacts = [PlaneContact(name, Disc("plank", CORNERS[name]), FLOOR, mu[name]) for name in order]
    return PlanarSystem([Body("plank", 2.0, 0.5)], contacts)


def test_system_is_abstract():
    with pytest.raises(TypeError):
        System()


def test_only_touching_contacts_enter_the_impact():
    system = plank()
    angle = 0.1
    q = np.array([0.0, np.sin(angle), angle])
    v = np.array([1.0, -2.0, 3.0])
    problem = system.impact_problem(q, v)
    assert problem.contacts == ("left",)
    np.testing.assert_array_equal(problem.J_n, system.normal_jacobian(q)[:1])
    np.testing.assert_array_equal(problem.J_t, system.tangent_jacobian(q)[:1])
    np.testing.assert_array_equal(problem.mu, [0.1])
    np.testing.assert_array_equal(problem.M, system.mass_matrix(q))
    np.testing.assert_array_equal(problem.v_pre, v)


def test_touching_contacts_need_not_be_neighbours():
    points = [(-1.0, 0.0), (0.0, 0.5), (1.0, 0.0)]
    contacts = [
        PlaneContact(name, Disc("arch", point), FLOOR, mu)
        for name, point, mu in zip("ABC", points, (0.1, 0.2, 0.3), strict=True)
    ]
    system = PlanarSystem([Body("arch", 1.0, 1.0)], contacts)
    problem = system.impact_problem(np.zeros(3), np.zeros(3))
    assert problem.contacts == ("A", "C")
    np.testing.assert_array_equal(problem.mu, [0.1, 0.3])
    np.testing.assert_array_equal(problem.J_n[:, 2], [-1.0, 1.0])


@given(st.permutations(list(CORNERS)))
def test_order_of_the_contacts_permutes_the_rows_and_nothing_else(order):
    q, v = np.zeros(3), np.array([0.3, -1.0, 0.2])
    reference, problem = plank().impact_problem(q, v), plank(order).impact_problem(q, v)
    index = [reference.contacts.index(name) for name in problem.contacts]
    assert problem.contacts == tuple(order)
    np.testing.assert_array_equal(problem.M, reference.M)
    np.testing.assert_array_equal(problem.J_n, reference.J_n[index])
    np.testing.assert_array_equal(problem.J_t, reference.J_t[index])
    np.testing.assert_array_equal(problem.mu, reference.mu[index])


@pytest.mark.parametrize(("height", "count"), [(-0.9e-6, 3), (0.9e-6, 3), (1.1e-6, 0)])
def test_gap_tolerance_decides_what_touches(height, count):
    q = np.array([0.0, height, 0.0])
    if count:
        assert len(plank().impact_problem(q, np.zeros(3)).contacts) == count
    else:
        with pytest.raises(InvalidProblem, match="no contact touches"):
            plank().impact_problem(q, np.zeros(3))
    assert len(plank().impact_problem(q, np.zeros(3), gap_tolerance=1e-3).contacts) == 3


def test_penetration_is_refused_beyond_the_tolerance():
    q = np.array([0.0, -0.01, 0.0])
    words = r"contact 'left' penetrates by 0\.01 m at the start, above gap_tolerance = 1e-06 m"
    with pytest.raises(InvalidProblem, match=words):
        plank().impact_problem(q, np.zeros(3))
    assert len(plank().impact_problem(q, np.zeros(3), gap_tolerance=0.02).contacts) == 3


def test_nothing_touching_names_the_nearest_contact():
    with pytest.raises(InvalidProblem, match=r"nearest is 'right' with a gap of 0\.9 m"):
        plank().impact_problem(np.array([0.0, 1.0, -np.arcsin(0.1)]), np.zeros(3))


def test_system_without_contacts_says_so():
    with pytest.raises(InvalidProblem, match="has no contacts"):
        PlanarSystem([Body("ball", 1.0, 1.0)], []).impact_problem(np.zeros(3), np.zeros(3))


def test_contacts_take_their_restitution_into_the_impact():
    e = {"left": 0.25, "middle": 0.5, "right": 1.0}
    contacts = [
        PlaneContact(name, Disc("plank", at), FLOOR, mu=0.1, restitution=e[name])
        for name, at in CORNERS.items()
    ]
    system = PlanarSystem([Body("plank", 2.0, 0.5)], contacts)
    assert system.restitution.tolist() == [0.25, 0.5, 1.0]
    assert not system.restitution.flags.writeable
    flat = system.impact_problem([1.0, 0.0, 0.0], [0.0, -1.0, 0.0])
    assert flat.restitution.tolist() == [0.25, 0.5, 1.0]
    # Turned by 0.1 rad about the left point, only that one touches.
    tilted = [np.cos(0.1), np.sin(0.1), 0.1]
    assert system.impact_problem(tilted, [0.0, -1.0, 0.0]).restitution.tolist() == [0.25]


def test_balls_that_touch_take_their_restitution_into_the_impact():
    balls = [Disc(name, radius=0.5) for name in ("left", "right")]
    pair = DiscContact("pair", balls[1], balls[0], mu=0.0, restitution=0.75)
    system = PlanarSystem([Body.disc(ball.body, 0.5, 1.0) for ball in balls], [pair])
    q, v = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert system.impact_problem(q, v).restitution.tolist() == [0.75]


def test_contacts_do_not_bounce_unless_a_system_says_so():
    system = plank()
    assert system.restitution.tolist() == [0.0, 0.0, 0.0]
    problem = system.impact_problem(np.zeros(3), [0.0, -1.0, 0.0])
    assert problem.restitution.tolist() == [0.0, 0.0, 0.0]
    assert not problem.bounces


@pytest.mark.parametrize("e", [-0.1, 1.1, np.nan, "hard"])
def test_restitution_is_a_number_from_0_to_1(e):
    with pytest.raises(InvalidProblem, match="restitution of contact 'left'"):
        PlaneContact("left", Disc("plank"), FLOOR, mu=0.1, restitution=e)
    with pytest.raises(InvalidProblem, match="restitution of contact 'left'"):
        DiscContact("left", Disc("plank"), Disc("other"), mu=0.1, restitution=e)
