"""What the paper says of its examples [HalmPosa, section 5.4], as statements on exact sets.

Samples can only say what was seen. An exact set also says what cannot happen.
"""

from functools import cache

import numpy as np
import pytest

import carom
from tests.reference.exact_reach import exact_contact_bounds
from tests.reference.replay import check_path

TWO_CONTACTS = ("rocking-block", "compass-gait", "box-wall", "ramone")
# Of the impact's speed. Both exact methods round their input, to 1e-12; what is at rest in a set is
# so up to that.
ROUNDING = 1e-9


@cache
def problem_of(name):
    return carom.scenes.load(name).problem


@cache
def exact(name):
    return carom.RouthExact().resolve(problem_of(name))


def speeds(name, v):
    """Return contact velocities (..., m, 2) as shares of the impact's speed."""
    problem = problem_of(name)
    return problem.contact_velocity(v) / problem.space.velocity_unit[:, None]


def interiors(name):
    """Return a point inside every polytope, whose contacts do what it is named after."""
    return np.array([polytope.vertices.mean(axis=0) for polytope in exact(name).polytopes])


def distance(name, v):
    """Return the distance of a velocity to the set, as a share of the velocity before."""
    return exact(name).distance(v) / np.linalg.norm(problem_of(name).v_pre)


@pytest.mark.parametrize("name", TWO_CONTACTS)
def test_set_is_complete(name):
    outcomes = exact(name)
    assert outcomes.is_complete
    assert outcomes.inner is None
    assert outcomes.outer_excess is None


@pytest.mark.parametrize("name", TWO_CONTACTS)
def test_bounds_agree_with_the_independent_method(name):
    problem = problem_of(name)
    reference = exact_contact_bounds(
        problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, problem.v_pre, grid=1e-12
    )
    slack = ROUNDING * problem.space.velocity_unit[:, None, None]
    assert (np.abs(exact(name).contact_bounds() - reference) <= slack).all()


@pytest.mark.parametrize("name", TWO_CONTACTS)
def test_no_outcome_approaches_or_gains_energy(name):
    """Both are convex conditions, or nearly: vertices suffice."""
    problem, v = problem_of(name), exact(name).v_post
    assert (speeds(name, v)[..., 0] >= -ROUNDING).all()
    before = problem.kinetic_energy(problem.v_pre)
    assert (problem.kinetic_energy(v) <= before * (1 + ROUNDING)).all()


@pytest.mark.parametrize("name", TWO_CONTACTS)
def test_polytopes_are_named_after_what_their_contacts_do(name):
    for polytope, v in zip(exact(name).polytopes, interiors(name), strict=True):
        v_c = speeds(name, v)
        names = problem_of(name).contacts
        words = [
            "lifts" if n > ROUNDING else ("slides" if abs(t) > ROUNDING else "sticks")
            for n, t in v_c
        ]
        assert polytope.kind == ", ".join(f"{c} {w}" for c, w in zip(names, words, strict=True))
        assert polytope.kind in exact(name).kinds


@pytest.mark.parametrize("name", TWO_CONTACTS)
def test_simultaneous_and_sequential_outcomes_are_in_the_set(name):
    """A sequence of single impacts is one order of events; of these the set has all.

    A single impact of `Sequential` jumps to its end [Anitescu and Potra] where the inclusion slides
    there. Where slip stops for good or never the two agree, and so it is in these scenes.
    """
    problem = problem_of(name)
    for law in (carom.AnitescuPotra(), carom.Sequential()):
        for v in law.resolve(problem).v_post:
            assert distance(name, v) <= ROUNDING


@pytest.mark.parametrize("name", TWO_CONTACTS)
def test_every_corner_comes_about_step_by_step(name):
    problem, outcomes = problem_of(name), exact(name)
    for v in np.vstack([outcomes.v_post, interiors(name)]):
        path = outcomes.path_to(v)
        check_path(problem.M, problem.J_n, problem.J_t[:, 0], problem.mu, path, problem.v_pre, v)


def test_block_rests_or_pivots_at_any_speed_up_to_the_sequential_one():
    name = "rocking-block"
    problem, outcomes = problem_of(name), exact(name)
    assert set(outcomes.kinds) == {
        "A sticks, B sticks",
        "A lifts, B sticks",
        "A sticks, B lifts",
    }
    rest = carom.AnitescuPotra().resolve(problem).v_post[0]
    # No velocity has an effect beyond the corners: three velocities, both corners at rest.
    assert np.abs(rest).max() <= ROUNDING * np.abs(problem.v_pre).max()
    for order, corner in ((("A", "B"), 0), (("B", "A"), 1)):
        pivot = carom.Sequential(order=order).resolve(problem).v_post[0]
        for share in np.linspace(0.0, 1.0, 21):
            assert distance(name, (1 - share) * rest + share * pivot) <= ROUNDING
        assert distance(name, 1.01 * pivot) > 1e-4
        top = speeds(name, pivot)[corner, 0]
        assert top > 0.01
        assert np.abs(speeds(name, outcomes.v_post)[:, corner, 0].max() - top) <= ROUNDING
    # In closed form, as in `test_outcomes`.
    assert np.allclose(
        outcomes.contact_bounds()[:, 0, 1], -0.21 * problem.v_pre[1], rtol=0, atol=ROUNDING
    )


def test_block_never_lifts_both_corners_and_never_slides():
    v_c = speeds("rocking-block", exact("rocking-block").v_post)
    assert np.abs(v_c[..., 1]).max() <= ROUNDING
    for polytope in exact("rocking-block").polytopes:
        # On a polytope, one corner's velocity is zero at all vertices, hence everywhere.
        assert speeds("rocking-block", polytope.vertices)[..., 0].max(axis=0).min() <= ROUNDING


def test_box_can_slide_on_and_never_leaves_the_ground():
    outcomes = exact("box-wall")
    v_c = speeds("box-wall", outcomes.v_post)
    assert np.abs(v_c[:, 0, 0]).max() <= ROUNDING
    assert set(outcomes.kinds) == {
        "A sticks, B sticks",
        "A slides, B slides",
        "A slides, B lifts",
    }
    # It never goes faster than it came, nor backwards.
    before = speeds("box-wall", problem_of("box-wall").v_pre)[0, 1]
    assert v_c[:, 0, 1].min() >= -ROUNDING
    assert 0.1 * before < v_c[:, 0, 1].max() < before
    assert v_c[:, 1, 0].max() > 0.01
    assert v_c[:, 1, 1].max() > 0.01


def test_compass_gait_leading_foot_can_slide_and_lift():
    outcomes = exact("compass-gait")
    assert set(outcomes.kinds) == {
        "A sticks, B sticks",
        "A sticks, B slides",
        "A sticks, B lifts",
        "A slides, B sticks",
        "A lifts, B sticks",
    }
    v_c = speeds("compass-gait", outcomes.v_post)
    assert v_c[:, 0, 0].max() > 0.01
    # One foot always holds.
    for polytope in outcomes.polytopes:
        largest = np.abs(speeds("compass-gait", polytope.vertices)).max(axis=(0, 2))
        assert largest.min() <= ROUNDING


def test_ramone_leading_foot_sticks_in_every_outcome():
    outcomes = exact("ramone")
    v_c = speeds("ramone", outcomes.v_post)
    assert np.abs(v_c[:, 0]).max() <= ROUNDING
    assert set(outcomes.kinds) == {
        "A sticks, B sticks",
        "A sticks, B slides",
        "A sticks, B lifts",
    }
    assert v_c[:, 1, 0].max() > 1e-4
    assert np.abs(v_c[:, 1, 1]).max() > 1e-3
